"""The refresher: one task of a process that asks forges for the pull requests of all chats.

Every TICK_SECONDS it claims the branches that have waited longest, of whichever chats. A branch is
claimed by one process of a fleet at a time, for longer than a tick can take; so one whose process
has died is claimed again by another. While nothing is stale a tick is one statement.

All branches of one user at one forge are a group. A group has few requests under way at once, so a
forge that is slow, or asks for patience, holds up only the user whose token it is.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, NoReturn
from uuid import uuid4

import trio

from actors.law.ids import ChatId, UserId, chat_name
from adapters.chats.changes.forge_apis import ForgeApi
from adapters.chats.changes.forge_client import ForgeFailed, ForgeLimited, ForgeRefused
from adapters.chats.changes.pull_requests import (
    ForgeAccess,
    PullRequest,
    RefreshOutcome,
    fresh_seconds,
)
from adapters.chats.changes.store import BranchStore, StaleBranch, forge_token_subject
from adapters.postgres.driver.faults import DatabaseFault
from adapters.settings import Forge
from adapters.settings.forges import ForgeKind
from adapters.settings.secrets import CannotOpen, Vault
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

TICK_SECONDS = 10.0  # between two looks for branches that are stale
TICK_SECONDS_MAX = 30.0  # for all that was claimed; what is left is released, for the next tick
CLAIMED_MAX = 50  # branches with each tick; the rest waits for the next
AT_ONCE_MAX = 10  # branches that are asked about at once, of all groups
GROUP_AT_ONCE_MAX = 3  # likewise, of one group: forges look askance at more
CLOSED = "it was sealed with another secret key than that of this server; set it anew"
RELEASE_SECONDS = 5.0  # for what is left to be released; then the claims run out by themselves

Group = tuple[UserId, str]


@dataclass(frozen=True, slots=True)
class RefresherStatistics:
    asking: Annotated[int, GaugeMetric("Branches whose forge is being asked.")]
    claimed_count: Annotated[int, CounterMetric("Branches that were claimed to ask their forge.")]
    found_count: Annotated[int, CounterMetric("Pull requests that forges have told of.")]
    changed_count: Annotated[int, CounterMetric("Answers of forges that were news.")]
    failed_count: Annotated[int, CounterMetric("Questions to which a forge had no answer.")]
    refused_count: Annotated[int, CounterMetric("Questions that a forge refused, by the token.")]
    limited_count: Annotated[int, CounterMetric("Times that a forge has asked for patience.")]
    released_count: Annotated[
        int, CounterMetric("Branches that were claimed, and left for the next time.")
    ]


class Refresher:
    """Asks forges for the pull requests of branches. `run` it."""

    def __init__(
        self,
        store: BranchStore,
        apis: Mapping[ForgeKind, ForgeApi],
        vault: Vault,
        forges: Sequence[Forge],
        *,
        tick_seconds: float = TICK_SECONDS,
    ) -> None:
        self._store = store
        self._apis = apis
        self._vault = vault
        self._forges = {forge.host: forge for forge in forges}
        self._tick_seconds = tick_seconds
        self._claim = uuid4()
        self._places = trio.CapacityLimiter(AT_ONCE_MAX)
        self._counts = RefresherStatistics(0, 0, 0, 0, 0, 0, 0, 0)

    async def run(self) -> NoReturn:
        """Ask forges until cancelled. No fault of the database ends it."""
        while True:
            try:
                await self.tick()
            except DatabaseFault as fault:
                emit("pull_requests.unread", "warning", error=fault)
            await trio.sleep(self._tick_seconds)

    async def tick(self) -> None:
        """Ask about what is stale now, within TICK_SECONDS_MAX."""
        rows = await self._store.claim(self._claim, list(self._forges), rows_max=CLAIMED_MAX)
        if not rows:
            return
        self._count(claimed=len(rows))
        left = {row.chat_id: row for row in rows}
        groups: dict[Group, deque[StaleBranch]] = {}
        for row in rows:
            groups.setdefault((row.owner_id, row.host), deque()).append(row)
        try:
            with trio.move_on_after(TICK_SECONDS_MAX):
                async with trio.open_nursery() as nursery:
                    for waiting in groups.values():
                        for _ in range(min(GROUP_AT_ONCE_MAX, len(waiting))):
                            nursery.start_soon(self._work_off, waiting, left)
        finally:
            with trio.move_on_after(RELEASE_SECONDS, shield=True):
                await self._release(left)

    def statistics(self) -> RefresherStatistics:
        return replace(self._counts, asking=self._places.borrowed_tokens)

    async def _work_off(self, waiting: deque[StaleBranch], left: dict[ChatId, StaleBranch]) -> None:
        """Ask about the branches of a group, until none is left or its forge asks for patience."""
        while waiting:
            async with self._places:
                if not waiting:
                    return
                row = waiting.popleft()
                try:
                    await self._refresh(row)
                except ForgeLimited as limited:
                    waiting.clear()
                    self._count(limited=1)
                    emit("forge.limited", "info", host=row.host, seconds=round(limited.seconds))
                    await self._store.delay(row.owner_id, row.host, limited.seconds)
                    return
                except DatabaseFault as fault:
                    emit("pull_requests.unread", "warning", error=fault)
                    return
                left.pop(row.chat_id, None)

    async def _refresh(self, row: StaleBranch) -> None:
        """Ask about one branch, and write what is said."""
        outcome, found = await self._ask(row)
        seconds = fresh_seconds(
            outcome,
            seconds_since_push=row.seconds_since_push,
            seconds_since_work=row.seconds_since_work,
            is_archived=row.is_archived,
        )
        is_answer = outcome in (RefreshOutcome.FOUND, RefreshOutcome.NOT_FOUND)
        is_news = await self._store.record(
            self._claim, row, seconds=seconds, found=found, is_answer=is_answer
        )
        self._count(found=found is not None, changed=is_news)

    async def _ask(self, row: StaleBranch) -> tuple[RefreshOutcome, PullRequest | None]:
        access = await self._access_of(row)
        if access is None or row.sealed is None or row.is_archived:
            return RefreshOutcome.WITHOUT_TOKEN, None
        try:
            found = await self._apis[access.forge.kind].find(access, row.path, row.branch)
        except ForgeLimited:
            raise
        except ForgeRefused as refused:
            self._count(refused=1)
            await self._store.note_token(row.owner_id, row.host, row.sealed, str(refused))
            return RefreshOutcome.WITHOUT_TOKEN, None
        except ForgeFailed as failed:
            self._count(failed=1)
            emit("forge.failed", "info", chat=chat_name(row.chat_id), why=str(failed))
            return RefreshOutcome.FAILED, None
        except DatabaseFault:
            raise
        except Exception as error:  # noqa: BLE001  one answer must not end the others
            self._count(failed=1)
            emit("forge.misread", "error", chat=chat_name(row.chat_id), error=error)
            return RefreshOutcome.FAILED, None
        if row.failure:
            await self._store.note_token(row.owner_id, row.host, row.sealed, "")
        return (RefreshOutcome.NOT_FOUND if found is None else RefreshOutcome.FOUND), found

    async def _access_of(self, row: StaleBranch) -> ForgeAccess | None:
        if row.sealed is None:
            return None
        try:
            token = self._vault.open(row.sealed, forge_token_subject(row.owner_id, row.host))
        except CannotOpen as closed:
            emit("forge_token.closed", "warning", why=str(closed))
            await self._store.note_token(row.owner_id, row.host, row.sealed, CLOSED)
            return None
        return ForgeAccess(self._forges[row.host], token)

    async def _release(self, left: Mapping[ChatId, StaleBranch]) -> None:
        """Let the next tick, of whichever process, ask about what is left."""
        if not left:
            return
        self._count(released=len(left))
        try:
            await self._store.release(self._claim, list(left))
        except DatabaseFault as fault:
            emit("pull_requests.unread", "warning", error=fault)

    def _count(self, **more: int) -> None:
        names = {f"{name}_count": number for name, number in more.items()}
        self._counts = replace(
            self._counts,
            **{name: getattr(self._counts, name) + number for name, number in names.items()},
        )
