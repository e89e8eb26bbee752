"""Consent: calls that do not run before a person has allowed them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from actors.law import requests as ask
from actors.law.chat import Approval, ApprovalDecision, Verdict
from actors.law.closing import unanswered_dynamic_calls
from actors.law.refusals import NotAllowed, NotAwaitingDecision
from actors.law.states import State
from tests.actors.law.chats import (
    ANN,
    BOB,
    DYNAMIC,
    LOCAL,
    NOW,
    a_chat,
    answer,
    approval,
    assistant,
    call,
    cancelled,
    done,
    edit,
    interrupt_with,
    promote,
    refused,
    result,
    said_texts,
    send,
    steering,
    step,
    submit,
    suffix,
    tool,
    user,
)

ONCE, ALWAYS, DENY = Verdict.ALLOW_ONCE, Verdict.ALLOW_ALWAYS, Verdict.DENY
LATER = NOW + timedelta(seconds=9)
CALLS = (assistant(call("a"), call("b"), call("c", "other")),)


def asking(*approvals, state=State.A0, tail=CALLS, **more):
    asked = approvals or (approval("a"), approval("b"), approval("c", "other"))
    more = {"requires_action_deadline_at": None} | more
    return a_chat(state, tail=tail, approvals=asked, **more)


def decide(id, verdict=ONCE, *, by=ANN, words=""):
    return ask.DecideApproval(id, verdict, by, words)


def denied(id, words, name=LOCAL, *, by=ANN):
    text = '{"error": "' + words + '"}'
    return tool(result(id, name, text, error=True, at=NOW), created_by=by, model_config_id=FAST)


FAST = a_chat().chat.last_model_config_id
WORDLESS = "the user did not allow this call, and it was not run"
LATE = "nobody allowed this call in time, and it was not run; go on without it"


# Asking


@pytest.mark.parametrize(("seconds", "until"), [(9, LATER), (0, None)])
def test_asks_are_put_down_with_their_time_and_the_chat_waits(seconds, until):
    request = ask.EnterRequiresAction((ask.CallToApprove("a", LOCAL, '{"x": 1}'),), seconds)

    made = done(a_chat(tail=CALLS), request)

    asked = Approval("a", LOCAL, '{"x": 1}', NOW, until)
    assert (State.A0, (asked,)) == (made.state, made.chat.approvals)
    assert made.chat.requires_action_deadline_at is None
    assert () == made.added


def test_a_client_and_a_person_are_waited_for_together_each_with_their_own_time():
    both = (assistant(call("a"), call("d", DYNAMIC)),)

    made = done(
        a_chat(tail=both), ask.EnterRequiresAction((ask.CallToApprove("a", LOCAL, "{}"),), 9)
    )

    assert NOW + timedelta(minutes=5) == made.chat.requires_action_deadline_at
    assert [LATER] == [approval.until for approval in made.chat.approvals]
    assert ["d"] == [call.id for call in unanswered_dynamic_calls(made.after)]


@pytest.mark.parametrize("id", ["nobody's", "answered"])
def test_nobody_is_asked_about_a_call_that_is_not_open(id):
    tail = (assistant(call("a"), call("answered")), tool(result("answered")))

    refusal = refused(
        a_chat(tail=tail), ask.EnterRequiresAction((ask.CallToApprove(id, LOCAL, "{}"),))
    )

    assert "a call is asked about that is not open" == refusal.rule


def test_a_call_that_a_person_is_asked_about_is_not_the_client_s():
    same_name = (assistant(call("d", DYNAMIC)),)

    made = done(
        a_chat(tail=same_name), ask.EnterRequiresAction((ask.CallToApprove("d", DYNAMIC, "{}"),))
    )

    assert () == unanswered_dynamic_calls(made.after)
    assert made.chat.requires_action_deadline_at is None


# Deciding


def test_the_turn_goes_on_when_the_last_ask_is_decided():
    first = done(asking(approval("a"), approval("b")), decide("a"))

    second = done(first.after, decide("b", by=BOB))

    assert (State.A0, State.R0) == (first.state, second.state)
    by = [(a.tool_call_id, a.allowed_by) for a in second.chat.approvals]
    assert [("a", ANN), ("b", BOB)] == by
    assert () == first.added + second.added


def test_always_decides_about_no_other_call_of_that_tool():
    """A rule may ask about each of them, which the law does not know."""
    made = done(asking(), decide("a", ALWAYS))

    assert ["b", "c"] == [one.tool_call_id for one in made.chat.open_approvals]
    assert State.A0 is made.state
    assert (ApprovalDecision("a", LOCAL, ALWAYS, ANN),) == made.decisions


def test_rules_that_come_with_a_decision_are_kept_with_it():
    made = done(asking(approval("a")), replace(decide("a"), grants=("tool(x)", "tool(y)")))

    rules = [ApprovalDecision("a", f"tool({each})", ALWAYS, ANN) for each in "xy"]
    assert (*rules, ApprovalDecision("a", LOCAL, ONCE, ANN)) == made.decisions
    refusal = refused(made.after, replace(decide("a"), grants=("tool(z)",)))
    assert isinstance(refusal, NotAllowed)


def test_a_denied_call_has_its_result_and_the_others_still_wait():
    made = done(asking(), decide("b", DENY))

    assert (denied("b", WORDLESS),) == made.added
    assert ["a", "c"] == [one.tool_call_id for one in made.chat.open_approvals]
    assert (ApprovalDecision("b", LOCAL, DENY, ANN),) == made.decisions


def test_the_model_reads_why_a_call_was_denied():
    made = done(asking(approval("a")), decide("a", DENY, words="not on a Friday"))

    assert (denied("a", f"{WORDLESS}. They say: not on a Friday"),) == made.added
    assert (ApprovalDecision("a", LOCAL, DENY, ANN, "not on a Friday"),) == made.decisions
    assert State.R0 is made.state


def test_the_first_decision_stands():
    first = done(asking(), decide("a"))

    for verdict in Verdict:
        refusal = refused(first.after, decide("a", verdict, by=BOB))

        assert NotAwaitingDecision("a") == refusal.fault
        assert isinstance(refusal, NotAllowed)
        assert "tool call a does not wait for a decision" in str(refusal)


def test_who_was_asked_about_an_earlier_call_of_the_same_id_has_not_decided_about_this_one():
    chat = asking()

    for verdict in Verdict:
        refusal = refused(chat, replace(decide("a", verdict), asked_at=NOW))

        assert NotAwaitingDecision("a") == refusal.fault
    made = done(chat, replace(decide("a"), asked_at=chat.chat.open_approvals[0].asked_at))
    assert ["b", "c"] == [one.tool_call_id for one in made.chat.open_approvals]


def test_what_steers_enters_behind_the_last_denial_but_not_before_a_call_that_may_run():
    alone = (assistant(call("a")),)
    queue = (steering(1, "this way"),)

    denied_all = done(
        asking(approval("a"), state=State.A1, tail=alone, queue=queue), decide("a", DENY)
    )
    to_run = done(
        asking(approval("a"), approval("b", by=BOB), state=State.A1, queue=queue),
        decide("a", DENY),
    )

    assert (State.R0, ["a", "this way"]) == (denied_all.state, said_texts(denied_all))
    assert (State.R1, ["a"]) == (to_run.state, said_texts(to_run))


# The time is over


def test_what_is_late_is_denied_and_what_has_time_still_waits():
    chat = asking(approval("a", until=NOW), approval("b", until=LATER), approval("c", "other"))

    made = done(chat, ask.ExpireApprovals())

    assert (denied("a", LATE, by=None),) == made.added
    assert ["b", "c"] == [one.tool_call_id for one in made.chat.open_approvals]
    assert (State.A0, (ApprovalDecision("a", LOCAL, DENY, None),)) == (made.state, made.decisions)


def test_nothing_is_denied_before_its_time_nor_what_has_been_allowed_meanwhile():
    chat = asking(approval("a", until=LATER), approval("b", until=NOW, by=BOB))

    made = done(chat, ask.ExpireApprovals())

    assert (chat.chat, (), ()) == (made.chat, made.added, made.decisions)


def test_whoever_allows_a_call_in_the_last_moment_is_in_no_one_s_way():
    tail = (assistant(call("a"), call("d", DYNAMIC)),)
    chat = asking(approval("a", until=NOW, by=BOB), tail=tail, requires_action_deadline_at=NOW)

    expired = done(chat, ask.ExpireApprovals())
    made = done(expired.after, ask.CancelRequiresAction())

    assert (State.R0, ["d"]) == (made.state, said_texts(made))


def test_the_client_s_time_is_not_the_person_s():
    tail = (assistant(call("a"), call("d", DYNAMIC)),)
    chat = asking(approval("a", until=LATER), tail=tail, requires_action_deadline_at=NOW)

    client = done(chat, ask.CancelRequiresAction())
    person = done(chat, decide("a"))

    assert (State.A0, ["d"]) == (client.state, said_texts(client))
    assert client.chat.requires_action_deadline_at is None
    assert (State.A0, NOW) == (person.state, person.chat.requires_action_deadline_at)


def test_a_client_may_answer_while_a_person_is_asked():
    tail = (assistant(call("a"), call("d", DYNAMIC)),)

    made = done(asking(approval("a"), tail=tail), submit(answer("d")))

    assert (State.A0, ["a"]) == (made.state, [one.tool_call_id for one in made.chat.open_approvals])
    assert made.chat.requires_action_deadline_at is None


# What ends the wait otherwise


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        pytest.param(ask.Interrupt(), "interrupted by user", id="an interrupt"),
        pytest.param(interrupt_with("x"), "interrupted by a user message", id="a message"),
    ],
)
def test_asked_and_allowed_calls_are_closed_by(request_, reason):
    chat = asking(approval("a"), approval("b", by=BOB))

    made = done(chat, request_)

    assert (cancelled("a", reason), cancelled("b", reason)) == made.added[:2]
    assert () == made.chat.approvals
    assert () == made.decisions


def test_a_promoted_message_closes_them_too():
    made = done(asking(approval("a"), state=State.A1), promote(1))

    assert ((), ["a", "b", "c", "queued"]) == (made.chat.approvals, said_texts(made))


def test_an_edit_forgets_them():
    made = done(asking(approval("a"), tail=(), suffix=suffix(user("old"))), edit("new"))

    assert (State.R0, ()) == (made.state, made.chat.approvals)


def test_a_message_that_only_waits_leaves_them_as_they_are():
    chat = asking(approval("a", until=LATER))

    made = done(chat, send("later"))

    assert (State.A1, chat.chat.approvals) == (made.state, made.chat.approvals)


# Running what was allowed


def test_consent_goes_with_the_result_of_its_call():
    chat = asking(approval("a", by=ANN), approval("b", by=ANN), state=State.R0)

    made = done(chat, step(tool(result("a"))))

    assert ["b"] == [one.tool_call_id for one in made.chat.approvals]


def test_the_calls_of_the_next_message_have_no_consent_whatever_their_ids():
    chat = asking(approval("a", by=ANN), state=State.R0, tail=(assistant(call("a")),))

    made = done(chat, step(tool(result("a")), assistant(call("a"))))

    assert () == made.chat.approvals
