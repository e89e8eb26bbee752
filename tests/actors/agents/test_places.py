"""How many children there may be: exactly so many, also where several are spawned at once."""

from contextlib import ExitStack
from uuid import UUID

import pytest
import trio

from actors.agents.places import AT_WORK_MAX, CHILDREN_MAX, Places, no_place
from actors.agents.ports import Household
from actors.law.ids import ChatId

PARENT, OTHER = ChatId(UUID(int=1)), ChatId(UUID(int=2))
CHILDREN = [ChatId(UUID(int=10 + n)) for n in range(AT_WORK_MAX + 20)]


@pytest.mark.parametrize(
    ("children", "at_work", "before", "says"),
    [
        (0, 0, 0, None),
        (CHILDREN_MAX - 1, AT_WORK_MAX - 1, 0, None),
        (CHILDREN_MAX - 1, 0, 1, f"this chat has had {CHILDREN_MAX} agents"),
        (CHILDREN_MAX, 0, 0, "give the work to one that rests, with message_agent"),
        (AT_WORK_MAX, AT_WORK_MAX - 1, 1, f"{AT_WORK_MAX} agents of this chat are at work"),
        (AT_WORK_MAX, AT_WORK_MAX, 0, "wait for one with wait_agent"),
    ],
)
def test_who_finds_no_place_is_told_why_and_what_to_do(children, at_work, before, says):
    why = no_place(Household("api", children, at_work), before=before)

    assert (why is None) is (says is None)
    assert (says or "") in (why or "")


def test_those_before_in_line_are_those_of_the_same_parent_that_are_still_on_their_way():
    places, [a, b, c, *_] = Places(), CHILDREN
    with ExitStack() as stack:
        with places.coming(PARENT, a):
            assert [a] == stack.enter_context(places.coming(PARENT, b))
            assert [] == stack.enter_context(places.coming(OTHER, c))

        with places.coming(PARENT, c) as before:
            assert [b] == before

    with places.coming(PARENT, a) as before:
        assert [] == before


async def test_of_many_at_once_as_many_come_in_as_there_is_room_for(autojump_clock):
    places, stored, refused = Places(), set(), []

    async def spawn(child, seconds):
        with places.coming(PARENT, child) as before:
            besides = {*before, child}
            await trio.sleep(seconds)
            count = len(stored - besides)
            await trio.sleep(seconds / 3)
            if no_place(Household("api", count, count), before=len(before)):
                refused.append(child)
                return
            await trio.sleep(seconds / 7)
            stored.add(child)
            await trio.sleep(seconds)

    async with trio.open_nursery() as nursery:
        for number, child in enumerate(CHILDREN):
            nursery.start_soon(spawn, child, 1 + number * 7 % 5)

    assert (AT_WORK_MAX, 20) == (len(stored), len(refused))
