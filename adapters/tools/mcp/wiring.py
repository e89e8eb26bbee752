"""The parts of servers of tools, put together; they are open as long as chats are run.

`ServerCalls` is what the tools of chats ask: the tools of a server for a chat, and a call of one.
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
from adapters.tools.mcp.faults import ServerFault, secrets_of, words_for
from adapters.tools.mcp.http import CONNECT_SECONDS_MAX, ServerAddress, Visit, silence_sdk_logs
from adapters.tools.mcp.listing import ServerTool, tool_server_of, tools_of
from adapters.tools.mcp.oauth.guard import Network, guarded_client
from adapters.tools.mcp.oauth.token_endpoint import OAuthClients
from adapters.tools.mcp.registry import ScopeAnswer, ServerRegistry, TokenRenewal
from adapters.tools.mcp.sdk.loading import load_sdk
from adapters.tools.mcp.servers import McpServer, headers_for
from adapters.tools.mcp.sessions import (
    Session,
    SessionTable,
    call_in_session,
    fault_of,
    note_bug,
    open_sessions,
)
from adapters.tools.mcp.store import ServerStore
from adapters.tools.mcp.tolerance import RawResult
from runtime.log import emit

UNAUTHORIZED = 401
FORBIDDEN = 403
UNKNOWN = 404  # also of a session that has ended there
WIDER = "it wants more than its user has allowed; they have to log in there again, and allow it"
_Done = TypeVar("_Done")


@dataclass(frozen=True, slots=True)
class ServerCalls:
    """The servers of this deployment, as chats use them."""

    registry: ServerRegistry
    renewal: TokenRenewal
    sessions: SessionTable
    # Why a server could not be used the last time that a chat of this process tried.
    faults: dict[UUID, str] = field(default_factory=dict)

    async def tools(self, chat: Chat, server: McpServer) -> Sequence[ServerTool]:
        """Return a server's tools, in a session that stays for the calls of the turn; none if it
        cannot be used within CONNECT_SECONDS_MAX."""
        hidden = list(secrets_of(server))

        async def listed() -> Sequence[ServerTool]:
            session = None
            try:
                session = await self._begin(chat, server, hidden)
                return await tools_of(await session.client(), tool_server_of(server))
            except ServerFault:
                raise
            except Exception as error:
                raise await fault_of(error, session, *hidden) from error

        try:
            await load_sdk()
            with trio.fail_after(CONNECT_SECONDS_MAX):
                tools = await self._twice(chat, server, listed)
        except Exception as error:  # noqa: BLE001  one server is not worth a turn
            note_bug(error)
            self._failed(chat, server, words_for(error, *hidden))
            return ()
        self.faults.pop(server.id, None)
        return tools

    async def call(
        self, chat: Chat, server: McpServer, tool: str, arguments: dict[str, Any]
    ) -> RawResult:
        """Call a tool. ServerFault: it failed; each try has CONNECT_SECONDS_MAX and
        CALL_SECONDS_MAX."""
        hidden = list(secrets_of(server))

        async def session() -> Session:
            found = self.sessions.current(chat.id, server.id)
            return found or await self._begin(chat, server, hidden)

        return await self._twice(
            chat, server, partial(call_in_session, session, tool, arguments, hidden=hidden)
        )

    async def _twice(
        self, chat: Chat, server: McpServer, work: Callable[[], Awaitable[_Done]]
    ) -> _Done:
        """Do the work, and try a second time if the server refused the token or does not know the
        session, and there is another one. The server has done nothing in these cases, so that the
        second try is safe."""
        fault = ServerFault("")
        for again in (False, True):
            try:
                return await work()
            except ServerFault as gone_wrong:
                fault = gone_wrong
            if not await self._may_help(chat, server, fault, again=again):
                break
        raise fault

    async def _may_help(
        self, chat: Chat, server: McpServer, fault: ServerFault, *, again: bool
    ) -> bool:
        """Return whether another session, with the token that there is by now, may do better."""
        if fault.status == FORBIDDEN:
            if not await self._is_allowed_more(chat, server, fault):
                return False
        elif fault.status not in (UNAUTHORIZED, UNKNOWN):
            return False
        session = self.sessions.current(chat.id, server.id)
        if session is not None and session.visit.token == fault.shown:
            session.retire()
        if fault.status == FORBIDDEN:
            return True
        if fault.status == UNKNOWN:
            return session is not None
        user = chat.owner_id
        return bool(fault.shown) and await self.renewal.replace_refused(
            server, user, refused=fault.shown, is_new=again
        )

    async def _is_allowed_more(self, chat: Chat, server: McpServer, fault: ServerFault) -> bool:
        """Return whether there is another token by now, which may allow what the server misses in
        the one that it was shown. ServerFault: its user is asked to log in again."""
        if not (fault.shown and fault.wanted):
            return False
        answer = await self.renewal.ask_for_scopes(
            server, chat.owner_id, shown=fault.shown, wanted=fault.wanted
        )
        if answer is ScopeAnswer.ASKED:
            raise ServerFault(f"{WIDER}: {fault.wanted}", FORBIDDEN) from fault
        return answer is ScopeAnswer.ANOTHER_TOKEN

    async def _begin(self, chat: Chat, server: McpServer, hidden: list[str]) -> Session:
        if server.fault:
            raise ServerFault(server.fault)
        token = None
        if server.config.auth_type == "oauth2":
            token = await self.renewal.token(server, chat.owner_id)
            hidden += [token.access_token, token.refresh_token] if token else []
        is_sse = server.config.transport == "sse"
        place = ServerAddress(server.config.url, headers_for(server, chat, token), is_sse)
        visit = Visit(token.access_token if token else "")
        way = partial((await load_sdk()).connect, place, visit)
        return self.sessions.begin(chat.id, server.id, way, visit)

    def _failed(self, chat: Chat, server: McpServer, why: str) -> None:
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
    """The servers of tools, for those who serve clients and for the tools of chats."""

    store: ServerStore
    registry: ServerRegistry
    calls: ServerCalls
    clients: OAuthClients  # for the endpoints of authorization servers

    def statistics(self) -> Mapping[str, Any]:
        return {"known": self.registry.statistics(), "sessions": self.calls.sessions.statistics()}


@asynccontextmanager
async def open_mcp(
    pool: Pool, bus: Bus, *, vault: Vault, allowed: Sequence[Network] = ()
) -> AsyncIterator[Mcp]:
    silence_sdk_logs()
    stored = ServerStore(pool, tell=bus.tell)
    known = ServerRegistry(stored, vault)
    async with (
        httpx2.AsyncClient(trust_env=False) as client,
        guarded_client(allowed) as guarded,
        open_sessions() as (sessions, nursery),
    ):
        clients = OAuthClients(client, guarded)
        renewing = TokenRenewal(known, stored, vault, clients, nursery)
        with known.follow(bus), bus.follow(sessions.hear, ChatMoved):
            yield Mcp(stored, known, ServerCalls(known, renewing, sessions), clients)
