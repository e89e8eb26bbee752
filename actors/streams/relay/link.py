"""What is followed at one other process: an actor that keeps one connection to it, while it has to.

A connection that breaks is made again, with pauses, and every attempt is followed on from the piece
that came last: nothing is lost and nothing comes twice. Nobody waits for any of this. As long as
there is no connection, watchers are told what is durable, as always.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, islice
from typing import Annotated

import trio

from actors.law.ids import EpisodeKey, WorkerId
from actors.streams.relay.frames import (
    FOLLOWS_MAX,
    Ended,
    Follow,
    News,
    Pieces,
    Stands,
    TooMany,
    Unfollow,
    Wish,
)
from actors.streams.relay.mirror import Mirror, Room
from actors.streams.relay.ports import Line, Peers, Unlinked
from runtime.backoff import delay_seconds
from runtime.clock import now
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

LINGER_SECONDS = 30.0  # without anything to follow; then the connection is closed
WISHES_MAX = 2 * FOLLOWS_MAX  # that wait to be sent; at more, nothing else is followed there
WISHES_AT_ONCE_MAX = 256  # in one message
STEADY_SECONDS = 5.0  # a connection that ends sooner has failed: the pauses go on growing
AGAIN_FIRST_SECONDS = 0.1
AGAIN_CAP_SECONDS = 5.0
AGAIN_SPREAD = 0.5
HASTY = "the connection ended as soon as it stood, or before anything came"
TRIES_LOGGED = 50  # of so many in a row that failed one is logged


@dataclass(frozen=True, slots=True)
class LinkStatistics:
    connected: Annotated[bool, GaugeMetric("1 while the connection to the other process stands.")]
    follows: Annotated[int, GaugeMetric("Attempts that are followed over the connection.")]
    connected_count: Annotated[int, CounterMetric("Connections that were made.")]
    failed_count: Annotated[
        int, CounterMetric("Connections that could not be made, or ended too soon.")
    ]


class Link:
    """`follow` and `unfollow` never wait; `run` is its life."""

    def __init__(self, worker: WorkerId, peers: Peers, chance: Callable[[], float]) -> None:
        self.worker = worker
        self._peers = peers
        self._chance = chance
        self._follows: dict[int, Mirror] = {}
        self._numbers: dict[EpisodeKey, int] = {}
        self._wishes: dict[int, Wish] = {}  # not sent yet; none without a connection
        self._next = count(1)
        self._changed = trio.Event()
        self._is_connected = False
        self._connected_count = self._failed_count = 0

    def follow(self, key: EpisodeKey, room: Room) -> Mirror | None:
        """None: too much is followed there already."""
        if len(self._follows) >= FOLLOWS_MAX or len(self._wishes) >= WISHES_MAX:
            return None
        mirror, number = Mirror(key, room), next(self._next)
        self._follows[number], self._numbers[key] = mirror, number
        self._wish(Follow(number, key, 0))
        return mirror

    def unfollow(self, mirror: Mirror) -> None:
        mirror.forget()
        number = self._numbers.get(mirror.key)
        if number is None or self._follows.get(number) is not mirror:
            return  # it has ended, or another has taken its place
        self._forget(number)
        if isinstance(self._wishes.get(number), Follow):
            del self._wishes[number]  # they never heard of it
        else:
            self._wish(Unfollow(number))

    async def run(self) -> None:
        """Until there has been nothing to follow for a while."""
        failures = 0
        while self._follows:
            async with self._peers.connected(self.worker) as line:
                if isinstance(line, Unlinked):
                    self._note(failures, line)
                elif await self._talk(line):
                    failures = 0
                elif self._follows:
                    self._note(failures, Unlinked(HASTY, is_fault=failures > 0))
            if self._follows:
                failures += 1
                await trio.sleep(self._pause_seconds(failures))

    def statistics(self) -> LinkStatistics:
        return LinkStatistics(
            self._is_connected, len(self._follows), self._connected_count, self._failed_count
        )

    def _wish(self, wish: Wish) -> None:
        if self._is_connected:
            self._wishes[wish.number] = wish
        self._changed.set()

    def _forget(self, number: int) -> None:
        mirror = self._follows.pop(number, None)
        if mirror is not None:
            mirror.caught_up.set()
            self._changed.set()  # it may have been the last
            if self._numbers.get(mirror.key) == number:
                del self._numbers[mirror.key]

    async def _talk(self, line: Line) -> bool:
        """One connection, to its end. Whether it stood for a while, and something came over it."""
        self._is_connected, self._connected_count = True, self._connected_count + 1
        self._wishes = {
            number: Follow(number, mirror.key, len(mirror.encoded))
            for number, mirror in self._follows.items()
        }
        was_heard, began = False, now()
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._ask, line, nursery.cancel_scope)
                while (news := await line.receive()) is not None and all(map(self._hear, news)):
                    was_heard = was_heard or bool(news)
                nursery.cancel_scope.cancel()
        finally:
            self._is_connected = False
            self._wishes = {}
        return was_heard and now() - began >= STEADY_SECONDS

    async def _ask(self, line: Line, scope: trio.CancelScope) -> None:
        """Say what is wanted, until there is nothing any more."""
        while self._wishes or await self._more():
            wishes = tuple(islice(self._wishes.values(), WISHES_AT_ONCE_MAX))
            for wish in wishes:
                del self._wishes[wish.number]
            if wishes and not await line.send(wishes):
                break
        scope.cancel()

    async def _more(self) -> bool:
        """Wait for a change. False: nothing is followed, and has not been for a while."""
        self._changed = trio.Event()
        if self._follows:
            await self._changed.wait()
            return True
        with trio.move_on_after(LINGER_SECONDS):
            await self._changed.wait()
        return self._changed.is_set()

    def _hear(self, news: News) -> bool:
        """False: they have lost count, and are to be asked anew."""
        mirror = self._follows.get(news.number)
        if mirror is None:
            return True  # of one that is followed no more
        match news:
            case Stands(seq=seq):
                mirror.stands(seq)
            case Pieces(seq=seq, pieces=pieces):
                if mirror.is_full:
                    return True
                if seq != len(mirror.encoded):
                    return False
                mirror.add(pieces)
            case Ended() | TooMany():
                self._forget(news.number)
        return True

    def _note(self, failures: int, unlinked: Unlinked) -> None:
        self._failed_count += 1
        if unlinked.is_fault and failures % TRIES_LOGGED == 0:
            why, tries = unlinked.why, failures + 1
            emit("relay.unlinked", "warning", worker=self.worker, why=why, tries=tries)

    def _pause_seconds(self, failures: int) -> float:
        return delay_seconds(
            failures,
            first_seconds=AGAIN_FIRST_SECONDS,
            cap_seconds=AGAIN_CAP_SECONDS,
            spread=AGAIN_SPREAD,
            chance=self._chance(),
        )
