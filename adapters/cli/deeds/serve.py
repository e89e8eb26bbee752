"""The daemon, until it is told to stop: this process, or several and their parent."""

import argparse
import gc
import os
import sys

from adapters.cli.deeds.opening import opened
from adapters.daemon.processes.membership import membership_of
from adapters.settings import Config, names
from adapters.settings.refusals import CannotStart


def run(options: argparse.Namespace) -> int:
    member = membership_of(os.environ)
    config = opened(options, process=None if member is None else member.number)
    if member is None and config.processes > 1:
        return names.run(_parent, config)

    gc.disable()  # imports make a hundred thousand objects that stay; the daemon enables it
    from adapters.daemon import daemon  # which a parent does without

    names.run(daemon.serve, config, member)
    return 0


async def _parent(config: Config) -> int:
    from adapters.daemon.processes.family import serve
    from adapters.daemon.processes.sockets import bound

    _heed_connections(config)
    sockets, address = await bound(config.host, config.port, config.processes)
    return await serve(sys.argv[1:], sockets, drain_seconds=config.drain_seconds, address=address)


def _heed_connections(config: Config) -> None:
    """Of the embedded server; how many another one takes is asked by `doctor`."""
    from adapters.postgres.embedded.wanted import SETTINGS

    most, needed = int(SETTINGS["max_connections"]), config.processes * config.connections
    if config.database_url is None and needed > most:
        fact = f"{config.processes} processes take {needed} connections, the embedded server {most}"
        lower = most // config.processes - config.connections + config.pool_size
        advice = "start fewer processes, or set DATABASE_URL"
        if lower > 0:
            advice = f"set pool_size to {lower} or less, or start fewer"
        raise CannotStart("config", fact, advice)
