"""The gate: git in a sandbox reaches the forges of its workspace's owner, and no token is there.

Each workspace in which an owner with a token has commands run has a socket of its own, which is
laid into its sandbox alone. git's requests come in there without a token, and go out to the forge
with the owner's. Only the requests of smart HTTP pass, only to forges that are set up, and what a
forge answers is passed on only if it is git's. docs/decisions.md says what this does not prevent.
"""

import os
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from fcntl import LOCK_EX, LOCK_NB, flock
from functools import partial
from importlib.resources import files
from pathlib import Path
from socket import AF_UNIX, SOCK_STREAM, socket
from typing import Annotated
from uuid import UUID, uuid4

import trio

from actors.law.ids import UserId
from actors.law.store.hints import ForgeTokenChanged, HintsLost, News, WorkspaceClosed
from actors.law.store.ports import Bus
from adapters.chats.changes.branches import BranchFinder
from adapters.chats.changes.git_gate.git_http import LFS_AGENT, git_variables
from adapters.chats.changes.git_gate.passing import CONNECTIONS_MAX, GitPassing
from adapters.chats.changes.store import ForgeTokenStore
from adapters.models.providers.dial import Dial
from adapters.postgres.driver.faults import DatabaseFault
from adapters.settings import Forge
from adapters.settings.secrets import Vault
from adapters.workspaces.commands.sandbox import GateDirectory
from runtime.children import Child, Children, open_children
from runtime.ends import Cause, End
from runtime.errors import RuntimeFault
from runtime.log import emit
from runtime.scope import CausedScope
from runtime.statistics import CounterMetric, GaugeMetric
from runtime.threads import ThreadLimits, ThreadsBlocked, write

GATES_MAX = 512  # open at once; commands of further workspaces run without one
SOCKET, HELPER, RELAY = "git.sock", "git-remote-promptcorner", "relay.py"
LOCK = "lock"  # held by the process whose gates are in a directory
PLACES = ThreadLimits("git_gates", 4, wait_seconds=5.0)
WRITE_SECONDS = 2.0  # for a directory to be made or removed once the caller has left

_SCRIPT = """#!/bin/sh
command -v python3 >/dev/null || {
  echo "promptcorner: to reach a forge, git needs python3 in the sandbox" >&2; exit 1; }
exec python3 -I "$PROMPTCORNER_GIT_GATE/relay.py" "$@"
"""
# Files of LFS lie at servers of their own, which the forge names with each request. The gate speaks
# with forges only, so that what it can reach does not depend on what an answer says.
_LFS_SCRIPT = """#!/bin/sh
read -r asked
printf '{"error":{"code":1,"message":"promptcorner: files of Git LFS do not pass here, only'
printf ' those of git itself. GIT_LFS_SKIP_SMUDGE=1 clones and GIT_LFS_SKIP_PUSH=1 pushes without'
printf ' them"}}\\n'
"""


@dataclass(frozen=True, slots=True)
class GateStatistics:
    open: Annotated[int, GaugeMetric("Workspaces whose git reaches forges through a gate.")]
    passed_count: Annotated[int, CounterMetric("Requests of git that a forge has answered.")]
    pushes_count: Annotated[int, CounterMetric("Pushes that a forge has taken.")]
    refused_count: Annotated[int, CounterMetric("Requests of git that were not passed on.")]
    failed_count: Annotated[int, CounterMetric("Requests of git that a forge did not answer.")]


@dataclass(frozen=True, slots=True)
class GateClosed(Cause):
    """The workspace of a gate was stopped or removed."""


class GitGates:
    """The gates of this process. Fulfils `adapters.workspaces.commands.sandbox.GitGate`."""

    def __init__(
        self,
        top: Path,
        tokens: ForgeTokenStore,
        finder: BranchFinder,
        vault: Vault,
        forges: Sequence[Forge],
        *,
        dial: Dial,
        children: Children,
    ) -> None:
        self._top = top
        self._tokens = tokens
        self._hosts = frozenset(forge.host for forge in forges)
        self._passing = GitPassing(tokens, finder, vault, forges, dial=dial)
        self._children = children
        self._holders: dict[UserId, frozenset[str]] = {}
        self._unread: set[UserId | None] = {None}  # whose tokens are to be read; None: all users'
        self._reading = trio.Lock()
        self._failed_reads_count = 0
        self._open: dict[UUID, tuple[Path, CausedScope]] = {}
        self._counts = GateStatistics(0, 0, 0, 0, 0)

    @contextmanager
    def follow(self, bus: Bus) -> Iterator[None]:
        with bus.follow(self.hear, ForgeTokenChanged, WorkspaceClosed):
            yield

    def hear(self, news: News) -> None:
        match news:
            case ForgeTokenChanged(user=user):
                self._unread.add(user)
            case WorkspaceClosed(workspace=workspace):
                self._close(workspace)
            case HintsLost():
                self._unread.add(None)
            case _:
                pass

    def statistics(self) -> GateStatistics:
        return replace(self._counts, open=len(self._open))

    async def of(self, workspace: UUID, owner: UserId) -> GateDirectory | None:
        """Return the directory of a workspace's gate; None where its owner has no token. For them
        nothing is asked of the store until a token is brought."""
        if self._unread or self._reading.locked():
            await self._read_holders()
        hosts = sorted(self._holders.get(owner, frozenset()) & self._hosts)
        if not hosts:
            return None
        if workspace not in self._open:
            await self._begin(workspace, owner)
        found = self._open.get(workspace)
        if found is None:  # it cannot be opened now, or was closed meanwhile
            return None
        return GateDirectory(str(found[0]), lambda seen: git_variables(seen, hosts))

    async def _read_holders(self) -> None:
        """Read whose tokens are not known. Those who come meanwhile wait for that; if it fails,
        they go on with what is known."""
        failed_before = self._failed_reads_count
        async with self._reading:
            if not self._unread or self._failed_reads_count > failed_before:
                return
            unread, self._unread = self._unread, set()
            is_read = False
            try:
                await self._read_holders_of([None] if None in unread else list(unread))
                is_read = True
            except DatabaseFault as fault:
                self._failed_reads_count += 1
                emit("forge_tokens.unread", "warning", error=fault)
            finally:
                if not is_read:  # the command may have been stopped, too
                    self._unread |= unread

    async def _read_holders_of(self, users: Sequence[UserId | None]) -> None:
        for user in users:
            held: dict[UserId, set[str]] = {}
            for holder, host in await self._tokens.holders(user):
                held.setdefault(holder, set()).add(host)
            if user is None:
                self._holders.clear()
            else:
                self._holders.pop(user, None)
            self._holders.update({each: frozenset(hosts) for each, hosts in held.items()})

    async def _begin(self, workspace: UUID, owner: UserId) -> None:
        """Open the gate of a workspace, if that can be done now."""
        if len(self._open) >= GATES_MAX:
            return
        directory = self._top / uuid4().hex
        try:
            made = await write(PLACES, partial(_make, directory), grace_seconds=WRITE_SECONDS)
            listener = trio.SocketListener(trio.socket.from_stdlib_socket(made))
        except (OSError, ThreadsBlocked) as error:  # the second: the disk does not answer
            why = error.strerror if isinstance(error, OSError) else None
            emit("git_gate.missing", "warning", why=why or str(error))
            return
        if workspace in self._open:  # another command was faster
            await listener.aclose()
            await _remove(directory)
            return
        gate = directory, CausedScope()
        body = partial(self._serve, workspace, owner, listener, gate)
        name = f"git gate {directory.name}"
        try:
            self._children.start(Child(name=name, body=body, when_ended=_nothing_to_do))
        except RuntimeFault as fault:  # all are stopping, or many have not ended yet
            emit("git_gate.missing", "warning", why=str(fault))
            await listener.aclose()
            await _remove(directory)
            return
        self._open[workspace] = gate

    def _close(self, workspace: UUID) -> None:
        found = self._open.pop(workspace, None)
        if found is not None:
            found[1].cancel(GateClosed())

    async def _serve(
        self,
        workspace: UUID,
        owner: UserId,
        listener: trio.SocketListener,
        gate: tuple[Path, CausedScope],
    ) -> None:
        places = trio.CapacityLimiter(CONNECTIONS_MAX)
        directory, scope = gate
        try:
            with scope:
                handler = partial(self._answer, workspace, owner, places)
                await trio.serve_listeners(handler, [listener])
        finally:
            if self._open.get(workspace) is gate:  # not one that was opened after it was closed
                del self._open[workspace]
            with trio.move_on_after(WRITE_SECONDS, shield=True):
                await _remove(directory)

    # one request

    async def _answer(
        self,
        workspace: UUID,
        owner: UserId,
        places: trio.CapacityLimiter,
        stream: trio.SocketStream,
    ) -> None:
        """Answer the one request of a connection. Whatever happens to it ends here."""
        async with stream:
            try:
                places.acquire_on_behalf_of_nowait(stream)
            except trio.WouldBlock:
                return
            try:
                did = await self._passing.answer(owner, stream)
                self._count(**{did.value: 1})
            except (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError):
                self._count(failed=1)
            except Exception as error:  # noqa: BLE001  the edge of a unit of work
                self._count(failed=1)
                emit("git_gate.failed", "error", workspace=str(workspace), error=error)
            finally:
                places.release_on_behalf_of(stream)

    def _count(self, **more: int) -> None:
        names = {f"{name}_count": number for name, number in more.items()}
        self._counts = replace(
            self._counts,
            **{name: getattr(self._counts, name) + number for name, number in names.items()},
        )


def _make(directory: Path) -> socket:
    """Make the directory of a gate. Return the socket in it, which listens, however long the path
    is."""
    directory.mkdir(parents=True, mode=0o700)
    for name, script in ((HELPER, _SCRIPT), (LFS_AGENT, _LFS_SCRIPT)):
        (directory / name).write_text(script)
        (directory / name).chmod(0o755)
    relay = files("adapters.chats.changes.git_gate").joinpath("relay.py").read_text()
    (directory / RELAY).write_text(relay)
    number = os.open(directory, os.O_PATH | os.O_DIRECTORY)
    try:
        listening = socket(AF_UNIX, SOCK_STREAM)
        listening.bind(f"/proc/self/fd/{number}/{SOCKET}")
    finally:
        os.close(number)
    listening.listen(CONNECTIONS_MAX)
    listening.setblocking(False)
    return listening


async def _remove(directory: Path) -> None:
    """Remove the directory of a gate. Where the disk does not answer, the next process does it."""
    remove = partial(shutil.rmtree, directory, ignore_errors=True)
    with suppress(ThreadsBlocked):
        await write(PLACES, remove, grace_seconds=WRITE_SECONDS)


def _claimed(top: Path, own: Path) -> int:
    """Make the directory of this process, and remove those of processes that were killed. Return
    what holds its lock. One process at a time does this: a directory that has just been made is not
    locked yet, as if its process had been killed."""
    top.mkdir(parents=True, exist_ok=True, mode=0o700)
    alone = os.open(top, os.O_RDONLY)
    try:
        flock(alone, LOCK_EX)
        _remove_unlocked(top)
        own.mkdir(mode=0o700)
        lock = os.open(own / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        flock(lock, LOCK_EX | LOCK_NB)
    finally:
        os.close(alone)
    return lock


def _remove_unlocked(top: Path) -> None:
    """Remove the directories that no process holds."""
    for place in top.iterdir():
        with suppress(OSError):
            found = os.open(place / LOCK, os.O_RDWR)
            try:
                flock(found, LOCK_EX | LOCK_NB)
                shutil.rmtree(place, ignore_errors=True)
            finally:
                os.close(found)


def _nothing_to_do(name: str, end: End) -> None:
    """Do nothing: a gate that has ended is opened again by the next command."""


@asynccontextmanager
async def open_gates(
    top: Path,
    tokens: ForgeTokenStore,
    finder: BranchFinder,
    vault: Vault,
    forges: Sequence[Forge],
    *,
    dial: Dial,
    bus: Bus,
) -> AsyncIterator[GitGates]:
    """Keep gates for the length of the block. Each process has a directory of its own for them."""
    own = top / uuid4().hex[:12]
    lock = await write(PLACES, partial(_claimed, top, own), grace_seconds=WRITE_SECONDS)
    async with open_children("git gates", capacity=GATES_MAX) as children:
        gates = GitGates(own, tokens, finder, vault, forges, dial=dial, children=children)
        try:
            with gates.follow(bus):
                yield gates
        finally:
            with trio.move_on_after(WRITE_SECONDS, shield=True):
                os.close(lock)
                await _remove(own)
