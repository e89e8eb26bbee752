"""Everything about servers of tools, put together: open as long as chats are run.

`Reached` is what the tools of chats ask: the tools of a server for a chat, and a call of one.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

import httpx2
import trio

from actors.law.chat import Chat
from actors.law.ids import chat_name
from actors.law.store.hints import ChatMoved
from actors.law.store.ports import Bus
from adapters.postgres.driver.pool import Pool
from adapters.settings.secrets import Vault
from adapters.tools.mcp.faults import Fault, hidden_in, words_for
from adapters.tools.mcp.http import CONNECT_SECONDS_MAX, Address, Visit, quieten
from adapters.tools.mcp.listing import ServerTool, source_of, tools_of
from adapters.tools.mcp.oauth.guard import Network, guarded_client
from adapters.tools.mcp.oauth.renewal import Renewing
from adapters.tools.mcp.oauth.token_endpoint import Clients
from adapters.tools.mcp.registry import Known
from adapters.tools.mcp.sdk.loading import loaded
from adapters.tools.mcp.servers import Server, shown_to
from adapters.tools.mcp.sessions import Session, Sessions, called, fault_of, note_bug, open_sessions
from adapters.tools.mcp.store import Servers
from adapters.tools.mcp.tolerance import Result
from runtime.log import emit

UNAUTHORIZED = 401
UNKNOWN = 404  # also of a session that has ended there
_Done = TypeVar("_Done")


@dataclass(frozen=True, slots=True)
class Reached:
    """The servers of this deployment, as chats use them."""

    known: Known
    renewing: Renewing
    sessions: Sessions
    # Why a server could not be used the last time that a chat of this process tried.
    faults: dict[UUID, str] = field(default_factory=dict)

    async def tools(self, chat: Chat, server: Server) -> Sequence[ServerTool]:
        """Its tools, in a session that stays for the calls of the turn; none if it cannot be used,
        within CONNECT_SECONDS_MAX."""
        hidden = list(hidden_in(server))

        async def listed() -> Sequence[ServerTool]:
            session = None
            try:
                session = await self._begin(chat, server, hidden)
                return await tools_of(await session.client(), source_of(server))
            except Fault:
                raise
            except Exception as error:
                raise await fault_of(error, session, *hidden) from error

        try:
            await loaded()
            with trio.fail_after(CONNECT_SECONDS_MAX):
                tools = await self._twice(chat, server, listed)
        except Exception as error:  # noqa: BLE001  one server is not worth a turn
            note_bug(error)
            self._failed(chat, server, words_for(error, *hidden))
            return ()
        self.faults.pop(server.id, None)
        return tools

    async def call(
        self, chat: Chat, server: Server, tool: str, arguments: dict[str, Any]
    ) -> Result:
        """Or `Fault`; each try within CONNECT_SECONDS_MAX and CALL_SECONDS_MAX."""
        hidden = list(hidden_in(server))

        async def session() -> Session:
            found = self.sessions.current(chat.id, server.id)
            return found or await self._begin(chat, server, hidden)

        return await self._twice(
            chat, server, partial(called, session, tool, arguments, hidden=hidden)
        )

    async def _twice(
        self, chat: Chat, server: Server, work: Callable[[], Awaitable[_Done]]
    ) -> _Done:
        """Once more with another token, if the first was not taken, or in another session, if the
        server knows of none. Nothing has been done then."""
        fault = Fault("")
        for again in (False, True):
            try:
                return await work()
            except Fault as gone_wrong:
                fault = gone_wrong
            if not await self._may_help(chat, server, fault, again=again):
                break
        raise fault

    async def _may_help(self, chat: Chat, server: Server, fault: Fault, *, again: bool) -> bool:
        """Whether another session, with what there is to be shown by now, may do better."""
        if fault.status not in (UNAUTHORIZED, UNKNOWN):
            return False
        session = self.sessions.current(chat.id, server.id)
        if session is not None and session.visit.token == fault.shown:
            session.retire()
        if fault.status == UNKNOWN:
            return session is not None
        user = chat.owner_id
        return bool(fault.shown) and await self.renewing.another(
            server, user, refused=fault.shown, is_new=again
        )

    async def _begin(self, chat: Chat, server: Server, hidden: list[str]) -> Session:
        if server.fault:
            raise Fault(server.fault)
        token = None
        if server.config.auth_type == "oauth2":
            token = await self.renewing.token(server, chat.owner_id)
            hidden += [token.access_token, token.refresh_token] if token else []
        is_sse = server.config.transport == "sse"
        place = Address(server.config.url, shown_to(server, chat, token), is_sse)
        visit = Visit(token.access_token if token else "")
        way = partial((await loaded()).reached, place, visit)
        return self.sessions.begin(chat.id, server.id, way, visit)

    def _failed(self, chat: Chat, server: Server, why: str) -> None:
        self.faults[server.id] = why
        self.sessions.leave_one(chat.id, server.id)
        emit(
            "mcp.unusable",
            "warning",
            chat=chat_name(chat.id),
            server=server.config.slug,
            url=server.config.bare_url,
            why=why,
        )


@dataclass(frozen=True, slots=True)
class Mcp:
    """For those who serve clients, and for the tools of chats."""

    stored: Servers
    known: Known
    reached: Reached
    clients: Clients  # for the endpoints of authorization servers

    def statistics(self) -> Mapping[str, Any]:
        return {"known": self.known.statistics(), "sessions": self.reached.sessions.statistics()}


@asynccontextmanager
async def open_mcp(
    pool: Pool, bus: Bus, *, vault: Vault, allowed: Sequence[Network] = ()
) -> AsyncIterator[Mcp]:
    quieten()
    stored = Servers(pool, tell=bus.tell)
    known = Known(stored, vault)
    async with (
        httpx2.AsyncClient(trust_env=False) as client,
        guarded_client(allowed) as guarded,
        open_sessions() as (sessions, nursery),
    ):
        clients = Clients(client, guarded)
        renewing = Renewing(known, stored, vault, clients, nursery)
        with known.follow(bus), bus.follow(sessions.hear, ChatMoved):
            yield Mcp(stored, known, Reached(known, renewing, sessions), clients)
