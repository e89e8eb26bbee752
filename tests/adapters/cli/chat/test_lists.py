"""Lists that open one over the other: who waits for the first learns that nothing was chosen."""

import asyncio

import pytest

from adapters.cli.chat.deciding.picking import ListRow, PickList
from adapters.cli.chat.place.plain import PlainFront
from adapters.cli.chat.place.window import ChatWindow
from tests.patience import PATIENCE_SECONDS


def a_list(word):
    return PickList(f"Which {word}?", (ListRow(word, word),))


def the_window():
    window = ChatWindow(theme="dark", bell="off", is_vi=False)
    return window, lambda: window.finish_pick("enter")


def plain_lines():
    front = PlainFront(bell="off")
    return front, lambda: front._choose("1")


@pytest.mark.parametrize("opened", [the_window, plain_lines])
def test_a_list_that_opens_closes_the_one_before_it(opened):
    async def story():
        front, choose = opened()
        first = asyncio.create_task(front.pick(a_list("chat")))
        await asyncio.sleep(0)
        second = asyncio.create_task(front.pick(a_list("agent")))
        assert await asyncio.wait_for(first, PATIENCE_SECONDS) is None
        choose()
        return await asyncio.wait_for(second, PATIENCE_SECONDS)

    key, row = asyncio.run(story())

    assert ("enter", "agent") == (key, row.id)
