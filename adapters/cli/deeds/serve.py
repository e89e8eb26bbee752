"""The daemon, until it is told to stop."""

import argparse

import trio

from adapters import daemon
from adapters.cli.deeds.opening import opened


def run(options: argparse.Namespace) -> int:
    trio.run(daemon.serve, opened(options))
    return 0
