"""A stream as a WebSocket: whole messages out of bytes that come in any pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wsproto.connection import Connection, ConnectionType
from wsproto.events import CloseConnection, Ping, Pong, TextMessage

from adapters.client import frames
from adapters.client.faults import Ended
from adapters.client.frames import Frames


def read(client):
    said = []
    while (text := client.next()) is not None:
        said.append(text)
    return said


@given(
    texts=st.lists(st.text(max_size=300), max_size=5),
    cuts=st.lists(st.integers(1, 50), min_size=1, max_size=40),
)
def test_messages_come_whole_however_they_are_cut(texts, cuts):
    server, client = Connection(ConnectionType.SERVER), Frames()
    wire = b"".join(server.send(TextMessage(text)) for text in texts)

    said = []
    for number in range(len(wire)):
        size = cuts[number % len(cuts)]
        piece, wire = wire[:size], wire[size:]
        if not piece:
            break
        client.heard(piece)
        said += read(client)

    assert texts == said


def test_a_message_in_several_frames_is_one():
    server, client = Connection(ConnectionType.SERVER), Frames()

    client.heard(server.send(TextMessage("be", message_finished=False)))
    assert [] == read(client)
    client.heard(server.send(TextMessage("gun")))

    assert ["begun"] == read(client)


def test_a_ping_is_answered_and_is_a_heartbeat():
    server, client = Connection(ConnectionType.SERVER), Frames()

    server.receive_data(client.heard(server.send(Ping(b"7"))))

    assert [Pong(payload=bytearray(b"7"))] == list(server.events())
    assert [""] == read(client)


@pytest.mark.parametrize("end", ["close", "nothing", "garbage"])
def test_what_was_said_before_the_end_is_heard_and_then_the_end(end):
    server, client = Connection(ConnectionType.SERVER), Frames()
    client.heard(server.send(TextMessage("last words")))
    ends = {"close": server.send(CloseConnection(1000)), "nothing": b"", "garbage": b"\xff\xff\xff"}

    client.heard(ends[end])

    assert "last words" == client.next()
    with pytest.raises(Ended):
        client.next()


def test_a_message_without_end_is_given_up(monkeypatch):
    monkeypatch.setattr(frames, "MESSAGE_CHARACTERS_MAX", 100)
    server, client = Connection(ConnectionType.SERVER), Frames()

    client.heard(server.send(TextMessage("x" * 101, message_finished=False)))

    with pytest.raises(Ended, match="more than 100"):
        client.next()
