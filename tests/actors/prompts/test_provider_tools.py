"""Anthropic's own tools in a history: what is repaired, what is left alone, what is refused."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.law.failures.classify import history_mismatch
from actors.law.parts.message import JsonText, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from actors.law.parts.prompt import AssistantOutput, ToolAnswer, ToolResults, UserInput
from actors.law.parts.vendors import ANTHROPIC, vendor_of
from actors.prompts.projection import project
from actors.prompts.provider_tools import GuardedMessages, guard, sanitise, sanitise_step
from actors.prompts.selecting import Target
from tests.actors.prompts.rows import assistant, call, history, searched, user

CALL, RESULT = searched()
HI = UserInput((TextPart("hi"),))
YES = TextPart("yes")
SIGNED = ReasoningPart("hm", provider_metadata='{"anthropic":{"signature":"s"}}')
REDACTED = ReasoningPart("", provider_metadata='{"anthropic":{"redacted_data":"x"}}')
FOREIGN = ReasoningPart("hm", provider_metadata='{"openai":{"id":"rs"}}')
WORDS = replace(RESULT, result='{"output":"words"}', provider_metadata=None)
TARGET = Target("anthropic", None, ANTHROPIC.rules)


PAGE_NOTES = '{"anthropic":{"web_fetch":{"url":"https://a.test"}}}'


def left(*parts):
    """What is left of an assistant's message between two of a user."""
    messages = sanitise((HI, AssistantOutput(parts), HI))
    return [part for each in messages if isinstance(each, AssistantOutput) for part in each.parts]


def test_a_valid_pair_stays_as_it_is():
    parts = (YES, CALL, RESULT, YES)

    assert left(*parts) == list(parts)


def test_a_page_that_was_read_stays_with_its_call():
    read = replace(CALL, name="web_fetch"), replace(RESULT, provider_metadata=PAGE_NOTES)

    assert left(*read, YES) == [*read, YES]


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        ((YES, CALL), [YES]),
        ((YES, RESULT), [YES]),
        ((YES, WORDS), [YES, TextPart("words")]),
        ((RESULT, CALL, YES), [YES]),
        ((CALL, RESULT, RESULT, YES), [YES]),
        ((CALL, CALL, RESULT, YES), [YES]),
        ((CALL, WORDS, YES), [TextPart("words"), YES]),
        ((replace(CALL, name="code_execution"), RESULT, YES), [YES]),
        ((replace(CALL, args="{broken"), RESULT, YES), [YES]),
        ((replace(CALL, args=None), RESULT, YES), [YES]),
        ((replace(CALL, id=" "), replace(RESULT, id=" "), YES), [YES]),
        ((CALL, replace(RESULT, provider_metadata="{}"), YES), [YES]),
        ((CALL, replace(RESULT, provider_metadata=PAGE_NOTES), YES), [YES]),
        ((CALL, replace(RESULT, provider_metadata="not json"), YES), [YES]),
    ],
)
def test_what_is_no_valid_pair_is_dropped_and_leaves_its_text(parts, kept):
    assert left(*parts) == kept


@pytest.mark.parametrize(("notes", "halves"), [(RESULT.provider_metadata, 2), (PAGE_NOTES, 0)])
def test_the_other_half_in_the_next_message_has_to_be_of_the_same_tool(notes, halves):
    called = AssistantOutput((CALL, ToolCallPart("l", "f", "{}")))
    answered = ToolResults((ToolAnswer("l", "f", "1"),))
    result = replace(RESULT, provider_metadata=notes)

    messages = sanitise((HI, called, answered, AssistantOutput((result, YES)), HI))

    said = [part for each in messages if isinstance(each, AssistantOutput) for part in each.parts]
    assert halves == sum(getattr(part, "provider_executed", False) for part in said)


def test_local_calls_are_none_of_its_business_whatever_their_ids():
    local = ToolCallPart("srvtoolu_1", "web_search", "{}")

    assert left(local, CALL, RESULT) == [local, CALL, RESULT]


def test_an_emptied_message_goes_and_its_neighbours_become_one():
    assert sanitise((HI, AssistantOutput((CALL,)), HI)) == (
        UserInput((TextPart("hi"), TextPart("hi"))),
    )


def test_neighbours_of_every_role_become_one():
    one, two = ToolAnswer("a", "f", "1"), ToolAnswer("b", "f", "2")

    assert sanitise((ToolResults((one,)), ToolResults((two,)))) == (ToolResults((one, two)),)
    assert sanitise((AssistantOutput((YES,)), AssistantOutput((YES,)))) == (
        AssistantOutput((YES, YES)),
    )


def test_neighbours_that_break_each_other_by_becoming_one_are_repaired():
    messages = sanitise((AssistantOutput((CALL, RESULT)), AssistantOutput((YES, CALL, RESULT))))

    assert messages == (AssistantOutput((YES,)),)


@pytest.mark.parametrize("thought", [SIGNED, REDACTED])
def test_the_latest_message_with_signed_thoughts_is_neither_edited_nor_merged(thought):
    latest = AssistantOutput((thought, RESULT, CALL))

    messages = sanitise((HI, AssistantOutput((YES,)), latest, HI))

    assert messages == (HI, AssistantOutput((YES,)), latest, HI)


def test_an_older_signed_message_and_an_unsigned_latest_one_are_repaired():
    older = AssistantOutput((SIGNED, RESULT, YES))

    messages = sanitise((HI, older, HI, AssistantOutput((FOREIGN, RESULT, YES))))

    assert messages == (
        HI,
        AssistantOutput((SIGNED, YES)),
        HI,
        AssistantOutput((FOREIGN, YES)),
    )


LOCAL = ToolCallPart("c", "read", JsonText("{}"))
LOCAL_RESULT = ToolResults((ToolAnswer("c", "read", "1"),))
RUNNING = AssistantOutput((CALL, LOCAL))


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param((HI, RUNNING, LOCAL_RESULT), id="the result is still to come"),
        pytest.param(
            (HI, AssistantOutput((SIGNED, CALL, LOCAL)), LOCAL_RESULT), id="behind signed thoughts"
        ),
        pytest.param(
            (HI, RUNNING, LOCAL_RESULT, AssistantOutput((RESULT, YES)), HI),
            id="it came with the next answer",
        ),
        pytest.param(
            (HI, RUNNING, LOCAL_RESULT, AssistantOutput((RESULT, LOCAL)), LOCAL_RESULT),
            id="which calls a tool itself",
        ),
    ],
)
def test_a_call_that_runs_beside_local_ones_keeps_its_result_in_the_next_message(messages):
    assert sanitise(messages) == messages
    assert guard(messages, "anthropic") == GuardedMessages(messages, 0)


@pytest.mark.parametrize(
    ("messages", "kept"),
    [
        pytest.param(
            (HI, RUNNING, LOCAL_RESULT, HI),
            (HI, AssistantOutput((LOCAL,)), LOCAL_RESULT, HI),
            id="a user spoke before the result came",
        ),
        pytest.param(
            (HI, RUNNING, LOCAL_RESULT, HI, AssistantOutput((RESULT, YES))),
            (HI, AssistantOutput((LOCAL,)), LOCAL_RESULT, HI, AssistantOutput((YES,))),
            id="a user spoke between the two",
        ),
        pytest.param(
            (HI, RUNNING, LOCAL_RESULT, AssistantOutput((YES, RESULT))),
            (HI, AssistantOutput((LOCAL,)), LOCAL_RESULT, AssistantOutput((YES,))),
            id="the result is not at the head",
        ),
        pytest.param(
            (HI, RUNNING, LOCAL_RESULT, AssistantOutput((YES,)), HI),
            (HI, AssistantOutput((LOCAL,)), LOCAL_RESULT, AssistantOutput((YES,)), HI),
            id="the next answer has none",
        ),
        pytest.param(
            (HI, AssistantOutput((LOCAL,)), LOCAL_RESULT, AssistantOutput((RESULT, YES))),
            (HI, AssistantOutput((LOCAL,)), LOCAL_RESULT, AssistantOutput((YES,))),
            id="nobody called it",
        ),
        pytest.param(
            (HI, AssistantOutput((replace(CALL, args="{broken"), LOCAL)), LOCAL_RESULT),
            (HI, AssistantOutput((LOCAL,)), LOCAL_RESULT),
            id="the call is broken",
        ),
        pytest.param((HI, AssistantOutput((CALL,))), (HI,), id="no local call is answered"),
    ],
)
def test_halves_in_two_messages_that_do_not_fit_are_dropped(messages, kept):
    assert sanitise(messages) == kept


OFFERED = st.sampled_from([CALL, RESULT, LOCAL, YES])
SPOKEN = st.lists(OFFERED, min_size=1, max_size=4).map(lambda said: AssistantOutput(tuple(said)))


@given(st.lists(st.one_of(SPOKEN, st.just(LOCAL_RESULT), st.just(HI)), max_size=8))
def test_whatever_is_repaired_needs_no_further_repair(messages):
    repaired = sanitise(tuple(messages))

    assert sanitise(repaired) == repaired
    assert guard(repaired, "anthropic") == GuardedMessages(repaired, 0)


def test_the_guard_passes_what_is_valid():
    messages = (HI, AssistantOutput((CALL, RESULT)), HI)

    assert guard(messages, "anthropic") == GuardedMessages(messages, 0)


def test_the_guard_takes_a_call_without_result_even_out_of_signed_thoughts():
    messages = (HI, AssistantOutput((SIGNED, CALL, YES)), HI)

    assert guard(messages, "anthropic") == GuardedMessages(
        (HI, AssistantOutput((SIGNED, YES)), HI), 1
    )


def test_the_guard_repairs_the_rest_as_a_history_is_repaired():
    messages = (HI, AssistantOutput((RESULT, YES)), HI, AssistantOutput((SIGNED, YES)))

    assert guard(messages, "anthropic") == GuardedMessages(
        (HI, AssistantOutput((YES,)), HI, AssistantOutput((SIGNED, YES))), 1
    )


def test_the_guard_refuses_what_cannot_be_repaired():
    messages = (HI, AssistantOutput((SIGNED, RESULT, YES)), HI)

    assert guard(messages, "anthropic") == history_mismatch("anthropic")


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        ((YES, CALL, RESULT), (YES, CALL, RESULT)),
        ((YES, CALL), (YES,)),
        ((CALL, replace(RESULT, name="other")), ()),
        ((SIGNED, CALL), (SIGNED, CALL)),
        ((YES, CALL, LOCAL), (YES, CALL, LOCAL)),
        ((YES, replace(CALL, args=None), LOCAL), (YES, LOCAL)),
        ((RESULT, YES), (RESULT, YES)),
        ((YES, RESULT), (YES,)),
        ((replace(RESULT, provider_metadata=None), YES), (YES,)),
    ],
)
def test_a_finished_step_is_stored_without_broken_pairs_unless_it_is_signed(parts, kept):
    assert sanitise_step(parts) == kept


def test_only_who_speaks_anthropics_protocol_has_these_rules():
    rows = history(user("hi"), assistant(*searched()[:1], "b"), user("x"), user("y"))

    def messages(provider):
        target = Target(provider, None, vendor_of(provider).rules)
        return project(rows, target=target, identity_of=lambda _: None, files={}).messages

    assert messages("openai") == (
        HI,
        AssistantOutput((CALL, TextPart("b"))),
        UserInput((TextPart("x"),)),
        UserInput((TextPart("y"),)),
    )
    assert messages("bedrock") == (
        HI,
        AssistantOutput((TextPart("b"),)),
        UserInput((TextPart("x"), TextPart("y"))),
    )


def test_a_search_of_an_earlier_turn_is_sent_again_and_answered_by_nobody_else():
    rows = history(user("hi"), assistant(*searched(), "found"), user("more"))

    found = project(
        rows,
        target=TARGET,
        identity_of=lambda _: None,
        files={},
    )

    assert found.messages[1] == AssistantOutput((CALL, RESULT, TextPart("found")))
    assert not any(isinstance(each, ToolResults) for each in found.messages)


def test_a_local_call_and_a_search_in_one_message_are_both_complete():
    rows = history(user("hi"), assistant(*searched(), call("c")))

    found = project(
        rows,
        target=TARGET,
        identity_of=lambda _: None,
        files={},
    )

    assert [part.id for part in found.messages[1].parts] == ["s", "s", "c"]
    assert [answer.id for answer in found.messages[2].answers] == ["c"]
    assert isinstance(found.messages[1].parts[1], ToolResultPart)
