"""What a turn does next, read off its history."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.chat.turn.next_action import (
    STEPS_PER_TURN_MAX,
    AwaitClient,
    CallModel,
    EndReason,
    EndTurn,
    RunTools,
    next_action,
)
from actors.chat.turn.ports import OfferedTools
from actors.law.chat import Role
from actors.law.parts.message import ToolResultPart
from actors.law.parts.prompt import ToolDefinition
from tests.actors.chat.turn.given import SCHEMA, answered, calls, hidden, history, tool
from tests.actors.law.chats import ANN, a_chat, approval, assistant, user

CHAT = a_chat(dynamic_tools=frozenset({"ask", "pick"})).chat
TOOLS = (tool("read"), tool("write"), tool("plan", ends_turn=True), tool("think", exclusive=True))


def after(*bodies, tools=TOOLS, deleted=(), chat=CHAT):
    declared = tuple(ToolDefinition(name, "", SCHEMA) for name in sorted(CHAT.dynamic_tools))
    return next_action(
        chat, history(*bodies, deleted=deleted), OfferedTools(tuple(tools), declared)
    )


def ids(action):
    return [call.id for call in action.calls]


A, B, C = calls("a"), calls("b", "write"), calls("c", "ask")
ALONE, PLAN, UNKNOWN = calls("t", "think"), calls("p", "plan"), calls("u", "gone")


def test_a_text_completes_the_turn():
    assert EndTurn(EndReason.COMPLETE) == after(user(), assistant("done"))


def test_a_prompt_without_an_answer_is_put_to_the_model():
    assert CallModel() == after(user())


@pytest.mark.parametrize(
    ("bodies", "open"),
    [
        ([assistant("x", A, B)], ["a", "b"]),
        ([assistant(A, B), *answered("a")], ["b"]),
        ([assistant(A), *answered("a"), assistant(B)], ["b"]),
        ([assistant(UNKNOWN)], ["u"]),
        ([assistant(A, calls("w", "web", provider_executed=True))], ["a"]),
        ([assistant(A, calls("a", "write"))], ["a"]),
        ([assistant(A), hidden()], ["a"]),
        ([assistant(A), hidden(Role.ASSISTANT)], ["a"]),
    ],
    ids=[
        "all",
        "those not answered",
        "only of the last message",
        "even of a tool that is not there",
        "not the provider's own",
        "one for each id",
        "whatever the model alone is told behind them",
        "whatever is hidden behind them",
    ],
)
def test_open_local_calls_are_run(bodies, open):
    action = after(user(), *bodies)

    assert isinstance(action, RunTools)
    assert open == ids(action)


def test_of_two_calls_under_one_id_the_first_is_run():
    [call] = after(user(), assistant(A, calls("a", "write"))).calls

    assert "read" == call.name


def test_answered_calls_are_put_to_the_model():
    assert CallModel() == after(user(), assistant(A, B), answered("a", "b"))


def test_a_result_in_a_deleted_compressed_or_hidden_row_answers_nothing():
    gone = after(user(), assistant(A), answered("a"), deleted={2})
    compressed = after(user(), assistant(A), answered("a", compressed=True))
    unseen = after(user(), assistant(A), answered("a", visibility=hidden().visibility))

    assert [["a"]] * 3 == [ids(gone), ids(compressed), ids(unseen)]


def test_rows_that_are_gone_or_compressed_do_not_count():
    deleted = after(user(), assistant(A), deleted={1})
    compressed = after(user(), assistant(A, compressed=True))

    assert [CallModel()] * 2 == [deleted, compressed]


def test_local_calls_come_before_the_clients():
    both = after(user(), assistant(C, A))
    then = after(user(), assistant(C, A), answered("a"))

    assert ["a"] == ids(both)
    assert AwaitClient((C,)) == then


def test_a_client_is_waited_for_only_while_it_owes_an_answer():
    action = after(user(), assistant(C), answered("c", name="ask"))

    assert CallModel() == action


def test_an_exclusive_call_takes_the_clients_calls_into_its_batch():
    action = after(user(), assistant(C, ALONE, A))

    assert isinstance(action, RunTools)
    assert ["c", "t", "a"] == ids(action)


def test_an_exclusive_call_that_is_answered_leaves_the_client_alone():
    assert AwaitClient((C,)) == after(user(), assistant(C, ALONE), answered("t", name="think"))


def test_a_local_tool_wins_over_the_clients_of_that_name():
    action = after(user(), assistant(C), tools=(tool("ask"),))

    assert isinstance(action, RunTools)


@pytest.mark.parametrize("by", [None, ANN], ids=["asked", "allowed"])
def test_a_call_that_a_person_was_asked_about_is_never_the_clients(by):
    chat = replace(CHAT, approvals=(approval("c", "ask", by=by),))

    action = after(user(), assistant(C, calls("d", "pick")), chat=chat)

    assert isinstance(action, RunTools)
    assert ["c"] == ids(action)


def test_a_tool_that_ends_the_turn_does_so_when_it_succeeds():
    planned = answered("p", name="plan")

    assert EndTurn(EndReason.TOOL) == after(user(), assistant(PLAN), planned)
    assert EndTurn(EndReason.TOOL) == after(user(), assistant(PLAN), planned, hidden())
    assert CallModel() == after(user(), assistant(PLAN), answered("p", name="plan", error=True))


def test_a_tool_that_ended_an_earlier_turn_does_not_end_this_one():
    earlier = [user(), assistant(PLAN), *answered("p", name="plan")]

    assert CallModel() == after(*earlier, user("again"))


def test_a_tool_ends_the_turn_only_after_the_others_are_answered():
    action = after(user(), assistant(PLAN, A), answered("p", name="plan"))

    assert ["a"] == ids(action)


def test_the_result_of_a_tool_that_is_not_offered_ends_nothing():
    assert CallModel() == after(user(), assistant(PLAN), answered("p", name="plan"), tools=())


def steps(count):
    return [body for n in range(count) for body in (assistant(calls(f"{n}")), *answered(f"{n}"))]


def test_a_turn_has_a_last_step():
    assert CallModel() == after(user(), *steps(STEPS_PER_TURN_MAX - 1))
    assert EndTurn(EndReason.STEPS) == after(user(), *steps(STEPS_PER_TURN_MAX))


def test_steps_are_counted_from_the_last_prompt_that_somebody_saw():
    before = steps(STEPS_PER_TURN_MAX)

    assert CallModel() == after(user(), *before, user("again"), *steps(1))
    assert EndTurn(EndReason.STEPS) == after(user(), *before, hidden(), *steps(1))


def test_compressed_steps_do_not_count():
    older = [assistant("said", compressed=True)] * STEPS_PER_TURN_MAX

    assert CallModel() == after(user(), *older, *steps(1))


NAMES = st.sampled_from(["read", "write", "think", "plan", "ask", "gone"])
IDS = st.sampled_from("abcd")
BODIES = st.lists(
    st.one_of(
        st.builds(user),
        st.builds(hidden),
        st.lists(
            st.builds(calls, IDS, NAMES, provider_executed=st.booleans()) | st.just("text")
        ).map(lambda parts: assistant(*parts)),
        st.builds(lambda id, name: answered(id, name=name)[0], IDS, NAMES),
    ),
    max_size=8,
)


@settings(max_examples=60)
@given(BODIES)
def test_nothing_is_run_that_is_answered_and_nothing_ends_while_a_call_is_open(bodies):
    action = after(*bodies)

    last = max((n for n, b in enumerate(bodies) if _is_last(b)), default=None)
    wanted = [] if last is None else _open(bodies[last:])
    if isinstance(action, RunTools | AwaitClient):
        assert set(ids(action)) <= set(wanted)
        assert len(ids(action)) == len(set(ids(action)))
    else:
        assert [] == wanted


def _is_last(body):
    return body.role is Role.ASSISTANT


def _open(tail):
    answered = {
        part.id
        for body in tail[1:]
        if body.role is Role.TOOL
        for part in body.parts
        if isinstance(part, ToolResultPart)
    }
    return [
        part.id
        for part in tail[0].parts
        if getattr(part, "args", None) and not part.provider_executed and part.id not in answered
    ]
