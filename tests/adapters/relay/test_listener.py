"""One peer at the door, over a socket that takes everything at once."""

import trio

from actors.law.ids import WorkerId
from actors.streams.previews import Previews
from actors.streams.relay import peer_session
from actors.streams.relay.exchange import Follow, RelayedPieces
from adapters.http.requests import ClientConnection, HttpRequest
from adapters.relay.listener import PATH, RelayHost
from adapters.relay.protocol import HEADER, RelayTickets, decode_answers, encode_requests
from runtime.clock import wall
from tests.actors.streams.relay.cable import HERE, THERE, a_key, as_said, say
from tests.adapters.relay.ground import KEY
from tests.patience import PATIENCE_SECONDS


class Greedy:
    """Fulfils `adapters.http.endpoints.Socket`: no send ever waits."""

    def __init__(self, wishes, enough):
        self.messages = []
        self.gone = trio.Event()
        self._wishes, self._enough = wishes, enough

    def hear(self, heard, *, bytes_max):
        assert heard(encode_requests(self._wishes))

    async def send(self, frames):
        self.messages.append(frames)
        if self._enough(self.messages):
            self.gone.set()

    async def until_closed(self):
        await self.gone.wait()


async def admitted(previews, socket):
    host = RelayHost(previews, RelayTickets(KEY), lambda: THERE)
    ticket = RelayTickets(KEY).write(HERE, WorkerId(THERE), at=wall().timestamp())
    request = HttpRequest("GET", PATH, "", {HEADER: ticket}, ClientConnection())
    await host.admit(request).serve(socket)
    return host


async def test_a_peer_who_takes_everything_does_not_hold_up_the_others(monkeypatch):
    monkeypatch.setattr(peer_session, "BATCH_PIECES_MAX", 1)
    previews = Previews(as_said)
    episode = previews.begin(a_key())
    say(episode, *map(str, range(200)))
    socket = Greedy([Follow(1, episode.key, 0)], lambda messages: len(messages) > 200)
    turns = []

    async def others():
        while not socket.gone.is_set():
            turns.append(len(socket.messages))
            await trio.lowlevel.checkpoint()

    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(others)
            host = await admitted(previews, socket)

    [pieces] = {len(news.pieces) for m in socket.messages[2:] for news in pieces_in(m)}
    assert 1 == pieces
    assert 100 < len(set(turns)), "they had their turns between the messages"
    assert 0 == host.statistics().peers


def pieces_in(frame):
    """Of a message that is short."""
    return [news for news in decode_answers(frame[2:]) if isinstance(news, RelayedPieces)]
