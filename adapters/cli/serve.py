"""`promptcorner serve`: the daemon until it is told to stop, as one process or several."""

import argparse
import gc
import importlib
import os
import sys

from adapters.cli.command_line import (
    ALL_SUBJECTS,
    add_settings,
    describe,
    load_config,
    secrets_help,
)
from adapters.daemon.listening.daemons import announced
from adapters.daemon.membership import membership_of
from adapters.daemon.parent.starting import StartProcess
from adapters.daemon.systemd import Systemd
from adapters.settings import Config, names
from adapters.settings.refusals import CannotStart
from runtime.clock import machine

DESCRIPTION = """\
Run the daemon until SIGTERM or ctrl-C; a second one exits at once.

  promptcorner serve                                   on an embedded PostgreSQL, for this machine
  ANTHROPIC_API_KEY=sk-... promptcorner serve          with a provider; others by their own keys
  promptcorner serve --listen 0.0.0.0:7390 --access-url https://chats.example.org
  promptcorner serve --listen 0.0.0.0:443 --tls-cert chain.pem --tls-key key.pem
  promptcorner serve --processes 4                     four processes behind one address
  DATABASE_URL=postgresql://user:password@host/name promptcorner serve

The first start prints a link, good once, with which the first admin sets a password. Chats are kept
in the database: back it up with `promptcorner backup`. Several daemons may share one database; each
chat is run by one of them, and taken over by another when that one stops or dies. With --processes,
a parent starts several processes, restarts any that ends, and stops with all of them.

exit codes: 0 stopped in good order, 1 cannot start (a line says why and what to do), 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of all settings."""
    end = secrets_help(ALL_SUBJECTS)
    describe(parser, DESCRIPTION, run=run, epilog=end, usage="serve [SETTINGS]")
    add_settings(parser, ALL_SUBJECTS)


def run(options: argparse.Namespace) -> int:
    """Serve until a signal."""
    member = membership_of(os.environ)
    config = load_config(options, process=None if member is None else member.number)
    if member is None and config.processes > 1:
        return _serve_as_parent(config)

    gc.disable()  # imports make a hundred thousand objects that stay; the daemon enables it
    from adapters.daemon import daemon  # where it cannot be copied, a parent has no use for it

    names.run(daemon.serve, config, member)
    return 0


def _serve_as_parent(config: Config) -> int:
    from adapters.daemon.parent.addresses import bind_sockets
    from adapters.daemon.parent.loop import ParentProcess, heard_signals

    _check_connections(config)
    began, systemd = machine(), Systemd(os.environ, machine)
    sockets, address = bind_sockets(config.host, config.port, config.processes)
    with announced(config, address), heard_signals() as signals:
        parent = ParentProcess(
            _start_process(),
            sockets,
            signals,
            systemd,
            drain_seconds=config.drain_seconds,
            address=address,
            began=began,
        )
        parent.run()
        return parent.outcome()


def _start_process() -> StartProcess:
    """Return what starts each process: as a copy of this one where that can be."""
    from adapters.cli.main import main
    from adapters.daemon.parent.starting import may_copy, starts_copies, starts_programs

    if may_copy():
        _preload()
        if may_copy():  # what is imported has begun no thread
            return starts_copies(main)
    # -P: modules in the directory where we were started are not ours.
    return starts_programs([sys.executable, "-P", "-m", "promptcorner", *sys.argv[1:]])


def _preload() -> None:
    """Import and load what every process needs; what only some deployments use is left to them.

    Their objects stay, so that it would be no use to look for garbage among them.
    """
    from adapters.models.costs import load_table_now

    gc.disable()
    from adapters.daemon import daemon  # noqa: F401

    importlib.import_module("httpcore2")  # httpx2 does it with its first client
    load_table_now()
    gc.enable()


def _check_connections(config: Config) -> None:
    """Refuse more processes than the embedded server has connections for.

    How many another server has is looked at by `doctor`.
    """
    from adapters.postgres.embedded.options import SETTINGS

    limit, needed = int(SETTINGS["max_connections"]), config.processes * config.connections
    if config.database_url is None and needed > limit:
        fact = (
            f"{config.processes} processes take {needed} connections, the embedded server {limit}"
        )
        lower = limit // config.processes - config.connections + config.pool_size
        advice = "start fewer processes, or set DATABASE_URL"
        if lower > 0:
            advice = f"set pool_size to {lower} or less, or start fewer"
        raise CannotStart("config", fact, advice)
