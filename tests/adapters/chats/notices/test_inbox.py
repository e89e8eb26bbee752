"""The inbox, as clients see it: what comes into it, how it is read, what its watchers are told."""

import json
from contextlib import asynccontextmanager
from functools import partial
from uuid import UUID, uuid4

import pytest
import trio

from actors.law.store.news import NewsKind
from adapters.chats.notices.inbox import KEPT_MAX, InboxStore
from adapters.chats.notices.wording import TEMPLATE_IDS
from tests.adapters.daemon.access_matrix import CHATS
from tests.adapters.edges import eventually
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

INBOX = "/api/v2/notifications/inbox"
UPGRADE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-key": "MDEyMzQ1Njc4OWFiY2RlZg==",
    "sec-websocket-version": "13",
}
WEATHER = {"name": "weather", "description": "tells it", "input_schema": {"type": "object"}}


async def a_chat(edge, said, *, status="waiting", who=None, **new):
    who = who or edge.member
    content = [{"type": "text", "text": said}]
    asked = {"organization_id": edge.organization, "content": content, **new}
    made = await who.post(CHATS, asked)
    assert 201 == made.status, made.body
    chat = f"{CHATS}/{made.document['id']}"

    async def rests():
        return (await who.get(chat)).document["status"] == status

    await eventually(rests)
    return chat


async def inbox(who, query=""):
    answer = await who.get(f"{INBOX}?{query}")
    assert 200 == answer.status, answer.body
    return answer.document


async def until_told(who, count, query=""):
    async def is_there():
        found = await inbox(who, query)
        return found if len(found["notifications"]) >= count else None

    return await eventually(is_there)


@asynccontextmanager
async def watching(who, query=""):
    async with who.socket(f"{INBOX}/watch?{query}") as socket:
        yield partial(told, socket)


async def told(socket):
    with trio.fail_after(PATIENCE_SECONDS):
        return json.loads(await socket.get_message())


async def test_a_turn_that_ends_is_in_the_inbox_of_its_owner_alone(edge):
    chat = await a_chat(edge, "[[text: done]] hello")
    id = chat.rpartition("/")[2]
    await edge.member.patch(chat, {"title": "A *fine* chat"})

    found = await until_told(edge.member, 1)

    [notice] = found["notifications"]
    assert 1 == found["unread_count"]
    assert {
        "id": notice["id"],
        "user_id": str(edge.member.id),
        "template_id": str(TEMPLATE_IDS[NewsKind.ENDED]),
        "targets": [id],
        "title": "A *fine* chat is done",
        "content": "The turn of **A \\*fine\\* chat** has ended.",
        "icon": "DEFAULT_ICON_OTHER",
        "actions": [{"label": "Open the chat", "url": f"/c/{id}"}],
        "read_at": None,
        "created_at": notice["created_at"],
    } == notice
    assert {"notifications": [], "unread_count": 0} == await inbox(edge.admin)
    assert {"notifications": [], "unread_count": 0} == await inbox(edge.stranger)


async def test_an_error_and_calls_of_a_client_are_told_with_what_they_are_about(edge):
    await a_chat(edge, "[[faults: 401]] hello", status="error")
    await a_chat(
        edge,
        "[[tool-calls: weather:{}]] hello",
        status="requires_action",
        unsafe_dynamic_tools=[WEATHER],
    )

    found = (await until_told(edge.member, 2))["notifications"]

    titles = [one["title"].partition(" ")[2] for one in found]
    assert any("waits for its client" in title for title in titles)
    assert any("has stopped" in title for title in titles)
    failed = str(TEMPLATE_IDS[NewsKind.FAILED])
    [only] = (await inbox(edge.member, f"templates={failed}"))["notifications"]
    assert failed == only["template_id"]


async def test_a_new_reader_of_a_chat_is_told_once_and_again_only_if_it_was_taken_back(edge):
    chat = await a_chat(edge, "[[text: done]] hello")
    await edge.member.patch(chat, {"title": "For you"})
    stranger, role = edge.stranger, {"user_roles": {str(edge.stranger.id): "read"}}

    async with watching(stranger, "format=plaintext") as next_notice:
        assert 204 == (await edge.member.patch(f"{chat}/acl", role)).status
        change = await next_notice()
    await edge.member.patch(f"{chat}/acl", role)

    assert "member has shared a chat with you" == change["notification"]["title"]
    assert "You may read For you from now on." == change["notification"]["content"]
    assert 1 == change["unread_count"]
    assert 1 == len((await inbox(stranger))["notifications"])
    await edge.member.patch(f"{chat}/acl", {"user_roles": {str(stranger.id): ""}})
    await edge.member.patch(chat, {"title": "None of your business"})
    await edge.member.patch(f"{chat}/acl", role)
    titles = {one["content"] for one in (await inbox(stranger))["notifications"]}
    assert {
        "You may read **For you** from now on.",
        "You may read **None of your business** from now on.",
    } == titles


async def test_notices_are_marked_one_by_one_and_all_together(edge):
    for _ in range(3):
        await a_chat(edge, "[[text: done]] hello")
    first, second, third = (await until_told(edge.member, 3))["notifications"]

    marked = await edge.member.put(f"{INBOX}/{first['id']}/read-status", {"is_read": True})
    again = await edge.member.put(f"{INBOX}/{first['id']}/read-status", {"is_read": True})

    assert (200, 2) == (marked.status, marked.document["unread_count"])
    read_at = marked.document["notification"]["read_at"]
    assert read_at is not None
    assert again.document["notification"]["read_at"] == read_at
    read = await inbox(edge.member, "read_status=read")
    unread = await inbox(edge.member, "read_status=unread")
    assert [first["id"]] == [one["id"] for one in read["notifications"]]
    assert [second["id"], third["id"]] == [one["id"] for one in unread["notifications"]]
    taken_back = await edge.member.put(f"{INBOX}/{first['id']}/read-status", {"is_read": False})
    assert 3 == taken_back.document["unread_count"]
    assert 204 == (await edge.member.put(f"{INBOX}/mark-all-as-read")).status
    assert 0 == (await inbox(edge.member))["unread_count"]


async def test_a_notice_of_another_is_as_unknown_as_one_that_there_is_not(edge):
    await a_chat(edge, "[[text: done]] hello")
    [notice] = (await until_told(edge.member, 1))["notifications"]

    foreign = await edge.stranger.put(f"{INBOX}/{notice['id']}/read-status", {"is_read": True})
    unknown = await edge.stranger.put(f"{INBOX}/{uuid4()}/read-status", {"is_read": True})
    bad = await edge.member.put(f"{INBOX}/7/read-status", {"is_read": True})
    empty = await edge.member.put(f"{INBOX}/{notice['id']}/read-status", {})

    assert (500, foreign.body) == (unknown.status, unknown.body)
    assert (400, 400) == (bad.status, empty.status)
    assert 1 == (await inbox(edge.member))["unread_count"]


async def test_pages_begin_below_the_last_one_and_an_unknown_one_is_ignored(edge):
    store = InboxStore(edge.pool, tell=lambda _: None)
    for number in range(30):
        await store.file(edge.member.id, NewsKind.ARCHIVED, {"count": number}, event=str(number))

    first = (await inbox(edge.member))["notifications"]
    rest = (await inbox(edge.member, f"starting_before={first[-1]['id']}"))["notifications"]

    assert (25, 5) == (len(first), len(rest))
    assert 30 == len({one["id"] for one in first + rest})
    assert first == (await inbox(edge.member, f"starting_before={uuid4()}"))["notifications"]
    assert [] == (await inbox(edge.member, f"targets={uuid4()}"))["notifications"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("read_status=maybe", "read_status"),
        ("targets=seven", "targets"),
        ("templates=1,2", "templates"),
        ("starting_before=last", "starting_before"),
        ("page=2", "page"),
        ("format=markdown", "format"),  # of the watch only
    ],
)
async def test_a_query_that_makes_no_sense_is_refused_by_its_name(edge, query, field):
    answer = await edge.member.get(f"{INBOX}?{query}")

    assert 400 == answer.status
    assert [field] == [one["field"] for one in answer.document["validations"]]


async def test_a_watch_of_an_unknown_form_is_refused(edge):
    refused = await edge.member.get(f"{INBOX}/watch?format=html", headers=UPGRADE)

    assert 400 == refused.status


async def test_an_event_is_filed_once_however_often_it_is_told(edge):
    store = InboxStore(edge.pool, tell=lambda _: None)
    chats = [(uuid4(), f"chat {number}") for number in range(30)]

    for _ in range(3):
        await store.file_archive_digest(edge.member.id, chats, count=40, days=90, day="2030-05-17")

    [notice] = (await inbox(edge.member))["notifications"]
    assert "40 chats were archived" == notice["title"]
    assert "- and 15 more" == notice["content"].splitlines()[-1]
    assert [] == notice["actions"]


async def test_a_watcher_is_told_each_notice_once_and_none_of_before(edge):
    await a_chat(edge, "[[text: done]] hello")
    await until_told(edge.member, 1)
    store = InboxStore(edge.pool, tell=edge.chats.store.bus.tell)

    async with watching(edge.member) as next_notice:
        await a_chat(edge, "[[text: done]] hello again")
        first = await next_notice()
        await store.file(edge.member.id, NewsKind.ARCHIVED, {"count": 2}, event="one")
        second = await next_notice()

    assert 2 == first["unread_count"]
    assert str(TEMPLATE_IDS[NewsKind.ENDED]) == first["notification"]["template_id"]
    assert "2 chats were archived" == second["notification"]["title"]


async def test_an_owner_that_looks_at_a_chat_has_read_what_notices_say_of_it(edge):
    chat = await a_chat(edge, "[[text: done]] hello")
    await until_told(edge.member, 1)

    async with edge.member.socket(f"{chat}/stream") as socket:
        await socket.get_message()

        async def is_read():
            return (await inbox(edge.member))["unread_count"] == 0

        await eventually(is_read)


async def test_old_notices_go_and_of_each_user_the_newest_are_kept(edge):
    store = InboxStore(edge.pool, tell=lambda _: None)
    await edge.execute(
        "INSERT INTO notices (id, user_id, kind, created_at) SELECT gen_random_uuid(), %(user)s,"
        " 'archived', now() - n * interval '1 minute' FROM generate_series(1, %(count)s) AS n",
        {"user": edge.member.id, "count": KEPT_MAX + 7},
    )
    await edge.execute(
        "INSERT INTO notices (id, user_id, kind, created_at)"
        " VALUES (gen_random_uuid(), %(user)s, 'archived', now() - interval '1 year')",
        {"user": edge.stranger.id},
    )

    # The daemon forgets some itself when it starts, which may be just now.
    async def are_forgotten():
        return 0 == await store.forget(looked_seconds=7200.0)

    await eventually(are_forgotten)

    async def the_newest_are_kept():
        [found] = await edge.execute(
            "SELECT count(*), max(now() - created_at) < %(most)s * interval '1 minute'"
            "  FROM notices",
            {"most": KEPT_MAX + 5},
        )
        return found == (KEPT_MAX, True)

    await eventually(the_newest_are_kept)


def test_ids_of_templates_never_change():
    expected = {
        "needs_you": "e600ad41-ff95-5787-8d68-fed529ec6621",
        "ended": "d39bd20e-2442-50cb-93a7-d5f5968c9aa6",
        "failed": "1e2013ac-9aa9-5674-a8fd-81c26d004f14",
        "status": "447f173a-176f-5fa0-8a25-6e8c942661eb",
        "shared": "e270a1b2-3f35-5d0a-bdef-a340577c7038",
        "archived": "2cdb19b9-5903-5a52-90ec-2e8fc6d9979d",
        "webhook_disabled": "a033ae09-6b63-5f16-b6f5-bc142fbda428",
    }

    assert expected == {kind.value: str(id) for kind, id in TEMPLATE_IDS.items()}


# switches


PREFERENCES = "/api/v2/users/me/notifications/preferences"


async def switch(who, **kinds):
    asked = {str(TEMPLATE_IDS[NewsKind(kind)]): off for kind, off in kinds.items()}
    answer = await who.put(PREFERENCES, {"template_disabled_map": asked})
    assert 200 == answer.status, answer.body
    return {each["kind"]: each for each in answer.document}


async def test_a_kind_that_is_switched_off_is_not_filed_and_comes_again_when_it_is_on(edge):
    changed = await switch(edge.member, ended=True)
    assert {"ended"} == {kind for kind, each in changed.items() if each["disabled"]}
    assert changed["ended"]["updated_at"]
    assert "updated_at" not in changed["failed"]

    await a_chat(edge, "[[text: done]] hello")
    await a_chat(edge, "[[faults: 401]] hello", status="error")
    shown = {each["kind"]: each for each in (await edge.member.get(PREFERENCES)).document}
    await switch(edge.member, ended=False)
    await a_chat(edge, "[[text: done]] hello")

    assert changed == shown
    told = [one["template_id"] for one in (await until_told(edge.member, 2))["notifications"]]
    assert [str(TEMPLATE_IDS[NewsKind.ENDED]), str(TEMPLATE_IDS[NewsKind.FAILED])] == told


async def test_a_switch_of_one_user_is_none_of_another(edge):
    await switch(edge.stranger, ended=True)

    await a_chat(edge, "[[text: done]] hello")

    assert 1 == len((await until_told(edge.member, 1))["notifications"])


@pytest.mark.parametrize(
    "template", ["no id", str(UUID(int=7)), str(TEMPLATE_IDS[NewsKind.STATUS])]
)
async def test_a_switch_of_what_is_no_kind_of_notice_is_refused(edge, template):
    asked = {"template_disabled_map": {template: True}}

    refused = await edge.member.put(PREFERENCES, asked)

    assert 400 == refused.status
    assert f"template_disabled_map.{template}" == refused.document["validations"][0]["field"]
