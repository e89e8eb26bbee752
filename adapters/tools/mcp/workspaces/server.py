"""A server that a workspace names: begun when it is needed, kept while it is used.

A turn waits for it DISCOVERY_SECONDS and no longer; one that takes longer to begin goes on
beginning, and is there for a later step. When it has broken it is begun again by whoever needs it,
until it has broken too often.
"""

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

import trio

from adapters.tools.mcp.faults import Fault, words_for
from adapters.tools.mcp.listing import ServerTool, Source, source_in_workspace, tools_of
from adapters.tools.mcp.sessions import LEAVE_SECONDS, Session, called, fault_of
from adapters.tools.mcp.speaking.loading import loaded
from adapters.tools.mcp.tolerant import Result
from adapters.tools.mcp.workspaces.named import Named
from runtime.clock import now
from runtime.log import emit

if TYPE_CHECKING:
    from mcp.client.client import Client

DISCOVERY_SECONDS = 5.0  # that a turn waits for its tools; then it has none, or those of before
START_SECONDS = 120.0  # to begin, and to fetch what it needs for that; then it counts as broken
IDLE_SECONDS = 900.0  # without use; then it ends, and the next use begins another
# Broken so often within so long it is left alone, until the first of these times is that long ago.
BROKEN_MAX, BROKEN_SECONDS = 3, 600.0

RUNNING_MAX = 256  # of this process; one more is not begun

Open = Callable[[], AbstractAsyncContextManager["Client"]]


class Room:
    """In which servers run; as long as the nursery is open."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self.running = 0

    def take(self, life: Callable[[], Awaitable[None]]) -> None:
        """Or `Fault`."""
        if self.running >= RUNNING_MAX:
            raise Fault(f"{self.running} servers of workspaces run already, which is the limit")
        self.running += 1
        self._nursery.start_soon(self._live, life)

    async def _live(self, life: Callable[[], Awaitable[None]]) -> None:
        try:
            await life()
        finally:
            self.running -= 1


@dataclass(eq=False, slots=True)
class NamedServer:
    """`open`: how to speak with it, or why not. `disk_mb`: of its workspace's share of the disk; 0:
    it cannot write there."""

    workspace: UUID
    named: Named
    open: Open | str
    room: Room
    disk_mb: int = 0
    tools: Sequence[ServerTool] = ()  # as they were last heard
    fault: str = ""  # why it could not be used the last time
    _session: Session | None = None
    _is_late: bool = False
    _broken: list[tuple[float, str]] = field(default_factory=list)  # when, and why

    @property
    def source(self) -> Source:
        return source_in_workspace(self.named.name)

    @property
    def is_running(self) -> bool:
        return self._session is not None and not self._session.ended.is_set()

    @property
    def is_late(self) -> bool:
        """It was still on its way when it was last asked."""
        return self._is_late

    @property
    def has_come(self) -> bool:
        """It was late, and is there now; or never will be."""
        return self._is_late and self._session is not None and self._session.is_settled

    async def listed(self) -> Sequence[ServerTool]:
        """Its tools, within DISCOVERY_SECONDS."""
        session, self._is_late = None, False
        try:
            await loaded()
            with trio.fail_after(DISCOVERY_SECONDS):
                session = await self.session()
                self.tools = await tools_of(await session.client(), self.source)
            self.fault = ""
        except trio.TooSlowError:
            self._is_late = session is not None and not session.is_settled
            self._failed(f"it was not ready within {DISCOVERY_SECONDS:g} s, and may be later")
        except Exception as error:  # noqa: BLE001  one server is not worth a turn
            self.tools = ()
            self._failed(str(await fault_of(error, session)))
        return self.tools

    async def call(self, tool: str, arguments: dict[str, Any]) -> Result:
        """Or `Fault`."""
        return await called(self.session, tool, arguments)

    async def session(self) -> Session:
        """The one that there is, or another; `Fault`, if it is not begun."""
        if self._session is not None and not self._session.is_over:
            return self._session
        if isinstance(self.open, str):
            raise Fault(self.open)
        self._broken = [(at, why) for at, why in self._broken if now() - at < BROKEN_SECONDS]
        if len(self._broken) >= BROKEN_MAX:
            raise Fault(
                f"it broke {len(self._broken)} times within {BROKEN_SECONDS:g} s, and is left alone"
                f" for a while; the last time: {self._broken[-1][1]}"
            )
        session = Session(partial(_in_time, self.open), idle_seconds=IDLE_SECONDS)
        self.room.take(partial(self._live, session))
        self._session = session
        return session

    async def _live(self, session: Session) -> None:
        await session.run()
        if session.error is not None:
            why = words_for(session.error)
            self._broken.append((now(), why))
            self._failed(why)

    def leave(self) -> None:
        if self._session is not None:
            self._session.leave()

    async def left(self) -> None:
        """When nothing of it is left."""
        if self._session is not None:
            with trio.move_on_after(2 * LEAVE_SECONDS):
                await self._session.ended.wait()

    def _failed(self, why: str) -> None:
        if why != self.fault:
            self.fault = why
            named = self.named.name
            emit("mcp.unusable", "warning", workspace=str(self.workspace), server=named, why=why)


@asynccontextmanager
async def _in_time(way: Open) -> AsyncIterator["Client"]:
    with trio.fail_after(START_SECONDS) as patience:
        async with way() as client:
            patience.deadline = math.inf
            yield client
