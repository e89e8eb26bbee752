"""The watchers of working trees: who may watch, and the actors that come and go with them."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Annotated
from uuid import UUID

from actors.law.ids import ChatId
from actors.law.store.ports import Bus
from adapters.workspaces.commands.process_groups import open_lifeline
from adapters.workspaces.commands.sandbox import NoSandbox
from adapters.workspaces.disk import DiskSilent
from adapters.workspaces.git.runner import GitRunner, GitStatistics
from adapters.workspaces.git.touched import TouchedPaths
from adapters.workspaces.git.trees import TreePorts, TreeWatcher, WatchedTree, WatchEnd
from adapters.workspaces.local import LocalWorkspaces
from adapters.workspaces.store import WorkspaceRow
from runtime.children import Child, Children, RunningChild, open_children
from runtime.ends import Broken, Cause, Crashed, End
from runtime.errors import RuntimeFault
from runtime.statistics import CounterMetric, GaugeMetric

WORKSPACES_MAX = 64  # that are watched in this process; one more is refused
WATCHERS_MAX = 32  # of one workspace; one more is refused


@dataclass(frozen=True, slots=True)
class Unwatched(Cause):
    """The last watcher of the workspace has gone."""


class TreesFull(Exception):
    """Refuses one more watcher: there are as many as may be. In words for people."""


class CannotWatch(Exception):
    """Refuses a watcher: there is nothing to watch. In words for people."""


@dataclass(frozen=True, slots=True)
class WorkingTreeStatistics:
    """The figures of what is watched."""

    workspaces: Annotated[int, GaugeMetric("Workspaces whose working trees are watched.")]
    watchers: Annotated[int, GaugeMetric("Watchers of working trees.")]
    scans_count: Annotated[int, CounterMetric("Looks at all repositories of a watched workspace.")]
    crashed_count: Annotated[int, CounterMetric("Watches over a workspace that crashed.")]
    git: GitStatistics


class WorkingTrees:
    """The watches over the working trees of workspaces."""

    def __init__(
        self, workspaces: LocalWorkspaces, runner: GitRunner, bus: Bus, children: Children
    ) -> None:
        self._workspaces = workspaces
        self._runner = runner
        self._children = children
        self._ports = TreePorts(bus, runner, self._is_busy, workspaces.registry.of)
        self._trees: dict[UUID, WatchedTree] = {}
        self._running: dict[WatchedTree, RunningChild] = {}
        self._numbers = count(1)
        self._is_leaving = False
        self._scans_count = self._crashed_count = 0

    async def workspace_to_watch(self, chat: ChatId) -> WorkspaceRow | None:
        """Return the workspace of a chat, or None if it has none. CannotWatch: git cannot look at
        it."""
        row = await self._workspaces.registry.of(chat)
        if row is None:
            return None
        if row.is_stopped:
            raise CannotWatch("Agent state is stopped: the workspace has to be started first.")
        if isinstance(self._workspaces.sandbox, NoSandbox):
            raise CannotWatch(f"Agent state is unavailable: {self._workspaces.sandbox.why}.")
        try:
            is_there = await self._workspaces.is_there(row)
        except DiskSilent as silent:
            raise CannotWatch(f"Agent state is disconnected: {silent}.") from silent
        if not is_there:
            raise CannotWatch("Chat workspace not found.")
        return row

    @contextmanager
    def watching(self, workspace: WorkspaceRow, chat: ChatId) -> Iterator[TreeWatcher]:
        """Watch a workspace for the sake of a chat, as long as the block runs. TreesFull: as many
        watch already as may."""
        tree = self._trees.get(workspace.id) or self._begin(workspace)
        if len(tree.watchers) >= WATCHERS_MAX:
            raise TreesFull(f"{WATCHERS_MAX} watch this workspace already; close one of them")
        watcher = tree.watch(chat)
        try:
            yield watcher
        finally:
            tree.leave(watcher)
            if not tree.watchers and self._trees.get(workspace.id) is tree:
                self._forget(tree)

    def leave(self) -> None:
        """End all watchers, so that they go on at another process."""
        self._is_leaving = True
        for tree in self._trees.values():
            tree.end(WatchEnd.LEAVING)

    def statistics(self) -> WorkingTreeStatistics:
        trees = self._trees.values()
        return WorkingTreeStatistics(
            len(trees),
            sum(len(tree.watchers) for tree in trees),
            self._scans_count + sum(tree.looks_count for tree in trees),
            self._crashed_count,
            self._runner.statistics(),
        )

    def _begin(self, workspace: WorkspaceRow) -> WatchedTree:
        if self._is_leaving:
            raise TreesFull("the server is stopping")
        if len(self._trees) >= WORKSPACES_MAX:
            raise TreesFull(f"{WORKSPACES_MAX} workspaces are watched here; try again later")
        tree = WatchedTree(workspace, TouchedPaths(self._workspaces.registry.pool), self._ports)
        try:
            self._running[tree] = self._children.start(
                Child(
                    name=f"working tree {workspace.id}, {next(self._numbers)}",
                    body=tree.run,
                    when_ended=partial(self._note_end, tree),
                )
            )
        except RuntimeFault as fault:  # all are stopping, or many have not ended yet
            raise TreesFull("no watch can be begun now; try again later") from fault
        self._trees[workspace.id] = tree
        return tree

    def _forget(self, tree: WatchedTree) -> None:
        del self._trees[tree.workspace.id]
        self._scans_count += tree.looks_count
        self._running[tree].stop(Unwatched())

    def _note_end(self, tree: WatchedTree, name: str, end: End) -> None:
        """Tell the watchers, if there are any, that their actor is gone."""
        self._crashed_count += isinstance(end, Crashed | Broken)
        del self._running[tree]
        if self._trees.get(tree.workspace.id) is tree:
            del self._trees[tree.workspace.id]
            self._scans_count += tree.looks_count
        tree.end(WatchEnd.BROKEN if isinstance(end, Crashed | Broken) else WatchEnd.LEAVING)

    async def _is_busy(self, chat: ChatId, workspace: UUID) -> bool:
        if workspace in self._workspaces.table.workspaces():
            return True
        return await self._workspaces.peers.is_busy(chat, workspace)


@asynccontextmanager
async def open_working_trees(workspaces: LocalWorkspaces, bus: Bus) -> AsyncIterator[WorkingTrees]:
    """Let working trees be watched, for the length of the block."""
    async with (
        open_lifeline() as lifeline,
        open_children("working trees", capacity=2 * WORKSPACES_MAX) as children,
    ):
        yield WorkingTrees(workspaces, GitRunner(workspaces, lifeline), bus, children)
