"""The cases of RFC 6455 by which servers are compared: frames, pings, reserved bits, opcodes,
pieces, texts, and closings.

The number in the name of a test is the section that the suite Autobahn has such cases in. Sockets
here listen for messages of bytes at most, so that a text of a client ends them with 1008.
"""

import struct
from contextlib import suppress

import pytest
import trio
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong

from adapters.http.endpoints import SocketClosed
from adapters.http.host.websockets import framed_bytes
from tests.adapters.http.host.socket_clients import connect_socket

LAST = 0x80
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
MESSAGE_BYTES_MAX = 1 << 20


async def connect_echo(nursery):
    """A client of a socket that says every message of bytes again."""
    asking, messages = trio.open_memory_channel(100)

    def take(message):
        asking.send_nowait(message)
        return True

    async def serve(socket):
        socket.hear(take, bytes_max=MESSAGE_BYTES_MAX)
        async with trio.open_nursery() as inner:
            inner.start_soon(answer, socket)
            await socket.until_closed()
            inner.cancel_scope.cancel()

    async def answer(socket):
        with suppress(SocketClosed):
            async for message in messages:
                await socket.send(framed_bytes(message))

    return await connect_socket(nursery, serve)


async def said_again(client):
    """The next message, whole."""
    words = bytearray()
    while True:
        event = await client.next()
        words += event.data
        if event.message_finished:
            return bytes(words)


async def how_it_ends(client):
    """The code with which the server closes, after what it said before."""
    *_, end = await client.all()
    assert isinstance(end, CloseConnection)
    return end.code


@pytest.mark.parametrize("size", [0, 125, 126, 127, 128, 65535, 65536])
async def test_1_messages_of_every_form_of_length(nursery, size):
    client = await connect_echo(nursery)

    await client.send(BytesMessage(data=b"\xfe" * size))

    assert b"\xfe" * size == await said_again(client)
    nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    "payload", [b"", b"there?", b"\x00\xff\xfe\xfd\xfc\xfb\x00\xff", b"x" * 125]
)
async def test_2_pings_are_answered_with_what_they_say(nursery, payload):
    client = await connect_socket(nursery)

    await client.send_frame(LAST | PING, payload)

    assert Pong(payload=payload) == await client.next()
    nursery.cancel_scope.cancel()


async def test_2_pongs_that_nobody_asked_for_are_heard_and_not_answered(nursery):
    client = await connect_socket(nursery)

    await client.send_frame(LAST | PONG, b"unasked")
    await client.send_frame(LAST | PING, b"asked")

    assert Pong(payload=b"asked") == await client.next()
    nursery.cancel_scope.cancel()


async def test_2_ten_pings_that_come_byte_by_byte_are_answered_in_their_order(nursery):
    client = await connect_socket(nursery)

    for number in range(10):
        for byte in client.protocol.send(Ping(payload=b"%d" % number)):
            await client.client.send(bytes([byte]))

    assert [Pong(payload=b"%d" % n) for n in range(10)] == [await client.next() for _ in range(10)]
    nursery.cancel_scope.cancel()


@pytest.mark.parametrize("bits", [0x10, 0x20, 0x40, 0x50, 0x70])
@pytest.mark.parametrize("kind", [BINARY, CLOSE, PING])
async def test_3_a_reserved_bit_ends_it(nursery, bits, kind):
    client = await connect_echo(nursery)

    await client.send_frame(LAST | bits | kind)

    assert 1002 == await how_it_ends(client)


@pytest.mark.parametrize("kind", [3, 4, 5, 6, 7, 11, 12, 13, 14, 15])
async def test_4_a_kind_of_frame_that_there_is_not_ends_it(nursery, kind):
    client = await connect_echo(nursery)
    await client.send_frame(LAST | BINARY, b"before")

    await client.send_frame(LAST | kind, b"strange")

    assert b"before" == await said_again(client)
    assert 1002 == await how_it_ends(client)


async def test_5_a_message_in_pieces_is_one_and_a_ping_between_them_is_answered(nursery):
    client = await connect_echo(nursery)

    await client.send_frame(BINARY, b"one, ")
    await client.send_frame(LAST | PING, b"between")
    await client.send_frame(CONTINUATION)
    await client.send_frame(LAST | CONTINUATION, b"two")

    assert Pong(payload=b"between") == await client.next()
    assert b"one, two" == await said_again(client)
    nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    "frames",
    [
        [(PING, b"in pieces")],
        [(PONG, b"in pieces")],
        [(LAST | CONTINUATION, b"of nothing")],
        [(CONTINUATION, b"of nothing"), (LAST | BINARY, b"x")],
        [(BINARY, b"begun"), (LAST | BINARY, b"another")],
        [(BINARY, b"begun"), (LAST | CONTINUATION, b"done"), (LAST | CONTINUATION, b"more")],
    ],
)
async def test_5_pieces_in_a_wrong_order_end_it(nursery, frames):
    client = await connect_echo(nursery)

    for first, payload in frames:
        await client.send_frame(first, payload)

    assert 1002 == await how_it_ends(client)


@pytest.mark.parametrize(
    "words",
    [
        b"\xce\xba\xed\xa0\x80edited",  # half a surrogate pair
        b"\xc0\xaf",  # a slash, written longer than it is
        b"\xf4\x90\x80\x80",  # above the last character
        b"\xf8\x88\x80\x80\x80",  # five bytes
        b"\x80",  # the middle of a character
        b"\xe0\xa4",  # the beginning of one
    ],
)
async def test_6_text_that_is_none_ends_it(nursery, words):
    client = await connect_echo(nursery)

    await client.send_frame(LAST | TEXT, words)

    assert 1007 == await how_it_ends(client)


async def test_6_text_is_not_listened_for(nursery):
    client = await connect_echo(nursery)

    await client.send_frame(LAST | TEXT, "κόσμε".encode())

    assert 1008 == await how_it_ends(client)


async def test_7_nothing_behind_a_goodbye_is_heard(nursery):
    client = await connect_echo(nursery)

    await client.send_frame(LAST | CLOSE, struct.pack("!H", 1000))
    await client.send_frame(LAST | PING, b"late")
    await client.send_frame(LAST | BINARY, b"late")

    assert [CloseConnection(1000, "")] == await client.all()


@pytest.mark.parametrize(
    "code", [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999]
)
async def test_7_codes_that_may_be_said_are_said_again(nursery, code):
    client = await connect_socket(nursery)

    await client.send_frame(LAST | CLOSE, struct.pack("!H", code))

    assert code == await how_it_ends(client)


@pytest.mark.parametrize("code", [0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65535])
async def test_7_codes_that_may_not_be_said_are_a_fault(nursery, code):
    client = await connect_socket(nursery)

    await client.send_frame(LAST | CLOSE, struct.pack("!H", code))

    assert 1002 == await how_it_ends(client)


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (b"", 1005),
        (b"\x03", 1002),  # half a code
        (struct.pack("!H", 1000) + b"x" * 123, 1000),
        (struct.pack("!H", 1000) + b"x" * 124, 1002),  # more than such a frame may have
        (struct.pack("!H", 1000) + b"\xce\xba\xed\xa0\x80", 1007),
    ],
)
async def test_7_a_goodbye_may_have_a_reason_of_its_length_and_form(nursery, payload, code):
    client = await connect_socket(nursery)

    await client.send_frame(LAST | CLOSE, payload)

    assert code == await how_it_ends(client)
