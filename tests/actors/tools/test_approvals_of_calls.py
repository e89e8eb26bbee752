"""The open calls of a step: what runs, what is denied, what is asked about."""

from dataclasses import replace
from uuid import UUID

from actors.law.requests import CallToApprove
from actors.tools.approval_rules import Policy, ServerStart, read_rules
from actors.tools.approvals import ALLOW_ALL, DENIED_BY_RULE, NO_PERSON_TO_ASK, Consent, sort_calls
from tests.actors.chat.turn.given import calls, tool
from tests.actors.law.chats import ANN, a_chat, approval

CHAT = a_chat().chat
TOOLS = {
    one.tool.name: one
    for one in (tool("read_file"), tool("execute"), tool("think", exclusive=True))
}
TOOLS["run"] = TOOLS["execute"]  # by another name
READ, RUN = calls("r", "read_file"), calls("x", "execute")
ASKING = Consent(Policy.ASK)


def found(*made, chat=CHAT, consent=ASKING):
    return sort_calls(made, chat, TOOLS, consent)


def test_where_nothing_is_asked_everything_runs():
    sorted_ = found(READ, RUN, consent=ALLOW_ALL)

    assert ((READ, RUN), {}, ()) == (sorted_.run, sorted_.denied, sorted_.calls_to_approve)


def test_what_needs_no_consent_runs_and_the_rest_is_asked_about():
    sorted_ = found(READ, RUN)

    assert (READ,) == sorted_.run
    assert (CallToApprove("x", "execute", RUN.args),) == sorted_.calls_to_approve


def test_a_tool_is_asked_about_by_its_own_name_whatever_it_is_called_by():
    asks = found(calls("x", "run")).calls_to_approve

    assert ["execute"] == [ask.tool for ask in asks]


def test_what_a_person_has_allowed_runs_and_what_he_is_still_asked_about_does_not():
    chat = replace(CHAT, approvals=(approval("x", "execute", by=ANN), approval("y", "execute")))

    sorted_ = found(RUN, calls("y", "execute"), chat=chat)

    assert ((RUN,), ["y"]) == (sorted_.run, [ask.tool_call_id for ask in sorted_.calls_to_approve])


def test_what_was_allowed_to_a_server_is_asked_again_where_a_workspace_has_its_name_by_now():
    chat = replace(CHAT, approvals=(approval("x", "git__push", by=ANN),))
    call, server = calls("x", "git__push"), tool("git__push", is_foreign=True, server=UUID(int=1))
    near = replace(server, server=None)

    before = sort_calls([call], chat, {"git__push": server}, ASKING)
    after = sort_calls([call], chat, {"git__push": near}, ASKING)

    assert ((call,), ()) == (before.run, before.calls_to_approve)
    assert ((), (CallToApprove("x", "workspace:git__push", "{}"),)) == (
        after.run,
        after.calls_to_approve,
    )


def test_a_person_is_shown_what_would_be_started_and_not_what_the_model_says_of_it():
    start = ServerStart("kit", "d1", '{"command": "sh server.sh"}')
    tools = {"kit__start_server": tool("kit__start_server", is_foreign=True, start=start)}
    lies = calls("x", "kit__start_server", '{"command": "true"}')
    other = replace(CHAT, approvals=(approval("x", "start:kit:d0", by=ANN),))

    for chat in (CHAT, other):
        found = sort_calls([lies], chat, tools, ASKING)
        assert ((), (CallToApprove("x", "start:kit:d1", start.shown),)) == (
            found.run,
            found.calls_to_approve,
        )
    allowed = replace(CHAT, approvals=(approval("x", "start:kit:d1", by=ANN),))
    assert (lies,) == sort_calls([lies], allowed, tools, ASKING).run


def test_where_nobody_is_there_to_be_asked_the_model_is_told_so():
    sorted_ = found(READ, RUN, consent=Consent(Policy.DENY))

    assert ((READ, RUN), ()) == (sorted_.run, sorted_.calls_to_approve)
    assert {"x": NO_PERSON_TO_ASK.format(tool="execute")} == sorted_.denied


def test_what_a_rule_denies_is_denied_whoever_is_there():
    sorted_ = found(RUN, consent=Consent(Policy.ASK, read_rules("execute=deny")))

    assert {"x": DENIED_BY_RULE.format(tool="execute")} == sorted_.denied


def test_what_a_person_has_allowed_is_still_denied_by_a_rule_but_not_for_want_of_a_person():
    chat = replace(CHAT, approvals=(approval("x", "execute", by=ANN),))

    ruled_out = found(RUN, chat=chat, consent=Consent(Policy.ASK, read_rules("execute=deny")))
    unattended = found(RUN, chat=chat, consent=Consent(Policy.DENY))

    assert {"x": DENIED_BY_RULE.format(tool="execute")} == ruled_out.denied
    assert ((RUN,), {}) == (unattended.run, unattended.denied)


def test_nobody_is_asked_about_calls_that_are_refused_anyway():
    unknown, broken = calls("u", "gone"), replace(RUN, args="{nonsense")
    alone = calls("t", "think")

    assert () == found(unknown, broken).calls_to_approve
    assert () == found(alone, RUN).calls_to_approve
    assert ((alone, RUN), {}) == (found(alone, RUN).run, found(alone, RUN).denied)
