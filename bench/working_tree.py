"""How late is a change told in a repository of 10,000 files, and what does nothing cost?

On paper: a call has written, its result is committed, and a hint says so. The actor reads what is
new in the chat (2 ms), looks on the disk for repositories (1 ms), and runs git in the sandbox:
bwrap and a shell (10 ms), some six small programs of git (2 ms each), and two that look at all
10,000 files (15 ms each). So it is told after some 60 ms, and must be within 150. The floor is what
a person would type: `git status` and `git diff`, in turn with ours.

A result of a call is put into the database by hand and the hint is told, as the ledger does; the
rest is the real thing. Between two changes there is more than the second that looks are apart. Then
nothing changes for a while: no git may run.
"""

import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from os import environ
from pathlib import Path
from uuid import uuid4

import trio

from actors.law.chat import Chat
from actors.law.states import Status
from actors.law.store.hints import ChatMoved
from actors.law.store.ports import Applied
from adapters.postgres.bus import Switchboard
from adapters.postgres.committing import Committer
from adapters.postgres.driver.pool import Pool
from adapters.postgres.ledger import PostgresLedger
from adapters.workspaces.commands.processes import open_processes
from adapters.workspaces.commands.sandbox import Bubblewrap, Unconfined, program_of
from adapters.workspaces.git.schedule import INTERVAL_SECONDS, POLL_SECONDS
from adapters.workspaces.git.trees import TreeWatcher, WatchEnd
from adapters.workspaces.git.watching import WorkingTrees, open_working_trees
from adapters.workspaces.local import LocalWorkspaces
from adapters.workspaces.store import WorkspaceRegistry, WorkspaceRow
from bench.fixtures import a_database, a_user, hello
from bench.report import Target

QUESTION = "how late is a change told in a repository of 10,000 files, and what does nothing cost?"
TARGETS = (
    Target("told_p95_ms", "result committed → told to the watcher, p95", at_most=150),
    Target("ratio_p50", "the same / a bare `git status` and `git diff`, p50", at_most=3),
    Target("idle_looks", "runs of git while nothing changes", at_most=0),
)
DIRECTORIES, FILES = 100, 100  # in each
ROUNDS = 40
IDLE_SECONDS = 2 * POLL_SECONDS + 1

_MESSAGE = """
WITH moved AS (
    UPDATE chats SET snapshot_version = snapshot_version + 1, history_version = snapshot_version + 1
     WHERE id = %(chat)s RETURNING id, history_version
)
INSERT INTO messages (chat_id, role, content, visibility, revision)
SELECT id, %(role)s, %(content)s::json, 'both', history_version FROM moved RETURNING revision
"""


class Work:
    """A chat in a workspace with a large repository, and who changes it."""

    def __init__(self, bus: Switchboard, pool: Pool, made: Chat, root: Path) -> None:
        self._bus, self._pool, self._chat, self._owner = bus, pool, made.id, made.owner_id
        self.root = root

    async def change(self, number: int) -> float:
        """Write a file, commit the call's result, and tell of it. Return when it was committed."""
        path = self.root / f"d{number % DIRECTORIES}" / "f7.py"
        path.write_text(f"changed = {number}\n" * 20)
        call = {"tool_call_id": f"c{number}", "tool_name": "write_file"}
        args = {"path": str(path), "content": ""}
        async with self._pool.connection() as connection:
            for role, part in (
                ("assistant", {"type": "tool-call", **call, "args": args}),
                ("tool", {"type": "tool-result", **call, "result": {"ok": True}}),
            ):
                content = json.dumps([part])
                row = {"chat": self._chat, "role": role, "content": content}
                [(version,)] = await connection.execute(_MESSAGE, row)
        began = time.perf_counter()
        self._bus.tell(
            ChatMoved(
                *(self._chat, version, version, 0, 0, 0),
                *(Status.RUNNING, False, None, None, self._owner),
            )
        )
        return began


async def _told(watcher: TreeWatcher, words: str) -> float:
    """Wait until a diff with these words is told, and return when it was."""
    while True:
        news = await watcher.next()
        assert not isinstance(news, WatchEnd)
        if any(words in getattr(found, "unified_diff", "") for found in news.repositories.values()):
            return time.perf_counter()


def _bare(root: Path) -> float:
    """Return how long `git status` and `git diff` take, one behind the other."""
    began = time.perf_counter()
    for words in (("status", "--porcelain"), ("diff", "HEAD")):
        subprocess.run(["git", *words], cwd=root, capture_output=True, check=True)
    return time.perf_counter() - began


def _repository(root: Path) -> None:
    for directory in range(DIRECTORIES):
        (root / f"d{directory}").mkdir(parents=True)
        for file in range(FILES):
            (root / f"d{directory}/f{file}.py").write_text(f"x = {directory * file}\n" * 20)
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "all")):
        subprocess.run(["git", *words], cwd=root, check=True)


@asynccontextmanager
async def _watched(pool: Pool, home: Path) -> AsyncIterator[tuple[WorkingTrees, TreeWatcher, Work]]:
    bus, owner = Switchboard(), await a_user(pool)
    nobody = Committer(pool, tell=lambda _: None)
    ledger = PostgresLedger(pool, nobody, tell=lambda _: None, lease_seconds=30)
    made = await ledger.create(hello(owner))
    assert isinstance(made, Applied)
    chat = made.chat.id
    row = WorkspaceRow(uuid4(), "bench", "empty", 4096, 4096, 1024, 600)
    registry = WorkspaceRegistry(pool)
    assert await registry.add(row, owner, chat)
    program = program_of(environ)
    sandbox = Unconfined() if program is None else Bubblewrap(program)
    async with open_processes() as table:
        workspaces = LocalWorkspaces(home, registry, table=table, sandbox=sandbox, environ=environ)
        paths = workspaces.paths(row.id)
        for path in (paths.home, paths.tmp):
            Path(path).mkdir(parents=True)  # noqa: ASYNC240  before anything is measured
        _repository(Path(paths.home) / "r")
        async with open_working_trees(workspaces, bus) as trees:
            with trees.watching(row, chat) as watcher:
                yield trees, watcher, Work(bus, pool, made.chat, Path(paths.home) / "r")


async def _measured() -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="promptcorner-bench-") as top:
        async with a_database() as cluster:
            pool = Pool(cluster.conninfo, size=4)
            async with _watched(pool, Path(top).resolve() / "workspaces") as (trees, watcher, work):  # noqa: ASYNC240
                late, bare = [], []
                for number in range(ROUNDS):
                    bare.append(_bare(work.root))
                    await trio.sleep(INTERVAL_SECONDS + 0.05)
                    began = await work.change(number)
                    late.append(await _told(watcher, f"+changed = {number}\n") - began)
                looks = trees.statistics().git.looks_count
                await trio.sleep(IDLE_SECONDS)
                idle = trees.statistics().git.looks_count - looks
            await pool.drain(1)
    return {
        "told_p95_ms": statistics.quantiles(late, n=20)[-1] * 1e3,
        "told_p50_ms": statistics.median(late) * 1e3,
        "bare_p50_ms": statistics.median(bare) * 1e3,
        "ratio_p50": statistics.median(late) / statistics.median(bare),
        "idle_looks": float(idle),
    }


def measure() -> dict[str, float]:
    return trio.run(_measured)
