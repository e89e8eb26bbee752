"""Chats of a daemon whose lists say what came of them, with a rehearsal behind it."""

import pytest
import trio

from actors.law.store.hints import ListChange, SummaryChanged
from adapters.rehearsal.behaviour import Behaviour
from tests.adapters.chats.routes.daemon import PATIENCE_SECONDS, a_daemon

pytestmark = pytest.mark.slow
ANSWER = "The login now leads to the page where it began. " * 5
ON = {"PROMPTCORNER_SUMMARIES": "on"}


async def test_what_came_of_a_turn_is_told_after_it_and_what_the_chat_is_about(fresh):
    plays = Behaviour(text="Fixed login redirect", script=(Behaviour(text=ANSWER),))
    news = []
    async with a_daemon(fresh, plays, **ON) as daemon:
        store = daemon.chats.store
        with store.bus.follow(news.append, SummaryChanged):
            chat = await daemon.begin("the login is broken")
            with trio.fail_after(PATIENCE_SECONDS):
                while len(news) < 2:
                    await trio.sleep(0.002)
        async with store.pool.connection() as connection:
            [shown] = await connection.execute(
                "SELECT last_turn_summary, summary FROM chats WHERE id = %(id)s", {"id": chat}
            )

    assert ("Fixed login redirect", "Fixed login redirect") == tuple(shown)
    assert [ListChange.TURN_SUMMARY, ListChange.SUMMARY] == [each.became for each in news]


async def test_where_they_are_switched_off_a_model_is_asked_for_answers_only(fresh):
    async with a_daemon(fresh, Behaviour(text=ANSWER)) as daemon:
        await daemon.at_rest(await daemon.begin("the login is broken"))

        assert 1 == len(daemon.rehearsal.records)
