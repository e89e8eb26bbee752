"""Two processes and a cable between them: attempts run there, and are followed here.

The cable speaks frames. It can be cut, be out, or take its time.
"""

import random
from contextlib import asynccontextmanager
from uuid import uuid4

import trio

from actors.law.chat import Role
from actors.law.ids import ChatId, EpisodeKey, WorkerId
from actors.law.parts.message import TextPart
from actors.streams.previews import Previews
from actors.streams.relay.exchange import NotConnected
from actors.streams.relay.peer_session import PeerSession
from actors.streams.relay.relays import open_relays

HERE, THERE = WorkerId(uuid4()), WorkerId(uuid4())


def as_said(key, said):
    return f"{key.attempt}.{said.seq} {said.piece.text}".encode()


class Cable:
    """Fulfils `actors.streams.relay.exchange.Peers`: every process is the one that is there."""

    def __init__(self):
        self.there = Previews(as_said)
        self.is_out = False
        self.messages_max = None  # that one line brings; then it breaks
        self.tried_at = []
        self.lines = []
        self.passes = trio.Event()  # cleared by `hold`
        self.passes.set()

    @asynccontextmanager
    async def connected(self, worker):
        self.tried_at.append(trio.current_time())
        await trio.lowlevel.checkpoint()
        if self.is_out:
            yield NotConnected("it is away")
            return
        line = CableLine(self)
        self.lines.append(line)
        with self.there.follow(line.session.note_begin, fail=line.session.fail):
            yield line
        line.session.close()
        line.is_open = False

    @property
    def open_lines(self):
        return [line for line in self.lines if line.is_open]

    def cut(self):
        for line in self.open_lines:
            line.broken.set()

    def hold(self):
        self.passes = trio.Event()

    def begin(self, key=None):
        return self.there.begin(key or a_key())


class CableLine:
    def __init__(self, cable):
        self.session = PeerSession(cable.there)
        self.broken = trio.Event()
        self.is_open = True
        self.wishes, self.messages = [], []
        self._cable = cable

    async def send(self, wishes):
        await trio.lowlevel.checkpoint()
        if self.broken.is_set():
            return False
        self.wishes.append(wishes)
        return all(map(self.session.handle, wishes))

    async def receive(self):
        async with trio.open_nursery() as nursery:

            async def due():
                await self._cable.passes.wait()
                await self.session.wait_until_due()
                nursery.cancel_scope.cancel()

            async def broken():
                await self.broken.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(due)
            nursery.start_soon(broken)
        if self.broken.is_set() or self.session.has_failed:
            return None
        self.messages.append(self.session.take())
        if len(self.messages) == self._cable.messages_max:
            self.broken.set()
        return self.messages[-1]


def a_key(attempt=1):
    return EpisodeKey(ChatId(uuid4()), 3, attempt)


def say(episode, *words):
    for word in words:
        assert episode.add(Role.ASSISTANT, TextPart(word))


class Ear:
    """What somebody heard of an attempt. Fulfils `PieceListener`."""

    def __init__(self, attempt):
        self.heard, self.failures = [*attempt.encoded], []
        attempt.listener = self

    def hear(self, piece, alone):
        self.heard.append(piece)

    def fail(self, error):
        self.failures.append(error)


@asynccontextmanager
async def relays_over(cable, *, me=HERE, chance=None):
    drawn = chance or random.Random(7).random
    async with open_relays(cable, me=lambda: me, chance=drawn) as relays:
        yield relays


async def settled():
    await trio.testing.wait_all_tasks_blocked()
