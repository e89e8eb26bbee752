"""Places for chats: never more than there are, each taken once, none lost for ever."""

from itertools import count
from uuid import UUID

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from actors.law.ids import Holder, RunnerId, WorkerId
from actors.law.requests import TakeUp
from actors.law.store.ports import AcquireLimits
from actors.supervisor.deps import SupervisorLimits
from actors.supervisor.slots import SEARCHED_FOR_MIN, Slots

ME = WorkerId(UUID(int=1000))


def slots(roots=2, children=3, ending=1, *, waiting=2, batch=100, is_open=True):
    numbers = count(1)
    places = {"roots": roots, "children": children, "ending": ending, "waiting": waiting}
    limits = SupervisorLimits(**places, batch=batch, claim_seconds=30)
    made = Slots(limits, lambda: UUID(int=next(numbers)))
    if is_open:
        made.open(ME)
    return made


def room(at_most, roots, children):
    return AcquireLimits(at_most=at_most, roots=roots, children=children)


def runner(number):
    return RunnerId(UUID(int=number))


def test_empty_it_has_room_for_all():
    assert room(6, 2, 3) == slots().room()
    assert room(4, 2, 3) == slots(batch=4).room()


@pytest.mark.parametrize(
    ("taken", "left"),
    [
        ([True], room(5, 1, 3)),
        ([True, True], room(4, 0, 3)),
        ([True, True, True], room(3, 0, 3)),  # one more that is only to be ended
        ([False], room(5, 2, 2)),
        ([True, False, False, False], room(2, 1, 0)),
        ([True, True, True, False, False, False], room(0, 0, 0)),
    ],
)
def test_every_chat_counts_in_its_kind(taken, left):
    places = slots()
    for number, is_root in enumerate(taken):
        places.take(runner(100 + number), is_root=is_root)

    assert left == places.room()


def test_who_waits_for_others_takes_no_place_until_he_is_answered():
    places = slots()
    for number in (1, 2):
        places.take(runner(number), is_root=True)
    assert room(4, 0, 3) == places.room()

    for _ in range(2):  # told twice is told once
        places.note_waiting(runner(1), is_waiting=True)
    assert (room(5, 1, 3), 1) == (places.room(), places.statistics().waiting)
    for _ in range(2):
        places.note_waiting(runner(1), is_waiting=False)
    assert (room(4, 0, 3), 0) == (places.room(), places.statistics().waiting)


def test_of_more_than_may_wait_those_beyond_keep_their_places():
    places = slots(roots=5, children=0, ending=0, waiting=2)
    for number in range(3):
        places.take(runner(number), is_root=True)
        places.note_waiting(runner(number), is_waiting=True)

    assert (room(4, 4, 0), 2) == (places.room(), places.statistics().waiting)


def test_those_that_go_on_although_their_places_are_taken_are_waited_for():
    places = slots(roots=1, children=0, ending=1)
    places.take(runner(1), is_root=True)
    places.note_waiting(runner(1), is_waiting=True)
    places.take(runner(2), is_root=True)

    places.note_waiting(runner(1), is_waiting=False)
    assert room(0, 0, 0) == places.room()
    places.free(runner(1))
    assert room(1, 0, 0) == places.room()
    places.free(runner(2))
    assert room(2, 1, 0) == places.room()


def test_who_ends_while_he_waits_leaves_nothing():
    places = slots()
    places.take(runner(1), is_root=True)
    places.note_waiting(runner(1), is_waiting=True)

    places.free(runner(1))

    assert (room(6, 2, 3), 0) == (places.room(), places.statistics().waiting)


def test_who_gives_its_chat_back_leaves_its_place_once():
    places = slots()
    places.take(runner(1), is_root=True)
    places.take(runner(2), is_root=True)

    places.free(runner(1))
    assert room(5, 1, 3) == places.room()
    places.free(runner(1))  # the end of its actor
    assert room(5, 1, 3) == places.room()
    assert not places.note_waiting(runner(1), is_waiting=True)
    assert (room(5, 1, 3), 0) == (places.room(), places.statistics().waiting)


def test_a_claim_names_the_holder_to_be_and_what_acquires():
    claim = slots().claim(is_root=True, now=5.0)

    assert (Holder(ME, runner(1)), 35.0) == (claim.holder, claim.until)
    assert (TakeUp(claim.holder),) == claim.requests


def test_a_place_that_is_promised_is_not_free():
    places = slots()

    claims = [places.claim(is_root=True, now=0) for _ in range(3)]

    assert None is claims[2]
    assert room(4, 0, 3) == places.room()
    assert places.claim(is_root=False, now=0) is not None


def test_a_claim_becomes_the_chat_s_place():
    places = slots()
    claim = places.claim(is_root=True, now=0)

    places.take(claim.holder.runner, is_root=True)
    places.release(claim)

    assert room(5, 1, 3) == places.room()
    places.free(claim.holder.runner)
    assert room(6, 2, 3) == places.room()


def test_a_claim_is_released_once():
    places = slots()
    claim = places.claim(is_root=False, now=0)

    places.release(claim)
    places.release(claim)

    assert room(6, 2, 3) == places.room()


def test_what_a_search_may_come_back_with_is_not_promised():
    places = slots(roots=5, children=5, ending=0, batch=3)

    assert room(3, 5, 5) == places.begin_search()
    claims = [places.claim(is_root=True, now=0) for _ in range(3)]
    assert [True, True, False] == [claim is not None for claim in claims]
    for number in range(3):
        places.take(runner(100 + number), is_root=True)
    assert places.end_search([True] * 3)

    assert None is places.claim(is_root=True, now=0)
    assert places.claim(is_root=False, now=0) is not None


def test_a_search_is_for_few_if_few_are_known_to_wait():
    places = slots(roots=20, children=0, ending=0)
    assert SEARCHED_FOR_MIN == places.begin_search().at_most
    assert 12 == len([claim for _ in range(20) if (claim := places.claim(is_root=True, now=0))])
    assert not places.end_search([])

    few = places.begin_search()  # those eight that found no place are known, but there is no more
    assert room(8, 8, 0) == few


def test_a_search_is_for_a_batch_if_any_number_may_wait():
    places = slots(roots=200, children=0, ending=0)
    places.search_widely()
    assert 100 == places.begin_search().at_most
    assert places.end_search([True] * 100)
    assert 100 == places.begin_search().at_most  # it was full
    assert not places.end_search([True] * 99)
    assert SEARCHED_FOR_MIN == places.begin_search().at_most


def test_who_comes_later_does_not_overtake_those_that_wait_in_the_store():
    places = slots(roots=2, children=3, ending=0)
    first = [places.claim(is_root=True, now=0) for _ in range(2)]
    assert [None, None] == [places.claim(is_root=True, now=0) for _ in range(2)]
    assert places.is_awaited

    for claim in first:
        places.release(claim)
    assert None is places.claim(is_root=True, now=0)  # two are free, and three wait by now
    assert places.claim(is_root=False, now=0) is not None

    places.begin_search()
    for number in range(2):
        places.take(runner(100 + number), is_root=True)
    assert not places.end_search([True, True])
    assert places.is_awaited  # it has brought all that there was room for: one is left
    places.free(runner(100))
    assert None is places.claim(is_root=True, now=0)

    places.free(runner(101))
    places.begin_search()
    assert not places.end_search([])  # none was left after all
    assert not places.is_awaited
    assert places.claim(is_root=True, now=0) is not None


def test_who_finds_no_place_while_a_search_goes_on_is_known_after_it():
    places = slots(roots=1, children=0, ending=0)
    places.begin_search()
    assert None is places.claim(is_root=True, now=0)
    assert not places.end_search([])
    assert places.is_awaited


def test_a_search_that_fails_leaves_what_is_known():
    places = slots(roots=1, children=0, ending=0)
    places.claim(is_root=True, now=0)
    places.claim(is_root=True, now=0)
    places.begin_search()
    assert None is places.end_search(None)
    assert places.is_awaited


def test_a_claim_is_over_when_its_time_is():
    places = slots()
    places.claim(is_root=True, now=0)
    places.claim(is_root=True, now=10)

    places.expire(29.9)
    assert 2 == places.statistics().claimed
    places.expire(30)
    assert 1 == places.statistics().claimed
    places.expire(100)

    assert (0, 2) == (places.statistics().claimed, places.statistics().expired_count)


def test_without_a_lease_nothing_is_promised_and_promises_are_void():
    places = slots(is_open=False)
    assert None is places.claim(is_root=True, now=0)
    places.open(ME)
    places.claim(is_root=True, now=0)
    places.take(runner(50), is_root=True)

    places.close()

    assert None is places.claim(is_root=True, now=0)
    assert room(5, 1, 3) == places.room()


class AnyOrder(RuleBasedStateMachine):
    """Against a plain list of (runner, is_root)."""

    def __init__(self):
        super().__init__()
        self.places = slots(roots=3, children=2, ending=2)
        self.claims, self.taken, self.now, self.numbers = [], {}, 0.0, count(500)
        self.waiting = []
        self.left = {True: 0, False: 0}

    def used(self):
        """By kind, who takes a place."""
        at_work = [kind for number, kind in self.taken.items() if number not in self.waiting]
        return [claim.is_root for claim in self.claims] + at_work

    @rule(is_root=st.booleans())
    def claim(self, is_root):
        claim = self.places.claim(is_root=is_root, now=self.now)
        used = self.used()
        free = min((3 if is_root else 2) - used.count(is_root), 7 - len(used))
        assert (free > self.left[is_root]) == (claim is not None)
        self.claims += [claim] if claim else []
        self.left[is_root] += claim is None

    @rule()
    def search_in_vain(self):
        room = self.places.begin_search()
        self.places.end_search([])
        for is_root, most in ((True, room.roots), (False, room.children)):
            if room.at_most > 0 and most > 0:
                self.left[is_root] = 0

    @precondition(lambda self: self.claims)
    @rule(at=st.integers(0, 10), how=st.sampled_from(["take", "release"]))
    def settle(self, at, how):
        claim = self.claims.pop(at % len(self.claims))
        if how == "take":
            self.places.take(claim.holder.runner, is_root=claim.is_root)
            self.taken[claim.holder.runner] = claim.is_root
        else:
            self.places.release(claim)

    @rule(is_root=st.booleans())
    def take(self, is_root):
        number = runner(next(self.numbers))
        self.places.take(number, is_root=is_root)
        self.taken[number] = is_root

    @precondition(lambda self: self.taken)
    @rule(at=st.integers(0, 10))
    def free(self, at):
        number = [*self.taken][at % len(self.taken)]
        self.places.free(number)
        del self.taken[number]
        self.waiting = [other for other in self.waiting if other != number]

    @precondition(lambda self: self.taken)
    @rule(at=st.integers(0, 10), is_waiting=st.booleans())
    def waits(self, at, is_waiting):
        number = [*self.taken][at % len(self.taken)]
        self.places.note_waiting(number, is_waiting=is_waiting)
        others = [other for other in self.waiting if other != number]
        keeps = is_waiting and (number in self.waiting or len(others) < 2)
        self.waiting = [*others, number] if keeps else others

    @rule(seconds=st.sampled_from([1.0, 29.0, 31.0]))
    def wait(self, seconds):
        self.now += seconds
        self.places.expire(self.now)
        self.claims = [claim for claim in self.claims if claim.until > self.now]

    @invariant()
    def counts_are_right(self):
        used = self.used()
        roots, children = used.count(True), used.count(False)
        expected = room(max(0, 7 - len(used)), max(0, 3 - roots), max(0, 2 - children))
        assert expected == self.places.room()
        assert {c.holder.runner for c in self.claims} == self.places.claimed


AnyOrder.TestCase.settings = settings(max_examples=50, stateful_step_count=30, deadline=None)
TestAnyOrder = pytest.mark.slow(AnyOrder.TestCase)
