"""The histories that are kept: found at their version only, bounded in bytes and in age.

That they are what is stored, whatever is committed by whom, is compared at each step of the stories
in `tests/models/test_store.py`.
"""

from dataclasses import replace
from uuid import UUID

import pytest
import trio

from actors.chat.histories import KEPT_SECONDS, HistoryStatistics, KnownHistories
from actors.law.change import change, no_change
from actors.law.chat import Message
from actors.law.ids import ChatId, MessageId
from actors.law.states import State, Status
from actors.law.store.ports import Applied
from actors.prompts.growing import row_bytes
from tests.actors.law.chats import HOLDER, NOW, a_chat, approval, assistant, call, user

LONG = "x" * 10_000


def stored(number=1, version=50):
    found = a_chat()
    chat = replace(found.chat, id=ChatId(UUID(int=number)), history_version=version)
    return replace(found, chat=chat)


def committed(before, *added, deleted=()):
    """What is told of a commit that adds these to a history of three rows."""
    ids = tuple(MessageId(4 + n) for n in range(len(added)))
    return Applied(change(before, added=added, deleted=deleted), NOW, ids, ())


def rows(*bodies):
    return tuple(Message(MessageId(id), 4, NOW, False, body) for id, body in enumerate(bodies, 1))


THREE = rows(user("a"), assistant("b"), user("c"))


async def test_a_history_is_found_at_the_version_at_which_it_was_read():
    known, chat = KnownHistories(), stored().chat

    known.keep(chat, THREE)

    assert THREE == known.find(chat)
    assert known.find(replace(chat, history_version=51)) is None
    assert known.find(stored(2).chat) is None
    size = sum(map(row_bytes, THREE))
    assert HistoryStatistics(1, size, 1, 2, 0) == known.statistics()


async def test_it_grows_by_what_is_committed():
    known, before = KnownHistories(), stored()
    known.keep(before.chat, THREE)

    applied = committed(before, assistant("d"))
    known.note_commit(applied)

    assert known.find(before.chat) is None
    assert (*THREE, *applied.messages) == known.find(applied.chat)
    assert sum(map(row_bytes, known.find(applied.chat))) == known.statistics().bytes_count


async def test_a_commit_that_leaves_the_history_alone_leaves_it_found():
    known, before = KnownHistories(), stored()
    known.keep(before.chat, THREE)

    known.note_commit(Applied(change(before), NOW, (), ()))

    assert THREE == known.find(before.chat)


async def test_a_new_chats_history_is_known_from_its_first_commit():
    known, applied = KnownHistories(), committed(stored(version=0), user("hi"))

    known.note_commit(applied)

    assert applied.messages == known.find(applied.chat)


@pytest.mark.parametrize("missed", [True, False], ids=["another's commit before it", "an edit"])
async def test_what_cannot_be_followed_is_read_again(missed):
    known, before = KnownHistories(), stored()
    known.keep(before.chat, THREE)

    if missed:
        before = replace(before, chat=replace(before.chat, history_version=60))
    known.note_commit(committed(before, user("d"), deleted=() if missed else THREE[2:]))

    assert 0 == known.statistics().histories


async def test_the_one_that_was_unused_for_longest_goes_first_where_there_is_no_room():
    long = rows(user(LONG))
    known = KnownHistories(bytes_max=2 * row_bytes(long[0]))

    for number in (1, 2, 1, 3):
        known.keep(stored(number).chat, long)
    known.keep(stored(4).chat, rows(user(3 * LONG)))

    found = [number for number in (1, 2, 3, 4) if known.find(stored(number).chat)]
    assert [1, 3] == found
    assert 1 == known.statistics().forgotten_count


async def test_what_was_not_used_for_long_goes(autojump_clock):
    known = KnownHistories()
    known.keep(stored(1).chat, THREE)

    await trio.sleep(KEPT_SECONDS + 1)
    known.keep(stored(2).chat, THREE)

    assert (1, 1) == (known.statistics().histories, known.statistics().forgotten_count)


FREE = {"holder": None, "tail": ()}  # nobody holds it, and no call is open


async def test_a_chat_that_is_left_at_rest_is_kept_as_it_was_left():
    known = KnownHistories()
    resting = a_chat(State.W, **FREE)
    applied = committed(resting, assistant("d"))
    known.keep(resting.chat, THREE)

    known.note_commit(applied)

    assert applied.stored == known.at_rest(resting.chat.id)


@pytest.mark.parametrize(
    "state", [State.R0, State.R1, State.E0, State.I0, State.A0, State.XW], ids=str
)
async def test_one_that_is_not_at_rest_is_not(state):
    known, found = KnownHistories(), a_chat(state, **FREE)
    known.keep(found.chat, THREE)

    known.note_commit(Applied(no_change(found), NOW, (), ()))

    assert known.at_rest(found.chat.id) is None


@pytest.mark.parametrize("columns", [{"holder": HOLDER}, {"approvals": (approval("a"),)}], ids=str)
async def test_nor_is_one_that_is_held_or_asks_for_consent(columns):
    known, found = KnownHistories(), a_chat(State.W, **FREE)
    found = replace(found, chat=replace(found.chat, **columns))
    known.keep(found.chat, THREE)

    known.note_commit(Applied(no_change(found), NOW, (), ()))

    assert known.at_rest(found.chat.id) is None


async def test_nor_is_one_with_a_call_that_nobody_has_answered():
    known, found = KnownHistories(), a_chat(State.W, **FREE)
    known.keep(found.chat, THREE)

    known.note_commit(committed(found, assistant("d", call("a"))))

    assert known.at_rest(found.chat.id) is None


async def test_a_commit_that_wakes_a_chat_ends_its_rest():
    known, found = KnownHistories(), a_chat(State.W, **FREE)
    known.keep(found.chat, THREE)
    known.note_commit(Applied(no_change(found), NOW, (), ()))
    assert known.at_rest(found.chat.id) is not None

    woken = change(found, status=Status.RUNNING, added=(user("e"),))
    known.note_commit(Applied(woken, NOW, (MessageId(9),), ()))

    assert known.at_rest(found.chat.id) is None
