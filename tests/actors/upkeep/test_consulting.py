"""An advisor is asked until it answers or cannot; what it says is told while it comes."""

from uuid import UUID

from actors.chat.turn.deps import TurnLimits
from actors.chat.turn.ports import Model
from actors.law.ids import ChatId, EpisodeKey
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import AnswerFailed
from actors.law.parts.message import ReasoningPart, TextPart
from actors.law.parts.prompt import CallSettings, Prompt
from actors.upkeep.asking import advice_in, consult
from tests.fakes.scripted import HANGS, NO_CREDIT, OVERLOADED, ScriptedProvider

ANEW = object()
KEY = EpisodeKey(ChatId(UUID(int=1)), 1, 1)


async def asking(*scripts):
    """What came of it, and what was told meanwhile."""
    told = []
    model = Model(ScriptedProvider(*scripts), None, "me", "anthropic", "m", CallSettings())
    said = await consult(
        model,
        Prompt("m", ()),
        KEY,
        limits=TurnLimits(),
        show_text=told.append,
        start_over=lambda: told.append(ANEW),
    )
    return said, told


async def test_what_it_says_is_told_as_it_comes():
    said, told = await asking(["go ", "left"])

    assert "go left" == advice_in(said)
    assert ["go ", "left"] == told


async def test_what_an_attempt_told_that_failed_is_void(autojump_clock):
    said, told = await asking(["go ri", OVERLOADED], ["go left"])

    assert "go left" == advice_in(said)
    assert ["go ri", ANEW, "go left"] == told


async def test_an_advisor_that_hangs_is_asked_again(autojump_clock):
    said, told = await asking([HANGS], ["go left"])

    assert "go left" == advice_in(said)
    assert [ANEW, "go left"] == told


async def test_what_cannot_help_is_not_done_again(autojump_clock):
    said, told = await asking([NO_CREDIT], ["go left"])

    assert isinstance(NO_CREDIT, AnswerFailed)
    assert NO_CREDIT.failure == said
    assert [] == told


async def test_thoughts_are_no_advice():
    answer = ModelAnswer((ReasoningPart("hm"), TextPart(" go "), TextPart("left\n")), None)

    assert "go left" == advice_in(answer)
