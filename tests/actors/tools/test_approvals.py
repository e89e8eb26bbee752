"""What may run, what is asked about, what is denied."""

import re
from dataclasses import replace
from uuid import UUID

import pytest

from actors.tools.approval_rules import (
    RULES_MAX,
    ApprovalRule,
    Policy,
    ServerStart,
    approval_name,
    read_rules,
)
from actors.tools.approvals import HARMLESS, Consent
from actors.tools.gating import KINDS_BY_TOOL
from tests.actors.chat.turn.given import tool

ALLOW, ASK, DENY = Policy.ALLOW, Policy.ASK, Policy.DENY
EXECUTE, READ = tool("execute"), tool("read_file")
SERVER = replace(tool("github__open_issue"), is_foreign=True, server=UUID(int=1))
NEAR = replace(SERVER, server=None)  # of the workspace, by the same name
STARTS = ServerStart("kit", "d1", "{}")
START = replace(NEAR, tool=tool("kit__start_server").tool, start=STARTS)

# Of our own tools those that somebody is asked about where the policy is to ask.
ASKED_ABOUT = {
    "write_file",
    "edit_files",
    "execute",
    "process_signal",
    "create_workspace",
    "start_workspace",
    "stop_workspace",
    "continue_spending",
    "computer",
}


def test_it_is_known_of_every_tool_of_ours_whether_it_is_asked_about():
    assert KINDS_BY_TOOL.keys() - HARMLESS == ASKED_ABOUT
    assert HARMLESS <= KINDS_BY_TOOL.keys()


@pytest.mark.parametrize(
    ("policy", "execute", "read", "server"),
    [(ALLOW, ALLOW, ALLOW, ALLOW), (ASK, ASK, ALLOW, ASK), (DENY, DENY, ALLOW, DENY)],
)
def test_without_rules_the_policy_counts_and_what_is_harmless_is_not_asked(
    policy, execute, read, server
):
    consent = Consent(policy)

    assert [execute, read, server] == [consent.to(one) for one in (EXECUTE, READ, SERVER)]


def test_a_tool_of_a_server_is_not_harmless_for_its_name():
    named = replace(READ, is_foreign=True)

    assert ASK is Consent(ASK).to(named)


@pytest.mark.parametrize(
    ("rules", "policy", "found"),
    [
        ("execute=ask", ALLOW, ASK),
        ("execute=ask", DENY, DENY),
        ("execute=allow", ASK, ALLOW),
        ("execute=allow", DENY, ALLOW),
        ("exec*=ask, execute=allow", ALLOW, ASK),
        ("*=ask, execute=deny", ALLOW, DENY),
        ("e*e=ask", ALLOW, ASK),
        ("exec=deny", ALLOW, ALLOW),
        ("Execute=deny", ALLOW, ALLOW),
        ("execut.=deny", ALLOW, ALLOW),
        ("mcp:*=deny", ALLOW, ALLOW),
    ],
)
def test_rules_come_first_and_of_those_that_fit_the_strongest(rules, policy, found):
    assert found is Consent(policy, read_rules(rules)).to(EXECUTE)


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("mcp:*=ask", ASK),
        ("mcp:github__*=deny", DENY),
        ("mcp:gitlab__*=deny", ALLOW),
        ("github__open_issue=ask", ASK),
    ],
)
def test_rules_for_tools_of_servers(rules, found):
    assert found is Consent(ALLOW, read_rules(rules)).to(SERVER)


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("github__open_issue=allow", ASK),
        ("mcp:github__*=allow", ASK),
        ("workspace:github__open_issue=allow", ALLOW),
        ("workspace:*=allow", ALLOW),
        ("mcp:*=allow", ALLOW),
        ("github__open_issue=deny", DENY),
        ("mcp:github__*=deny", DENY),
        ("workspace:*=deny", DENY),
        ("*=allow, github__*=ask", ASK),
    ],
)
def test_what_a_workspace_brings_along_is_not_allowed_in_another_s_name(rules, found):
    assert found is Consent(ASK, read_rules(rules)).to(NEAR)


@pytest.mark.parametrize("policy", [ALLOW, DENY])
def test_rules_for_what_a_workspace_brings_along_hold_for_nothing_else(policy):
    rules = read_rules(f"workspace:*={policy.value}")

    assert [ASK, ASK] == [Consent(ASK, rules).to(one) for one in (SERVER, EXECUTE)]


def test_what_was_allowed_always_is_not_allowed_to_a_server_of_the_workspace():
    by_name = {"github__open_issue"}

    assert [ALLOW, ASK] == [Consent(ASK, granted=by_name).to(one) for one in (SERVER, NEAR)]
    assert ALLOW is Consent(ASK, granted={"workspace:github__open_issue"}).to(NEAR)


@pytest.mark.parametrize(
    ("rules", "policy", "found"),
    [
        ("", ALLOW, ALLOW),
        ("", ASK, ASK),
        ("", DENY, DENY),
        ("execute=allow", ASK, ALLOW),
        ("*=allow", DENY, ALLOW),
        ("execute=ask", ALLOW, ASK),
        ("execute=deny", ALLOW, DENY),
        ("mcp:*=allow", ASK, ASK),
        ("workspace:*=allow", ASK, ASK),
        ("kit__start_server=allow", ASK, ASK),
        ("workspace:kit__start_server=allow", ASK, ASK),
        ("mcp:*=deny", ALLOW, DENY),
        ("workspace:*=deny", ALLOW, DENY),
        ("kit__*=ask", ALLOW, ASK),
        ("execute=allow, workspace:*=ask", ASK, ASK),
    ],
)
def test_the_start_of_a_server_needs_the_consent_that_a_command_needs(rules, policy, found):
    assert found is Consent(policy, read_rules(rules)).to(START)


@pytest.mark.parametrize(
    ("granted", "found"),
    [
        ("start:kit:d1", ALLOW),
        ("execute", ALLOW),
        ("start:kit:d2", ASK),
        ("kit__start_server", ASK),
        ("workspace:kit__start_server", ASK),
    ],
)
def test_consent_to_a_start_holds_for_its_content_and_nothing_else(granted, found):
    assert "start:kit:d1" == approval_name(START)
    assert found is Consent(ASK, granted={granted}).to(START)


def test_consent_to_commands_allows_no_tool_of_a_server():
    assert [ASK, ASK] == [Consent(ASK, granted={"execute"}).to(one) for one in (SERVER, NEAR)]


def test_a_rule_asks_even_about_what_is_harmless():
    assert ASK is Consent(ALLOW, read_rules("read_file=ask")).to(READ)


@pytest.mark.parametrize("policy", [ASK, DENY])
def test_what_was_allowed_always_is_not_asked_again(policy):
    assert ALLOW is Consent(policy, granted={"execute"}).to(EXECUTE)


def test_what_was_allowed_always_is_still_denied_where_a_rule_denies_it():
    consent = Consent(ASK, read_rules("execute=deny"), granted={"execute"})

    assert DENY is consent.to(EXECUTE)


@pytest.mark.parametrize("text", ["", "none-=ask,", " , "])
def test_blanks_between_rules_are_nothing(text):
    assert len(read_rules(text)) <= 1


def test_rules_are_read_in_their_order():
    rules = (ApprovalRule("execute", ASK), ApprovalRule("mcp:*", DENY))

    assert rules == read_rules(" execute = ask ,mcp:*=deny")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("execute", "'execute' is no rule, write TOOL=allow, TOOL=ask or TOOL=deny"),
        ("=ask", "'=ask' is no rule, write TOOL=allow, TOOL=ask or TOOL=deny"),
        ("a b=ask", "'a b=ask' is no rule, write TOOL=allow, TOOL=ask or TOOL=deny"),
        ("a[bc]=ask", "'a[bc]=ask' is no rule, write TOOL=allow, TOOL=ask or TOOL=deny"),
        (
            f"{'a' * 257}=ask",
            f"{'a' * 32}…: its name of a tool has 257 characters, it can have 256",
        ),
        ("execute=maybe", "'execute=maybe': 'maybe' is not allow, ask or deny"),
        ("execute=", "'execute=': '' is not allow, ask or deny"),
        ("a=ask,b=ask,a=deny", "a comes twice, say it once"),
        (
            ",".join(f"t{n}=ask" for n in range(RULES_MAX + 1)),
            "101 rules, there can be 100",
        ),
    ],
)
def test_what_is_no_rule_is_named(text, fault):
    with pytest.raises(ValueError, match=f"^{re.escape(fault)}$"):
        read_rules(text)
