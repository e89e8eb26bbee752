"""The rules of the supervisor, as tables."""

from uuid import UUID

import pytest

from actors.chat.turn.work import Gone, LeaseExpired
from actors.law.ids import RunnerId
from actors.law.requests import Abandon
from actors.law.states import State, Status
from actors.law.store.hints import ChatMoved
from actors.supervisor.decide import (
    CRASHES_MAX,
    FAULT,
    Difference,
    Forget,
    GiveBack,
    Park,
    SearchState,
    after_end,
    begin_search,
    compare_held,
    end_search,
    requests_to_park,
)
from runtime.ends import Broken, Crashed, Finished, Shutdown, Stopped
from tests.actors.law.chats import ANN, CHAT, HOLDER, a_chat, done

IDLE, LOOKING, AGAIN = SearchState.IDLE, SearchState.LOOKING, SearchState.LOOKING_AGAIN
ERROR = KeyError("x")


# ends


@pytest.mark.parametrize(
    ("end", "crashes", "follows"),
    [
        (Finished(), 0, Forget()),
        (Stopped(Shutdown()), 0, Forget()),
        (Stopped(LeaseExpired()), 0, Forget()),
        (Stopped(Gone()), 5, Forget()),
        (Crashed(ERROR), 1, GiveBack(0.2)),
        (Crashed(ERROR), 2, GiveBack(0.4)),
        (Crashed(ERROR), 5, GiveBack(3.2)),
        (Crashed(ERROR), CRASHES_MAX, GiveBack(60.0)),
        (Crashed(ERROR), CRASHES_MAX + 1, Park(ERROR)),
        (Broken(ERROR), 0, Park(ERROR)),
    ],
)
def test_what_follows_an_end(end, crashes, follows):
    assert follows == after_end(end, crashes_count=crashes)


@pytest.mark.parametrize("state", [State.R0, State.R1, State.I0, State.I1, State.A0, State.A1])
def test_from_every_state_of_work_a_chat_can_be_parked(state):
    stored = a_chat(state)

    parked = done(stored, *requests_to_park(stored.chat.status)).chat

    assert (Status.ERROR, FAULT, None) == (parked.status, parked.last_error, parked.holder)


@pytest.mark.parametrize("state", [State.W, State.E0, State.E1, State.XW])
def test_a_chat_at_rest_only_loses_its_holder(state):
    stored = a_chat(state)

    assert (Abandon(),) == requests_to_park(stored.chat.status)
    assert state is done(stored, *requests_to_park(stored.chat.status)).state


# searching


@pytest.mark.parametrize(
    ("search", "then"),
    [(IDLE, (LOOKING, True)), (LOOKING, (AGAIN, False)), (AGAIN, (AGAIN, False))],
)
def test_searches_run_one_at_a_time(search, then):
    assert then == begin_search(search)


@pytest.mark.parametrize(
    ("search", "is_full", "then"),
    [
        (LOOKING, False, (IDLE, False)),
        (LOOKING, True, (LOOKING, True)),
        (LOOKING, None, (IDLE, False)),
        (AGAIN, False, (LOOKING, True)),
        (AGAIN, True, (LOOKING, True)),
        (AGAIN, None, (IDLE, False)),
    ],
)
def test_after_a_search_comes_another_if_there_may_be_more(search, is_full, then):
    assert then == end_search(search, is_full)


# comparing


def runner(number):
    return RunnerId(UUID(int=number))


def held(number):
    return ChatMoved(CHAT, 9, 8, 7, 6, 5, Status.RUNNING, False, HOLDER.worker, runner(number), ANN)


@pytest.mark.parametrize(
    ("in_store", "known", "here", "before", "found"),
    [
        # as it should be
        ({1, 2}, {1, 2}, {1, 2}, set(), (set(), set(), set())),
        # the store does not say that we hold 2
        ({1}, {1, 2}, {1, 2}, set(), ({2}, set(), set())),
        # ... but it has ended meanwhile, or began after the store was asked
        ({1}, {1, 2}, {1}, set(), (set(), set(), set())),
        ({1}, {1}, {1, 2}, set(), (set(), set(), set())),
        # nobody here knows of 3: once it may be on its way, twice it is lost
        ({1, 3}, {1}, {1}, set(), (set(), {3}, set())),
        ({1, 3}, {1}, {1}, {3}, (set(), set(), {3})),
        ({1, 3}, {1}, {1}, {4}, (set(), {3}, set())),
        # it ended while the store was asked, or has begun meanwhile
        ({1, 3}, {1, 3}, {1}, {3}, (set(), set(), set())),
        ({1, 3}, {1}, {1, 3}, {3}, (set(), set(), set())),
    ],
)
def test_the_difference_between_the_store_and_what_runs_here(in_store, known, here, before, found):
    missing, strangers, orphans = found

    made = compare_held(
        [held(number) for number in sorted(in_store)],
        known=set(map(runner, known)),
        here=set(map(runner, here)),
        strangers_before=set(map(runner, before)),
    )

    assert made == Difference(
        frozenset(map(runner, missing)), tuple(map(held, strangers)), tuple(map(held, orphans))
    )
