"""Loads of a whole daemon, by the provider, the driver and the gauges of `promptcorner bench`."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from adapters.cli.admin.connection import DaemonClient
from adapters.cli.bench import gauges, targets
from adapters.cli.bench.plan import Load, LoadTarget, Pace, load_of
from adapters.cli.bench.running import processes_of, run_row
from adapters.cli.bench.starting import StartedDaemon, a_daemon, a_provider
from adapters.cli.bench.telling.figures import Phase, Row, cpu_per_turn

TOKEN = "a-token-of-the-bench-0123456789"


@dataclass(frozen=True)
class LoadedDaemon:
    """A daemon with the provider that its chats ask."""

    daemon: StartedDaemon
    target: LoadTarget
    provider: int  # its process

    def load(self, load: Load, *, pins: bool = False) -> Row:
        """Load it once, whatever fails."""
        daemon, provider = self.daemon, self.provider
        return run_row(daemon.name, load, self.target, provider=provider, daemon=daemon, pins=pins)

    def row(self, load: Load) -> Row:
        """Load it once, without a failure. It has a core for itself if it is one process, as
        `promptcorner bench` does it."""
        is_one = len(processes_of(self.daemon)) == 1
        row = self.load(load, pins=is_one and len(gauges.cores()) > 1)
        if row.failures:
            raise RuntimeError(f"the load failed: {row.reasons}")
        return row


@contextmanager
def a_loaded_daemon(load: Load, **settings: str) -> Iterator[LoadedDaemon]:
    """Run a daemon on a database of its own, and a provider whose answers are those of the load."""
    with (
        a_provider(load) as (url, provider),
        a_daemon("promptcorner", url, TOKEN, settings) as daemon,
    ):
        with DaemonClient(daemon.url, TOKEN) as client:
            target = targets.target_of(client, TOKEN, model=None, provider=url)
        yield LoadedDaemon(daemon, target, provider)


def a_load(pace: Pace, chats: int, **given: float) -> Load:
    """Return a load of so many chats, which differs from the usual one in what is given."""
    return load_of(pace, given, chats)


def turn_cpu_ms(phase: Phase, process: str = "daemon") -> float:
    """Return the milliseconds of processor time that a process took for a turn."""
    found = cpu_per_turn(phase, process)
    assert found is not None, "this system does not tell processor times"
    return found
