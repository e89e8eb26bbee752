"""The sessions of chats at work: one for each server that a chat uses, kept while it is used.

A session lives in a task of its own, so a caller that asks for it may be cancelled. It ends when
its chat comes to rest, when it has not been used for a while, or when it breaks; a caller that
needs it then gets another one. A server may therefore keep things for the length of a turn, and no
longer.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import httpx2
import trio

from actors.law.ids import ChatId
from actors.law.store.hints import ChatMoved, News
from adapters.tools.mcp.faults import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    SdkError,
    ServerFault,
    root_error,
    words_for,
)
from adapters.tools.mcp.http import CALL_SECONDS_MAX, CONNECT_SECONDS_MAX, Visit
from adapters.tools.mcp.oauth.challenges import wanted_scopes
from adapters.tools.mcp.sdk.loading import load_sdk
from adapters.tools.mcp.tolerance import RawResult, raw_result
from runtime.clock import now
from runtime.ends import Cause, holds_assertion
from runtime.log import emit
from runtime.scope import CausedScope
from runtime.statistics import CounterMetric, GaugeMetric

if TYPE_CHECKING:
    from mcp.client.client import Client

IDLE_SECONDS = 300.0  # without use; then it ends, and the next use makes another
LEAVE_SECONDS = 5.0  # for a farewell; then it is cut off
SESSIONS_MAX = 2_000  # of one process; then the one that was begun first ends

Open = Callable[[], AbstractAsyncContextManager["Client"]]


class SessionUnreachable(Exception):
    """There is no session, or it has ended. The error that it was raised from says why."""


@dataclass(frozen=True, slots=True)
class SessionLeft(Cause):
    """The session is not needed any more."""


@dataclass(frozen=True, slots=True)
class SessionStatistics:
    open: Annotated[int, GaugeMetric("Sessions with MCP servers that are open.")]
    opened_count: Annotated[int, CounterMetric("Sessions with MCP servers that were opened.")]


class Session:
    """A session with one server, which lives while `run` does.

    `client` waits until it is open. `leave`, or no use for `idle_seconds`, ends it.
    """

    def __init__(
        self, open: Open, visit: Visit | None = None, *, idle_seconds: float = IDLE_SECONDS
    ) -> None:
        self._open = open
        self.visit = visit or Visit()
        self._idle_seconds = idle_seconds
        self._scope = CausedScope()
        self._settled = trio.Event()  # it is open, or never will be
        self._leaving = trio.Event()
        self._used_at = now()
        self._client: Client | None = None
        self.error: Exception | None = None  # that ended it
        self.is_over = False
        self.ended = trio.Event()  # nothing of it is left

    async def client(self) -> "Client":
        """Return the client of the session, or raise what became of it."""
        self._used_at = now()
        await self._settled.wait()
        if self._client is None:
            raise SessionUnreachable("the session has ended") from self.error
        return self._client

    @property
    def is_settled(self) -> bool:
        """Return whether the session is open, or never will be."""
        return self._settled.is_set()

    def retire(self) -> None:
        """Let no further caller in. Those who are in may finish, and then the session ends for want
        of use."""
        self.is_over = True

    def leave(self) -> None:
        """End the session in good order, within LEAVE_SECONDS."""
        if not self._settled.is_set():
            self._scope.cancel(SessionLeft())
        self._leaving.set()

    async def run(self) -> None:
        try:
            with self._scope:
                async with self._open() as client:
                    self._client = client
                    self._settled.set()
                    await self._until_left()
                    self.is_over = True
                    self._scope.expire_in(LEAVE_SECONDS, SessionLeft())
        except* Exception as error:  # noqa: BLE001  it is told to who asks, and a bug to the log
            self.error = error
            note_bug(error)
        finally:
            self._client = None
            self.is_over = True
            self._settled.set()
            self.ended.set()

    async def _until_left(self) -> None:
        while (
            not self._leaving.is_set() and (rest := self._used_at + self._idle_seconds - now()) > 0
        ):
            with trio.move_on_after(rest):
                await self._leaving.wait()


async def call_in_session(
    session: Callable[[], Awaitable[Session]],
    tool: str,
    arguments: dict[str, Any],
    *,
    hidden: Sequence[str] = (),
) -> RawResult:
    """Call a tool and return what the server said. ServerFault: it failed, or took longer than
    CONNECT_SECONDS_MAX and CALL_SECONDS_MAX."""
    seconds, found = CONNECT_SECONDS_MAX, None
    try:
        await load_sdk()
        with trio.fail_after(seconds):
            found = await session()
            client = await found.client()
        seconds = CALL_SECONDS_MAX
        with trio.fail_after(seconds):
            return raw_result(await client.call_tool(tool, arguments))
    except trio.TooSlowError:
        raise ServerFault(f"the server did not answer within {seconds:g} s") from None
    except ServerFault:
        raise
    except Exception as error:
        raise await fault_of(error, found, *hidden) from error


def note_bug(error: Exception) -> None:
    """Tell the log of an assertion that failed, with all that was beside it.

    It ends no more than the session: the protocol's code is not ours, and what it asserts depends
    on what a server says, who could otherwise stop every chat that asks it.
    """
    if holds_assertion(error):
        emit("mcp.crashed", "error", error=error)


async def fault_of(error: Exception, session: Session | None, *hidden: str) -> ServerFault:
    """Return what went wrong in a session. A connection that is gone says less than what ended it,
    and the SDK less than the answer's status."""
    note_bug(error)
    if session is not None and _is_over(error):
        with trio.move_on_after(LEAVE_SECONDS):
            await session.ended.wait()
        error = session.error or error
    found, visit = root_error(error), Visit() if session is None else session.visit
    if isinstance(found, httpx2.HTTPStatusError):
        status = found.response.status_code
        wanted = wanted_scopes(status, found.response.headers.get("www-authenticate", ""))
        return ServerFault(words_for(found, *hidden), status, visit.token, wanted)
    is_vague = isinstance(found, SdkError) and found.code == INTERNAL_ERROR and visit.status
    words = f"it answered {visit.status}" if is_vague else words_for(error, *hidden)
    wanted = wanted_scopes(visit.status, visit.challenge)
    return ServerFault(words, visit.status, visit.token, wanted)


def _is_over(error: Exception) -> bool:
    is_gone = isinstance(error, SdkError) and error.code == CONNECTION_CLOSED
    return is_gone or isinstance(error, SessionUnreachable)


class SessionTable:
    """The sessions of this process, one for each chat and server."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._of_chats: dict[ChatId, dict[UUID, Session]] = {}
        self._count = self._opened_count = 0

    def statistics(self) -> SessionStatistics:
        return SessionStatistics(self._count, self._opened_count)

    def hear(self, news: News) -> None:
        """End the sessions of a chat whose turn is over. A chat that is interrupted still needs
        them: its call ends by the interrupt, and not by a connection that is gone."""
        if isinstance(news, ChatMoved) and news.status.ends_a_turn:
            self.leave(news.chat)

    def leave(self, chat: ChatId) -> None:
        """End all sessions of a chat."""
        for session in self._of_chats.pop(chat, {}).values():
            session.leave()

    def leave_one(self, chat: ChatId, server: UUID) -> None:
        """End the session of a chat with one server."""
        if (session := self.current(chat, server)) is not None:
            session.leave()

    def begin(self, chat: ChatId, server: UUID, open: Open, visit: Visit) -> Session:
        """Begin a session in the place of the one that there was."""
        self.leave_one(chat, server)
        if self._count >= SESSIONS_MAX and self._of_chats:  # those that are leaving count, too
            self.leave(next(iter(self._of_chats)))
        session = Session(open, visit)
        self._of_chats.setdefault(chat, {})[server] = session
        self._count += 1
        self._opened_count += 1
        self._nursery.start_soon(self._run, chat, server, session)
        return session

    def current(self, chat: ChatId, server: UUID) -> Session | None:
        """Return the session of a chat with a server, if one is kept."""
        found = self._of_chats.get(chat, {}).get(server)
        return None if found is None or found.is_over else found

    async def _run(self, chat: ChatId, server: UUID, session: Session) -> None:
        try:
            await session.run()
        finally:
            self._count -= 1
            of_chat = self._of_chats.get(chat, {})
            if of_chat.get(server) is session:
                del of_chat[server]
                if not of_chat:
                    del self._of_chats[chat]


@asynccontextmanager
async def open_sessions() -> AsyncIterator[tuple[SessionTable, trio.Nursery]]:
    """Give the sessions for the length of the block; at its end they are cut off."""
    async with trio.open_nursery() as nursery:
        yield SessionTable(nursery), nursery
        nursery.cancel_scope.cancel()
