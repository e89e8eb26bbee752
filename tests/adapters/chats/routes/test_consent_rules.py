"""Rules of consent over the API: written, shown, tried, and what they change in chats."""

from uuid import UUID

import pytest

from actors.law import requests as ask
from actors.law.chat import Verdict
from actors.tools.approval_rules import RULES_MAX, Policy
from actors.tools.approvals import Consent
from adapters.tools.approvals.rule_checks import RULES_OF_DECISION_MAX
from adapters.tools.approvals.rule_store import ConsentRuleStore, KnownConsentRules
from adapters.tools.approvals.store import ConsentStore
from tests.actors.chat.turn.given import tool
from tests.actors.law.chats import ANN, BOB, DYNAMIC, assistant, call, step
from tests.adapters.chats.routes.ground import ADA
from tests.contracts.given import a_chat, applied

DEPLOYMENTS, OWN = "config/approvals", "approval-rules"


async def asking(ground, *commands):
    """A chat that waits for consent to these commands."""
    chat = await a_chat(ground.store, tools=[DYNAMIC])
    calls = [call(f"c{at}", "execute") for at in range(len(commands))]
    asks = tuple(
        ask.CallToApprove(one.id, "execute", f'{{"command": "{command}"}}')
        for one, command in zip(calls, commands, strict=True)
    )
    waiting = [step(assistant(*calls)), ask.EnterRequiresAction(asks, 300.0)]
    await applied(ground.store.ledger.apply(chat, waiting))
    return chat


async def decide(ground, chat, *rules, who=ANN, decision="allow_always", **more):
    document = {"decision": decision, **({"rules": rules} if rules else {}), **more}
    return await ground.ask(who, "POST", f"{chat}/approvals/c0", document)


async def approvals(ground, chat):
    return (await ground.ask(ANN, "GET", f"{chat}/approvals")).said


async def granted(ground, chat):
    return await ConsentStore(ground.store.pool).of(chat, chat)


async def put(ground, tool, policy, *, who=ANN, where=OWN):
    return await ground.ask(who, "PUT", where, {"tool": tool, "policy": policy})


async def test_rules_of_a_user_are_written_shown_replaced_and_removed(ground):
    await put(ground, "execute(git *)", "ask")
    written = await put(ground, "execute(git *)", "allow")

    [rule] = written.said["rules"]
    assert ("execute(git *)", "allow", str(ANN)) == (
        rule["tool"],
        rule["policy"],
        rule["changed_by"],
    )
    assert [] == (await ground.ask(BOB, "GET", OWN)).said["rules"]
    assert 404 == (await ground.ask(BOB, "DELETE", f"{OWN}/{rule['id']}")).status
    assert 204 == (await ground.ask(ANN, "DELETE", f"{OWN}/{rule['id']}")).status
    assert [] == (await ground.ask(ANN, "GET", OWN)).said["rules"]


async def test_rules_of_the_deployment_stand_beside_those_of_its_configuration(ground):
    await put(ground, "mcp:*", "ask", who=ADA, where=f"{DEPLOYMENTS}/rules")

    shown = (await ground.ask(ADA, "GET", DEPLOYMENTS)).said["rules"]

    assert [
        ("write_file(secrets/**)", None),
        ("execute(git push *)", None),
        ("mcp:*", str(ADA)),
    ] == [(rule["tool"], rule["changed_by"]) for rule in shown]
    assert 404 == (await ground.ask(ADA, "DELETE", f"{OWN}/{shown[-1]['id']}")).status
    removed = await ground.ask(ADA, "DELETE", f"{DEPLOYMENTS}/rules/{shown[-1]['id']}")
    assert 204 == removed.status


@pytest.mark.parametrize(
    ("tool", "policy", "field"),
    [
        ("execute(git && ls)", "allow", "tool"),
        ("a b", "allow", "tool"),
        ("", "allow", "tool"),
        ("execute", "maybe", "policy"),
        ("execute", "", "policy"),
        ("execute=deny,x", "allow", "tool"),
    ],
)
async def test_a_rule_that_means_nothing_is_refused_with_its_field(ground, tool, policy, field):
    answer = await put(ground, tool, policy)

    assert (400, field) == (answer.status, answer.said["validations"][0]["field"])


async def test_a_user_has_so_many_rules_and_no_more(ground):
    rules = ConsentRuleStore(ground.store.pool, tell=lambda hint: None)
    assert await rules.put(ANN, [f"t{at}" for at in range(RULES_MAX)], Policy.ASK, ANN)

    answer = await put(ground, "more", "ask")

    assert 400 == answer.status
    assert f"{RULES_MAX} rules" in answer.said["detail"]
    assert 200 == (await put(ground, "t1", "deny")).status
    assert 200 == (await put(ground, "more", "ask", who=BOB)).status


async def test_a_command_is_tried_and_the_rules_are_named(ground):
    await put(ground, "execute(git *)", "allow")
    trial = {"command": "git log && git push && rm x", "policy": "ask"}

    answer = await ground.ask(ANN, "POST", f"{DEPLOYMENTS}/test", trial)

    assert ("ask", ["execute(git log *)", "execute(git push *)", "execute(rm x)"]) == (
        answer.said["decision"],
        answer.said["suggested_rules"],
    )
    assert [
        ("git log", "allow", "execute(git *)=allow", "user"),
        ("git push", "ask", "execute(git push *)=ask", "deployment"),
        ("rm x", "ask", None, None),
    ] == [(p["part"], p["decision"], p["rule"], p["place"]) for p in answer.said["parts"]]


async def test_what_cannot_be_read_of_a_command_is_said(ground):
    answer = await ground.ask(ANN, "POST", f"{DEPLOYMENTS}/test", {"command": "ls `x`"})

    [whole] = answer.said["parts"]
    assert ("ask", "backquotes are not read; $( ) is") == (whole["decision"], whole["unread"])


async def test_any_tool_can_be_tried_with_its_arguments(ground):
    path = f"/w/{UUID(int=7)}/secrets/key"
    trial = {"tool": "write_file", "args": {"path": path, "content": ""}}

    answer = await ground.ask(ANN, "POST", f"{DEPLOYMENTS}/test", trial)

    assert "deny" == answer.said.get("decision"), answer


@pytest.mark.parametrize("trial", [{"policy": "x"}, {"tool": "write_file", "command": "ls"}])
async def test_a_trial_that_means_nothing_is_refused(ground, trial):
    assert 400 == (await ground.ask(ANN, "POST", f"{DEPLOYMENTS}/test", trial)).status


async def test_what_waits_is_shown_with_rules_that_would_allow_it(ground):
    chat = await asking(ground, "npm test && ls -l", "ls `x`")

    suggested = [one["suggested_rules"] for one in (await approvals(ground, chat))["approvals"]]

    assert [["execute(npm test *)", "execute(ls *)"], []] == suggested


async def test_a_decision_may_allow_less_than_the_whole_tool(ground):
    chat = await asking(ground, "npm test", "npm test --all", "rm x")

    answer = await decide(ground, chat, "execute(npm test *)")

    assert (200, "allow_once") == (answer.status, answer.said["decision"])
    left = await approvals(ground, chat)
    assert ["c2"] == [one["tool_call_id"] for one in left["approvals"]]
    assert ["execute(npm test *)"] == [grant["tool_name"] for grant in left["always"]]
    consent = Consent(Policy.ASK, granted=await granted(ground, chat))
    assert Policy.ALLOW is consent.to(tool("execute"), '{"command": "npm test -v"}')


async def test_a_rule_of_a_chat_is_taken_back_by_its_text(ground):
    chat = await asking(ground, "npm test", "rm x")
    await decide(ground, chat, "execute(npm test *)")

    path = f"{chat}/approvals/always/execute(npm%20test%20*)"
    assert 204 == (await ground.ask(ANN, "DELETE", path)).status

    assert frozenset() == await granted(ground, chat)


async def test_the_same_rule_twice_is_one_grant(ground):
    chat = await asking(ground, "npm test", "npm run x")
    await decide(ground, chat, "execute(npm *)", "execute(ls)")
    again = await decide(ground, chat, "execute(npm *)", "execute(ls)")

    assert 200 == again.status
    assert not (await ground.store.rows(chat)).chat.open_approvals
    decided = (await approvals(ground, chat))["decided"]
    assert 1 == sum(one["tool_name"] == "execute(npm *)" for one in decided)


async def test_rules_are_stored_with_their_decision_and_the_rest_is_made_up_for(ground):
    chat = await asking(ground, "npm test", "npm run x")
    [first, _] = (await approvals(ground, chat))["approvals"]
    rules = ("execute(npm *)",)
    once = ask.DecideApproval(first["tool_call_id"], Verdict.ALLOW_ONCE, ANN, grants=rules)
    await applied(ground.store.ledger.apply(chat, [once]))  # and then the process dies
    assert {"execute(npm *)"} == await granted(ground, chat)
    assert 1 == len((await approvals(ground, chat))["approvals"])

    again = await decide(ground, chat, "execute(npm *)")

    assert 200 == again.status
    assert [] == (await approvals(ground, chat))["approvals"]
    assert 409 == (await decide(ground, chat, "execute(npm *)", who=ADA)).status


async def test_nothing_is_granted_behind_a_decision_that_granted_nothing(ground):
    chat = await asking(ground, "npm test", "npm run x")
    await decide(ground, chat, decision="allow_once")

    again = await decide(ground, chat, "execute(npm *)")

    assert 409 == again.status
    assert frozenset() == await granted(ground, chat)


async def test_rules_for_all_chats_of_the_user_are_their_own(ground):
    chat = await asking(ground, "npm test")

    assert 200 == (await decide(ground, chat, "execute(npm *)", scope="user")).status

    [rule] = (await ground.ask(ANN, "GET", OWN)).said["rules"]
    assert ("execute(npm *)", "allow") == (rule["tool"], rule["policy"])
    assert frozenset() == await granted(ground, chat)


@pytest.mark.parametrize("scope", ["user", "chat"])
async def test_a_rule_that_is_written_twice_counts_once(ground, scope):
    chat = await asking(ground, "npm test")

    answer = await decide(ground, chat, "execute(npm *)", "execute( npm * )", scope=scope)

    assert 200 == answer.status
    own = [rule["tool"] for rule in (await ground.ask(ANN, "GET", OWN)).said["rules"]]
    assert ["execute(npm *)"] == [*own, *await granted(ground, chat)]


@pytest.mark.parametrize(
    ("rules", "more", "field"),
    [
        (["execute(ls)"], {}, "rules"),
        (["execute"], {}, "rules"),
        (["write_file(x)"], {}, "rules"),
        (["execute(npm *)"], {"decision": "deny"}, "rules"),
        (["execute(npm *)"], {"decision": "allow_once"}, "rules"),
        (["execute(npm *)"], {"scope": "world"}, "scope"),
        ([], {"scope": "user"}, "rules"),
        (["execute(npm *)"] * (RULES_OF_DECISION_MAX + 1), {}, "rules"),
    ],
)
async def test_rules_that_do_not_fit_the_decision_change_nothing(ground, rules, more, field):
    chat = await asking(ground, "npm test")

    answer = await decide(ground, chat, *rules, **more)

    assert (400, field) == (answer.status, answer.said["validations"][0]["field"])
    assert 1 == len((await approvals(ground, chat))["approvals"])
    assert frozenset() == await granted(ground, chat)


async def test_a_user_is_told_where_the_deployment_asks_whatever_they_write(ground):
    chat = await asking(ground, "git push")

    answer = await decide(ground, chat, "execute(git push *)", scope="user")

    assert 400 == answer.status
    assert "execute(git push *)=ask is a rule of the deployment" in answer.said["detail"]
    assert 200 == (await decide(ground, chat, "execute(git push *)")).status


async def test_an_administrator_writes_no_rule_into_another_users_chats(ground):
    chat = await asking(ground, "npm test")

    answer = await decide(ground, chat, "execute(npm *)", scope="user", who=ADA)

    assert (400, "scope") == (answer.status, answer.said["validations"][0]["field"])


async def test_a_process_hears_of_changes_of_another(ground):
    heard = []
    written = ConsentRuleStore(ground.store.pool, tell=heard.append)
    known = KnownConsentRules(ConsentRuleStore(ground.store.pool, tell=heard.append))
    assert () == await known.of(ANN)

    await written.put(None, ["execute"], Policy.ASK, ADA)
    await written.put(ANN, ["execute(git *)"], Policy.ASK, ANN)
    assert () == await known.of(ANN), "it is kept until the news comes"
    for news in heard:
        known.hear(news)

    assert [("execute=ask", "deployment"), ("execute(git *)=ask", "user")] == [
        (str(rule), rule.place) for rule in await known.of(ANN)
    ]
    [row] = await written.list(None)
    assert await written.remove(None, row.id)


async def test_a_stored_rule_that_cannot_be_read_never_frees_anything(ground):
    rules = ConsentRuleStore(ground.store.pool, tell=lambda hint: None)
    await rules.put(ANN, ["execute(git && x)"], Policy.ALLOW, ANN)
    await rules.put(ANN, ["write_file()"], Policy.DENY, ANN)

    assert ["write_file=deny"] == [str(rule) for rule in await rules.of(ANN)]


async def test_the_call_is_noted_as_allowed_once_and_the_rule_as_allowed_always(ground):
    chat = await asking(ground, "npm test")
    await decide(ground, chat, "execute(npm *)")

    decided = (await approvals(ground, chat))["decided"]

    assert [("execute", "allow_once"), ("execute(npm *)", "allow_always")] == [
        (one["tool_name"], one["decision"]) for one in decided
    ]


@pytest.mark.parametrize(
    ("commands", "rules"),
    [
        (["make", "git push origin", "ls"], []),
        (["timeout 5 make", "timeout 5 rm x", "timeout 5 ls"], ["execute(timeout *)"]),
    ],
)
async def test_consent_to_one_call_frees_no_other_that_a_rule_asks_about(ground, commands, rules):
    await put(ground, "execute(rm *)", "deny")
    chat = await asking(ground, *commands)

    decided = await decide(ground, chat, *rules)

    assert 200 == decided.status
    waiting = (await approvals(ground, chat))["approvals"]
    assert ["c1"] == [one["tool_call_id"] for one in waiting]
    assert set(rules or ["execute"]) == await granted(ground, chat)
