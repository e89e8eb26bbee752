"""Web push from the subscription of a browser to the message that it reads."""

import json
from uuid import uuid4

import pytest

from adapters.chats.notices.push.keys import SenderKeys
from adapters.settings.secrets import CannotOpen, Vault
from tests.adapters.chats.notices.push.browsers import a_browser, read
from tests.adapters.chats.notices.test_inbox import WEATHER, a_chat
from tests.adapters.edges import an_edge, eventually
from tests.fakes.receivers import a_receiver

pytestmark = pytest.mark.slow

PUSH = "/api/v2/users/me/webpush"


@pytest.fixture
async def edge(fresh):
    async with an_edge(fresh, private_networks="127.0.0.0/8") as edge:
        yield edge


@pytest.fixture
async def service():
    async with a_receiver() as service:
        service.answers = [201]
        yield service


async def subscribed(who, service, name="a"):
    browser = a_browser()
    endpoint = f"{service.url}/push/{name}"
    asked = {"endpoint": endpoint, "auth_key": browser.auth, "p256dh_key": browser.p256dh}
    answer = await who.post(f"{PUSH}/subscription", asked)
    assert 204 == answer.status, answer.body
    return browser, endpoint


async def browsers_of(who):
    return (await who.get(f"{PUSH}/subscription")).document["subscriptions"]


async def states(edge):
    return [state for (state,) in await edge.execute("SELECT state FROM deliveries")]


async def test_a_browser_is_told_what_needs_its_user_and_no_other_can_read_it(edge, service):
    browser, _ = await subscribed(edge.member, service)

    chat = await a_chat(
        edge,
        "[[tool-calls: weather:{}]] hello",
        status="requires_action",
        unsafe_dynamic_tools=[WEATHER],
    )

    [posted] = await service.has(1)
    message = json.loads(read(browser, posted.body))
    title = message["title"]
    assert title
    assert {
        "icon": "/favicon.ico",
        "title": title,
        "body": f"{title} waits for results of its client's tools",
        "tag": message["tag"],
        "data": {"url": f"/c/{chat.rpartition('/')[2]}"},
    } == message
    headers = posted.headers
    assert ("aes128gcm", "high") == (headers["content-encoding"], headers["urgency"])
    assert 32 == len(headers["topic"])
    public = (await edge.member.get(f"{PUSH}/subscription")).document["public_key"]
    assert headers["authorization"].endswith(f", k={public}")


async def test_ends_and_errors_are_pushed_and_agents_and_statuses_are_not(edge, service):
    browser, _ = await subscribed(edge.member, service)
    await subscribed(edge.stranger, service, "b")

    await a_chat(edge, "[[text: done]] hello")
    await service.has(1)
    await a_chat(edge, "[[faults: 401]] hello", status="error")

    first, second = await service.has(2)
    assert "has ended" in json.loads(read(browser, first.body))["body"]
    assert {"/push/a"} == {first.path, second.path}
    assert ("normal", "high") == (first.headers["urgency"], second.headers["urgency"])


async def test_what_a_browser_shows_is_not_pushed_to_it_but_to_the_others(edge, service):
    _, desk = await subscribed(edge.member, service, "desk")
    await subscribed(edge.member, service, "phone")
    chat = await a_chat(edge, "[[text: done]] hello")
    await service.has(2)
    shown = {"endpoint": desk, "chat_id": chat.rpartition("/")[2]}
    assert 204 == (await edge.member.put(f"{PUSH}/watching", shown)).status
    again = {"content": [{"type": "text", "text": "[[text: done]] again"}]}

    await edge.member.post(f"{chat}/messages", again)

    assert "/push/phone" == (await service.has(3))[2].path

    async def is_left_out():
        return "left_out" in await states(edge)

    await eventually(is_left_out)
    await edge.member.put(f"{PUSH}/watching", {"endpoint": desk, "chat_id": None})
    await edge.member.post(f"{chat}/messages", again)
    assert {"/push/phone", "/push/desk"} == {one.path for one in (await service.has(5))[3:]}


async def test_a_word_that_a_browser_shows_a_chat_holds_for_two_minutes(edge, service):
    _, desk = await subscribed(edge.member, service)
    chat = await a_chat(edge, "[[text: done]] hello")
    await service.has(1)
    shown = {"endpoint": desk, "chat_id": chat.rpartition("/")[2]}
    await edge.member.put(f"{PUSH}/watching", shown)
    await edge.execute(
        "UPDATE push_subscriptions SET watching_until = watching_until - interval '2 minutes'"
    )

    again = {"content": [{"type": "text", "text": "[[text: done]] again"}]}
    await edge.member.post(f"{chat}/messages", again)

    await service.has(2)


@pytest.mark.parametrize("status", [400, 403, 404, 410])
async def test_a_browser_that_is_gone_is_forgotten(edge, service, status):
    service.answers = [status]
    await subscribed(edge.member, service)

    assert 204 == (await edge.member.post(f"{PUSH}/test")).status

    async def is_gone():
        return not await browsers_of(edge.member)

    await eventually(is_gone)
    assert 409 == (await edge.member.post(f"{PUSH}/test")).status


async def test_a_service_that_is_busy_is_tried_again(edge, service):
    service.answers, service.headers = [429], (("retry-after", "120"),)
    await subscribed(edge.member, service)
    await edge.member.post(f"{PUSH}/test")
    await service.has(1)

    async def waits():
        [(state, seconds)] = await edge.execute(
            "SELECT state, extract(epoch FROM due_at - now())::float8 FROM deliveries"
            " WHERE last_status = 429"
        ) or [("", 0.0)]
        return state == "waiting" and 60 < seconds <= 120

    await eventually(waits)
    assert 1 == len(await browsers_of(edge.member))


async def test_a_trial_reaches_every_browser_of_its_user(edge, service):
    browser, _ = await subscribed(edge.member, service, "a")
    await subscribed(edge.member, service, "b")

    await edge.member.post(f"{PUSH}/test")

    came = await service.has(2)
    assert {"/push/a", "/push/b"} == {posted.path for posted in came}
    [own] = [posted for posted in came if posted.path == "/push/a"]
    assert "/" == json.loads(read(browser, own.body))["data"]["url"]


async def test_a_browser_has_one_user_and_subscribes_anew_with_other_keys(edge, service):
    await subscribed(edge.member, service)
    await subscribed(edge.member, service)
    assert 1 == len(await browsers_of(edge.member))

    browser, endpoint = await subscribed(edge.stranger, service)

    assert [] == await browsers_of(edge.member)
    [shown] = await browsers_of(edge.stranger)
    assert service.url.removeprefix("http://") == shown["service"]
    await edge.stranger.post(f"{PUSH}/test")
    [posted] = await service.has(1)
    assert b"promptcorner" in read(browser, posted.body)
    gone = {"endpoint": endpoint}
    assert 404 == (await edge.member.ask("DELETE", f"{PUSH}/subscription", gone)).status
    assert 204 == (await edge.stranger.ask("DELETE", f"{PUSH}/subscription", gone)).status
    assert 404 == (await edge.stranger.put(f"{PUSH}/watching", gone)).status


async def test_another_key_pair_takes_all_subscriptions_along(edge, service):
    await subscribed(edge.member, service)
    before = (await edge.member.get(f"{PUSH}/subscription")).document["public_key"]

    assert 204 == (await edge.admin.post("/api/v2/webpush/regenerate-keys")).status

    shown = (await edge.member.get(f"{PUSH}/subscription")).document
    assert [] == shown["subscriptions"]
    assert before != shown["public_key"]


async def test_the_pair_is_made_once_and_sealed(edge):
    vault = Vault(b"0123456789abcdef" * 2)
    first, second = SenderKeys(edge.pool, vault), SenderKeys(edge.pool, vault)
    await edge.execute("DELETE FROM push_keys")

    assert await first.public() == await second.public()

    [(sealed,)] = await edge.execute("SELECT private_key FROM push_keys")
    assert b"PRIVATE" not in bytes(sealed)
    stranger = SenderKeys(edge.pool, Vault(b"another master k" * 2))
    with pytest.raises(CannotOpen):
        await stranger.private()
    answer = await edge.member.get(f"{PUSH}/subscription")
    assert 409 == answer.status
    assert "regenerate-keys" in answer.document["detail"]
    await edge.execute("DELETE FROM push_keys")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"endpoint": "http://example.org/push"}, "endpoint"),
        ({"endpoint": "file:///etc/passwd"}, "endpoint"),
        ({"auth_key": "short"}, "auth_key"),
        ({"p256dh_key": "short"}, "p256dh_key"),
    ],
)
async def test_a_browser_that_makes_no_sense_is_refused_by_the_field(edge, wrong, field):
    browser = a_browser()
    asked = {
        "endpoint": "https://push.example.org/1",
        "auth_key": browser.auth,
        "p256dh_key": browser.p256dh,
    }

    answer = await edge.member.post(f"{PUSH}/subscription", {**asked, **wrong})

    assert 400 == answer.status
    assert [field] == [one["field"] for one in answer.document["validations"]]


async def test_a_browser_of_an_unknown_chat_shows_nothing_and_harms_nothing(edge, service):
    _, endpoint = await subscribed(edge.member, service)

    shown = {"endpoint": endpoint, "chat_id": str(uuid4())}

    assert 204 == (await edge.member.put(f"{PUSH}/watching", shown)).status
