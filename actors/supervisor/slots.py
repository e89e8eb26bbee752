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

A sender that finds none leaves its chat in the store, where a search finds it, the longest waiting
first. From then on slots that become free are for those in the store, as many as were left there:
who comes later does not overtake them. The next search tells if there are any.

A chat that its actor has given back takes no slot either, although the actor still has to end: its
next message may come at once, and would find that the chat stands in its own way.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Annotated
from uuid import UUID

from actors.law.ids import Holder, RunnerId, WorkerId
from actors.law.requests import Request, TakeUp
from actors.law.store.ports import AcquireLimits
from actors.supervisor.deps import SupervisorLimits
from runtime.statistics import CounterMetric, GaugeMetric

SEARCHED_FOR_MIN = 8  # chats that a search may bring although none is known to wait


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


@dataclass(frozen=True, slots=True)
class _Search:
    """A search under way: for how many, and how many were known to wait when it began."""

    room: AcquireLimits
    left: dict[bool, int]


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
        # Roots, and children, that found no slot and wait in the store, as far as is known here.
        self._left = {True: 0, False: 0}
        self._may_be_left = False  # the last search brought all that there was room for
        self._search: _Search | None = None
        self._is_wide = False  # the next search takes all that it may
        self._expired_count = 0

    def claim(self, *, is_root: bool, now: float) -> Claim | None:
        """Promise a slot to a chat that is about to be put to work. Return None if there is none,
        or if all that are left are for chats that came before."""
        if self.worker is None:
            return None
        room = self.room()
        free = min(self._limits.total - self._used, room.roots if is_root else room.children)
        searched_for = 0 if self._search is None else self._search.room.at_most
        if free <= max(searched_for, self._left[is_root]):
            self._left[is_root] += 1
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
        """Free the slot of a chat that has been given back, or whose actor has ended. The second
        of the two does nothing."""
        self.note_waiting(runner, is_waiting=False)
        self._roots -= self._taken.pop(runner, False)

    def note_waiting(self, runner: RunnerId, *, is_waiting: bool) -> bool:
        """Note whether the chat waits for others or is at work. Return whether that frees its
        slot."""
        if runner not in self._taken or is_waiting == (runner in self._waiting):
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
        self._roots = 0
        self._left = {True: 0, False: 0}
        self._search = None
        self._may_be_left = self._is_wide = False

    def room(self) -> AcquireLimits:
        """Return for how many chats there is a slot now."""
        limits = self._limits
        used = self._used
        return AcquireLimits(
            at_most=max(0, min(limits.batch, limits.total - used)),
            roots=max(0, limits.roots - self._roots),
            children=max(0, limits.children - (used - self._roots)),
        )

    @property
    def is_awaited(self) -> bool:
        """Return whether chats may wait in the store for a slot."""
        return self._may_be_left or any(self._left.values())

    def search_widely(self) -> None:
        """Note that any number of chats may wait in the store: the next search is for a batch."""
        self._is_wide = True

    def may_search(self) -> bool:
        """Return whether there is room for any chat. If not, some may be left when there is."""
        has_room = self.room().at_most > 0
        self._may_be_left |= not has_room
        return has_room

    def begin_search(self) -> AcquireLimits:
        """Return for how many chats to look. Until the search is over these slots are not
        promised; so it looks for few, if few are known to wait."""
        room, known = self.room(), SEARCHED_FOR_MIN + sum(self._left.values())
        if not self._is_wide:
            room = replace(room, at_most=min(room.at_most, known))
        self._is_wide = False
        self._search = _Search(room, dict(self._left))
        return room

    def end_search(self, taken: Collection[bool] | None) -> bool | None:
        """Note what a search has brought: for each chat whether it is a root. None: it failed.
        Return whether it brought as many as it could, or None. After one that did, and after one
        that failed, the next looks for a batch."""
        search, self._search = self._search, None
        if search is None or taken is None:
            self._is_wide = True
            return None
        is_full = len(taken) >= search.room.at_most
        self._may_be_left = False
        for is_root, most in ((True, search.room.roots), (False, search.room.children)):
            count = sum(is_root == each for each in taken)
            known = self._left[is_root]
            if is_full or count >= most:
                self._left[is_root] = max(0, known - count)
                self._may_be_left = True
            else:  # those that were known when it began have been taken, here or elsewhere
                self._left[is_root] = known - search.left[is_root]
        self._is_wide |= is_full
        return is_full

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
