"""Fixtures of benchmarks: a model in a process of its own, a database, new chats."""

import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from uuid import uuid4

import psutil

from actors.law.chat import Body, Role
from actors.law.ids import ChatId, UserId
from actors.law.parts.message import TextPart
from actors.law.requests import CreateChat, NewChat
from adapters.postgres import embedded
from adapters.postgres.driver.pool import Pool
from adapters.postgres.migrating import migrate

COMMAND = [sys.executable, "-m", "promptcorner"]


@contextmanager
def a_provider(**settings: object) -> Iterator[str]:
    """Run a rehearsal model with these settings; yield its URL."""
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    words = [*COMMAND, "fake-provider", "--listen=127.0.0.1:0", *flags]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[3]
        process.terminate()


def environment(url: str) -> dict[str, str]:
    """Return the environment of a daemon whose only provider is the model at `url`."""
    return {"ANTHROPIC_API_KEY": "sk-of-the-rehearsal", "ANTHROPIC_BASE_URL": url}


@asynccontextmanager
async def a_database(**settings: str) -> AsyncIterator[embedded.Cluster]:
    """Run an embedded server with our schema in a temporary directory."""
    with tempfile.TemporaryDirectory(prefix="promptcorner-bench-") as home:
        os.chmod(home, 0o711)
        wanted = embedded.ClusterOptions(Path(home) / "home", settings=settings)
        async with embedded.use(wanted) as cluster:
            await migrate(cluster.conninfo)
            yield cluster


async def a_user(pool: Pool) -> UserId:
    user = UserId(uuid4())
    async with pool.connection() as connection:
        insert = "INSERT INTO users (id, username) VALUES (%(id)s, %(id)s::uuid::text)"
        await connection.execute(insert, {"id": user})
    return user


def hello(user: UserId, text: str = "hello") -> CreateChat:
    """Return the request for a new chat with one message of its user."""
    said = Body(Role.USER, (TextPart(text),), created_by=user)
    return CreateChat(NewChat(ChatId(uuid4()), user), (said,))


def server_cpu_seconds(cluster: embedded.Cluster) -> float:
    """Return the CPU time of all processes of the database, also of those that have ended."""
    pid = int((cluster.wanted.data / "postmaster.pid").read_text().split()[0])
    postmaster = psutil.Process(pid)
    times = [process.cpu_times() for process in (postmaster, *postmaster.children())]
    gone = postmaster.cpu_times()
    return sum(t.user + t.system for t in times) + gone.children_user + gone.children_system
