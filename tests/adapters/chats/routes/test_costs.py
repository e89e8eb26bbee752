"""Costs of a chat on a real daemon: what is asked beside its turns is paid for, too."""

import pytest
import trio

from actors.upkeep.title_wording import fallback_title
from adapters.chats.overviews import OverviewStore
from adapters.rehearsal.behaviour import Behaviour
from tests.adapters.chats.routes.daemon import PATIENCE_SECONDS, a_daemon
from tests.adapters.tools.built_in.turns.test_advised_turns import ON, asks, says

pytestmark = pytest.mark.slow


async def cost_with(daemon, chat, *names):
    """Once these have been bought for it."""
    shelf = OverviewStore(
        daemon.chats.store.pool, tell=daemon.chats.store.bus.tell, lease_seconds=30.0
    )
    with trio.fail_after(PATIENCE_SECONDS):
        while not set(names) <= (cost := await shelf.cost(chat)).beside.keys():
            await trio.sleep(0.01)
    return cost


def requests(cost):
    return {what: each.requests for what, each in cost.beside.items()}


async def test_titles_and_labels_are_shown_beside_messages(fresh):
    async with a_daemon(fresh, Behaviour(text="done"), PROMPTCORNER_SUMMARIES="on") as daemon:
        said = "what is this about"
        chat = await daemon.begin(said, title=fallback_title(said))
        await daemon.at_rest(chat)

        cost = await cost_with(daemon, chat, "title", "summary")

        assert {"title": 1, "summary": 1} == requests(cost)
        assert 3 == cost.whole.requests
        assert cost.whole == cost.own
        assert 0 < sum(each.micros for each in cost.beside.values()) < cost.whole.micros
        assert 0 == cost.whole.unpriced


async def test_advice_is_shown_beside_messages(fresh):
    script = (asks(), says("go left"), says("I went left"))
    async with a_daemon(fresh, Behaviour(script=script), **ON) as daemon:
        chat = await daemon.begin("build it", title="it")
        await daemon.at_rest(chat)

        cost = await cost_with(daemon, chat, "advice")

        assert {"advice": 1} == requests(cost)
        assert 3 == cost.whole.requests


async def test_a_summary_is_a_message_and_what_came_to_nothing_stands_beside_it(fresh):
    async with a_daemon(fresh, Behaviour(text="done")) as daemon:
        chat = await daemon.begin("hello", title="it")
        await daemon.at_rest(chat)
        script = (Behaviour(text=" ", deltas=1), Behaviour(text="the summary"))
        daemon.rehearsal.behave(Behaviour(script=script))

        await daemon.ask("POST", f"{chat}/compact")
        await daemon.at_rest(chat)

        cost = await cost_with(daemon, chat, "compaction")
        assert {"compaction": 1} == requests(cost)
        assert 3 == cost.whole.requests
