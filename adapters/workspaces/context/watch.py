"""The watch over workspaces that chats work in: it looks at one when a turn asks, and when
something in it changes.

What the system tells is a hint; behind it there is a slow look at all of them. At the bound a
workspace that no turn asks for is forgotten in favour of those that turns ask for, and looked at
again when its chats come back.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Annotated, Protocol
from uuid import UUID

import trio

from actors.prompts.ports import UnreadableFile
from adapters.postgres.driver.faults import DatabaseFault
from adapters.workspaces.context.inotify import Notice, Notices, NoticesLost, open_notices
from adapters.workspaces.context.scan import WatchedNames, WorkspaceScan, scan
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric
from runtime.threads import ThreadLimits, read

LOOK_SECONDS_MAX = 5.0  # for one look, as a turn waits for it; then the workspace is unread
# Threads at that; those of a disk that hangs count until it answers, in their own workspace.
LOOKS = ThreadLimits("workspace_looks", 64, per_key_max=2)
LOOKS_AT_ONCE = 4  # after notices and by the slow look; others wait
AGAIN_MAX = 3  # looks, as long as each finds more places to listen to; the slow look finds the rest
DEBOUNCE_SECONDS = 0.25  # after the first notice: who writes a file mostly writes more
POLL_SECONDS = 60.0
WORKSPACES_MAX = 256  # that are watched; at the bound the one asked for longest ago is not any more
PLACES_MAX = 1_024  # directories of one workspace; the rest is seen by the slow look

TOO_SLOW = f"the workspace could not be read within {LOOK_SECONDS_MAX:g} s"
GONE = "the directory of the workspace is not on this machine any more"


class WorkspaceContents(Protocol):
    """The store of pinned contexts, as far as the watch tells it what stands in a workspace."""

    async def note_contents(self, workspace: UUID, digest: bytes) -> None: ...

    async def note_unreadable(self, workspace: UUID, error: str) -> None: ...


@dataclass(frozen=True, slots=True)
class WatchStatistics:
    workspaces: Annotated[int, GaugeMetric("Workspaces whose context files are watched.")]
    places: Annotated[int, GaugeMetric("Directories in which changes of context files are heard.")]
    looks_count: Annotated[int, CounterMetric("Looks at the context files of a workspace.")]
    unread_count: Annotated[int, CounterMetric("Looks at context files that failed.")]
    moved_count: Annotated[
        int, CounterMetric("Looks that found other context files than the one before.")
    ]
    is_deaf: Annotated[
        bool,
        GaugeMetric(
            "1 when this system tells nothing of changes, so that only slow looks find them.",
            name="deaf",
        ),
    ]


@dataclass(slots=True, eq=False)
class _Watched:
    alone: trio.Lock = field(default_factory=trio.Lock)  # what was seen later is told later
    begun_count: int = 0  # looks
    # What the last one found, for those who wait for it.
    found: WorkspaceScan | UnreadableFile | None = None
    places: set[int] = field(default_factory=set)
    digest: bytes | None = None  # of what the store was told last; None: of nothing yet
    is_unread: bool = False  # which has been said already


class WorkspaceWatch:
    """The watch over the context files of workspaces.

    `run` it in a nursery. Changes of which the system tells nothing are found by the slow look.
    """

    def __init__(self, home_of: Callable[[UUID], str], contents: WorkspaceContents) -> None:
        self._home_of = home_of
        self._contents = contents
        self._watched: OrderedDict[UUID, _Watched] = OrderedDict()
        self._places: dict[int, tuple[UUID, frozenset[str] | None]] = {}
        self._notices: Notices | None = None
        self._due: set[UUID] = set()
        self._more = trio.lowlevel.ParkingLot()
        self._looks_count = self._unread_count = self._moved_count = 0

    async def look(self, workspace: UUID) -> WorkspaceScan | UnreadableFile:
        """Look at a workspace now, within LOOK_SECONDS_MAX, and watch it from now on. Callers that
        ask at the same time mostly share one look."""
        watched = self._keep(workspace)
        begun_count = watched.begun_count
        with trio.move_on_after(LOOK_SECONDS_MAX):
            async with watched.alone:
                if watched.begun_count == begun_count or watched.found is None:
                    await self._look_anew(workspace, watched)
                found = watched.found
                if not watched.alone.statistics().tasks_waiting:
                    watched.found = None
                assert found is not None, "it has been looked for"
                return found
        return self._unread(workspace, watched, TOO_SLOW)

    def watch(self, workspace: UUID) -> None:
        """Watch a workspace from now on. What has changed before is found in a moment."""
        if workspace not in self._watched:
            self._want(workspace)
        self._keep(workspace)

    def latest(self, workspace: UUID) -> bytes | None:
        """Return the digest that the store was told last."""
        watched = self._watched.get(workspace)
        return None if watched is None else watched.digest

    async def run(self) -> None:
        """Watch until cancelled."""
        with open_notices() as notices:
            self._notices = notices
            self._want(*self._watched)  # of a life before this one
            try:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._work)
                    nursery.start_soon(self._poll)
                    if notices is not None:
                        nursery.start_soon(self._hear, notices)
            finally:
                self._notices = None
                self._places.clear()
                for watched in self._watched.values():
                    watched.places = set()

    def statistics(self) -> WatchStatistics:
        return WatchStatistics(
            workspaces=len(self._watched),
            places=len(self._places),
            looks_count=self._looks_count,
            unread_count=self._unread_count,
            moved_count=self._moved_count,
            is_deaf=self._notices is None,
        )

    # looking

    async def _look_anew(self, workspace: UUID, watched: _Watched) -> None:
        watched.begun_count += 1
        watched.found = None
        found = await self._looked(workspace, watched)
        await self._tell(workspace, watched, found)
        watched.found = found

    async def _looked(self, workspace: UUID, watched: _Watched) -> WorkspaceScan | UnreadableFile:
        """Look until all places that were found are listened to: no later change is lost."""
        for _ in range(AGAIN_MAX):
            found = await self._look(workspace, watched)
            if isinstance(found, UnreadableFile):
                break
            if not await self._listen(workspace, watched, found.places):
                break
        return found

    async def _look(self, workspace: UUID, watched: _Watched) -> WorkspaceScan | UnreadableFile:
        self._looks_count += 1
        try:
            found = await read(LOOKS, partial(scan, self._home_of(workspace)), key=workspace)
        except FileNotFoundError:
            return self._unread(workspace, watched, GONE)
        except OSError as error:
            why = f"the workspace cannot be read: {error.strerror}"
            return self._unread(workspace, watched, why)
        except Exception as error:  # noqa: BLE001  # a bug over one workspace is not the others'
            emit("context.crashed", "error", workspace=str(workspace), error=error)
            return self._unread(workspace, watched, "the workspace cannot be made sense of")
        watched.is_unread = False
        return found

    def _unread(self, workspace: UUID, watched: _Watched, why: str) -> UnreadableFile:
        self._unread_count += 1
        if not watched.is_unread:
            emit("context.unread", "warning", workspace=str(workspace), why=why)
        watched.is_unread = True
        return UnreadableFile(why)

    async def _tell(
        self, workspace: UUID, watched: _Watched, found: WorkspaceScan | UnreadableFile
    ) -> None:
        """Tell the store what was found. If it does not answer now, the next look tells it."""
        try:
            match found:
                case WorkspaceScan(digest=digest) if digest != watched.digest:
                    self._moved_count += watched.digest is not None
                    await self._contents.note_contents(workspace, digest)
                    watched.digest = digest
                case UnreadableFile(why) if watched.digest is not None:
                    watched.digest = None
                    await self._contents.note_unreadable(workspace, why)
                case _:
                    pass  # as before
        except DatabaseFault as fault:
            emit("context.untold", "warning", workspace=str(workspace), error=fault)

    # listening

    def _keep(self, workspace: UUID) -> _Watched:
        watched = self._watched.setdefault(workspace, _Watched())
        self._watched.move_to_end(workspace)
        if len(self._watched) > WORKSPACES_MAX:
            _, gone = self._watched.popitem(last=False)
            self._ignore(gone.places)
        return watched

    async def _listen(self, workspace: UUID, watched: _Watched, places: WatchedNames) -> bool:
        """Listen to these places. Return whether there are more than before: something may have
        changed in them before."""
        notices = self._notices
        if notices is None:
            return False
        begin = partial(_listened, notices, dict(islice(places.items(), PLACES_MAX)))
        heard = await read(LOOKS, begin, key=workspace)
        if self._notices is not notices or self._watched.get(workspace) is not watched:
            return False
        self._ignore(watched.places - heard.keys())
        self._places |= {number: (workspace, names) for number, names in heard.items()}
        has_more = not heard.keys() <= watched.places
        watched.places = set(heard)
        return has_more

    def _ignore(self, places: set[int]) -> None:
        for number in places:
            if self._places.pop(number, None) is not None and self._notices is not None:
                self._notices.ignore(number)

    async def _hear(self, notices: Notices) -> None:
        while True:
            for notice in await notices.next():
                match notice:
                    case NoticesLost():
                        self._want(*self._watched)
                    case Notice(place, name, is_last):
                        self._note_change(place, name)
                        if is_last:
                            self._forget(place)

    def _note_change(self, place: int, name: str) -> None:
        workspace, names = self._places.get(place, (None, None))
        if workspace is not None and (names is None or not name or name in names):
            self._want(workspace)

    def _forget(self, place: int) -> None:
        workspace, _ = self._places.pop(place, (None, None))
        watched = None if workspace is None else self._watched.get(workspace)
        if watched is not None:
            watched.places.discard(place)

    def _want(self, *workspaces: UUID) -> None:
        self._due.update(workspaces)
        self._more.unpark()

    async def _work(self) -> None:
        while True:
            while not self._due:
                await self._more.park()
            await trio.sleep(DEBOUNCE_SECONDS)
            due, self._due = self._due, set()
            # One that takes long takes nothing from the others.
            async with trio.open_nursery() as together:
                for place in range(LOOKS_AT_ONCE):
                    together.start_soon(self._look_at, list(due)[place::LOOKS_AT_ONCE])

    async def _look_at(self, workspaces: Sequence[UUID]) -> None:
        for workspace in workspaces:
            if workspace in self._watched:
                await self.look(workspace)

    async def _poll(self) -> None:
        while True:
            await trio.sleep(POLL_SECONDS)
            self._want(*self._watched)


def _listened(notices: Notices, places: WatchedNames) -> dict[int, frozenset[str] | None]:
    """Listen to these places, and return the numbers of those where that is possible. This runs in
    a thread, because the system walks the paths."""
    heard: dict[int, frozenset[str] | None] = {}
    for place, names in places.items():
        number = notices.listen(place)
        if number is not None:
            heard[number] = _both(heard[number], names) if number in heard else names
    return heard


def _both(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    return None if one is None or other is None else one | other
