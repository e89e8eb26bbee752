"""A stream as a WebSocket: whole messages out of bytes that come in any pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wsproto.connection import Connection, ConnectionType
from wsproto.events import CloseConnection, Ping, Pong, TextMessage

from promptcorner_client import websocket
from promptcorner_client.errors import StreamEnded
from promptcorner_client.websocket import WebSocketReader


def read(client):
    said = []
    while (text := client.next_message()) is not None:
        said.append(text)
    return said


@given(
    texts=st.lists(st.text(max_size=300), max_size=5),
    cuts=st.lists(st.integers(1, 50), min_size=1, max_size=40),
)
def test_messages_come_whole_however_they_are_cut(texts, cuts):
    server, client = Connection(ConnectionType.SERVER), WebSocketReader()
    wire = b"".join(server.send(TextMessage(text)) for text in texts)

    said = []
    for number in range(len(wire)):
        size = cuts[number % len(cuts)]
        piece, wire = wire[:size], wire[size:]
        if not piece:
            break
        client.feed(piece)
        said += read(client)

    assert texts == said


def test_a_message_in_several_frames_is_one():
    server, client = Connection(ConnectionType.SERVER), WebSocketReader()

    client.feed(server.send(TextMessage("be", message_finished=False)))
    assert [] == read(client)
    client.feed(server.send(TextMessage("gun")))

    assert ["begun"] == read(client)


def test_a_ping_is_answered_and_is_a_heartbeat():
    server, client = Connection(ConnectionType.SERVER), WebSocketReader()

    server.receive_data(client.feed(server.send(Ping(b"7"))))

    assert [Pong(payload=bytearray(b"7"))] == list(server.events())
    assert [""] == read(client)


@pytest.mark.parametrize("end", ["close", "nothing", "garbage"])
def test_what_was_said_before_the_end_is_heard_and_then_the_end(end):
    server, client = Connection(ConnectionType.SERVER), WebSocketReader()
    client.feed(server.send(TextMessage("last words")))
    ends = {"close": server.send(CloseConnection(1000)), "nothing": b"", "garbage": b"\xff\xff\xff"}

    client.feed(ends[end])

    assert "last words" == client.next_message()
    with pytest.raises(StreamEnded):
        client.next_message()


def test_a_message_without_end_is_given_up(monkeypatch):
    monkeypatch.setattr(websocket, "MESSAGE_CHARACTERS_MAX", 100)
    server, client = Connection(ConnectionType.SERVER), WebSocketReader()

    client.feed(server.send(TextMessage("x" * 101, message_finished=False)))

    with pytest.raises(StreamEnded, match="more than 100"):
        client.next_message()
