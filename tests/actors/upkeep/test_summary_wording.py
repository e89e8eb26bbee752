"""Which end of a turn asks for what, how a model is asked about a chat, and what is taken."""

from dataclasses import replace

import pytest

from actors.chat.turn.ports import Model
from actors.law.change import Change
from actors.law.ids import ChatId, EpisodeKey
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.message import Cost, TextPart
from actors.law.parts.prompt import CallSettings
from actors.law.states import Status
from actors.prompts.compaction import Compaction, CompactionSource, Summary
from actors.prompts.fullness import Fullness
from actors.upkeep.summary_wording import (
    LABEL_TOKENS_MAX,
    MESSAGE_CHARACTERS_MAX,
    REPORT_CHARACTERS_MAX,
    SUMMARY_CHARACTERS_MAX,
    TRANSCRIPT_CHARACTERS_MAX,
    WORDS_CHARACTERS_MAX,
    TurnEnd,
    is_due,
    label_in,
    label_prompt,
    last_words,
    report_summary,
    summary_in,
    summary_prompt,
    transcript,
    turn_end_of,
)
from tests.actors.chat.turn.given import answered, hidden, history
from tests.actors.law.chats import CHAT, a_chat, assistant, call, user

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


RESTS, RUNNING, INTERRUPTING, ACTION, ERROR = (
    Status.WAITING,
    Status.RUNNING,
    Status.INTERRUPTING,
    Status.REQUIRES_ACTION,
    Status.ERROR,
)


def a_change(before, after):
    stored = a_chat()
    was = replace(stored, chat=replace(stored.chat, status=before))
    return Change(was, replace(stored.chat, status=after), ())


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (RUNNING, RESTS, TurnEnd.DONE),
        (RUNNING, ACTION, TurnEnd.WAITS),
        (RUNNING, ERROR, TurnEnd.CUT),
        (INTERRUPTING, RESTS, TurnEnd.CUT),
        (INTERRUPTING, ERROR, TurnEnd.CUT),
        (RUNNING, RUNNING, None),
        (RUNNING, INTERRUPTING, None),
        (INTERRUPTING, RUNNING, None),
        (RESTS, RUNNING, None),
        (RESTS, RESTS, None),
        (ACTION, RUNNING, None),
        (ERROR, RESTS, None),
    ],
)
def test_a_turn_has_ended_when_its_chat_comes_to_rest(before, after, expected):
    assert expected is turn_end_of(a_change(before, after))


def test_a_conversation_that_is_compacted_has_not_ended_another_turn():
    was = a_change(Status.RUNNING, Status.WAITING)

    assert turn_end_of(replace(was, added=compacted())) is None
    assert TurnEnd.DONE is turn_end_of(replace(was, added=(*compacted(), assistant("a"))))


@pytest.mark.parametrize(
    ("turns", "summed", "expected"),
    [
        *((turns, None, turns > 0) for turns in range(4)),
        *((turns, 1, turns >= 4) for turns in range(1, 9)),
        (4, 2, False),
        (5, 2, True),
        (0, 7, False),  # an edit took all of them away
        (2, 7, True),
    ],
)
def test_a_summary_is_made_after_the_first_turn_and_then_three_after_the_last(
    turns, summed, expected
):
    assert expected is is_due(turns, summed)


def test_what_was_said_last_is_the_models_own():
    said = [assistant("b"), assistant("d", call("x")), *answered("x"), assistant(call("y"))]

    assert "d" == last_words(said)
    assert "" == last_words([*answered("x"), user("f")])
    assert "" == last_words([])


def test_a_transcript_is_what_users_and_models_said():
    said = [user("a"), assistant("b", call("x")), *answered("x"), hidden(), assistant("c")]

    assert "user: a\n\nassistant: b\n\nassistant: c" == transcript(history(*said))


def test_a_transcript_knows_what_a_summary_replaced():
    told = transcript(history(user("a"), *compacted(), assistant("b")))

    assert "all of it" in told
    assert told.startswith("user: a\n\nearlier: ")


def compacted():
    key = EpisodeKey(ChatId(CHAT), 1, 1)
    compaction = Compaction(key, CompactionSource.MANUAL, Fullness(0, 0, 70))
    return compaction.rows(Summary("all of it", 1, Cost(0, "table")), None)


def test_what_was_taken_back_is_no_part_of_a_transcript():
    assert "user: b" == transcript(history(user("a"), user("b"), deleted=(0,)))


def test_of_long_messages_and_long_chats_the_ends_are_kept():
    [long] = transcript(history(user("b" + "x" * 9_000 + "e"))).split("\n\n")
    told = transcript(history(*[user("x" * 3_000)] * 20, assistant("last")))

    assert len(long) <= MESSAGE_CHARACTERS_MAX + len("user: ")
    assert ("user: bx", "xe") == (long[:8], long[-2:])
    assert len(told) <= TRANSCRIPT_CHARACTERS_MAX
    assert told.endswith("assistant: last")


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ("", ""),
        ("# Result\n\nDone.", "Result"),
        ("**Done**: see [the file](a.py).\n\nMore.", "Done: see the file."),
        ("- one\n- two", "one two"),
        ("```\ncode\n```\n\nIt `works`.", "It works."),
        ("One. Two! Three? Four.", "One. Two! Three?"),
    ],
)
def test_a_child_is_about_what_its_report_begins_with(report, expected):
    assert expected == report_summary(report)


def test_a_long_beginning_of_a_report_is_cut():
    summary = report_summary("word " * 200)

    assert len(summary) <= REPORT_CHARACTERS_MAX
    assert summary.endswith("word…")
