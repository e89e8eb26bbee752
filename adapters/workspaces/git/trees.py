"""The working trees of workspaces that are watched: one actor for each workspace, shared by all who
watch it.

The actor reads what the chats have touched, looks at the repositories there, and keeps what it has
found. It does so when a call has written, when a watcher wishes it, and now and then while commands
run; otherwise it sleeps, and it is there only as long as it has watchers. News of the bus are
hints: the actor reads what is stored.

A watcher is a place in what the actor knows. There is no queue: one that is slow is told later, and
then what holds by then.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from uuid import UUID

import trio

from actors.law.ids import ChatId
from actors.law.store.hints import (
    ChatMoved,
    ContextChanged,
    HintsLost,
    ListChange,
    News,
    WorkspaceClosed,
)
from actors.law.store.ports import Bus
from adapters.postgres.driver.faults import DatabaseFault
from adapters.workspaces.disk import DiskSilent
from adapters.workspaces.git.looking import (
    Look,
    LookFailed,
    RepositoryGone,
    TreeNews,
    WorkingTree,
    too_large,
)
from adapters.workspaces.git.roots import REPOSITORIES_MAX, TouchedPath, is_root, roots_of
from adapters.workspaces.git.runner import GitRunner
from adapters.workspaces.git.schedule import LookSchedule
from adapters.workspaces.git.touched import CallsRead, TouchedPaths
from adapters.workspaces.store import WorkspaceRow
from runtime.clock import now, wall
from runtime.log import emit

DIFFS_CHARACTERS_MAX = 8 * 1024 * 1024  # of one workspace; the diffs that are over it are not shown

DATABASE_AWAY = "The database does not answer; the changes are looked for again in a moment."


class WatchEnd(Enum):
    """Why a watcher is told nothing more."""

    CLOSED = "the workspace was stopped, removed or changed"
    LEAVING = "the server is stopping"
    BROKEN = "the changes could not be followed"


@dataclass(frozen=True, slots=True)
class SeenRepository:
    """The last state of a repository, and the number of the look that found it."""

    look: Look
    version: int


@dataclass(frozen=True, slots=True)
class TreePorts:
    """The parts of the daemon that the actor asks."""

    bus: Bus
    runner: GitRunner
    is_busy: Callable[[ChatId, UUID], Awaitable[bool]]  # whether commands run in the workspace
    workspace_of: Callable[[ChatId], Awaitable[WorkspaceRow | None]]


class TreeWatcher:
    """A client that watches a workspace for the sake of a chat. Made by `WorkingTrees.watching`."""

    def __init__(self, tree: "WatchedTree", chat: ChatId) -> None:
        self.chat = chat
        self._tree = tree
        # Looks that it was told of. One that has just come waits, unless its chat is known already.
        self._looks = 0 if tree.knows(chat) else tree.looks_count
        self._told: dict[str, int] = {}  # versions of repositories
        self._trouble = 0
        self.end: WatchEnd | None = None

    def refresh(self) -> None:
        """Wish a look now. It is told of even if it finds nothing."""
        self._tree.want()

    async def next(self) -> TreeNews | WatchEnd:
        """Wait for the next look, and return what is new; or why there are no more."""
        while self.end is None:
            if self._looks < self._tree.looks_count:
                return self._news()
            await self._tree.news.park()
        return self.end

    def _news(self) -> TreeNews:
        tree = self._tree
        self._looks = tree.looks_count
        new = {
            root: seen
            for root, seen in tree.seen_by(self.chat).items()
            if self._told.get(root, 0) < seen.version
            and not (isinstance(seen.look, RepositoryGone) and root not in self._told)
        }
        self._told |= {root: seen.version for root, seen in new.items()}
        troubles = [
            f"{root}: {seen.look.why}"
            for root, seen in new.items()
            if isinstance(seen.look, LookFailed)
        ]
        if tree.trouble and self._trouble < tree.trouble_version:
            troubles.append(tree.trouble)
        self._trouble = tree.trouble_version
        told = {
            root: seen.look
            for root, seen in new.items()
            if isinstance(seen.look, WorkingTree | RepositoryGone)
        }
        return TreeNews(tree.scanned_at, told, tuple(troubles))


class WatchedTree:
    """The actor of one workspace. `run` it as long as it has watchers."""

    def __init__(self, workspace: WorkspaceRow, touched: TouchedPaths, ports: TreePorts) -> None:
        self.workspace = workspace
        self.watchers: set[TreeWatcher] = set()
        self.news = trio.lowlevel.ParkingLot()
        self.looks_count = 0
        self.scanned_at = wall()
        self.trouble, self.trouble_version = "", 0  # with the whole workspace
        self._ports = ports
        self._touched = touched
        self._schedule = LookSchedule()
        self._seen: dict[str, SeenRepository] = {}
        self._roots: Mapping[ChatId, frozenset[str]] = {}  # by the chat that is watched
        self._moved: dict[ChatId, int] = {}  # history versions
        self._due: set[ChatId] = set()  # whose calls are to be read
        self._are_families_due = True
        self._more = trio.Event()

    # what watchers do

    def watch(self, chat: ChatId) -> TreeWatcher:
        watcher = TreeWatcher(self, chat)
        self.watchers.add(watcher)
        self._are_families_due = True
        self.want()
        return watcher

    def leave(self, watcher: TreeWatcher) -> None:
        self.watchers.discard(watcher)

    def want(self) -> None:
        """Look as soon as may be."""
        self._schedule.want()
        self._more.set()

    def knows(self, chat: ChatId) -> bool:
        """Return whether it was looked at for this chat."""
        return chat in self._roots

    def seen_by(self, chat: ChatId) -> Mapping[str, SeenRepository]:
        """Return the repositories that a chat and its agents have touched."""
        roots = self._roots.get(chat, frozenset())
        return {root: seen for root, seen in self._seen.items() if root in roots}

    def end(self, why: WatchEnd, chat: ChatId | None = None) -> None:
        """Tell the watchers that there is nothing more; of one chat, or all of them."""
        for watcher in self.watchers:
            if chat is None or watcher.chat == chat:
                watcher.end = watcher.end or why
        self.news.unpark_all()

    # the actor

    async def run(self) -> None:
        """Look whenever it is time, until cancelled."""
        kinds = (ChatMoved, ContextChanged, WorkspaceClosed)
        with self._ports.bus.follow(self._hear, *kinds):
            while True:
                self._more = trio.Event()
                await self._read()
                if now() >= self._schedule.asks_at:
                    self._schedule.note_commands(now(), are_running=await self._is_busy())
                if now() >= self._schedule.looks_at:
                    await self._look()
                    is_busy = await self._is_busy()
                    self._schedule.note_commands_after_look(now(), are_running=is_busy)
                with trio.move_on_at(self._schedule.next_at):
                    await self._more.wait()

    def _hear(self, news: News) -> None:
        match news:
            case ChatMoved(chat=chat) if self._touched.knows(chat):
                if news.history_version != self._moved.get(chat):
                    self._moved[chat] = news.history_version
                    self._due.add(chat)
                else:
                    self._schedule.expect_commands(now())
            case ChatMoved(became=ListChange.CREATED) if news.owner_id in self._touched.owners:
                self._are_families_due = True
            case ContextChanged(chat=chat) if any(each.chat == chat for each in self.watchers):
                self._are_families_due = True
            case WorkspaceClosed(workspace=closed) if closed == self.workspace.id:
                self.end(WatchEnd.CLOSED)
            case HintsLost():
                self._are_families_due = True
            case _:
                return
        self._more.set()

    async def _read(self) -> None:
        """Read what the chats have touched, as far as something may be new."""
        if not self._are_families_due and not self._due:
            return
        try:
            if self._are_families_due:
                self._are_families_due = False
                await self._read_families()
            else:
                due, self._due = self._due, set()
                self._note_calls(await self._touched.read_calls(due))
        except DatabaseFault as fault:
            emit("git.unread", "warning", workspace=str(self.workspace.id), error=fault)
            self._are_families_due = True
            self._schedule.expect_commands(now())  # it is tried again by then
            self._note_trouble(DATABASE_AWAY)
            self._tell()
        else:
            if self.trouble == DATABASE_AWAY:
                self._schedule.want()

    async def _read_families(self) -> None:
        watched = {watcher.chat for watcher in self.watchers}
        for chat in watched:
            row = await self._ports.workspace_of(chat)
            if row is None or row.id != self.workspace.id or row.is_stopped:
                self.end(WatchEnd.CLOSED, chat)
        await self._touched.read_families(watched)
        self._due.clear()
        self._note_calls(await self._touched.read_calls())

    def _note_calls(self, read: CallsRead) -> None:
        if read.wrote:
            self._schedule.want()
        if read.began or read.wrote:
            self._schedule.expect_commands(now())

    async def _is_busy(self) -> bool:
        chat = next((watcher.chat for watcher in self.watchers), None)
        return chat is not None and await self._ports.is_busy(chat, self.workspace.id)

    async def _look(self) -> None:
        """Look at all repositories, and tell the watchers."""
        self._schedule.begin(now())
        looked_at = wall()
        touched = {watcher.chat: self._touched.of(watcher.chat) for watcher in self.watchers}
        runner = self._ports.runner
        try:
            find = partial(_places, runner.home(self.workspace), touched, list(self._seen))
            roots, gone = await runner.read_disk(self.workspace, find)
            found = await self._look_at(sorted(frozenset[str]().union(*roots.values())))
        except DiskSilent as silent:
            self._note_trouble(f"{silent}")
        else:
            self._roots = {
                chat: own | (self._roots.get(chat, frozenset()) & gone)
                for chat, own in roots.items()
            }
            self._note_looks({**dict.fromkeys(gone, RepositoryGone()), **found})
            self._note_trouble("")
        self._schedule.end(now())
        self.scanned_at = looked_at
        self._tell()

    def _tell(self) -> None:
        self.looks_count += 1
        self.news.unpark_all()

    async def _look_at(self, roots: list[str]) -> dict[str, Look]:
        found: dict[str, Look] = {}

        async def look(root: str) -> None:
            found[root] = await self._ports.runner.look(self.workspace, root)

        async with trio.open_nursery() as nursery:
            for root in roots[:REPOSITORIES_MAX]:
                nursery.start_soon(look, root)
        return _within_bounds(found)

    def _note_looks(self, found: Mapping[str, Look]) -> None:
        version = self.looks_count + 1
        for root, look in found.items():
            before = self._seen.get(root)
            if before is None or before.look != look:
                self._seen[root] = SeenRepository(look, version)
        for root in list(self._seen):
            if root not in found:
                del self._seen[root]

    def _note_trouble(self, trouble: str) -> None:
        if trouble != self.trouble:
            self.trouble, self.trouble_version = trouble, self.trouble_version + 1


def _places(
    home: str, touched: Mapping[ChatId, Sequence[TouchedPath]], known: Sequence[str]
) -> tuple[dict[ChatId, frozenset[str]], frozenset[str]]:
    """Return the roots for each watched chat, and those of the known ones that are gone. It looks
    at a disk."""
    roots = {chat: frozenset(roots_of(home, paths)) for chat, paths in touched.items()}
    return roots, frozenset(root for root in known if not is_root(root))


def _within_bounds(found: Mapping[str, Look]) -> dict[str, Look]:
    """Return the looks with as many diffs as may be shown together, in the order of their roots."""
    bounded: dict[str, Look] = {}
    total = 0
    for root, look in sorted(found.items()):
        bounded[root] = look
        if isinstance(look, WorkingTree):
            size = len(look.unified_diff)
            if total + size > DIFFS_CHARACTERS_MAX:
                why = f"{size} characters, and all of the workspace at most {DIFFS_CHARACTERS_MAX}"
                bounded[root] = replace(look, unified_diff=too_large(why))
            else:
                total += size
    return bounded
