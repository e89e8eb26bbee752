"""Webhooks as their owners and their receivers see them."""

import hmac
import json
from base64 import b64decode, b64encode
from hashlib import sha256
from uuid import uuid4

import pytest
import trio

from adapters.chats.notices.outbox.deliveries import HOUR, WAITS, Receiver
from adapters.chats.notices.webhooks.store import OF_USER_MAX
from adapters.rehearsal.behaviour import Behaviour
from tests.adapters.chats.notices.test_inbox import WEATHER, a_chat, inbox
from tests.adapters.daemon.access_matrix import CHATS
from tests.adapters.edges import an_edge, eventually
from tests.fakes.receivers import a_receiver

pytestmark = pytest.mark.slow

HOOKS = "/api/v2/users/me/webhooks"
ALL = "/api/v2/webhooks"


@pytest.fixture
async def edge(fresh):
    behaviour = Behaviour(text="the secret word", deltas=3)
    async with an_edge(fresh, behaviour=behaviour, private_networks="127.0.0.0/8") as edge:
        yield edge


@pytest.fixture
async def receiver():
    async with a_receiver() as receiver:
        yield receiver


async def a_hook(who, receiver, *events, path=HOOKS):
    asked = {"url": f"{receiver.url}/hook", **({"events": events} if events else {})}
    made = await who.post(path, asked)
    assert 201 == made.status, made.body
    return made.document


def is_signed(posted, secret, place=0):
    """By the words of the convention, with nothing of ours."""
    headers = posted.headers
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + posted.body
    key = b64decode(secret.removeprefix("whsec_"))
    mac = b64encode(hmac.new(key, signed, sha256).digest()).decode()
    return f"v1,{mac}" == headers["webhook-signature"].split(" ")[place]


async def deliveries(who, hook, query="", path=HOOKS):
    answer = await who.get(f"{path}/{hook['webhook']['id']}/deliveries?{query}")
    assert 200 == answer.status, answer.body
    return answer.document["deliveries"]


async def until_settled(who, hook, state, count=1, path=HOOKS):
    async def is_so():
        found = await deliveries(who, hook, f"state={state}", path)
        return found if len(found) >= count else None

    return await eventually(is_so)


async def test_a_turn_is_told_signed_and_with_nothing_that_was_said(edge, receiver):
    hook = await a_hook(edge.member, receiver)

    chat = await a_chat(edge, "hello")

    came = await receiver.has(3)
    told = [json.loads(posted.body) for posted in came]
    assert {"chat.status", "chat.ended"} == {one["type"] for one in told}
    moves = {(t["data"]["from"], t["data"]["to"]) for t in told if t["type"] == "chat.status"}
    assert {(None, "running"), ("running", "waiting")} == moves
    [ended] = [one for one in told if one["type"] == "chat.ended"]
    id = chat.rpartition("/")[2]
    assert (id, id, str(edge.member.id)) == tuple(
        ended["data"][name] for name in ("chat_id", "root_chat_id", "user_id")
    )
    assert all(is_signed(posted, hook["secret"]) for posted in came)
    assert not any(b"secret word" in posted.body for posted in came)
    assert 3 == len({posted.headers["webhook-id"] for posted in came})
    done = await until_settled(edge.member, hook, "delivered", 3)
    assert {posted.headers["webhook-id"] for posted in came} == {d["message_id"] for d in done}
    assert {(1, 204)} == {(one["attempts"], one["last_status"]) for one in done}


async def test_a_webhook_is_told_what_it_wants_and_of_its_owners_chats(edge, receiver):
    hook = await a_hook(edge.member, receiver, "chat.needs_you")
    await a_chat(edge, "[[text: done]] hello", who=edge.stranger)

    await a_chat(
        edge,
        "[[tool-calls: weather:{}]] hello",
        status="requires_action",
        unsafe_dynamic_tools=[WEATHER],
    )

    [posted] = await receiver.has(1)
    assert "chat.needs_you" == json.loads(posted.body)["type"]
    assert 1 == len(await deliveries(edge.member, hook))


async def test_webhooks_of_the_deployment_are_told_of_all_users_and_are_for_admins(edge, receiver):
    hook = await a_hook(edge.admin, receiver, "chat.ended", path=ALL)

    for who in (edge.member, edge.stranger):
        await a_chat(edge, "[[text: done]] hello", who=who)

    users = {json.loads(posted.body)["data"]["user_id"] for posted in await receiver.has(2)}
    assert {str(edge.member.id), str(edge.stranger.id)} == users
    assert 2 == len(await until_settled(edge.admin, hook, "delivered", 2, path=ALL))
    assert 403 == (await edge.member.get(ALL)).status
    one = f"{HOOKS}/{hook['webhook']['id']}"
    assert 404 == (await edge.admin.get(one)).status


async def test_what_fails_is_tried_again_under_the_same_id_and_can_be_sent_anew(
    edge, receiver, monkeypatch
):
    monkeypatch.setitem(WAITS, Receiver.WEBHOOK, (HOUR,))  # nothing is tried again by itself
    receiver.answers = [500, 204]
    hook = await a_hook(edge.member, receiver, "chat.ended")
    await a_chat(edge, "[[text: done]] hello")
    await receiver.has(1)

    [waiting] = await until_settled(edge.member, hook, "waiting")

    async def has_failed():
        [found] = await deliveries(edge.member, hook)
        return found if found["last_status"] == 500 else None

    waiting = await eventually(has_failed)
    assert ("it answered 500", 1) == (waiting["last_error"], waiting["attempts"])
    assert waiting["next_attempt_at"] > waiting["created_at"]
    shown = (await edge.member.get(f"{HOOKS}/{hook['webhook']['id']}")).document
    assert shown["failing_since"] is not None
    again = f"{HOOKS}/{hook['webhook']['id']}/deliveries/{waiting['id']}/replay"
    assert 202 == (await edge.member.post(again)).status
    first, second = await receiver.has(2)
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    await until_settled(edge.member, hook, "delivered")
    shown = (await edge.member.get(f"{HOOKS}/{hook['webhook']['id']}")).document
    assert shown["failing_since"] is None
    assert 202 == (await edge.member.post(again)).status
    assert 3 == len(await receiver.has(3))


async def test_a_secret_is_shown_once_and_the_former_one_signs_for_a_while(edge, receiver):
    hook = await a_hook(edge.member, receiver, "chat.ended")
    one = f"{HOOKS}/{hook['webhook']['id']}"

    rotated = (await edge.member.post(f"{one}/rotate-secret")).document
    await edge.member.post(f"{one}/test")

    [posted] = await receiver.has(1)
    assert rotated["secret"] != hook["secret"]
    assert is_signed(posted, rotated["secret"])
    assert is_signed(posted, hook["secret"], place=1)
    assert "chat.test" == json.loads(posted.body)["type"]
    assert rotated["webhook"]["former_secret_until"] is not None
    listed = (await edge.member.get(HOOKS)).body.decode()
    assert not any(secret in listed for secret in (rotated["secret"], hook["secret"]))
    [(sealed,)] = await edge.execute("SELECT secret FROM webhooks")
    assert rotated["secret"].encode() not in sealed


async def test_a_webhook_that_says_it_is_gone_is_switched_off_and_its_owner_is_told(edge, receiver):
    receiver.answers = [410]
    hook = await a_hook(edge.member, receiver, "chat.ended")
    one = f"{HOOKS}/{hook['webhook']['id']}"
    await edge.member.post(f"{one}/test")

    async def is_off():
        found = (await edge.member.get(one)).document
        return found if not found["enabled"] else None

    assert "it answered 410: it is gone" == (await eventually(is_off))["disabled_reason"]
    [notice] = (await inbox(edge.member))["notifications"]
    assert "A webhook was switched off" == notice["title"]
    await a_chat(edge, "[[text: done]] hello")
    assert 1 == len(await deliveries(edge.member, hook))
    assert 409 == (await edge.member.post(f"{one}/test")).status
    receiver.answers = [200]
    on = await edge.member.patch(one, {"enabled": True})
    assert (True, "") == (on.document["enabled"], on.document["disabled_reason"])
    await edge.member.post(f"{one}/test")
    await receiver.has(2)


async def test_a_webhook_that_has_failed_for_days_is_switched_off_with_all_that_waits(
    edge, receiver
):
    receiver.answers = [500]
    hook = await a_hook(edge.member, receiver, "chat.ended")
    await edge.execute("UPDATE webhooks SET failing_since = now() - interval '6 days'")
    one = f"{HOOKS}/{hook['webhook']['id']}"
    await edge.execute(
        "INSERT INTO deliveries (id, target, target_id, event_id, kind, user_id, due_at)"
        " SELECT gen_random_uuid(), 'webhook', id, gen_random_uuid(), 'ended', created_by,"
        " now() + interval '1 hour' FROM webhooks"
    )

    await edge.member.post(f"{one}/test")

    off = await until_settled(edge.member, hook, "failed", 1)
    assert "its webhook was switched off" in {found["last_error"] for found in off}
    shown = (await edge.member.get(one)).document
    assert "no attempt was answered well for days" == shown["disabled_reason"]
    assert 1 == (await inbox(edge.member))["unread_count"]


async def test_redirects_and_our_own_networks_are_not_followed(fresh):
    async with an_edge(fresh) as edge, a_receiver() as receiver:
        refused = await edge.member.post(HOOKS, {"url": f"{receiver.url}/hook"})
        named = await edge.member.post(HOOKS, {"url": "https://localhost/hook"})
        hook = named.document
        await edge.member.post(f"{HOOKS}/{hook['webhook']['id']}/test")

        async def has_failed():
            [found] = await deliveries(edge.member, hook)
            return found["last_error"]

        assert "leads into a private network" in await eventually(has_failed)
        assert 400 == refused.status
        assert [] == receiver.came


async def test_a_redirect_is_a_failure_and_the_place_that_it_names_is_not_asked(edge, receiver):
    receiver.answers, receiver.headers = [302], (("location", f"{receiver.url}/elsewhere"),)
    hook = await a_hook(edge.member, receiver, "chat.ended")
    await edge.member.post(f"{HOOKS}/{hook['webhook']['id']}/test")

    async def has_failed():
        [found] = await deliveries(edge.member, hook)
        return found["last_error"]

    assert "redirects are not followed" in await eventually(has_failed)
    assert ["/hook"] == [posted.path for posted in receiver.came]


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"url": "ftp://example.org/"}, "url"),
        ({"url": "http://example.org/hook"}, "url"),
        ({"url": "https://"}, "url"),
        ({"url": "https://user:word@example.org/"}, "url"),
        ({"url": "https://example.org/ a"}, "url"),
        ({"url": "https://example.org/" + "a" * 3000}, "url"),
        ({"url": "https://example.org:99999/"}, "url"),
        ({"url": "https://example.org", "events": []}, "events"),
        ({"url": "https://example.org", "events": ["chat.moved"]}, "events"),
        ({"url": "https://example.org", "description": "a" * 501}, "description"),
    ],
)
async def test_a_webhook_that_makes_no_sense_is_refused_by_the_field(edge, asked, field):
    answer = await edge.member.post(HOOKS, asked)

    assert 400 == answer.status
    assert [field] == [one["field"] for one in answer.document["validations"]]


async def test_webhooks_are_changed_removed_and_no_more_than_so_many(edge, receiver):
    hooks = [await a_hook(edge.member, receiver) for _ in range(OF_USER_MAX)]
    one = f"{HOOKS}/{hooks[0]['webhook']['id']}"

    assert 409 == (await edge.member.post(HOOKS, {"url": "https://example.org"})).status
    changed = await edge.member.patch(
        one, {"events": ["chat.failed", "chat.failed"], "description": "mine"}
    )
    assert (["chat.failed"], "mine") == (
        changed.document["events"],
        changed.document["description"],
    )
    assert f"{receiver.url}/hook" == changed.document["url"]
    assert 204 == (await edge.member.delete(one)).status
    assert 404 == (await edge.member.get(one)).status
    assert 404 == (await edge.member.delete(f"{HOOKS}/{uuid4()}")).status
    assert OF_USER_MAX - 1 == len((await edge.member.get(HOOKS)).document)


async def test_a_slow_receiver_holds_up_no_other(edge, receiver):
    async with a_receiver() as slow:
        slow.holds = trio.Event()
        first = await a_hook(edge.member, slow, "chat.ended")
        for _ in range(8):
            await edge.member.post(f"{HOOKS}/{first['webhook']['id']}/test")
        await slow.has(1)
        second = await a_hook(edge.member, receiver, "chat.ended")

        await edge.member.post(f"{HOOKS}/{second['webhook']['id']}/test")

        await receiver.has(1)
        slow.holds.set()
        await slow.has(8)


async def test_a_chat_that_is_erased_takes_its_deliveries_along(edge, receiver):
    receiver.answers = [500]
    hook = await a_hook(edge.member, receiver, "chat.ended")
    chat = await a_chat(edge, "[[text: done]] hello")
    await receiver.has(1)

    await edge.execute("DELETE FROM chats WHERE id = %(id)s", {"id": chat.rpartition("/")[2]})

    assert [] == await deliveries(edge.member, hook)
    assert [] == (await inbox(edge.member))["notifications"]
    assert CHATS in chat
