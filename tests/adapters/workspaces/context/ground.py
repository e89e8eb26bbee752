"""What chats know of workspaces that are plain directories, on a real database."""

import threading
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import trio
from trio.testing import wait_all_tasks_blocked

from actors.tools.workspaces import ChatWorkspace, WorkspaceRefusal
from adapters.workspaces.context.pinned_contexts import PinnedContexts
from adapters.workspaces.context.pins import ContextPins
from adapters.workspaces.context.watch import WorkspaceWatch
from adapters.workspaces.store import WorkspaceRegistry
from tests.patience import PATIENCE_SECONDS

SKILL = "---\nname: {name}\ndescription: {says}\n---\n{body}"


def skill(name="deploy", says="How we deploy", body="Run it twice."):
    return SKILL.format(name=name, says=says, body=body)


def put(home, **files):
    """Texts at their paths; None takes away what is there."""
    for path, text in files.items():
        place = Path(home) / path
        if text is None:
            place.unlink()
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())


@dataclass
class Disk:
    """The ports Places and Workspaces: each workspace is a directory below `top`."""

    registry: WorkspaceRegistry
    top: Path
    stopped: set = field(default_factory=set)
    elsewhere: dict = field(default_factory=dict)  # other places for some of them

    async def workspace_of(self, chat):
        row = await self.registry.of(chat)
        return None if row is None else row.id

    def home(self, workspace):
        return self.elsewhere.get(workspace) or str(self.top / str(workspace))

    async def of(self, chat):
        workspace = await self.workspace_of(chat.id)
        if workspace is None:
            return WorkspaceRefusal("this chat has no workspace")
        if workspace in self.stopped:
            return WorkspaceRefusal("the workspace is stopped")
        return ChatWorkspace(workspace, "w", self.home(workspace), None, None)

    async def make(self, store, *chats, owner, **files):
        """A workspace with these files, for these chats; its directory."""
        id = uuid4()
        await store.execute(
            "INSERT INTO workspaces (id, owner_id, name, template, memory_mb, file_mb, processes,"
            " seconds) VALUES (%(id)s, %(owner)s, %(id)s::uuid::text, 'empty', 1, 1, 1, 1)",
            id=id,
            owner=owner,
        )
        await self.give(store, id, *chats)
        return made(Path(self.home(id)), files)

    async def give(self, store, workspace, *chats):
        await store.execute(
            "UPDATE chats SET workspace_id = %(w)s WHERE id = ANY (%(chats)s)",
            w=workspace,
            chats=list(chats),
        )


def made(home, files):
    home.mkdir(parents=True)
    put(home, **files)
    return home


class Hanging:
    """The path of a disk that does not answer before it is told to."""

    def __init__(self):
        self.release = threading.Event()
        self._asked = threading.Event()

    async def leap_when_asked(self, clock, seconds):
        """Once it is asked, and not before, so much time passes, in ten leaps."""
        with trio.fail_after(PATIENCE_SECONDS):
            while not self._asked.is_set():
                await trio.sleep(0.005)
        for _ in range(10):
            clock.jump(seconds / 10)
            await wait_all_tasks_blocked()

    def __fspath__(self):
        self._asked.set()
        assert self.release.wait(PATIENCE_SECONDS)
        return "/nowhere"


def contexts_on(pool, tell, top=Path("/nowhere")):
    """Nobody watches, before somebody runs the watch."""
    disk, pins = Disk(WorkspaceRegistry(pool), top), ContextPins(pool, tell=tell)
    watch = WorkspaceWatch(disk.home, pins)
    return PinnedContexts(disk, disk, pins=pins, watch=watch), watch, disk
