"""Servers that are set up, chats that use them, without a database."""

from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

from actors.chat.turn.ports import ToolInvocation
from actors.law.chat import Body, Message, Role
from actors.law.parts.message import TextPart, ToolCallPart
from adapters.tools.mcp.chat_tools.source import ServerTools
from adapters.tools.mcp.sdk.loading import load
from adapters.tools.mcp.servers import McpServer, ServerConfig, ServerSecrets
from adapters.tools.mcp.sessions import open_sessions
from adapters.tools.mcp.store import StoredServer
from adapters.tools.mcp.wiring import ServerCalls
from tests.actors.law.chats import ANN, State, a_chat

AT = datetime(2026, 1, 1, tzinfo=UTC)


def configured(server, *, slug="one", secrets=None, **more):
    config = ServerConfig(display_name=slug.title(), slug=slug, url=server.url, **more)
    stored = StoredServer(uuid4(), slug, b"", b"", AT, AT, everybody=True)
    return McpServer(stored, config, secrets or ServerSecrets())


class Known:
    """What is set up, as `adapters.tools.mcp.registry.Known` says it."""

    def __init__(self, *servers):
        self.there = {server.id: server for server in servers}

    async def servers(self):
        return self.there


class Window:
    """A model with so many tokens, as `actors.chat.turn.ports.Models` says it."""

    def __init__(self, tokens):
        self.context_limit = tokens

    async def model_for(self, chat):
        return self


class Renewing:
    """Everybody's token is this one."""

    def __init__(self, token):
        self._token = token

    async def token(self, server, user):
        return self._token


class NoWorkspaces:
    """No chat has one, as `adapters.tools.mcp.workspaces.servers.WorkspaceServers` says it."""

    def listing_number(self, chat):
        return 0

    def forget(self, chat):
        pass


@asynccontextmanager
async def tools_of(*servers, window=200_000, token=None, workspace_mcp=None, **counting):
    load()  # clocks that jump do not wait for threads
    async with open_sessions() as (sessions, _):
        reached = ServerCalls(Known(*servers), Renewing(token), sessions)
        yield ServerTools(reached, workspace_mcp or NoWorkspaces(), Window(window), **counting)


def using(*servers, **more):
    ids = tuple(server.id for server in servers)
    return replace(a_chat(State.R0).chat, owner_id=ANN, mcp_server_ids=ids, **more)


def said(words, id=1):
    return Message(id, 1, AT, False, Body(Role.USER, (TextPart(words),)))


HISTORY = (said("hello"),)


def calling(of, name, args="{}", history=HISTORY):
    return ToolInvocation(of, ToolCallPart("c1", name, args), history, show=lambda piece: None)


async def names(tools, of, history=HISTORY):
    return [tool.tool.name for tool in await tools.offered(of, history)]


def another(id):
    return UUID(int=id)
