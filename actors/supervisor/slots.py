"""Places for chats in this process: taken by an actor, promised to a sender, or free. Pure.

A sender who finds a place free acquires the chat for this process in his own transaction, so it
needs no search and no second statement:

    claim = slots.claim(is_root=True, now=now())
    applied = await ledger.create(request, [] if claim is None else claim.requests)
    if claim is not None:
        take(supervisor, claim, applied.stored)      or, if it was refused: slots.release(claim)

A sender who forgets his claim, or dies over it, keeps the place for `claim_seconds`; if he had
committed, the next comparison with the store finds the chat.

A chat that waits for its client or for a person takes no place, up to `Limits.waiting` of them: so
many may wait for days, and others go on. When it is answered it goes on at once, even if its place
has been taken; then nothing is begun until so many have ended.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from actors.law.ids import Holder, RunnerId, WorkerId
from actors.law.requests import Request, TakeUp
from actors.law.store.ports import AcquireLimits
from actors.supervisor.deps import SupervisorLimits
from runtime.statistics import CounterMetric, GaugeMetric


@dataclass(frozen=True, slots=True)
class Claim:
    """A place that was promised, until then; and who the chat's actor will be."""

    holder: Holder
    is_root: bool
    until: float

    @property
    def requests(self) -> tuple[Request, ...]:
        """What takes a chat up whose work begins, behind what puts it to work. If somebody holds
        it, nothing comes of it: look at the holder before you hand the chat over."""
        return (TakeUp(self.holder),)


@dataclass(frozen=True, slots=True)
class SlotsStatistics:
    worker: WorkerId | None
    roots: Annotated[int, GaugeMetric("Root chats that take a place here.")]
    roots_max: Annotated[int, GaugeMetric("Root chats that may take a place here at most.")]
    children: Annotated[int, GaugeMetric("Chats of agents that take a place here.")]
    children_max: Annotated[int, GaugeMetric("Chats of agents that may take a place here at most.")]
    waiting: Annotated[
        int,
        GaugeMetric("Chats that are held here and wait for others, so that they take no place."),
    ]
    claimed: Annotated[int, GaugeMetric("Places that are promised to chats that are being taken.")]
    expired_count: Annotated[int, CounterMetric("Promised places that no chat came for in time.")]


class Slots:
    """Synchronous, and shared by the supervisor with whoever puts chats to work."""

    def __init__(self, limits: SupervisorLimits, new_id: Callable[[], UUID]) -> None:
        self.worker: WorkerId | None = None  # None: we have no lease, nothing can be claimed
        self._limits = limits
        self._new_id = new_id
        self._taken: dict[RunnerId, bool] = {}  # True: a root
        self._waiting: set[RunnerId] = set()  # of these, those that take no place
        self._claims: dict[RunnerId, Claim] = {}  # in the order of their ends
        self._roots = 0  # taken or promised
        self._searched_for = 0  # places that the search under way may fill
        self._expired_count = 0

    def claim(self, *, is_root: bool, now: float) -> Claim | None:
        """A place for a chat that somebody is about to put to work; None if there is none that a
        search under way may not come back with a chat for."""
        room = self.room()
        free = (
            min(self._limits.total - self._used, room.roots if is_root else room.children)
            - self._searched_for
        )
        if self.worker is None or free <= 0:
            return None
        holder = Holder(self.worker, RunnerId(self._new_id()))
        claim = Claim(holder, is_root, now + self._limits.claim_seconds)
        self._claims[holder.runner] = claim
        self._roots += is_root
        return claim

    def release(self, claim: Claim) -> None:
        """Nothing came of it."""
        if self._claims.pop(claim.holder.runner, None) is not None:
            self._roots -= claim.is_root

    def take(self, runner: RunnerId, *, is_root: bool) -> None:
        """A chat is here; if its place was promised, this is it."""
        claim = self._claims.get(runner)
        if claim is not None:
            self.release(claim)
        assert runner not in self._taken, f"runner {runner} has a place already"
        self._taken[runner] = is_root
        self._roots += is_root

    def free(self, runner: RunnerId) -> None:
        self.waits(runner, is_waiting=False)
        self._roots -= self._taken.pop(runner)

    def waits(self, runner: RunnerId, *, is_waiting: bool) -> bool:
        """Whether the chat waits for others now, or is at work. True: that makes its place free."""
        if is_waiting == (runner in self._waiting):
            return False
        if not is_waiting:
            self._waiting.remove(runner)
            self._roots += self._taken[runner]
            return False
        if len(self._waiting) >= self._limits.waiting:
            return False
        self._waiting.add(runner)
        self._roots -= self._taken[runner]
        return True

    @property
    def _used(self) -> int:
        return len(self._taken) - len(self._waiting) + len(self._claims)

    @property
    def has_claims(self) -> bool:
        return bool(self._claims)

    @property
    def claimed(self) -> frozenset[RunnerId]:
        return frozenset(self._claims)

    def expire(self, now: float) -> None:
        """Take back what was promised for long enough."""
        for claim in list(self._claims.values()):
            if claim.until > now:
                break
            self.release(claim)
            self._expired_count += 1

    def open(self, worker: WorkerId) -> None:
        """From now on places are promised in this name."""
        self.worker = worker

    def close(self) -> None:
        """Nothing is promised any more, and nothing that was promised stands."""
        self.worker = None
        for claim in list(self._claims.values()):
            self.release(claim)

    def clear(self) -> None:
        """Everybody has gone."""
        self.close()
        self._taken.clear()
        self._waiting.clear()
        self._roots = self._searched_for = 0

    def room(self) -> AcquireLimits:
        """For how many chats there is a place now."""
        limits = self._limits
        used = self._used
        return AcquireLimits(
            at_most=max(0, min(limits.batch, limits.total - used)),
            roots=max(0, limits.roots - self._roots),
            children=max(0, limits.children - (used - self._roots)),
        )

    def begin_search(self) -> AcquireLimits:
        """For how many chats to look; until the search is over these places are not promised."""
        room = self.room()
        self._searched_for = room.at_most
        return room

    def end_search(self) -> None:
        self._searched_for = 0

    def is_short(self, room: AcquireLimits) -> bool:
        """Whether whoever searches with this room may leave chats behind for want of a place."""
        return min(room.at_most, room.roots, room.children) < self._limits.batch

    def statistics(self) -> SlotsStatistics:
        return SlotsStatistics(
            worker=self.worker,
            roots=self._roots,
            roots_max=self._limits.roots,
            children=self._used - self._roots,
            children_max=self._limits.children,
            waiting=len(self._waiting),
            claimed=len(self._claims),
            expired_count=self._expired_count,
        )
