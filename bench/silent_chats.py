"""What does a chat cost that waits for a model which says nothing?

On paper: a chat actor is a mailbox, a task for its mail and one for its work, the history it has
read, a request on its way: a socket, an h11 connection, a guard. Some 20 Python frames and a few
dozen small objects: 30 to 40 KB. Nothing of it wakes up; what runs is the process's: beats, the
poll for work, and a comparison of all that is held, every quarter of a minute.

The daemon is a process of its own, the model another, the chats are created past both of them.
"""

import os
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import trio

from adapters.postgres.committing import Committer
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.pool import Pool
from adapters.postgres.ledger import PostgresLedger
from bench.fixtures import COMMAND, a_database, a_provider, a_user, environment, hello
from bench.report import Target

QUESTION = "what does a chat cost that waits for a model which says nothing?"
CHATS = 5_000
TARGETS = (
    Target("cpu_percent", f"{CHATS:,} silent chats: percent of one core", at_most=2),
    Target("kb_per_chat", "memory of a silent chat, KB", at_most=60),
)
WARM = 50  # chats before the first look at memory: code is loaded, pools are full
SETTLE_SECONDS = 3.0  # for what the last chats begin beside their question
WATCH_SECONDS = 45.0  # three comparisons with the store, and three leases' worth of beats
START_SECONDS_MAX = 180.0  # for all chats to be asked for; then the benchmark fails
LOOK_SECONDS = 0.1
SILENT_MS = 3_600_000
SETTINGS = {
    "PROMPTCORNER_STARTUP_SECONDS": "3600",
    "PROMPTCORNER_ROOT_CHATS": str(CHATS + WARM),
    "PROMPTCORNER_DRAIN_SECONDS": "0",
    "PROMPTCORNER_SUMMARIES": "off",  # they are turns of their own
}
IN_FLIGHT = """
    SELECT count(*) FROM chats WHERE status = 'running' AND worker_id IS NOT NULL
"""


@contextmanager
def a_daemon(conninfo: str, url: str, home: Path) -> Iterator[psutil.Process]:
    words = [*COMMAND, "serve", "--listen=127.0.0.1:0", f"--data-dir={home}"]
    environ = os.environ | SETTINGS | environment(url) | {"DATABASE_URL": conninfo}
    with subprocess.Popen(words, env=environ, stderr=(home / "log").open("wb")) as process:
        try:
            yield psutil.Process(process.pid)
        finally:
            process.terminate()


async def _measured(url: str) -> dict[str, float]:
    async with a_database() as cluster:
        conninfo = cluster.conninfo
        pool = Pool(conninfo, size=4)
        ledger = PostgresLedger(
            pool, Committer(pool, tell=lambda _: None), tell=lambda _: None, lease_seconds=30
        )
        user = await a_user(pool)
        aside = await DatabaseConnection.open(conninfo)

        async def create(count: int) -> None:
            for _ in range(count):
                await ledger.create(hello(user))

        async def until_asked(daemon: psutil.Process, count: int) -> None:
            with trio.fail_after(START_SECONDS_MAX):
                while len(daemon.net_connections("tcp")) < count:  # noqa: ASYNC110  its own process
                    await trio.sleep(LOOK_SECONDS)

        with (
            tempfile.TemporaryDirectory(prefix="promptcorner-bench-") as home,
            a_daemon(conninfo, url, Path(home)) as daemon,
        ):
            await create(WARM)
            await until_asked(daemon, WARM + 1)
            before = daemon.memory_info().rss
            began = trio.current_time()
            await create(CHATS)
            await until_asked(daemon, WARM + CHATS + 1)
            started_seconds = trio.current_time() - began
            await trio.sleep(SETTLE_SECONDS)
            used = daemon.cpu_times()
            await trio.sleep(WATCH_SECONDS)
            now = daemon.cpu_times()
            grown = daemon.memory_info().rss - before
            [(running,)] = await aside.execute(IN_FLIGHT)
            assert running == WARM + CHATS, f"{running} chats are at work"
        aside.close()
        await pool.drain(1)
    busy = now.user + now.system - used.user - used.system
    return {
        "cpu_percent": busy / WATCH_SECONDS * 100,
        "kb_per_chat": grown / CHATS / 1000,
        "all_asked_for_seconds": started_seconds,
    }


def measure() -> dict[str, float]:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with a_provider(first_token_ms=SILENT_MS) as url:
        return trio.run(_measured, url)
