"""The edge as it goes: streams are told, who comes is sent elsewhere, who is in is served."""

import pytest
import trio
from trio_websocket import ConnectionClosed

from tests.adapters.edges import an_edge

pytestmark = pytest.mark.slow

CHATS = "/api/experimental/chats"


def hello(edge):
    return {
        "organization_id": edge.organization,
        "content": [{"type": "text", "text": "hello"}],
    }


async def test_watchers_are_told_to_go_elsewhere(fresh):
    told = []

    async def watch(member, path, task_status):
        try:
            async with member.socket(path) as socket:
                task_status.started()
                while True:
                    await socket.get_message()
        except ConnectionClosed as closed:
            told.append((closed.reason.code, closed.reason.reason))

    async with trio.open_nursery() as nursery, an_edge(fresh) as edge:
        chat = (await edge.member.post(CHATS, hello(edge))).document["id"]
        await nursery.start(watch, edge.member, f"{CHATS}/{chat}/stream")
        await nursery.start(watch, edge.member, f"{CHATS}/watch")

    assert [(1001, "the server is stopping")] * 2 == told
    assert (0, 0) == (edge.server.statistics().sockets, edge.server.statistics().connections)


async def test_who_comes_while_it_stops_is_told_to_come_again(fresh):
    async with an_edge(fresh) as edge:
        edge.entrance.close()

        answer = await edge.member.post(CHATS, hello(edge))

        assert (503, "1") == (answer.status, answer.headers["retry-after"])
        assert 200 == (await edge.nobody.get("/livez")).status
