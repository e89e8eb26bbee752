"""One question to a model beside the turn: asked again while that may help, and not for ever."""

from dataclasses import replace

import trio

from actors.chat.turn.ports import Model
from actors.chat.turn.retries import CAP_SECONDS, FAILURES_MAX, SPREAD
from actors.law.parts.prompt import CallSettings, Prompt
from actors.upkeep.asking import ask_aside
from tests.actors.law.chats import CHAT
from tests.actors.upkeep.stage import NO_CREDIT, OVERLOADED, Books, Oracle, says

YES = says("yes")
PROMPT = Prompt("m", ())


async def asked(oracle, books=None):
    model = Model(oracle, None, "me", "anthropic", "m", CallSettings())
    return await ask_aside(model, PROMPT, books=books or Books(), chat=CHAT, what="title")


async def test_an_answer_is_booked_and_a_failure_is_not(autojump_clock):
    books = Books()

    await asked(Oracle(OVERLOADED, YES), books)
    await asked(Oracle(NO_CREDIT), books)

    assert [(CHAT, "title", YES)] == books.booked


async def test_an_answer_is_an_answer():
    assert YES == await asked(Oracle(YES))


async def test_what_cannot_help_is_not_done_again(autojump_clock):
    oracle = Oracle(NO_CREDIT, YES)

    assert NO_CREDIT == await asked(oracle)
    assert 1 == len(oracle.prompts)


async def test_a_pause_that_the_provider_asks_for_is_kept(autojump_clock):
    oracle = Oracle(replace(OVERLOADED, retry_after_seconds=90), YES)

    assert YES == await asked(oracle)

    first, second = oracle.asked_at
    assert 90 <= round(second - first, 6) <= 90 + SPREAD * CAP_SECONDS


async def test_without_a_limit_in_time_it_still_comes_to_an_end(autojump_clock):
    oracle = Oracle(OVERLOADED)

    assert OVERLOADED == await asked(oracle)
    assert FAILURES_MAX == len(oracle.prompts)


async def test_when_a_pause_says_so_it_is_not_asked_again():
    oracle = Oracle(OVERLOADED, YES)

    async def stops(seconds):
        await trio.lowlevel.checkpoint()
        return False

    model = Model(oracle, None, "me", "anthropic", "m", CallSettings())
    said = await ask_aside(model, PROMPT, books=Books(), chat=CHAT, what="title", pause=stops)

    assert (OVERLOADED, 1) == (said, len(oracle.prompts))


async def test_who_asks_may_stop_asking_at_any_time(autojump_clock):
    oracle = Oracle(OVERLOADED)

    with trio.move_on_after(2) as limit:
        await asked(oracle)

    assert limit.cancelled_caught
    assert 2 == len(oracle.prompts)
