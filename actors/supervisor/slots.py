"""Slots for chats in this process: taken by an actor, promised to a sender, or free. Pure.

A sender that finds a slot free acquires the chat for this process in its own transaction, so the
chat needs no search and no second statement:

    claim = slots.claim(is_root=True, now=now())
    applied = await ledger.create(request, [] if claim is None else claim.requests)
    if claim is not None:
        hand_over(supervisor, applied.stored)      or, if it was refused: slots.release(claim)

A sender that forgets its claim, or dies, keeps the slot for `claim_seconds`. If it had committed,
the next comparison with the store finds the chat.

A chat that waits for its client or for a person takes no slot, up to `SupervisorLimits.waiting` of
them: so many may wait for days while others go on. When such a chat is answered it goes on at once,
even if its slot has been taken; then nothing else is begun until enough chats have ended.
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
    """A slot that is promised until some moment, and the holder that the chat will have."""

    holder: Holder
    is_root: bool
    until: float

    @property
    def requests(self) -> tuple[Request, ...]:
        """Return the request that acquires the chat, to be put behind what puts it to work.

        It does nothing if the chat is held already: look at the holder before handing it over.
        """
        return (TakeUp(self.holder),)


@dataclass(frozen=True, slots=True)
class SlotsStatistics:
    worker: WorkerId | None
    roots: Annotated[int, GaugeMetric("Root chats that take a slot here.")]
    roots_max: Annotated[int, GaugeMetric("Root chats that may take a slot here at most.")]
    children: Annotated[int, GaugeMetric("Chats of agents that take a slot here.")]
    children_max: Annotated[int, GaugeMetric("Chats of agents that may take a slot here at most.")]
    waiting: Annotated[
        int,
        GaugeMetric("Chats that are held here and wait for others, so that they take no slot."),
    ]
    claimed: Annotated[int, GaugeMetric("Slots that are promised to chats that are being taken.")]
    expired_count: Annotated[int, CounterMetric("Promised slots that no chat came for in time.")]


class Slots:
    """The slots of one process, shared by the supervisor and the senders that put chats to work.
    Nothing in it waits."""

    def __init__(self, limits: SupervisorLimits, new_id: Callable[[], UUID]) -> None:
        self.worker: WorkerId | None = None  # None: there is no lease, nothing can be claimed
        self._limits = limits
        self._new_id = new_id
        self._taken: dict[RunnerId, bool] = {}  # True: a root
        self._waiting: set[RunnerId] = set()  # of these, those that take no slot
        self._claims: dict[RunnerId, Claim] = {}  # in the order of their ends
        self._roots = 0  # taken or promised
        self._searched_for = 0  # slots that the search under way may fill
        self._expired_count = 0

    def claim(self, *, is_root: bool, now: float) -> Claim | None:
        """Promise a slot to a chat that is about to be put to work. Return None if there is none,
        or if a search under way may need all that are left."""
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
        """Free the slot of a claim that came to nothing."""
        if self._claims.pop(claim.holder.runner, None) is not None:
            self._roots -= claim.is_root

    def take(self, runner: RunnerId, *, is_root: bool) -> None:
        """Take a slot for a chat that is here: the one that was promised to it, if any."""
        claim = self._claims.get(runner)
        if claim is not None:
            self.release(claim)
        assert runner not in self._taken, f"runner {runner} has a slot already"
        self._taken[runner] = is_root
        self._roots += is_root

    def free(self, runner: RunnerId) -> None:
        """Free the slot of a chat that has ended."""
        self.note_waiting(runner, is_waiting=False)
        self._roots -= self._taken.pop(runner)

    def note_waiting(self, runner: RunnerId, *, is_waiting: bool) -> bool:
        """Note whether the chat waits for others or is at work. Return whether that frees its
        slot."""
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
        """Take back slots that were promised too long ago."""
        for claim in list(self._claims.values()):
            if claim.until > now:
                break
            self.release(claim)
            self._expired_count += 1

    def open(self, worker: WorkerId) -> None:
        """Promise slots in the name of this worker from now on."""
        self.worker = worker

    def close(self) -> None:
        """Promise nothing any more, and take back what was promised."""
        self.worker = None
        for claim in list(self._claims.values()):
            self.release(claim)

    def clear(self) -> None:
        """Forget all chats and claims."""
        self.close()
        self._taken.clear()
        self._waiting.clear()
        self._roots = self._searched_for = 0

    def room(self) -> AcquireLimits:
        """Return for how many chats there is a slot now."""
        limits = self._limits
        used = self._used
        return AcquireLimits(
            at_most=max(0, min(limits.batch, limits.total - used)),
            roots=max(0, limits.roots - self._roots),
            children=max(0, limits.children - (used - self._roots)),
        )

    def begin_search(self) -> AcquireLimits:
        """Return for how many chats to look. Until the search is over these slots are not
        promised."""
        room = self.room()
        self._searched_for = room.at_most
        return room

    def end_search(self) -> None:
        self._searched_for = 0

    def is_short(self, room: AcquireLimits) -> bool:
        """Tell whether a search with this room may leave chats behind for want of a slot."""
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
