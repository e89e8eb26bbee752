"""Who watches a chat that is not his is let go when he may read it no more."""

from contextlib import AsyncExitStack, asynccontextmanager

import pytest
import trio
import trio.testing
from trio_websocket import ConnectionClosed

from adapters.chats.streams import viewers
from tests.adapters.daemon.access_matrix import CHATS
from tests.adapters.edges import HEADER, PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.slow


@pytest.fixture
async def chat(edge):
    """Of the member's, which the stranger may read."""
    content = [{"type": "text", "text": "[[text: good day]] hello"}]
    new = {"organization_id": edge.organization, "content": content}
    path = f"{CHATS}/{(await edge.member.post(CHATS, new)).document['id']}"
    await share(edge, path, "read")
    return path


async def share(edge, chat, role):
    roles = {"user_roles": {str(edge.stranger.id): role}}
    assert 204 == (await edge.member.patch(f"{chat}/acl", roles)).status


@asynccontextmanager
async def watching(*paths_of):
    """Sockets that have been told something."""
    async with AsyncExitStack() as stack:
        sockets = [await stack.enter_async_context(who.socket(path)) for who, path in paths_of]
        for socket in sockets:
            await socket.get_message()
        yield sockets


async def closed(socket):
    """What it was told at its end."""
    with trio.fail_after(PATIENCE_SECONDS):
        try:
            while True:
                await socket.get_message()
        except ConnectionClosed as end:
            return end.reason.code, end.reason.reason


async def guests_of(edge):
    return (await edge.admin.get("/debug/actors")).document["guests"]


async def test_who_is_taken_off_is_let_go_and_the_others_stay(edge, chat):
    stream = f"{chat}/stream"
    people = (edge.stranger, edge.member, edge.admin)
    async with watching(*[(who, stream) for who in people]) as (stranger, *others):
        await share(edge, chat, "")

        assert (1008, "you may read this chat no more") == await closed(stranger)
        assert [None, None] == [other.closed for other in others]
        assert 404 == (await edge.stranger.get(stream)).status
        assert 1 == (await guests_of(edge))["ended_count"]


async def test_an_event_stream_ends_too(edge, chat):
    client, url = edge.stranger.client, f"{edge.url}{chat}/stream/sse"
    headers = {HEADER: edge.stranger.token}
    async with client.stream("GET", url, headers=headers) as answer:
        lines = answer.aiter_lines()
        assert "retry: 1000" == await anext(lines)
        await share(edge, chat, "")
        await eventually(lambda: has_ended(edge))
        more = {"content": [{"type": "text", "text": "a secret"}]}
        assert 200 == (await edge.member.post(f"{chat}/messages", more)).status

        with trio.fail_after(PATIENCE_SECONDS):
            rest = [line async for line in lines]

    assert not [line for line in rest if "a secret" in line]


async def has_ended(edge):
    return (await guests_of(edge))["ended_count"] == 1


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(viewers, "LOOK_SECONDS", 0.05)


async def test_what_another_process_has_changed_is_seen_a_little_later(often, edge, chat):
    async with watching((edge.stranger, f"{chat}/stream")) as [stranger]:
        await edge.execute("DELETE FROM chat_readers")

        assert 1008 == (await closed(stranger))[0]


async def test_an_admin_who_is_one_no_more_is_let_go(edge, chat):
    async with watching((edge.admin, f"{chat}/stream")) as [admin]:
        await edge.execute("UPDATE users SET roles = '{}'")
        await share(edge, chat, "")

        assert 1008 == (await closed(admin))[0]


async def test_where_only_owners_watch_nothing_is_asked(edge, chat):
    async with watching((edge.member, f"{chat}/stream")):
        before = await guests_of(edge)
        await share(edge, chat, "")
        await trio.testing.wait_all_tasks_blocked(0.01)

        assert {"guests": 0, "looks_count": 0, "ended_count": 0} == before == await guests_of(edge)
