"""One row of a run: the driver does its task, and between its phases the gauges are read."""

import queue
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO

import msgspec

from adapters.cli.bench import gauges
from adapters.cli.bench.plan import Load, LoadTarget, Task
from adapters.cli.bench.processes.driver import (
    Line,
    PhaseBegins,
    PhaseEnds,
    Progress,
    RunFinished,
)
from adapters.cli.bench.starting import Child, StartedDaemon, a_driver
from adapters.cli.bench.telling.figures import Phase, Row, stage_means
from adapters.settings.refusals import CannotStart

LATE_SECONDS = 120.0  # beyond the seconds of a row, for its floor, its end and its archive
BAR = 24  # characters


@dataclass(slots=True)
class Observed:
    """The processes of a run; those of a daemon elsewhere are not known."""

    target: LoadTarget
    driver: int
    provider: int | None
    daemon: StartedDaemon | None

    def counters(self) -> dict[str, float | None]:
        """Return everything that only grows: processor seconds by process, and the database's."""
        metrics = gauges.read_metrics(self.target.url, self.target.token)
        found: dict[str, float | None] = {
            name: gauges.of_pools(metrics, of) for name, of in gauges.DATABASE_METRICS.items()
        }
        found |= {name: metrics.get(of) for name, of in gauges.STAGE_METRICS.items()}
        found["driver"] = gauges.cpu_seconds([self.driver])
        found["provider"] = None if self.provider is None else gauges.cpu_seconds([self.provider])
        if self.daemon is None:
            found["daemon"] = metrics.get(gauges.DAEMON_METRICS["daemon"])
            found["postgresql"] = None
            return found
        database = gauges.database_of(self.daemon.data_dir)
        servers = [] if database is None else gauges.family(database)
        found["daemon"] = gauges.cpu_seconds(processes_of(self.daemon))
        living = gauges.cpu_seconds(servers)
        ended = None if database is None else gauges.cpu_seconds([database], with_ended=True)
        alone = None if database is None else gauges.cpu_seconds([database])
        if living is not None and ended is not None and alone is not None:
            found["postgresql"] = living + ended - alone
        return found

    def memory(self) -> dict[str, float | None]:
        """Return what the daemon has in memory now."""
        if self.daemon is not None:
            return gauges.memory_megabytes(processes_of(self.daemon))
        metrics = gauges.read_metrics(self.target.url, self.target.token)
        size = metrics.get(gauges.DAEMON_METRICS["rss"])
        return {"rss": None if size is None else size / 2**20, "pss": None}


def processes_of(daemon: StartedDaemon) -> list[int]:
    """Return the processes of a daemon of ours, without its database."""
    database = gauges.database_of(daemon.data_dir)
    servers = set() if database is None else set(gauges.family(database))
    return [pid for pid in gauges.family(daemon.pid) if pid not in servers]


@dataclass(slots=True)
class _Collected:
    floor: Phase | None = None
    phases: dict[str, Phase] = field(default_factory=dict)
    began: dict[str, float | None] = field(default_factory=dict)
    memory: dict[str, float | None] = field(default_factory=dict)


def run_row(
    name: str,
    load: Load,
    target: LoadTarget,
    *,
    provider: int | None,
    daemon: StartedDaemon | None,
    pins: bool,
) -> Row:
    """Load a daemon once, and return what was seen."""
    with a_driver() as driver, _bar(sys.stderr) as bar:
        observed = Observed(target, driver.pid, provider, daemon)
        if pins:
            _pin(observed)
        assert driver.stdin is not None
        task = Task(load=load, target=target, wants_progress=bar is not None)
        _tell(driver, msgspec.json.encode(task).decode())
        seen = _Collected()
        for line in _lines(driver, load.seconds + LATE_SECONDS):
            match line:
                case PhaseBegins():
                    seen.began = observed.counters()
                    _tell(driver, "")
                case PhaseEnds():
                    _note(seen, line, observed)
                    _tell(driver, "")
                case Progress() if bar is not None:
                    bar.write(_drawn(name, load.chats, line))
                    bar.flush()
                case RunFinished():
                    return Row(
                        name=name,
                        chats=load.chats,
                        floor=seen.floor,
                        phases=seen.phases,
                        memory=seen.memory,
                        failures=line.failures,
                        reasons=line.reasons,
                        retries=line.retries,
                        seconds=line.seconds,
                    )
    raise CannotStart("bench", "the driver of the run ended before its end")


def _note(seen: _Collected, line: PhaseEnds, observed: Observed) -> None:
    now = observed.counters()
    grown = {
        name: None if value is None or (base := seen.began.get(name)) is None else value - base
        for name, value in now.items()
    }
    database = {name: grown.pop(name) for name in gauges.DATABASE_METRICS}
    stages = stage_means({name: grown.pop(name) for name in gauges.STAGE_METRICS})
    seen_by_clients = (line.seconds, line.turns, line.deltas, line.live, line.times)
    phase = Phase(*seen_by_clients, grown, database, stages)
    if line.name == "floor":
        seen.floor = phase
    else:
        seen.phases[line.name] = phase
        seen.memory = observed.memory()


def _pin(observed: Observed) -> None:
    """Give the daemon a core for itself, driver and provider another; the database has all."""
    first, second, *_ = gauges.cores()
    if observed.daemon is not None:
        gauges.pin(observed.daemon.pid, first)
    for pid in (observed.driver, observed.provider):
        if pid is not None:
            gauges.pin(pid, second)


def _tell(driver: Child, line: str) -> None:
    assert driver.stdin is not None
    try:
        driver.stdin.write(line + "\n")
        driver.stdin.flush()
    except BrokenPipeError:
        pass  # it has ended, which its output tells


def _lines(driver: Child, seconds: float) -> Iterator[Line]:
    """Yield what the driver says, for so long at the most."""
    said: queue.SimpleQueue[str] = queue.SimpleQueue()
    output = driver.stdout
    assert output is not None

    def read() -> None:
        for line in output:
            said.put(line)
        said.put("")

    threading.Thread(target=read, daemon=True).start()
    decode = msgspec.json.Decoder(Line).decode
    while True:
        try:
            line = said.get(timeout=seconds)
        except queue.Empty:
            fact = f"the driver of the run said nothing for {seconds:g} s"
            raise CannotStart("bench", fact) from None
        if not line:
            return
        yield decode(line)


# the bar of progress


@contextmanager
def _bar(stream: TextIO) -> Iterator[TextIO | None]:
    """Yield the stream for the progress, or None if it is no terminal; wipe the line at the end."""
    if not stream.isatty():
        yield None
        return
    try:
        yield stream
    finally:
        stream.write("\r\x1b[K")
        stream.flush()


def _drawn(name: str, chats: int, at: Progress) -> str:
    full = BAR * at.done // at.of if at.of else 0
    bar = "█" * full + "░" * (BAR - full)
    return f"\r\x1b[K{name}, {chats} chats  {bar} {at.phase} {at.done}/{at.of}"
