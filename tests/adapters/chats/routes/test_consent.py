"""Consent over the API: what waits for it, who gives it, what is allowed always."""

import msgspec
import pytest
import trio
from msgspec.structs import replace

from actors.law import requests as ask
from actors.law.chat import Verdict
from actors.law.states import Status
from adapters.tools.approvals.routes import WORDS_MAX
from adapters.tools.approvals.schemas import ChatApproval
from adapters.tools.approvals.store import ConsentStore
from promptcorner_client import api
from tests.actors.law.chats import ANN, BOB, DYNAMIC, assistant, call, step
from tests.adapters.chats.routes.ground import ADA
from tests.contracts.given import a_chat, applied


async def asking(ground, *ids, tool="execute", parent=None, seconds=300.0, more=()):
    """A chat that waits for consent to these calls, and its id."""
    chat = await a_chat(ground.store, parent=parent, tools=[DYNAMIC])
    calls = [call(id, tool) for id in ids or ("x",)]
    asks = tuple(ask.CallToApprove(one.id, tool, '{"command": "ls"}') for one in calls)
    waiting = [step(assistant(*calls, *more)), ask.EnterRequiresAction(asks, seconds)]
    await applied(ground.store.ledger.apply(chat, waiting))
    return chat


async def decide(ground, chat, decision="allow_once", *, id="x", who=ANN, **more):
    return await ground.ask(who, "POST", f"{chat}/approvals/{id}", {"decision": decision, **more})


async def family(ground, chat, who=ANN):
    return (await ground.ask(who, "GET", f"{chat}/approvals")).said


async def status(ground, chat):
    return (await ground.store.rows(chat)).chat.status


async def test_what_waits_is_listed_with_all_that_one_has_to_know(ground):
    chat = await asking(ground, "x")

    listed = await family(ground, chat)

    [waits] = listed["approvals"]
    assert {"chat_id": str(chat), "chat_title": ""}.items() <= waits.items()
    assert ("x", "execute", '{"command": "ls"}') == (
        waits["tool_call_id"],
        waits["tool_name"],
        waits["args"],
    )
    assert waits["requested_at"] < waits["expires_at"]
    assert ([], []) == (listed["always"], listed["decided"])


async def test_an_ask_without_an_end_says_so(ground):
    chat = await asking(ground, seconds=0)

    [waits] = (await family(ground, chat))["approvals"]

    assert waits["expires_at"] is None


async def test_an_allowed_call_may_run(ground):
    chat = await asking(ground)

    answer = await decide(ground, chat)

    assert (200, "allow_once", str(ANN)) == (
        answer.status,
        answer.said["decision"],
        answer.said["decided_by"],
    )
    kept = await ground.store.rows(chat)
    assert (Status.RUNNING, [ANN]) == (
        kept.chat.status,
        [approval.allowed_by for approval in kept.chat.approvals],
    )
    assert [] == (await family(ground, chat))["approvals"]


async def test_a_denial_is_what_the_model_reads(ground):
    chat = await asking(ground)

    answer = await decide(ground, chat, "deny", words=" not on a Friday ")

    kept = await ground.store.rows(chat)
    assert (200, "not on a Friday") == (answer.status, answer.said["words"])
    assert "They say: not on a Friday" in kept.messages[-1].body.parts[0].result
    assert Status.RUNNING is kept.chat.status


@pytest.mark.parametrize("second", ["allow_once", "allow_always", "deny"])
async def test_who_comes_second_is_told_who_came_first(ground, second):
    chat = await asking(ground)
    await decide(ground, chat, "deny", words="no")

    answer = await decide(ground, chat, second, who=ADA)

    assert (409, "already decided") == (answer.status, answer.said["message"])
    assert answer.said["detail"].startswith(f"{ANN} denied it at ")
    assert answer.said["detail"].endswith(" UTC: no")


async def test_of_many_who_decide_at_once_one_does(ground):
    chat = await asking(ground)
    answers = []

    async def one(who, decision):
        answers.append(await decide(ground, chat, decision, who=who))

    async with trio.open_nursery() as together:
        for who in (ANN, ADA, ANN, ADA):
            for decision in ("allow_once", "deny"):
                together.start_soon(one, who, decision)

    assert [200, *[409] * 7] == sorted(answer.status for answer in answers)
    assert 1 == len((await family(ground, chat))["decided"])


async def test_who_comes_after_the_time_is_told_that_nobody_decided(ground):
    chat = await asking(ground, seconds=-1)
    await applied(ground.store.ledger.apply(chat, [ask.ExpireApprovals()]))

    answer = await decide(ground, chat)

    assert 409 == answer.status
    assert answer.said["detail"].startswith("no person decided in time: it was denied at ")


async def test_a_call_that_nobody_asked_about_cannot_be_decided(ground):
    chat = await asking(ground)

    answer = await decide(ground, chat, id="other")

    assert (409, "nothing to decide") == (answer.status, answer.said["message"])


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({}, "decision"),
        ({"decision": "maybe"}, "decision"),
        ({"decision": "deny", "words": "x" * (WORDS_MAX + 1)}, "words"),
    ],
)
async def test_what_is_no_decision_is_refused_and_changes_nothing(ground, said, field):
    chat = await asking(ground)

    answer = await ground.ask(ANN, "POST", f"{chat}/approvals/x", said)

    assert (400, field) == (answer.status, answer.said["validations"][0]["field"])
    assert Status.REQUIRES_ACTION is await status(ground, chat)


async def test_who_may_not_change_a_chat_may_not_decide_for_it(ground):
    chat = await asking(ground)

    assert 404 == (await decide(ground, chat, who=BOB)).status
    assert 200 == (await decide(ground, chat, who=ADA)).status


# One id, several calls


async def asking_again(ground, chat, *ids):
    """The chat is interrupted, and the model calls anew, by the same ids."""
    calls = [call(id, "execute") for id in ids]
    asks = tuple(ask.CallToApprove(one.id, "execute", '{"command": "rm"}') for one in calls)
    again = [ask.Interrupt(), step(assistant(*calls)), ask.EnterRequiresAction(asks, 300.0)]
    await applied(ground.store.ledger.apply(chat, again))


async def asked_at(ground, chat):
    return (await family(ground, chat))["approvals"][0]["requested_at"]


@pytest.mark.parametrize("decision", ["allow_once", "allow_always", "deny"])
async def test_who_was_shown_an_earlier_call_decides_nothing_about_a_later_one(ground, decision):
    chat = await asking(ground)
    shown = await asked_at(ground, chat)
    await asking_again(ground, chat, "x")

    stale = await decide(ground, chat, decision, requested_at=shown)
    between = await status(ground, chat)
    fresh = await decide(ground, chat, decision, requested_at=await asked_at(ground, chat))

    assert (409, "nothing to decide") == (stale.status, stale.said["message"])
    assert stale.said["detail"].startswith("no call x of that time waits for a decision")
    assert (Status.REQUIRES_ACTION, 200) == (between, fresh.status)


@pytest.mark.parametrize(
    "at", ["0001-01-01T00:00:00+14:00", "2030-01-01T00:00:00", "9999-12-31T23:59:59-14:00"]
)
async def test_a_time_at_which_nobody_was_asked_is_that_of_no_call(ground, at):
    chat = await asking(ground)

    answer = await decide(ground, chat, requested_at=at)

    assert (409, Status.REQUIRES_ACTION) == (answer.status, await status(ground, chat))


async def test_our_own_client_says_which_call_it_was_shown(ground):
    chat = await asking(ground)
    [shown] = msgspec.convert((await family(ground, chat))["approvals"], list[ChatApproval])
    own, later = api.decide(shown, "deny", "no"), replace(shown, requested_at=shown.expires_at)

    stale = await said_by_client(ground, api.decide(later, "allow_once"))
    answer = await said_by_client(ground, own)

    assert (409, 200) == (stale.status, answer.status)


async def said_by_client(ground, asked):
    path = asked.path.removeprefix(f"{api.CHATS}/")
    return await ground.ask(ANN, asked.method, path, asked.body)


async def test_who_decides_while_another_call_takes_the_id_decides_nothing(ground):
    chat = await asking(ground)
    ground.meanwhile.comes(asking_again, ground, chat, "x")

    answer = await decide(ground, chat)

    assert (409, Status.REQUIRES_ACTION) == (answer.status, await status(ground, chat))


async def test_who_comes_too_late_is_not_told_of_what_was_decided_before_his_call(ground):
    chat = await asking(ground)
    await decide(ground, chat, "deny", words="no")
    calls = [step(assistant(call("x", "execute")))]
    asks = ask.EnterRequiresAction((ask.CallToApprove("x", "execute", "{}"),), 300.0)
    await applied(ground.store.ledger.apply(chat, [*calls, asks]))
    shown = await asked_at(ground, chat)
    await applied(ground.store.ledger.apply(chat, [ask.Interrupt()]))

    answer = await decide(ground, chat, requested_at=shown)

    assert (409, "nothing to decide") == (answer.status, answer.said["message"])


async def test_when_he_was_asked_says_which_agent_is_meant(ground):
    root = await a_chat(ground.store, done=True)
    children = [await asking(ground, parent=root) for _ in range(2)]
    shown = [one["requested_at"] for one in (await family(ground, root))["approvals"]]

    answer = await decide(ground, root, requested_at=shown[1])

    assert (200, str(children[1])) == (answer.status, answer.said["chat_id"])


async def test_who_comes_second_is_told_of_the_call_of_this_agent(ground):
    root = await a_chat(ground.store, done=True)
    first, second = [await asking(ground, parent=root) for _ in range(2)]
    await decide(ground, first, "deny", words="not this")
    await decide(ground, second, "allow_once")

    answer = await decide(ground, first)

    assert answer.said["detail"].endswith(": not this")


# Families


async def test_what_an_agent_asks_is_shown_and_decided_at_the_root(ground):
    root = await a_chat(ground.store, done=True)
    child = await asking(ground, parent=root)

    [waits] = (await family(ground, root))["approvals"]
    answer = await decide(ground, root)

    assert str(child) == waits["chat_id"]
    assert (200, str(child)) == (answer.status, answer.said["chat_id"])
    assert Status.RUNNING is await status(ground, child)


async def test_a_child_s_own_path_decides_its_own_calls_only(ground):
    root = await asking(ground)
    child = await asking(ground, parent=root)

    first, second = await decide(ground, child), await decide(ground, child)

    assert (200, 409) == (first.status, second.status)
    assert Status.REQUIRES_ACTION is await status(ground, root)


async def test_where_several_agents_wait_with_one_id_it_has_to_be_said_which(ground):
    root = await a_chat(ground.store, done=True)
    children = [await asking(ground, parent=root) for _ in range(2)]

    unclear = await decide(ground, root)
    clear = await decide(ground, root, chat_id=str(children[1]))

    assert (409, 200) == (unclear.status, clear.status)
    assert all(str(child) in unclear.said["detail"] for child in children)
    assert [Status.REQUIRES_ACTION, Status.RUNNING] == [
        await status(ground, child) for child in children
    ]


async def test_the_root_s_own_call_comes_before_those_of_its_agents(ground):
    root = await asking(ground)
    child = await asking(ground, parent=root)

    await decide(ground, root)

    assert Status.RUNNING is await status(ground, root)
    assert Status.REQUIRES_ACTION is await status(ground, child)


# Always


async def test_always_allows_what_the_whole_family_asks_about_that_tool(ground):
    root = await asking(ground, "x", "y")
    same = await asking(ground, "z", parent=root)
    other = await asking(ground, "w", tool="write_file", parent=root)

    await decide(ground, root, "allow_always")

    listed = await family(ground, other)
    assert ["w"] == [waits["tool_call_id"] for waits in listed["approvals"]]
    assert [("execute", str(ANN))] == [
        (grant["tool_name"], grant["granted_by"]) for grant in listed["always"]
    ]
    assert {"x": "allow_always", "y": "allow_once", "z": "allow_once"} == {
        one["tool_call_id"]: one["decision"] for one in listed["decided"]
    }
    assert Status.RUNNING is await status(ground, same)


async def test_what_an_agent_asks_meanwhile_about_that_tool_is_allowed_too(ground):
    root = await asking(ground)
    child = await a_chat(ground.store, parent=root)
    asks = ask.EnterRequiresAction((ask.CallToApprove("y", "execute", "{}"),), 300.0)
    late = [step(assistant(call("y", "execute"))), asks]
    ground.meanwhile.comes(ground.store.ledger.apply, child, late)

    await decide(ground, root, "allow_always")

    assert [] == (await family(ground, root))["approvals"]
    assert Status.RUNNING is await status(ground, child)


async def test_who_has_had_no_answer_allows_always_again_and_the_family_hears_of_it(ground):
    root = await asking(ground)
    child = await asking(ground, "z", parent=root)
    always = ask.DecideApproval("x", Verdict.ALLOW_ALWAYS, ANN)
    await applied(ground.store.ledger.apply(root, [always]))

    by_another = await decide(ground, root, "allow_always", who=ADA)
    between = await status(ground, child)
    again = await decide(ground, root, "allow_always")

    assert (409, Status.REQUIRES_ACTION) == (by_another.status, between)
    assert (200, "x", "allow_always") == (
        again.status,
        again.said["tool_call_id"],
        again.said["decision"],
    )
    assert Status.RUNNING is await status(ground, child)


async def test_what_has_been_taken_back_is_not_allowed_by_asking_again(ground):
    root = await asking(ground)
    await decide(ground, root, "allow_always")
    child = await asking(ground, "z", parent=root)
    await ground.ask(ANN, "DELETE", f"{root}/approvals/always/execute")

    answer = await decide(ground, root, "allow_always")

    assert (409, Status.REQUIRES_ACTION) == (answer.status, await status(ground, child))


async def test_what_was_allowed_always_can_be_taken_back(ground):
    chat = await asking(ground)
    await decide(ground, chat, "allow_always")

    first = await ground.ask(ANN, "DELETE", f"{chat}/approvals/always/execute")
    second = await ground.ask(ANN, "DELETE", f"{chat}/approvals/always/execute")

    assert (204, 204) == (first.status, second.status)
    assert [] == (await family(ground, chat))["always"]


async def test_the_client_s_calls_beside_are_answered_on_their_own(ground):
    chat = await asking(ground, more=[call("c", DYNAMIC)])
    results = {"results": [{"tool_call_id": "c", "output": 1}]}

    answered = await ground.ask(ANN, "POST", f"{chat}/tool-results", results)
    between = await status(ground, chat)
    decided = await decide(ground, chat)

    assert (204, Status.REQUIRES_ACTION, 200) == (answered.status, between, decided.status)
    assert Status.RUNNING is await status(ground, chat)


async def test_a_client_cannot_answer_what_a_person_is_asked(ground):
    chat = await asking(ground, more=[call("c", DYNAMIC)])
    results = {"results": [{"tool_call_id": id, "output": 1} for id in ("c", "x")]}

    answer = await ground.ask(ANN, "POST", f"{chat}/tool-results", results)

    assert 400 == answer.status
    assert "nobody asked for tool call x" in answer.said["detail"]


async def test_ids_that_a_provider_has_made_up_are_no_matter(ground):
    chat = await asking(ground, "a/b %\u00e9")

    answer = await decide(ground, chat, id="a%2Fb%20%25%C3%A9")
    again = await decide(ground, chat, id="a%2Fb%20%25%C3%A9")

    assert (200, "a/b %\u00e9") == (answer.status, answer.said["tool_call_id"])
    assert (409, "already decided") == (again.status, again.said["message"])


START = "start:kit:0123"


async def granted(ground, root, chat):
    return await ConsentStore(ground.store.pool).of(root, chat)


@pytest.mark.parametrize(
    ("decision", "tool", "to_the_chat", "to_its_agents"),
    [
        ("allow_once", START, {START}, set()),
        ("allow_always", START, {START}, {START}),
        ("allow_once", "execute", set(), set()),
        ("deny", START, set(), set()),
    ],
)
async def test_a_start_that_was_allowed_once_holds_for_its_chat(
    ground, decision, tool, to_the_chat, to_its_agents
):
    root = await asking(ground, tool=tool)
    agent = await a_chat(ground.store, parent=root)

    await decide(ground, root, decision)

    assert to_the_chat == await granted(ground, root, root)
    assert to_its_agents == await granted(ground, root, agent)
    always = (await family(ground, root))["always"]
    assert to_the_chat == {grant["tool_name"] for grant in always}


@pytest.mark.parametrize("decision", ["allow_once", "allow_always"])
async def test_consent_to_a_start_can_be_taken_back(ground, decision):
    root = await asking(ground, tool=START)
    await decide(ground, root, decision)

    answer = await ground.ask(ANN, "DELETE", f"{root}/approvals/always/{START}")

    assert 204 == answer.status
    assert set() == await granted(ground, root, root)
    assert [] == (await family(ground, root))["always"]
