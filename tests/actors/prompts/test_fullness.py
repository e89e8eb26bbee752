"""How full a window is, and what is to be done about it."""

import pytest

from actors.law.chat import Message, Role, Visibility
from actors.law.ids import EpisodeKey
from actors.law.parts.message import UNPRICED, JsonText, TextPart, TokenUsage, ToolResultPart
from actors.prompts.compaction import Compaction, CompactionSource, Summary
from actors.prompts.fullness import (
    SUMMARIES_PER_TURN_MAX,
    CompactionNeed,
    Fullness,
    compaction_need,
    fullness,
    is_progress,
    is_worth_it,
    may_summarise,
)
from tests.actors.law.chats import CHAT, FAST, NOW, assistant, call, result, tool, user

USED_80 = TokenUsage(input_tokens=80)
COMPACTION = Compaction(EpisodeKey(CHAT, 5, 2), CompactionSource.AUTOMATIC, Fullness(80, 100, 70))
SUMMARY = COMPACTION.rows(Summary("what was said", 1200, UNPRICED), FAST)


def history(*bodies):
    return [Message(id, 1, NOW, False, body) for id, body in enumerate(bodies, 1)]


def full(*bodies, limit=100, threshold=70):
    return fullness(history(*bodies), limit=limit, threshold_percent=threshold)


def verdict_on(*bodies, limit=100, threshold=70):
    rows = history(*bodies)
    return compaction_need(rows, fullness(rows, limit=limit, threshold_percent=threshold))


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (TokenUsage(input_tokens=80, output_tokens=1000), 80),
        (TokenUsage(input_tokens=10, cache_read_tokens=60, cache_creation_tokens=10), 80),
        (TokenUsage(cache_read_tokens=80), 80),
        (TokenUsage(total_tokens=80), 80),
        (TokenUsage(input_tokens=0, total_tokens=80), 80),
        (TokenUsage(input_tokens=5, total_tokens=80), 5),
        (TokenUsage(input_tokens=-5, total_tokens=-80), 0),
        (TokenUsage(), 0),
    ],
)
def test_what_counts_is_what_the_last_step_had_read(usage, tokens):
    assert tokens == full(user("a"), assistant("b", usage=usage)).tokens


def test_steps_are_not_added_up_and_one_that_counted_nothing_is_passed_over():
    said = [
        assistant("a", usage=TokenUsage(input_tokens=10)),
        assistant("b", usage=TokenUsage(input_tokens=30)),
        assistant("c"),
    ]

    assert 30 == full(user("x"), *said).tokens


def test_what_only_users_see_does_not_count():
    shown = assistant("a", usage=USED_80, visibility=Visibility.USER)

    assert 0 == full(user("x"), shown).tokens


@pytest.mark.parametrize(
    ("tokens", "limit", "threshold", "is_over"),
    [
        (70, 100, 70, True),
        (69, 100, 70, False),
        (1, 100, 0, True),
        (0, 100, 0, False),
        (1000, 100, 100, False),
        (1000, 0, 70, False),
        (70, 1000, 70, False),
        (29, 100, 29, True),  # which is less in floating point
    ],
)
def test_it_is_too_full_from_the_threshold_on(tokens, limit, threshold, is_over):
    assert is_over == Fullness(tokens, limit, threshold).is_over


def test_where_no_limit_is_configured_what_the_provider_told_counts():
    said = assistant("a", usage=USED_80, context_limit=100)

    assert 100 == full(said, limit=None).limit
    assert 1000 == full(said, limit=1000).limit
    assert 0 == full(assistant("a", usage=USED_80), limit=None).limit


def test_a_full_window_is_summarised():
    assert CompactionNeed.SUMMARISE is verdict_on(
        user("a"), assistant("b", usage=USED_80), user("c")
    )
    assert CompactionNeed.PROCEED is verdict_on(user("a"), assistant("b", usage=USED_80), limit=200)
    assert CompactionNeed.PROCEED is verdict_on(user("a"))


def test_after_a_summary_nothing_is_known_and_nothing_is_summarised():
    said = (user("a"), assistant("b", usage=USED_80), *SUMMARY)

    assert 0 == full(*said).tokens
    assert CompactionNeed.PROCEED is verdict_on(*said)


def test_what_is_still_too_long_right_after_a_summary_is_an_end():
    said = (user("a"), assistant("b", usage=USED_80), *SUMMARY)

    assert CompactionNeed.STILL_FULL is verdict_on(*said, assistant("c", usage=USED_80), user("d"))


def test_what_has_grown_since_a_summary_is_summarised_again():
    said = (user("a"), assistant("b", usage=USED_80), *SUMMARY)
    small = assistant("c", usage=TokenUsage(input_tokens=10))
    grown = assistant("d", usage=USED_80)

    assert CompactionNeed.SUMMARISE is verdict_on(*said, small, user("e"), grown, user("f"))
    assert CompactionNeed.PROCEED is verdict_on(*said, small, user("e"), grown, *SUMMARY)


def test_where_users_have_seen_nothing_since_a_summary_another_would_be_the_same():
    said = (user("a"), assistant("b", usage=USED_80), *SUMMARY)
    hidden = assistant("for the model", usage=USED_80, visibility=Visibility.MODEL)

    assert 80 == full(*said, hidden).tokens
    assert CompactionNeed.PROCEED is verdict_on(*said, hidden)


def test_what_came_since_counts_where_the_next_call_would_not_fit():
    used_60 = assistant(call("b"), usage=TokenUsage(input_tokens=60, output_tokens=10_000))
    fits, too_long = (tool(result("b", value=f'"{"x" * size}"')) for size in (140, 180))

    assert CompactionNeed.PROCEED is verdict_on(user("a"), used_60, fits)
    assert CompactionNeed.SUMMARISE is verdict_on(user("a"), used_60, too_long)
    assert CompactionNeed.PROCEED is verdict_on(user("a"), used_60, too_long, threshold=100)
    assert 60 == full(user("a"), used_60, too_long).tokens


def test_what_the_last_step_said_is_read_by_the_next():
    assert 10 == full(user("a"), assistant("x" * 40, usage=USED_80)).coming


def test_media_are_not_measured_by_their_letters():
    picture = ToolResultPart("b", "look", JsonText(f'{{"data":"{"A" * 9000}"}}'), is_media=True)

    assert 0 == full(user("a"), assistant(call("b", "look"), usage=USED_80), tool(picture)).coming


def test_with_a_threshold_of_zero_every_call_is_preceded_by_a_summary():
    said = (user("a"), assistant("b", usage=USED_80), *SUMMARY)

    assert CompactionNeed.SUMMARISE is verdict_on(
        *said, assistant("c", usage=USED_80), user("d"), threshold=0
    )


def test_in_one_turn_only_so_many_are_made_unasked():
    again = (assistant("b", usage=TokenUsage(input_tokens=1)), *SUMMARY)
    most = (user("a"), *again * (SUMMARIES_PER_TURN_MAX - 1))
    grown = (assistant("c", usage=TokenUsage(input_tokens=1)), assistant("d", usage=USED_80))

    assert CompactionNeed.SUMMARISE is verdict_on(*most, *grown)
    assert CompactionNeed.PROCEED is verdict_on(*most, *again, *grown)
    assert CompactionNeed.SUMMARISE is verdict_on(*most, *again, *grown, user("e"))


def test_a_summary_is_made_unasked_of_whatever_has_been_said():
    assert may_summarise(history(user("a")))
    assert may_summarise(history(user("a"), *SUMMARY, user("b")))
    assert not may_summarise(history(user("a"), *SUMMARY))
    assert not may_summarise(())


@pytest.mark.parametrize(("bytes_count", "saves"), [(380, True), (384, False), (4000, False)])
def test_a_summary_has_to_save_a_twentieth(bytes_count, saves):
    assert saves == is_progress("x" * bytes_count, tokens_before=100)


def test_it_is_worth_it_once_a_model_has_said_something_new():
    said = (user("a"), assistant(call("b")), tool(result("b")))

    assert not is_worth_it(history(user("a")))
    assert is_worth_it(history(*said))
    assert not is_worth_it(history(*said, *SUMMARY))
    assert not is_worth_it(history(*said, *SUMMARY, user("c")))
    assert is_worth_it(history(*said, *SUMMARY, user("c"), assistant("d")))


def test_a_deleted_summary_is_none():
    rows = history(user("a"), assistant("b"), *SUMMARY)
    gone = [Message(m.id, 2, NOW, m.body.compressed, m.body) for m in rows]

    assert is_worth_it(gone)


def test_a_call_that_a_model_made_up_is_no_summary():
    faked = assistant(call("x", "chat_summarized"))

    assert is_worth_it(history(user("a"), faked))


def test_models_read_the_first_row_and_users_the_others():
    hidden, asked, told = SUMMARY

    assert [Role.USER, Role.ASSISTANT, Role.TOOL] == [body.role for body in SUMMARY]
    assert (Visibility.MODEL, Visibility.USER, Visibility.BOTH) == (
        hidden.visibility,
        asked.visibility,
        told.visibility,
    )
    assert all(body.compressed and body.model_config_id == FAST for body in SUMMARY)
    [text] = hidden.parts
    assert isinstance(text, TextPart)
    assert text.text.endswith("\n\nwhat was said")
    [asking], [telling] = asked.parts, told.parts
    assert asking.id == telling.id
    assert asking.id.startswith("chat_summarized_")
    assert '{"source": "automatic", "threshold_percent": 70}' == asking.args
    assert (
        '{"summary": "what was said", "source": "automatic", "threshold_percent": 70,'
        ' "usage_percent": 80.0, "context_tokens": 80, "context_limit_tokens": 100}'
        == telling.result
    )
    assert (1200, UNPRICED) == (asked.runtime_ms, asked.cost)


def test_each_attempt_is_shown_as_another_call():
    again = Compaction(EpisodeKey(CHAT, 5, 3), CompactionSource.MANUAL, Fullness(0, 0, 100))

    assert COMPACTION.call_id != again.call_id
    assert COMPACTION.call_id == COMPACTION.begun().id == COMPACTION.failed("x").id
