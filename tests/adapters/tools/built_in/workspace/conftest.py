"""A chat with tools for its workspace, on a real database and a real disk."""

import json
import os
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import pytest

from actors.chat.turn.ports import ToolInvocation
from actors.law.ids import ChatId
from actors.law.parts.message import ToolCallPart
from actors.law.requests import CreateChat, NewChat
from adapters.chats.files.store import ChatFileKeeper
from adapters.postgres.bus import Switchboard
from adapters.tools.built_in.computer import ComputerTool
from adapters.tools.built_in.lifecycle import LifecycleTools
from adapters.tools.built_in.workspace import WorkspaceTools
from adapters.workspaces.commands.process_groups import open_lifeline
from adapters.workspaces.commands.processes import open_processes
from adapters.workspaces.commands.sandbox import NoSandbox, Unconfined, sandbox_of
from adapters.workspaces.desktop.desktops import Desktops, open_desktops
from adapters.workspaces.lifecycle import DEFAULT_RETENTION, WorkspaceLifecycle
from adapters.workspaces.local import LocalWorkspaces
from adapters.workspaces.store import WorkspaceRegistry
from adapters.workspaces.templates import Templates
from adapters.workspaces.terminals.sharing import SharedTerminals
from adapters.workspaces.terminals.terminals import Terminals
from runtime.children import open_children
from tests.actors.law.chats import ANN, BOB, user
from tests.adapters.postgres.stores import migrated_database, open_store
from tests.adapters.tools.offering import local_tools


@dataclass
class Daemon:
    """What one process has: commands, and a directory that it may share with others."""

    store: object
    workspaces: LocalWorkspaces
    lifecycle: WorkspaceLifecycle
    listeners: list  # those of its workspaces
    templates: Path
    desktops: Desktops
    calls: list = field(default_factory=list)

    async def chat(self, *, parent=None, owner=ANN, **columns):
        new = NewChat(
            ChatId(uuid4()),
            owner,
            parent_id=None if parent is None else parent.id,
            root_id=None if parent is None else parent.root,
            **columns,
        )
        await self.store.ledger.create(CreateChat(new, (user("hello", by=owner),)))
        return (await self.store.reading.view(new.id)).chat

    async def run(self, chat, name, /, _id=None, **arguments):
        """What comes of a call."""
        self.calls.append(name)
        call = ToolCallPart(_id or f"call-{len(self.calls)}", name, json.dumps(arguments))
        calling = ToolInvocation(chat, call, (), show=lambda piece: None)
        files = WorkspaceTools(self.workspaces, ChatFileKeeper(self.store.pool))
        computer = ComputerTool(self.desktops, ChatFileKeeper(self.store.pool))
        for source in (files, LifecycleTools(self.lifecycle), computer):
            if name in [tool.tool.name for tool in await local_tools(chat, source)]:
                return await source.run(calling, name)
        raise LookupError(name)

    async def call(self, chat, name, /, _id=None, **arguments):
        """What the model is told of it."""
        return json.loads((await self.run(chat, name, _id, **arguments)).result)

    async def fault(self, chat, name, /, **arguments):
        output = await self.run(chat, name, **arguments)
        assert output.is_error, output
        return json.loads(output.result)["error"]

    async def home(self, chat):
        made = await self.call(chat, "create_workspace", template_id="empty")
        return Path(made["path"])


@asynccontextmanager
async def a_daemon(
    store,
    top,
    sandbox=None,
    *,
    limits=DEFAULT_RETENTION,
    bus=None,
    environ=None,
    has_screens=False,
):
    bus = bus or Switchboard()
    async with open_processes() as table:
        workspaces = LocalWorkspaces(
            top / "workspaces",
            WorkspaceRegistry(store.pool),
            table=table,
            sandbox=sandbox or Unconfined(),
            environ=environ or os.environ,
            has_screens=has_screens,
        )
        async with open_desktops(workspaces) as desktops, no_terminals(workspaces) as terminals:
            listeners, templates = [desktops], Templates(top / "templates")
            lifecycle = WorkspaceLifecycle(
                workspaces, templates, terminals, bus=bus, limits=limits, listeners=listeners
            )
            with lifecycle.caretaker.follow(bus):
                yield Daemon(store, workspaces, lifecycle, listeners, top / "templates", desktops)


@asynccontextmanager
async def no_terminals(workspaces):
    """Terminals that no other process finds: nothing is made on the disk for them."""
    async with open_lifeline() as lifeline, open_children("terminals", capacity=1) as children:
        own = Terminals(workspaces, children, lifeline)
        yield SharedTerminals(workspaces.directory / ".terminals", own)


@pytest.fixture(scope="session")
def migrated(server):
    return migrated_database(server)


@pytest.fixture
async def store(migrated):
    async with open_store(migrated) as store:
        await store.add_users(ANN, BOB)
        yield store


@pytest.fixture(params=["none", "bubblewrap"])
async def daemon(request, store, tmp_path):
    sandbox = await sandbox_of(request.param, os.environ, network=False)
    assert not isinstance(sandbox, NoSandbox), sandbox.why
    async with a_daemon(store, tmp_path, sandbox) as daemon:
        yield daemon


@pytest.fixture
async def chat(daemon):
    return await daemon.chat()
