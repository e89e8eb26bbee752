"""Whatever a client sends, it is told what is wrong in sentences, of a bounded length."""

import json

import pytest
from wsproto.events import CloseConnection

from tests.adapters.chats.plain_words import assert_plain
from tests.adapters.http.host.socket_clients import connect_socket

CHATS = "/api/experimental/chats"
LONG = "x" * 200_000
BODIES = (
    b"\xff\xfe",
    b"{",
    b"[]",
    b"null",
    b'{"organization_id": 1}',
    b'{"organization_id": "b\'x\'", "content": [{"type": "\\u0000"}]}',
    b'{"content": "text"}',
    b"[" * 100_000,
    json.dumps({"name": LONG, "type": LONG, "content": [{"type": LONG}]}).encode(),
    json.dumps({LONG: 1, "busy_behavior": LONG}).encode(),
    b"1e999",
    b'"\xed\xa0\x80"',
)
PATHS = (
    ("POST", CHATS),
    ("PATCH", f"{CHATS}/00000000-0000-0000-0000-000000000000"),
    ("POST", f"{CHATS}/{'y' * 5_000}/messages"),
    ("POST", "/api/v2/ai/providers"),
    ("POST", "/api/v2/users/login"),
    ("PUT", f"{CHATS}/config/workspace-ttl"),
    ("POST", f"{CHATS}/files"),
)
GETS = (
    f"{CHATS}?limit={'9' * 5_000}",
    f"{CHATS}?q={'z' * 5_000}",
    f"{CHATS}?q=status%3A%ff%fe",
    f"{CHATS}/{'y' * 5_000}",
    f"{CHATS}/%00",
    f"{CHATS}?" + "&".join(f"a{number}=1" for number in range(2_000)),
    "/api/v2/workspaces?q=name%3A%22",
    "/api/v2/users?offset=-1",
)
FRAMES = (
    (0x83, b""),  # an opcode that there is not
    (0xC1, b"x"),  # a bit that nobody has agreed to
    (0x09, b""),  # half a ping
    (0x80, b"x"),  # the rest of nothing
    (0x81, b"\xff\xfe"),  # a text that is none
    (0x88, b"\x03"),  # half a code
    (0x88, b"\x00\x01bye"),
)


@pytest.mark.slow
async def test_a_body_or_a_query_that_makes_no_sense(edge):
    for method, path in PATHS:
        for body in BODIES:
            answer = await edge.admin.ask(method, path, body=body)

            assert 400 <= answer.status < 500, (method, path, body[:50], answer.body[:300])
            assert_plain(answer.body.decode())
    for path in GETS:
        answer = await edge.admin.get(path)

        assert 200 <= answer.status < 500, path[:80]
        if answer.status >= 400:
            assert_plain(answer.body.decode())


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize(("first", "payload"), FRAMES)
async def test_bytes_that_are_no_frames(nursery, first, payload, masked):
    client = await connect_socket(nursery)

    await client.send_frame(first, payload, masked=masked)

    reasons = [
        each.reason or "" for each in await client.all() if isinstance(each, CloseConnection)
    ]
    assert reasons
    for reason in reasons:
        assert_plain(reason)


async def test_half_a_message_and_then_another(nursery):
    client = await connect_socket(nursery)

    await client.send_frame(0x01, b"half")
    await client.send_frame(0x81, b"another")

    for event in await client.all():
        assert_plain(str(getattr(event, "reason", "") or ""))
