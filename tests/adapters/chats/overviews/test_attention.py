"""Which chats somebody has to look at, why, and how many there are."""

from dataclasses import replace

import pytest

from actors.law import requests as ask
from tests.actors.law.chats import (
    ANN,
    BOB,
    BROKEN,
    DYNAMIC,
    LOCAL,
    assistant,
    call,
    result,
    send,
    step,
    tool,
)
from tests.contracts.given import applied

ASKS = "ask_user_question"
TO_APPROVE = ask.EnterRequiresAction((ask.CallToApprove("b", LOCAL, "{}"),))


def ended_by(name, **how):
    return [
        step(assistant(call("q", name))),
        step(tool(result("q", name, **how))),
        ask.FinishTurn(),
    ]


CHATS = {  # what became of it: why it needs its user
    "at work": ([], {}, None),
    "waits": ([ask.FinishTurn()], {}, None),
    "failed": ([ask.FinishError(BROKEN)], {}, "error"),
    "client": (
        [step(assistant(call("a", DYNAMIC))), ask.EnterRequiresAction()],
        {},
        "tool_results",
    ),
    "consent": ([step(assistant(call("b", LOCAL))), TO_APPROVE], {}, "consent"),
    "question": (ended_by(ASKS), {"plan_mode": "plan"}, "question"),
    "plan": (ended_by("propose_plan"), {"plan_mode": "plan"}, "plan"),
    "no question": (ended_by(ASKS, error=True), {"plan_mode": "plan"}, None),
    "answered": ([*ended_by(ASKS), send("yes"), ask.FinishTurn()], {"plan_mode": "plan"}, None),
    "plans no more": (ended_by("propose_plan"), {}, None),
    "planning": (ended_by("read_file"), {"plan_mode": "plan"}, None),
}


async def a_chat(ground, name, **new):
    requests, more, _ = CHATS[name]
    tools = (ask.DynamicTool(DYNAMIC),)
    chat = await ground.a_chat(name, done=False, dynamic_tools=tools, **more, **new)
    if requests:
        await applied(ground.store.ledger.apply(chat, requests))
    return chat


@pytest.mark.parametrize("name", CHATS)
async def test_a_chat_says_why_somebody_has_to_look_at_it(ground, name):
    chat = await a_chat(ground, name)
    *_, why = CHATS[name]

    shown = (await ground.get(chat)).said
    [listed] = (await ground.list()).said

    assert (why, why) == (shown.get("attention"), listed.get("attention"))
    assert ([name] if why else []) == await ground.titles("needs_me:true")
    assert ([] if why else [name]) == await ground.titles("needs_me:false")


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        ('{"questions": [{"question": "Red or white?"}, {"question": "When?"}]}', "Red or white?"),
        ('{"questions": [{"question": "%s"}]}' % ("why " * 100), ("why " * 100)[:200]),
        ('{"questions": []}', None),
        ('["Red?"]', None),
        ("7", None),
        (None, None),
    ],
)
async def test_a_question_is_shown_in_lists(ground, args, shown):
    asking = replace(call("q", ASKS), args=args)
    chat = await ground.a_chat("a", done=False, plan_mode="plan")
    then = [step(assistant(asking)), step(tool(result("q", ASKS))), ask.FinishTurn()]
    await applied(ground.store.ledger.apply(chat, then))

    [listed] = (await ground.list()).said

    assert ("question", shown) == (listed["attention"], listed.get("question"))


async def test_a_root_needs_its_owner_if_one_of_its_agents_asks(ground):
    roots = [await ground.a_chat(name) for name in ("asks", "failed", "rests")]
    children = [
        await a_chat(ground, name, parent=root)
        for name, root in zip(("consent", "failed", "waits"), roots, strict=True)
    ]

    [listed] = (await ground.list("needs_me:true")).said

    assert "asks" == listed["title"]
    assert "attention" not in listed
    assert [(str(children[0]), "consent")] == [
        (c["id"], c["attention"]) for c in listed["children"]
    ]


async def test_what_is_archived_or_of_others_needs_nobody_here(ground):
    await ground.patch(await a_chat(ground, "failed"), archived=True)
    await ground.share(await a_chat(ground, "question", by=BOB), ANN)

    both = "source:created_by_me,shared_with_me"
    assert [] == await ground.titles(f"needs_me:true {both}")
    assert [] == await ground.titles(f"needs_me:true archived:true {both}")
    assert ["question"] == await ground.titles(f"needs_me:false {both}")
    [archived] = (await ground.list("archived:true")).said
    assert "attention" not in archived


async def test_chats_are_listed_by_their_status(ground):
    for name in ("at work", "waits", "failed", "client"):
        await a_chat(ground, name)

    assert ["at work"] == await ground.titles("status:running")
    assert {"failed", "client"} == set(await ground.titles("status:error,requires_action"))
    assert [] == await ground.titles("status:interrupting")


async def test_chats_are_counted_as_they_are_listed(ground):
    for name in CHATS:
        await a_chat(ground, name)
    await a_chat(ground, "failed", by=BOB)

    async def count(query):
        answer = await ground.ask(ANN, "GET", "count", query=query)
        return answer.status, answer.said

    assert (200, {"count": len(CHATS), "has_more": False}) == await count("")
    assert (200, {"count": 5, "has_more": False}) == await count("q=needs_me:true")
    assert (200, {"count": 0, "has_more": False}) == await count("label=a:b")
    assert 400 == (await count("q=pr:seven"))[0]
    assert (200, {"count": 1, "has_more": False}) == await count("q=search:consent")
    assert 400 == (await count("q=nonsense"))[0]


async def test_no_more_than_a_bound_are_counted(ground, monkeypatch):
    monkeypatch.setattr("adapters.chats.routes.chat_list.COUNT_MAX", 2)
    for _ in range(3):
        await ground.a_chat()

    answer = await ground.ask(ANN, "GET", "count")

    assert {"count": 2, "has_more": True} == answer.said
