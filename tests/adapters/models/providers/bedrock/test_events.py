"""The event stream of AWS: any cut gives the same messages, and no wrong bit passes."""

import itertools
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.providers.bedrock.events import MESSAGE_BYTES_MAX, MessageParser, StreamMessage
from adapters.models.providers.faults import BrokenStream


def text(name, value):
    return bytes([len(name)]) + name.encode() + b"\7" + len(value).to_bytes(2) + value.encode()


CHUNK = text(":event-type", "chunk")


def encoded(payload, headers=CHUNK):
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    prelude += struct.pack(">I", zlib.crc32(prelude))
    message = prelude + headers + payload
    return message + struct.pack(">I", zlib.crc32(message))


def test_the_published_example_is_read():
    """From the description of the encoding: an empty message, and one with a header and a body."""
    empty = bytes.fromhex("000000100000000005c248eb7d98c8ff")
    example = bytes.fromhex(
        "0000003d0000002007fd83960c636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e"
        "7b27666f6f273a27626172277d8d9c08b1"
    )

    assert [
        StreamMessage({}, b""),
        StreamMessage({"content-type": "application/json"}, b"{'foo':'bar'}"),
    ] == MessageParser().feed(empty + example)


@pytest.mark.slow
@given(st.lists(st.binary(max_size=50), max_size=4), st.data())
def test_any_cut_gives_the_same_messages(payloads, data):
    stream = b"".join(map(encoded, payloads))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)))))
    borders = [0, *cuts, len(stream)]
    parser = MessageParser()

    got = [m for a, b in itertools.pairwise(borders) for m in parser.feed(stream[a:b])]

    assert [StreamMessage({":event-type": "chunk"}, payload) for payload in payloads] == got


def test_every_wrong_bit_is_seen():
    stream = encoded(b"x" * 30)

    for bit in range(len(stream) * 8):
        wrong = bytearray(stream)
        wrong[bit // 8] ^= 1 << bit % 8
        with pytest.raises(BrokenStream, match=r"^event stream: "):
            MessageParser().feed(bytes(wrong))


def test_headers_of_every_type_are_passed_over():
    other = b"".join(
        bytes([1]) + b"n" + bytes([kind]) + bytes(size)
        for kind, size in {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 6: 2, 8: 8, 9: 16}.items()
    )

    (message,) = MessageParser().feed(encoded(b"p", other + text("a", "b")))

    assert StreamMessage({"a": "b"}, b"p") == message


@pytest.mark.parametrize("headers", [b"\5ab", b"\1a\x0c", b"\1a\7\0\5x", b"\1\xff\0"])
def test_headers_that_make_no_sense_break_the_stream(headers):
    with pytest.raises(BrokenStream, match=r"^event stream: the headers"):
        MessageParser().feed(encoded(b"", headers))


def test_a_message_that_is_too_long_breaks_the_stream_at_once():
    prelude = struct.pack(">II", MESSAGE_BYTES_MAX + 1, 0)

    with pytest.raises(BrokenStream, match=r"^event stream: a message is too long"):
        MessageParser().feed(prelude + struct.pack(">I", zlib.crc32(prelude)) + b"1234")
