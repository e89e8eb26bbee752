"""The context that chats have of their workspaces: pinned when a chat first works in one, and from
then on the same in every turn, until the chat is told to take in what stands there now.

A chat without a workspace costs nothing; one whose workspace cannot be looked at goes on without,
says why, and tries again after a while. What is known here is forgotten when news comes that it was
pinned anew, and after a while in any case, should the news have got lost.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from posixpath import dirname
from typing import Protocol
from uuid import UUID

import trio

from actors.law.chat import Chat
from actors.law.ids import ChatId
from actors.law.store.hints import ContextChanged, HintsLost, News
from actors.law.store.ports import Bus
from actors.prompts.ports import SkillText, UnreadableFile
from actors.prompts.resources import Resource, WorkspaceResources, instructions_text
from actors.prompts.skills import SkillSummary
from actors.tools.workspaces import ChatWorkspaces, WorkspaceRefusal
from adapters.postgres.bus import Switchboard
from adapters.postgres.driver.pool import Pool
from adapters.settings.caching import Cache, CacheStatistics, RecentlyUsed
from adapters.workspaces.context.pins import ContextPins, Snapshots, SnapshotsStatistics
from adapters.workspaces.context.scan import WorkspaceScan
from adapters.workspaces.context.skills import list_files, read_file
from adapters.workspaces.context.watch import WatchStatistics, WorkspaceWatch
from adapters.workspaces.local import LocalWorkspaces
from adapters.workspaces.safe_paths import PathDenied
from runtime.children import Child, open_children
from runtime.restart import Restart
from runtime.threads import ThreadLimits, read

KEEP_SECONDS = 60.0  # what is known; and between two tries at a workspace that cannot be read
# Of which something is known; the one not asked for longest is forgotten. Likewise of those that
# were given a workspace in the middle of a turn: the oldest goes on without its context.
CHATS_MAX = 16_384
READS_MAX = 3  # of what is pinned anew while it is read; then the step goes without
FILES_SECONDS_MAX = 5.0  # to list or read what lies beside a skill; then it is told without
# Threads at that; those of a disk that hangs count until it answers, in their own workspace.
SKILL_FILES = ThreadLimits("skill_files", 64, per_key_max=2)


class WorkspaceLocator(Protocol):
    """Finds the workspace of a chat, and the directory of a workspace."""

    async def workspace_of(self, chat: ChatId) -> UUID | None: ...

    def home(self, workspace: UUID) -> str: ...


@dataclass(frozen=True, slots=True)
class PinnedContext:
    """The digest of what a chat has pinned of its workspace. Without a digest it has nothing, for
    instance because it has no workspace."""

    chat: ChatId
    workspace: UUID | None = None
    digest: bytes | None = None


@dataclass(frozen=True, slots=True)
class ShownContext:
    """A chat's resources, for its user; `home` is where they stand."""

    workspace: UUID
    home: str
    resources: Sequence[Resource]


@dataclass(frozen=True, slots=True)
class ContextStatistics:
    chats: CacheStatistics
    snapshots: SnapshotsStatistics
    watch: WatchStatistics


NOTHING = WorkspaceResources("")


class PinnedContexts:
    """Fulfils `actors.prompts.ports.WorkspaceSkills` and `WorkspaceWords`, and
    `adapters.workspaces.caretaker.WorkspaceListener`. It follows the bus as long as it is used."""

    def __init__(
        self,
        places: WorkspaceLocator,
        workspaces: ChatWorkspaces,
        *,
        pins: ContextPins,
        watch: WorkspaceWatch,
    ) -> None:
        self._places = places
        self._workspaces = workspaces
        self._pins = pins
        self._watch = watch
        self._snapshots = Snapshots()
        self._pinned: Cache[ChatId, PinnedContext] = Cache(
            self._read, keep_seconds=KEEP_SECONDS, max_entries=CHATS_MAX
        )
        self._bound: RecentlyUsed[ChatId, bool] = RecentlyUsed(CHATS_MAX)

    @contextmanager
    def follow(self, bus: Bus) -> Iterator[None]:
        with bus.follow(self.hear, ContextChanged):
            yield

    def hear(self, news: News) -> None:
        match news:
            case ContextChanged(chat=chat):
                self._pinned.drop(chat)
            case HintsLost():
                self._pinned.drop_all()
            case _:
                pass

    def opened(self, chat: Chat) -> None:
        """Take note that a chat has a workspace, which its row need not say yet."""
        self._pinned.drop(chat.id)
        self._bound.put(chat.id, True)

    async def closed(self, workspace: UUID) -> None:
        """Do nothing: what chats know of the workspace stays as it is."""

    def running(self) -> Mapping[UUID, int]:
        return {}  # it only looks

    # for turns

    async def instructions(self, chat: Chat) -> str | None:
        """Return what the turn is told of the chat's workspace."""
        pinned, snapshot = await self._of(chat)
        if pinned.workspace is None:
            return None
        return instructions_text(snapshot, self._places.home(pinned.workspace))

    async def of(self, chat: Chat) -> Sequence[SkillSummary]:
        _, snapshot = await self._of(chat)
        return snapshot.skills

    async def settings(self, chat: Chat) -> tuple[str, ...]:
        """Return the workspace's files that name servers of tools. The first one to name a server
        counts."""
        _, snapshot = await self._of(chat)
        return snapshot.settings

    async def text(self, chat: Chat, name: str) -> SkillText | UnreadableFile:
        pinned, snapshot = await self._of(chat)
        skill = snapshot.skill(name)
        if skill is None or pinned.workspace is None:
            return UnreadableFile(f"name: there is no skill {name!r}")
        directory = dirname(skill.path)
        where = f"{self._places.home(pinned.workspace)}/{directory}"
        return SkillText(where, skill.text, await self._files(chat, directory))

    async def file(
        self, chat: Chat, name: str, path: str, *, bytes_max: int
    ) -> bytes | UnreadableFile:
        _, snapshot = await self._of(chat)
        skill = snapshot.skill(name)
        if skill is None:
            return UnreadableFile(f"name: there is no skill {name!r}")
        workspace = await self._workspaces.of(chat)
        if isinstance(workspace, WorkspaceRefusal):
            return UnreadableFile(workspace.says)
        with trio.move_on_after(FILES_SECONDS_MAX):
            directory = dirname(skill.path)
            look = partial(read_file, workspace.home, directory, path, bytes_max)
            return await read(SKILL_FILES, look, key=workspace.id)
        return UnreadableFile(f"{path}: could not be read within {FILES_SECONDS_MAX:g} s")

    # for users

    async def refresh(self, chat: ChatId) -> UnreadableFile | None:
        """Pin what stands in the workspace now, for the chat's next step. Return why that was not
        possible: then the chat keeps what it knew."""
        workspace = await self._places.workspace_of(chat)
        if workspace is None:
            return None
        found = await self._watch.look(workspace)
        if isinstance(found, UnreadableFile):
            await self._pins.note_unreadable_for(chat, workspace, found.why)
            return found
        await self._pin(chat, workspace, found, again=True)
        return None

    async def shown(self, chat: ChatId) -> ShownContext | None:
        """Return the chat's resources, or None if it has none."""
        pinned = await self._known(chat)
        if pinned.workspace is None or pinned.digest is None:
            return None
        self._watch.watch(pinned.workspace)
        snapshot = await self._snapshot(pinned)
        home = self._places.home(pinned.workspace)
        return ShownContext(pinned.workspace, home, () if snapshot is None else snapshot.resources)

    def statistics(self) -> ContextStatistics:
        return ContextStatistics(
            self._pinned.statistics(), self._snapshots.statistics(), self._watch.statistics()
        )

    # what is known

    async def _of(self, chat: Chat) -> tuple[PinnedContext, WorkspaceResources]:
        """A root whose row names no workspace has none. Agents work where their root does, whatever
        their own rows say."""
        if chat.is_root and chat.workspace_id is None and chat.id not in self._bound:
            return PinnedContext(chat.id), NOTHING
        known = self._pinned.peek(chat.id)
        if known is not None and self._has_moved(chat, known):
            self._pinned.drop(chat.id)
        for _ in range(READS_MAX):
            pinned = await self._pinned.get(chat.id)
            snapshot = await self._snapshot(pinned)
            if chat.workspace_id == pinned.workspace:  # its row says it by now
                self._bound.pop(chat.id)
            if snapshot is not None:
                return pinned, snapshot
            self._pinned.drop(chat.id)
        return pinned, NOTHING

    def _has_moved(self, chat: Chat, known: PinnedContext) -> bool:
        """Return whether the chat was given another workspace. One that it has made itself does not
        count: its row need not say so yet."""
        is_said = chat.is_root and chat.id not in self._bound
        return is_said and chat.workspace_id not in (None, known.workspace)

    async def _read(self, chat: ChatId) -> PinnedContext:
        """Return what is pinned, for a turn. What was never pinned is pinned now."""
        pinned = await self._known(chat)
        if pinned.workspace is None:
            return pinned
        if pinned.digest is not None:
            self._watch.watch(pinned.workspace)
            return pinned
        found = await self._watch.look(pinned.workspace)
        if isinstance(found, UnreadableFile):
            await self._pins.note_unreadable_for(chat, pinned.workspace, found.why)
            self._pinned.put(chat, pinned)  # our own news of it must not make the turn try again
            return pinned
        await self._pin(chat, pinned.workspace, found, again=False)
        return await self._known(chat)  # another process may have been faster

    async def _pin(
        self, chat: ChatId, workspace: UUID, found: WorkspaceScan, *, again: bool
    ) -> None:
        await self._pins.pin(
            chat, workspace, digest=found.digest, snapshot=found.snapshot, again=again
        )
        latest = self._watch.latest(workspace)
        if latest not in (None, found.digest):  # told of before there was anything to be dirty
            await self._pins.note_contents(workspace, latest)

    async def _known(self, chat: ChatId) -> PinnedContext:
        workspace = await self._places.workspace_of(chat)
        pin = None if workspace is None else await self._pins.of(chat, workspace)
        return PinnedContext(chat, workspace, None if pin is None else pin.digest)

    async def _snapshot(self, pinned: PinnedContext) -> WorkspaceResources | None:
        """Return the snapshot, or None if it has just been pinned anew and the news has not come
        yet."""
        if pinned.digest is None:
            return NOTHING
        known = self._snapshots.get(pinned.digest)
        if known is None:
            known = await self._pins.snapshot(pinned.chat, pinned.digest)
            if known is not None:
                self._snapshots.put(pinned.digest, known)
        return known

    async def _files(self, chat: Chat, directory: str) -> tuple[str, ...]:
        """Return the files beside a skill, as far as they can be listed now."""
        workspace = await self._workspaces.of(chat)
        if isinstance(workspace, WorkspaceRefusal):
            return ()
        try:
            with trio.move_on_after(FILES_SECONDS_MAX):
                look = partial(list_files, workspace.home, directory)
                return await read(SKILL_FILES, look, key=workspace.id)
        except (PathDenied, OSError):
            pass
        return ()


@dataclass(frozen=True, slots=True)
class LocalLocator:
    """Fulfils `adapters.workspaces.context.pinned_contexts.WorkspaceLocator`."""

    workspaces: LocalWorkspaces

    async def workspace_of(self, chat: ChatId) -> UUID | None:
        row = await self.workspaces.registry.of(chat)
        return None if row is None else row.id

    def home(self, workspace: UUID) -> str:
        return self.workspaces.home(workspace)


@asynccontextmanager
async def open_contexts(
    workspaces: LocalWorkspaces, pool: Pool, bus: Switchboard
) -> AsyncIterator[PinnedContexts]:
    """Give the contexts of chats, and watch their workspaces, for the length of the block."""
    pins = ContextPins(pool, tell=bus.tell)
    watch = WorkspaceWatch(workspaces.home, pins)
    async with open_children("contexts", capacity=1) as children:
        children.start(Child(name="workspace watch", body=watch.run, restart=Restart()))
        contexts = PinnedContexts(LocalLocator(workspaces), workspaces, pins=pins, watch=watch)
        with contexts.follow(bus):
            yield contexts
