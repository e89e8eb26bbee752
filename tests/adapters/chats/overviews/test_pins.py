"""Pins: an order from 1 to n, whatever is moved, by however many at once."""

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from actors.law import requests as ask
from actors.law.store.ports import fence_of
from adapters.chats.overviews import moved_pin
from tests.actors.law.chats import ANN, BOB, HOLDER, assistant
from tests.contracts.given import a_view, applied

MOVES = st.lists(st.tuples(st.sampled_from("abcde"), st.integers(0, 7)), max_size=30)


@given(MOVES)
def test_moves_are_those_of_a_list(moves):
    """As a plain list does it: out, at the end, or before whoever stands at the place."""
    pins, plain = (), []
    for chat, place in moves:
        was_pinned = chat in plain
        if was_pinned:
            plain.remove(chat)
        if place:
            plain.insert(min(place - 1, len(plain)) if was_pinned else len(plain), chat)

        pins = moved_pin(pins, chat, place=place)

        assert tuple(plain) == pins


async def three(ground):
    chats = [await ground.a_chat(name) for name in "abc"]
    for chat in chats:
        await ground.patch(chat, pin_order=9)
    return chats


@pytest.mark.parametrize(
    ("chat", "place", "order"),
    [
        (0, 1, "abc"),
        (0, 2, "bac"),
        (0, 3, "bca"),
        (0, 99, "bca"),
        (2, 1, "cab"),
        (1, 0, "ac"),
        (1, 1, "bac"),
    ],
)
async def test_a_pin_moves_and_its_neighbours_make_room(ground, chat, place, order):
    chats = await three(ground)

    assert 204 == (await ground.patch(chats[chat], pin_order=place)).status

    assert [(name, at) for at, name in enumerate(order, 1)] == await ground.pins()


async def test_a_pin_touches_nothing_but_the_order(ground):
    chat = await ground.a_chat()
    before = (await ground.get(chat)).said

    await ground.patch(chat, pin_order=4)

    assert {**before, "pin_order": 1} == (await ground.get(chat)).said


async def test_pins_of_others_are_others(ground):
    await three(ground)
    theirs = await ground.a_chat("theirs", by=BOB)

    await ground.patch(theirs, BOB, pin_order=1)

    assert [("theirs", 1)] == await ground.pins(BOB)
    assert [("a", 1), ("b", 2), ("c", 3)] == await ground.pins()


async def test_many_who_move_at_once_leave_an_order(ground):
    chats = [await ground.a_chat(str(n)) for n in range(6)]

    async with trio.open_nursery() as nursery:
        for place, chat in enumerate(chats * 3):
            nursery.start_soon(lambda c=chat, p=place % 5: ground.patch(c, pin_order=p + 1))
        nursery.start_soon(lambda: ground.patch(chats[0], pin_order=0))

    orders = [at for _, at in await ground.pins()]
    assert list(range(1, len(orders) + 1)) == orders
    assert len(orders) in (5, 6)


async def test_a_pin_set_while_the_chat_is_at_work_is_not_lost_with_its_next_step(ground):
    chat = await ground.a_chat(done=False)
    await applied(ground.store.ledger.apply(chat, [ask.Acquire(HOLDER)]))
    held, fence = await a_view(ground.store, chat)

    await ground.patch(chat, pin_order=1)
    await applied(
        ground.store.ledger.commit(held, [ask.CommitStep((assistant("hi"),))], fence=fence)
    )

    assert [("hello", 1)] == await ground.pins()
    assert fence_of(held.chat) == fence


async def test_what_is_archived_meanwhile_is_not_pinned(ground):
    chat = await ground.a_chat()
    await ground.store.ledger.archive_family(chat, archived=True)

    await ground.pinning.pin(ANN, chat, place=1)

    assert [] == await ground.pins()
