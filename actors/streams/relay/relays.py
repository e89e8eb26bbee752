"""The links of this process: one for each other process whose attempts are watched here."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import trio

from actors.law.ids import EpisodeKey, WorkerId
from actors.streams.feeds.ports import PieceLog
from actors.streams.relay.exchange import PeerConnector
from actors.streams.relay.link import Mirror, MirrorBudget, RelayLink
from runtime.children import Child, Children, open_children
from runtime.ends import Broken, Crashed, End
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

LINKS_MAX = 256  # processes; watchers see no pieces of what others than these run
CATCH_UP_SECONDS = 0.25  # to learn how far an attempt has come; then it is told from its beginning


@dataclass(frozen=True, slots=True)
class RelaysStatistics:
    links: Annotated[int, GaugeMetric("Other processes whose attempts are followed here.")]
    connected: Annotated[int, GaugeMetric("Other processes to which a connection stands.")]
    follows: Annotated[int, GaugeMetric("Attempts of other processes that are followed here.")]
    mirrored_bytes: Annotated[
        int, GaugeMetric("Bytes of attempts of other processes that are kept here.")
    ]
    pieces_count: Annotated[int, CounterMetric("Pieces that came from other processes.")]
    dropped_count: Annotated[
        int, CounterMetric("Pieces of other processes for which there was no room.")
    ]
    listeners_failed_count: Annotated[
        int, CounterMetric("Listeners to attempts of other processes that were ended by an error.")
    ]
    refused_count: Annotated[
        int,
        CounterMetric("Attempts of other processes that were not followed: there were too many."),
    ]
    connected_count: Annotated[
        int, CounterMetric("Connections to other processes that were made.", name="connections")
    ]
    failed_count: Annotated[
        int,
        CounterMetric("Connections to other processes that could not be made, or ended too soon."),
    ]


@dataclass(slots=True)
class _Counts:
    """The counts of links that are over; `refused` counts for all."""

    connected: int = 0
    failed: int = 0
    refused: int = 0
    started: int = 0


class Relays:
    """The attempts of all other processes that are followed here. Made by `open_relays`.

    Fulfils `actors.streams.feeds.ports.RemotePreviews`.
    """

    def __init__(
        self,
        peers: PeerConnector,
        children: Children,
        *,
        me: Callable[[], WorkerId | None],
        chance: Callable[[], float],
    ) -> None:
        self._peers = peers
        self._children = children
        self._me = me
        self._chance = chance
        self._links: dict[WorkerId, RelayLink] = {}
        self._link_of: dict[Mirror, RelayLink] = {}
        self._budget = MirrorBudget()
        self._counts = _Counts()

    def follow(self, key: EpisodeKey, worker: WorkerId) -> PieceLog | None:
        if worker == self._me():
            return None  # it will begin here soon
        link = self._link(worker)
        mirror = None if link is None else link.follow(key, self._budget)
        if mirror is None or link is None:
            self._counts.refused += 1
            return None
        self._link_of[mirror] = link
        return mirror

    def let_go(self, attempt: PieceLog) -> None:
        if isinstance(attempt, Mirror) and (link := self._link_of.pop(attempt, None)):
            link.unfollow(attempt)

    async def wait_until_caught_up(self, attempt: PieceLog) -> None:
        if isinstance(attempt, Mirror):
            with trio.move_on_after(CATCH_UP_SECONDS):
                await attempt.caught_up.wait()

    def statistics(self) -> RelaysStatistics:
        links = [link.statistics() for link in self._links.values()]
        return RelaysStatistics(
            links=len(links),
            connected=sum([link.connected for link in links]),
            follows=sum([link.follows for link in links]),
            mirrored_bytes=self._budget.bytes_count,
            pieces_count=self._budget.pieces_count,
            dropped_count=self._budget.dropped_count,
            listeners_failed_count=self._budget.failed_count,
            refused_count=self._counts.refused,
            connected_count=self._counts.connected + sum([link.connected_count for link in links]),
            failed_count=self._counts.failed + sum([link.failed_count for link in links]),
        )

    def _link(self, worker: WorkerId) -> RelayLink | None:
        link = self._links.get(worker)
        if link is not None:
            return link
        if len(self._children) >= LINKS_MAX:
            return None
        link = self._links[worker] = RelayLink(worker, self._peers, self._chance)
        self._counts.started += 1
        name = f"link {self._counts.started} to worker/{worker}"
        self._children.start(Child(name=name, body=link.run, when_ended=partial(self._ended, link)))
        return link

    def _ended(self, link: RelayLink, _: str, end: End) -> None:
        if isinstance(end, Crashed | Broken):
            emit("relay.broken", "error", worker=link.worker, error=end.error)
        over = link.statistics()
        self._counts.connected += over.connected_count
        self._counts.failed += over.failed_count
        if self._links.get(link.worker) is link:
            del self._links[link.worker]


@asynccontextmanager
async def open_relays(
    peers: PeerConnector, *, me: Callable[[], WorkerId | None], chance: Callable[[], float]
) -> AsyncIterator[Relays]:
    """Let attempts of other processes be followed, as long as the block runs. `me` returns the name
    under which this process holds chats."""
    async with open_children("relay", capacity=LINKS_MAX) as children:
        yield Relays(peers, children, me=me, chance=chance)
