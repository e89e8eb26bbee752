"""The capacity of the host: which connections have a place, and what each costs the system.

There is a fixed number of places. When all are taken, a connection gives way on which nothing is
being served: first one that has been quiet for a while without ever showing a good token, then one
of a user that has been quiet as long, then a stranger that has just come; of each kind the one that
has waited longest. One whose request has come is not idle, although we were too busy to read it so
far: its client would lose what it has sent. If all are busy, the next one may stand beside them for
one request, in the hope that it is an admin's (`ClientConnection.is_beside`). If there is no room
for that either, it is turned away. No coroutine waits here for another one to leave.

Whatever is open is a file descriptor: each client, each call to a provider, the database, files,
the pipes of a program that starts. The system sets one number for all of them. So clients get a
share of it that they cannot exceed, and the rest is there for what they have asked for.
"""

import os
import resource
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from math import inf
from types import TracebackType

from adapters.http.host.bounds import (
    ACCEPTED_AT_ONCE_MAX,
    BESIDE_MAX,
    CONNECTIONS_MAX,
    LOOKED_AT_MAX,
    QUIET_SECONDS,
    TURNED_AWAY_MAX,
)
from adapters.http.requests import ClientConnection
from runtime.clock import now
from runtime.ends import Cause


@dataclass(frozen=True, slots=True)
class GaveWay(Cause):
    """The cause that closes an idle connection: another one needed its place."""


class ConnectionPlaces:
    """All connections that are open, each with its place."""

    def __init__(self, places_max: int, beside_max: int = BESIDE_MAX) -> None:
        self.places_max = places_max
        self.beside_max = beside_max
        self.taken = 0
        self.beside = 0
        self.gave_way_count = 0
        self.turned_away_count = 0
        # The time since when nothing is being served on each; the longest first.
        self._strangers: OrderedDict[ClientConnection, float] = OrderedDict()
        self._known: OrderedDict[ClientConnection, float] = OrderedDict()
        self._beside: OrderedDict[ClientConnection, float] = OrderedDict()
        self._gone: set[ClientConnection] = set()  # those that gave way, and have not ended yet

    def enter(
        self, host: str = "", is_unread: Callable[[], bool] = lambda: False
    ) -> ClientConnection | None:
        """Return a new connection from this host, or None if it is to be turned away. `is_unread`
        tells whether it has sent something that we have not read so far."""
        connection = ClientConnection(host, is_unread=is_unread)
        if self.taken < self.places_max or self.make_room():
            self.taken += 1
            return connection
        if self.beside < self.beside_max or self._gives_way(next(iter(self._beside), None)):
            self.beside += 1
            connection.is_beside = True
            return connection
        self.turned_away_count += 1
        return None

    @property
    def at_once(self) -> int:
        """Return how many connections may be let in together.

        Near the bound it is one after the other, so that each can say what it wants before it has
        to give way to the next.
        """
        return max(1, min(ACCEPTED_AT_ONCE_MAX, (self.places_max - self.taken) // 4))

    def leave(self, connection: ClientConnection) -> None:
        """Give the place of a connection back: it has ended."""
        self.mark_serving(connection)
        if connection in self._gone:
            self._gone.discard(connection)
        else:
            self._give_back(connection)

    def mark_idle(self, connection: ClientConnection) -> None:
        """Note that nothing is being served on a connection: it may have to give way."""
        if connection not in self._gone:
            self._among(connection)[connection] = now()

    def mark_serving(self, connection: ClientConnection) -> None:
        """Note that a request is being served on a connection: it keeps its place."""
        self._among(connection).pop(connection, None)

    def make_room(self) -> bool:
        """Take the place of a connection, which ends soon. Return whether there was one to take."""
        quiet_since = now() - QUIET_SECONDS
        return self._gives_way(
            _silent_one(self._strangers, since=quiet_since)
            or _silent_one(self._known, since=quiet_since)
            or _silent_one(self._strangers)
        )

    def _gives_way(self, connection: ClientConnection | None) -> bool:
        if connection is None:
            return False
        self.mark_serving(connection)
        self._give_back(connection)
        self._gone.add(connection)
        self.gave_way_count += 1
        connection.scope.cancel(GaveWay())
        return True

    def _give_back(self, connection: ClientConnection) -> None:
        if connection.is_beside:
            self.beside -= 1
        else:
            self.taken -= 1

    def _among(self, connection: ClientConnection) -> OrderedDict[ClientConnection, float]:
        if connection.is_beside:
            return self._beside
        return self._known if connection.is_known else self._strangers


def _silent_one(
    idle: Mapping[ClientConnection, float], *, since: float = inf
) -> ClientConnection | None:
    """Return the connection that has been idle for longest, at least `since` then, of those that
    have sent nothing meanwhile. Only the first are looked at."""
    for connection, idle_since in islice(idle.items(), LOOKED_AT_MAX):
        if idle_since > since:
            return None
        if not connection.is_unread():
            return connection
    return None


NONE = -1


class SpareDescriptor:
    """One file descriptor that is kept for the moment when there is no other.

    It is held as long as the block runs, and `lent` for a moment to open something else.
    """

    def __init__(self) -> None:
        self._descriptor = NONE

    def __enter__(self) -> "SpareDescriptor":
        self._take()
        return self

    def __exit__(
        self,
        etype: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._give()

    @contextmanager
    def lent(self) -> Iterator[None]:
        self._give()
        try:
            yield
        finally:
            self._take()

    def _take(self) -> None:
        if self._descriptor != NONE:
            return  # it was lent to two listeners at once, and one has given it back
        with suppress(OSError):  # there is none left; the next time it is lent we try again
            self._descriptor = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def _give(self) -> None:
        if self._descriptor != NONE:
            os.close(self._descriptor)
        self._descriptor = NONE


# Listeners, logs, epoll, pipes of a program that starts, the database's listener and a few files.
OURS = 64
CLIENTS_MIN = 16  # where there are next to none; then something else will be refused
PEERS_MAX = 288  # connections of other processes, and of who looks at this one's figures
PEERS_MIN = 8
SCARCE = 4096  # a chat at work and a client that watches take about two; fewer: a warning


@dataclass(frozen=True, slots=True)
class DescriptorShares:
    """The shares of the descriptors of one process."""

    limit: int
    clients: int  # connections, including those that stand beside
    peers: int  # connections of other processes
    rest: int  # for the database, providers, tools and files

    @property
    def places(self) -> int:
        """The places of clients. Further ones stand beside, or are turned away."""
        return max(CLIENTS_MIN // 2, self.clients - BESIDE_MAX - TURNED_AWAY_MAX)


def shares_of(limit: int, *, database_max: int) -> DescriptorShares:
    """Share out a number of descriptors.

    Two thirds of what neither we nor other processes need are for clients: one that sends and
    watches has two connections, and its chat at work one to its provider.
    """
    free = max(0, limit - OURS - database_max)
    most = CONNECTIONS_MAX + BESIDE_MAX + TURNED_AWAY_MAX
    peers = min(PEERS_MAX, max(PEERS_MIN, free // 8))
    clients = min(most, max(CLIENTS_MIN, (free - peers) * 2 // 3))
    return DescriptorShares(limit, clients, peers, max(0, limit - clients - peers))


def raise_descriptor_limit() -> int:
    """Raise the limit of this process to the highest that it may have, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (OSError, ValueError):  # a system that allows less than it says
            return _count(soft)
    return _count(hard)


def _count(limit: int) -> int:
    """Return a limit as a number: where there is none, more than could be used."""
    return 1 << 30 if limit == resource.RLIM_INFINITY else limit
