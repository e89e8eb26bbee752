"""A chat's policy of consent: chosen at its birth, changed for the whole family."""

import pytest

from actors.law import requests as ask
from actors.law.store.hints import ChatMoved
from adapters.tools.approvals.store import ConsentStore
from tests.actors.law.chats import assistant, call, step
from tests.contracts.given import applied


async def test_a_chat_without_a_policy_has_the_deployment_s(ground):
    answer = await ground.create()

    assert 201 == answer.status
    assert "approval_policy" not in answer.said
    assert "approvals" not in answer.said


@pytest.mark.parametrize("policy", ["allow", "ask", "deny"])
async def test_a_chat_is_born_with_the_policy_that_is_asked_for(ground, policy):
    answer = await ground.create(approval_policy=policy)

    assert (201, policy) == (answer.status, answer.said["approval_policy"])


@pytest.mark.parametrize("policy", ["Ask", "never", " "])
async def test_what_is_no_policy_is_refused(ground, policy):
    chat = await ground.a_chat()

    answers = [await ground.create(approval_policy=policy)]
    answers += [await ground.patch(chat, approval_policy=policy)]

    for answer in answers:
        fact = f"{policy!r} is none of allow, ask, deny"
        assert (400, f"approval_policy: {fact}") == (answer.status, answer.said["detail"])


async def test_it_is_changed_for_the_whole_family_and_who_is_at_work_hears_of_it(ground):
    root = await ground.a_chat(done=False)
    resting = await ground.a_chat(parent=root)
    working = await ground.a_chat(parent=root, done=False)
    stranger = await ground.a_chat()
    ground.store.told.clear()

    answer = await ground.patch(root, approval_policy="ask")

    rows = await ground.store.all_rows()
    assert 204 == answer.status
    assert ["ask", "ask", "ask", ""] == [
        rows[chat].chat.approval_policy for chat in (root, resting, working, stranger)
    ]
    moved = {hint.chat for hint in ground.store.told if isinstance(hint, ChatMoved)}
    assert {root, working} == moved


async def test_who_knows_the_family_as_it_was_finds_out_though_nobody_has_told_him(ground):
    root = await ground.a_chat()
    resting = await ground.a_chat(parent=root)
    before = [(await ground.store.rows(chat)).chat.snapshot_version for chat in (root, resting)]

    await ConsentStore(ground.store.pool).set_policy(root, "ask")

    after = [(await ground.store.rows(chat)).chat.snapshot_version for chat in (root, resting)]
    assert after == [version + 1 for version in before]


async def test_it_goes_back_to_the_deployment_s(ground):
    chat = await ground.a_chat(approval_policy="deny")

    await ground.patch(chat, approval_policy="")

    assert "approval_policy" not in (await ground.get(chat)).said


async def test_an_agent_has_that_of_its_root(ground):
    root = await ground.a_chat()
    child = await ground.a_chat(parent=root)

    answer = await ground.patch(child, approval_policy="ask")

    assert 400 == answer.status
    assert str(root) in answer.said["detail"]


async def test_what_waits_for_consent_is_shown_with_the_chat(ground):
    root = await ground.a_chat("root")
    child = await ground.a_chat("child", parent=root, done=False)
    asks = (ask.CallToApprove("x", "execute", '{"command": "ls"}'),)
    waiting = [step(assistant(call("x", "execute"))), ask.EnterRequiresAction(asks)]
    await applied(ground.store.ledger.apply(child, waiting))

    shown = (await ground.get(root)).said
    [listed] = (await ground.list()).said

    for chat in (shown, listed):
        [its] = chat["children"]
        assert "approvals" not in chat
        assert [("child", "x", None)] == [
            (one["chat_title"], one["tool_call_id"], one["expires_at"]) for one in its["approvals"]
        ]
