"""Streams that are refused: pieces for other servers, and desktops where there are none."""

import pytest

from tests.adapters.requests_of import CHATS

pytestmark = pytest.mark.slow


async def a_chat(edge):
    part = {"type": "text", "text": "hello"}
    new = {"organization_id": edge.organization, "content": [part]}
    return f"{CHATS}/{(await edge.member.post(CHATS, new)).document['id']}"


async def test_a_chat_has_no_desktop_where_they_are_switched_off(edge):
    answer = await edge.member.get(f"{await a_chat(edge)}/stream/desktop")

    assert (400, "The chat has no desktop to watch.") == (
        answer.status,
        answer.document["message"],
    )
    assert "chat-virtual-desktop" in answer.document["detail"]


async def test_pieces_for_other_servers_are_refused_and_a_plain_request_is_told_to_upgrade(edge):
    chat = await a_chat(edge)

    plain = await edge.member.get(f"{chat}/stream/parts")
    socket = await edge.member.get(
        f"{chat}/stream/parts", headers={"connection": "upgrade", "upgrade": "websocket"}
    )

    assert (426, "websocket") == (plain.status, plain.headers["upgrade"])
    assert 501 == socket.status
