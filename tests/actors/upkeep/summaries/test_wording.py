"""How a model is asked about a chat, and which of its answers are taken."""

import pytest

from actors.chat.turn.ports import Model
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.message import TextPart
from actors.law.parts.prompt import CallSettings
from actors.upkeep.summaries.wording import (
    LABEL_TOKENS_MAX,
    SUMMARY_CHARACTERS_MAX,
    WORDS_CHARACTERS_MAX,
    label_in,
    label_prompt,
    summary_in,
    summary_prompt,
)
from tests.actors.law.chats import a_chat

MODEL = Model(None, None, "me", "anthropic", "m", CallSettings(top_k=7))


def answer(text):
    return ModelAnswer((TextPart(text),), None)


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("Fixed login redirect", "Fixed login redirect"),
        (' "Fixed login redirect." \n', "Fixed login redirect"),
        ("修复登录", "修复登录"),
        ("Theory of sets explained", "Theory of sets explained"),
    ],
)
def test_a_label_is_taken_without_its_wrapping(said, label):
    assert label == label_in(answer(said))


@pytest.mark.parametrize(
    "said",
    [
        "",
        "  ",
        '""',
        "one\ntwo",
        "It is done",
        "I fixed it",
        "the fix",
        "We did",
        "Agent fixed it",
        "Fixed it. Tested it.",
        "x" * 81,
    ],
)
def test_what_is_no_label_is_thrown_away(said):
    assert label_in(answer(said)) is None


def test_a_summary_is_one_paragraph_of_a_few_sentences():
    assert "It is this. It was that." == summary_in(answer("It is this.\nIt was that.\n"))
    assert summary_in(answer("")) is None
    assert summary_in(answer("x" * (SUMMARY_CHARACTERS_MAX + 1))) is None
    assert summary_in(answer("One. " * 7)) is None


def test_the_question_is_short_whatever_was_said():
    prompt = label_prompt(a_chat().chat, MODEL, title="Login", words="x" * 100_000)

    [said] = prompt.messages
    assert "Title: Login" in said.parts[0].text
    assert len(said.parts[0].text) < WORDS_CHARACTERS_MAX + 200
    assert (LABEL_TOKENS_MAX, None) == (
        prompt.settings.max_output_tokens,
        prompt.settings.top_k,
    )


def test_a_chat_is_summed_up_from_its_transcript():
    [said] = summary_prompt(a_chat().chat, MODEL, "user: hello").messages

    assert "user: hello" in said.parts[0].text
