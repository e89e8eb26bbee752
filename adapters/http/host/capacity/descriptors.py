"""How the file descriptors of this process are shared out. The rule is pure.

Whatever is open is one: each client, each call to a provider, the database, files, what starts a
program. They are all of one number, that the system sets; so clients get a share of it that they
cannot exceed, however many come, and the rest is there for what they have asked for.
"""

import resource
from dataclasses import dataclass

from adapters.http.host.bounds import BESIDE_MAX, CONNECTIONS_MAX, TURNED_AWAY_MAX

# Listeners, logs, epoll, pipes of a program that starts, the database's listener and a few files.
OURS = 64
CLIENTS_MIN = 16  # where there are next to none; then something else will be refused
PEERS_MAX = 288  # connections of other processes, and of who looks at this one's figures
PEERS_MIN = 8
SCARCE = 4096  # a chat at work and a client that watches take about two; fewer: a warning


@dataclass(frozen=True, slots=True)
class Shares:
    """Of the descriptors of one process."""

    limit: int
    clients: int  # connections, those that stand beside included
    peers: int  # connections of other processes
    rest: int  # for the database, providers, tools and files

    @property
    def places(self) -> int:
        """Of clients; those over that stand beside, or are told so, and go."""
        return max(CLIENTS_MIN // 2, self.clients - BESIDE_MAX - TURNED_AWAY_MAX)


def shares(limit: int, *, database_max: int) -> Shares:
    """Half of what we do not need ourselves is for clients: each chat that one of them watches may
    have a connection to its provider."""
    free = max(0, limit - OURS - database_max)
    most = CONNECTIONS_MAX + BESIDE_MAX + TURNED_AWAY_MAX
    clients = min(most, max(CLIENTS_MIN, free // 2))
    peers = min(PEERS_MAX, max(PEERS_MIN, free // 8))
    return Shares(limit, clients, peers, max(0, limit - clients - peers))


def take_all() -> int:
    """Raise the limit of this process to the highest that it may have; how many that is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (OSError, ValueError):  # a system that allows less than it says
            return _count(soft)
    return _count(hard)


def _count(limit: int) -> int:
    """Without a limit there are as many as anybody could use."""
    return 1 << 30 if limit == resource.RLIM_INFINITY else limit
