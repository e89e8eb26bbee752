"""RFB as a real screen speaks it, whole and in pieces; and bytes that no screen of ours sends."""

import base64
import struct
import zlib
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.tools.desktop.geometry import ScreenSize
from adapters.workspaces.desktop.rfb import (
    COPY,
    DESKTOP_SIZE,
    LAST_RECTANGLE,
    PIXELS_MAX,
    RAW,
    RfbClient,
    RfbFault,
    ScreenChanged,
    ScreenReady,
)

# What TigerVNC 1.12 said of a screen of 48x32 on which the pointer moved and a window appeared: its
# greeting, the whole screen, and two changes. Recorded from `Xvnc -SecurityTypes None`.
RECORDED = zlib.decompress(
    base64.b64decode(
        "eNrt2aEKQjEYgNF/Qa6YjNrWBRlYzAYfwGfQZFDQ959MsQgGLd4r54ylLXxlDLbddpNLWS1LWU9SiqZEzrNIUduYjuOh"
        "2x8ux+vpHFHrc1sAAAAAAAB/rdaa738Do+hiEfOXtd5PrVq1atWq9dPWnty/WrV+1Tqks6VVq1atWrX+qPXtOwcAAADA"
        "kLR3jhv0ERrL"
    )
)
OPENING = b"RFB 003.008\n" + b"\x01\x01" + struct.pack("!I", 0)
SIZE = ScreenSize(4, 3)


def init(width, height, name=b"desktop"):
    return struct.pack("!HH16xI", width, height, len(name)) + name


def update(*rectangles):
    return struct.pack("!BxH", 0, len(rectangles)) + b"".join(rectangles)


def rectangle(x, y, width, height, encoding, body=b""):
    return struct.pack("!HHHHi", x, y, width, height, encoding) + body


def raw(x, y, width, height, colour):
    return rectangle(x, y, width, height, RAW, bytes((colour,)) * (width * height * 4))


@pytest.fixture
def client():
    client = RfbClient()
    client.receive(OPENING + init(SIZE.width, SIZE.height))
    client.bytes_to_send()
    return client


def shown(client):
    """The first byte of each pixel, row by row."""
    row = client.size.width * 4
    return [list(client.screen[at : at + row : 4]) for at in range(0, len(client.screen), row)]


def heard(pieces):
    client = RfbClient()
    return client, [event for piece in pieces for event in client.receive(piece)]


def test_a_recorded_screen_is_read():
    client, events = heard([RECORDED])

    changes = [ScreenChanged(48 * 32), ScreenChanged(1075), ScreenChanged(1075)]
    assert [ScreenReady(ScreenSize(48, 32)), *changes] == events
    assert 3405693759 == zlib.crc32(client.screen)


@settings(max_examples=30)
@given(st.lists(st.integers(0, len(RECORDED)), max_size=12))
def test_however_the_bytes_are_cut_they_say_the_same(cuts):
    borders = [0, *sorted(cuts), len(RECORDED)]
    pieces = [RECORDED[a:b] for a, b in pairwise(borders)]

    client, events = heard(pieces)

    assert 4 == len(events)
    assert 3405693759 == zlib.crc32(client.screen)


def test_byte_by_byte_it_is_the_same():
    _, events = heard(RECORDED[at : at + 1] for at in range(len(RECORDED)))

    assert 4 == len(events)


def test_what_we_say_is_what_a_server_waits_for():
    client = RfbClient()
    client.receive(b"RFB 003.008\n")
    version = client.bytes_to_send()
    client.receive(b"\x02\x02\x01")
    security = client.bytes_to_send()
    client.receive(struct.pack("!I", 0))
    shared = client.bytes_to_send()
    client.receive(init(4, 3))
    asked = client.bytes_to_send()
    client.request(only_changes=True)
    client.pointer(3, 2, buttons=5)
    client.key(0xFF0D, is_down=True)

    assert (b"RFB 003.008\n", b"\x01", b"\x01") == (version, security, shared)
    assert asked[:4] == b"\x00\x00\x00\x00"  # the format of pixels
    assert asked[20:24] == struct.pack("!BxH", 2, 4)  # four encodings
    assert client.bytes_to_send() == bytes.fromhex(
        "03010000000000040003050500030002040100000000ff0d"
    )
    assert b"" == client.bytes_to_send()
    client.request_changes_now()
    assert client.bytes_to_send() == bytes.fromhex("0301000000000004000303000000000000010001")


def test_rectangles_are_put_where_they_belong(client):
    events = client.receive(update(raw(0, 0, 4, 3, 1), raw(1, 1, 2, 2, 2)))

    assert [ScreenChanged(16)] == events
    assert [[1, 1, 1, 1], [1, 2, 2, 1], [1, 2, 2, 1]] == shown(client)


@pytest.mark.parametrize("target", [(1, 0), (0, 1), (1, 1)])
def test_a_copy_may_lie_over_what_it_is_copied_from(client, target):
    client.receive(update(raw(0, 0, 1, 1, 9)))
    body = struct.pack("!HH", 0, 0)

    client.receive(update(rectangle(*target, 3, 2, COPY, body)))

    x, y = target
    assert 9 == shown(client)[y][x]


def test_a_screen_may_become_larger_and_updates_may_end_early(client):
    changes = client.receive(
        update(rectangle(0, 0, 6, 2, DESKTOP_SIZE), raw(5, 1, 1, 1, 3))
        + struct.pack("!BxH", 0, 0xFFFF)
        + rectangle(0, 0, 0, 0, LAST_RECTANGLE)
    )

    assert [ScreenChanged(1), ScreenChanged(0)] == changes
    assert (ScreenSize(6, 2), 3) == (client.size, shown(client)[1][5])


def test_bells_colours_and_copied_texts_are_passed_over(client):
    copied = struct.pack("!BxxxI", 3, 5) + b"words"
    colours = struct.pack("!BxHH", 1, 0, 2) + bytes(12)

    assert [ScreenChanged(1)] == client.receive(
        b"\x02" + copied + colours + update(raw(0, 0, 1, 1, 1))
    )


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"HTTP/1.1 400", "and not RFB 3.8"),
        (b"RFB 003.003\n", "and not RFB 3.8"),
        (b"RFB 003.008\n\x00" + struct.pack("!I", 4) + b"full", "refuses us: full"),
        (b"RFB 003.008\n\x00" + struct.pack("!I", 5_000), "a reason of 5000 bytes"),
        (b"RFB 003.008\n\x01\x02", "wants a password"),
        (b"RFB 003.008\n\x01\x01" + struct.pack("!II", 1, 2) + b"no", "refuses us: no"),
        (OPENING + struct.pack("!HH16xI", 1, 1, 5_000), "a name of 5000 bytes"),
        (OPENING + init(0, 5), "the screen is 0x5"),
        (OPENING + init(65_535, 65_535), f"can have 1 to {PIXELS_MAX} pixels"),
        (OPENING + init(4, 3) + b"\x09", "a message of kind 9"),
        (OPENING + init(4, 3) + struct.pack("!BxxxI", 3, 2**32 - 1), "a text of 4294967295"),
        (OPENING + init(4, 3) + update(raw(2, 0, 3, 1, 0)), "pixels beyond its 4x3"),
        (OPENING + init(4, 3) + update(raw(0, 3, 1, 1, 0)), "pixels beyond its 4x3"),
        (OPENING + init(4, 3) + update(rectangle(0, 0, 1, 1, 16)), "in the encoding 16"),
        (
            OPENING + init(4, 3) + update(rectangle(0, 0, 2, 2, COPY, struct.pack("!HH", 3, 2))),
            "from beyond its 4x3",
        ),
    ],
)
def test_what_no_screen_of_ours_says_is_a_fault_that_says_what(said, why):
    with pytest.raises(RfbFault, match=why):
        RfbClient().receive(said)


@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_any_bytes_after_the_greeting_are_read_or_are_a_fault(said):
    client = RfbClient()
    client.receive(OPENING + init(4, 3))
    try:
        client.receive(said)
    except RfbFault:
        return
    assert len(client.screen) == client.size.width * client.size.height * 4
