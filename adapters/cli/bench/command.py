"""`promptcorner bench`: load a daemon, of our own or any other, and tell what its clients saw."""

import argparse
import os
import platform
import secrets
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import metadata
from pathlib import Path
from types import FrameType

from adapters.cli.admin.connection import (
    DaemonClient,
    connect_with,
    token_of,
)
from adapters.cli.bench import gauges, targets
from adapters.cli.bench.plan import (
    CHATS,
    FLAGS,
    Load,
    LoadTarget,
    NumberFlag,
    Pace,
    default_chats,
    load_of,
    read_chats,
)
from adapters.cli.bench.running import run_row
from adapters.cli.bench.starting import StartedDaemon, a_daemon, a_provider
from adapters.cli.bench.telling import comparing, documents, drawing, tables
from adapters.cli.bench.telling.documents import RunDocument
from adapters.cli.bench.telling.figures import Row
from adapters.cli.command_line import describe
from adapters.settings.refusals import CannotStart
from runtime.clock import wall

REPEATS_MAX = 20
PROCESSES_MAX = 16
FILES = ("load.json", "load.md", "load.svg")  # that --out writes
RESULT_BYTES_MAX = 16 * 2**20  # of an earlier result that is compared; a longer file is refused
LIBRARIES = ("trio", "h11", "psycopg", "msgspec")
OURS, BASE = "promptcorner", "base"  # the names of the daemons of a run

DESCRIPTION = """\
Load a daemon, and tell how long its clients wait and what a turn costs. Without --url it starts a
daemon on an embedded database and a fake provider, and ends both; nothing else is touched.

  promptcorner bench                                 100 chats, answers paced as a model's are
  promptcorner bench --saturated --chats 500         no pauses: what a full machine does
  promptcorner bench --chats 10,100,350 --out results    three rows; JSON, Markdown and SVG
  promptcorner bench --repeat 5 --compare results/load.json      ratios to an earlier run
  promptcorner bench --repeat 3 --against ../older   another checkout, in turn, in the same run
  promptcorner bench --url http://127.0.0.1:7390 --chats 20      a daemon that runs
  promptcorner bench --url http://127.0.0.1:7390 --provider 127.0.0.1:0     with our fake provider

The floor is a bare client of the fake provider (trio and h11) in the same run. A row is unfit when
driver and provider use more than 80 % of a core: the daemon was not what was slow. With a model of
the daemon's own every turn may cost money, so --force is needed unless that is its rehearsal.
"""
EPILOG = """\
environment:
  PROMPTCORNER_TOKEN, PROMPTCORNER_TOKEN_FILE   the token for --url; none is needed on the daemon's
                                                own machine, where its data directory can be read

exit codes: 0 done, 1 a turn failed or it cannot start (a line says why), 2 wrong usage,
4 the daemon cannot be reached
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the load, the daemon to load, and what is made of it."""
    describe(parser, DESCRIPTION, run=run, epilog=EPILOG, usage="bench [OPTIONS]")
    load = parser.add_argument_group("the load")
    load.add_argument("--saturated", action="store_true", help="no pauses at all, else paced")
    numbers = f"{CHATS.help}; several for several rows, {CHATS.bounds}"
    load.add_argument(
        "--chats",
        metavar="N[,N]",
        type=_read(read_chats),
        help=f"{numbers} (default {CHATS.default})",
    )
    for flag in FLAGS:
        help = f"{flag.help} ({flag.bounds}, default {flag.default})"
        load.add_argument(f"--{flag.name}", metavar="N", type=_read(flag.read), help=help)
    load.add_argument("--prompt", metavar="TEXT", help="the message of each turn")
    load.add_argument("--keep", action="store_true", help="do not archive the chats afterwards")
    told = parser.add_argument_group("what is told")
    _add_number(told, "--repeat", REPEATS_MAX, "times each row is run; the middle one is told")
    told.add_argument("--json", action="store_true", help="print load.json and nothing else")
    told.add_argument("--out", metavar="DIR", help=f"write {', '.join(FILES)} there")
    told.add_argument("--compare", metavar="FILE", help="an earlier load.json: ratios to it")
    own = parser.add_argument_group("a daemon of its own")
    _add_number(own, "--processes", PROCESSES_MAX, "processes of it")
    own.add_argument("--against", metavar="DIR", help="a checkout whose daemon is run in turn")
    own.add_argument("--no-pin", action="store_true", help="let every process use every core")
    other = parser.add_argument_group("a daemon that runs")
    other.add_argument("--url", metavar="URL", help="where it is; without it one is started")
    words = "other users may read a command line: better set [PROMPTCORNER_TOKEN]"
    other.add_argument("--token", metavar="TOKEN", help=words)
    other.add_argument(
        "--provider",
        metavar="HOST:PORT",
        help="run our fake provider there, and make it known to the daemon (as an admin)",
    )
    other.add_argument("--model", metavar="NAME", help="a name or id, if not the default one")
    other.add_argument("--force", action="store_true", help="even if it may cost money")


def _read(read: Callable[[str], object]) -> Callable[[str], object]:
    def value(text: str) -> object:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return value


def _add_number(group: "argparse._ArgumentGroup", flag: str, most: int, help: str) -> None:
    number = NumberFlag(flag, 1, most, help, 1, 1)
    words = f"{help} ({number.bounds}, default 1)"
    group.add_argument(flag, metavar="N", type=_read(number.read), default=1, help=words)


def run(options: argparse.Namespace) -> int:
    """Run all rows and tell them; return 1 if anything failed."""
    earlier = None if options.compare is None else _earlier(Path(options.compare))
    pace: Pace = "saturated" if options.saturated else "paced"
    loads = [load_of(pace, vars(options), chats) for chats in options.chats or default_chats(pace)]
    with _ended_by_signals():
        rows, versions = _rows_elsewhere(options, loads) if options.url else _rows(options, loads)
    document = RunDocument(
        made_at=f"{wall():%Y-%m-%d %H:%M} UTC",
        pace=pace,
        load=loads[0],
        settings=_settings(options),
        machine=_machine(),
        versions=versions,
        rows=rows,
    )
    _tell(options, document, earlier)
    return 1 if any(row.failures for row in rows) else 0


def _tell(options: argparse.Namespace, document: RunDocument, earlier: RunDocument | None) -> None:
    if options.out is not None:
        folder = Path(options.out)
        folder.mkdir(parents=True, exist_ok=True)
        made = (documents.encode, tables.markdown, drawing.picture)
        for name, make in zip(FILES, made, strict=True):
            (folder / name).write_text(make(document))
    if options.json:
        sys.stdout.write(documents.encode(document))
        return
    sys.stdout.write(tables.text(document))
    if options.against is not None:
        sys.stdout.write("\n" + comparing.side_by_side(document, BASE))
    if earlier is not None:
        sys.stdout.write("\n" + comparing.with_earlier(document, earlier))


def _earlier(path: Path) -> RunDocument:
    try:
        with path.open("rb") as file:
            text = file.read(RESULT_BYTES_MAX + 1)
        if len(text) > RESULT_BYTES_MAX:
            raise ValueError(f"has over {RESULT_BYTES_MAX} bytes")
        return documents.decode(text)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise CannotStart(
            "bench", f"{path} {why}", "name a load.json that --out has written"
        ) from None


# a daemon of our own


def _rows(options: argparse.Namespace, loads: Sequence[Load]) -> tuple[list[Row], dict[str, str]]:
    """Run all loads against a daemon of our own, and against another checkout's, in turn."""
    if options.provider or options.model:
        raise CannotStart("bench", "--provider and --model are for a daemon that --url names")
    checkout = _other_checkout(options)
    token = "bench-" + secrets.token_urlsafe(24)
    pins = not options.no_pin and options.processes == 1 and len(gauges.cores()) > 1
    rows: list[Row] = []
    with ExitStack() as stack:
        provider, pid = stack.enter_context(a_provider(loads[0]))
        daemons = [_started(stack, options, OURS, provider, token, None)]
        if checkout is not None:
            daemons.insert(0, _started(stack, options, BASE, provider, token, checkout))
        reached = [_reached(each, token, provider) for each in daemons]
        versions = _versions(reached[-1][1])
        for load in loads:
            for _ in range(options.repeat):
                for daemon, (target, _version) in zip(daemons, reached, strict=True):
                    row = run_row(daemon.name, load, target, provider=pid, daemon=daemon, pins=pins)
                    rows.append(row)
    return rows, versions


def _other_checkout(options: argparse.Namespace) -> Path | None:
    """Return the checkout whose daemon is run in turn; None: no other one is."""
    if options.against is None:
        return None
    checkout = Path(options.against).resolve()
    if not (checkout / "promptcorner" / "__main__.py").is_file():
        raise CannotStart("bench", f"{checkout} is no checkout of promptcorner")
    return checkout


def _started(
    stack: ExitStack,
    options: argparse.Namespace,
    name: str,
    provider: str,
    token: str,
    checkout: Path | None,
) -> StartedDaemon:
    settings = {} if options.processes == 1 else {"PROMPTCORNER_PROCESSES": str(options.processes)}
    return stack.enter_context(a_daemon(name, provider, token, settings, checkout))


def _reached(daemon: StartedDaemon, token: str, provider: str) -> tuple[LoadTarget, str]:
    with DaemonClient(daemon.url, token) as client:
        target = targets.target_of(client, token, model=None, provider=provider)
        return target, targets.version_of(client)


# a daemon that runs


def _rows_elsewhere(
    options: argparse.Namespace, loads: Sequence[Load]
) -> tuple[list[Row], dict[str, str]]:
    """Run all loads against the daemon that was named."""
    if options.against is not None or options.processes > 1:
        raise CannotStart("bench", "--against and --processes are for a daemon of its own")
    token = token_of(options)
    with ExitStack() as stack:
        client = stack.enter_context(connect_with(options, token))
        versions = _versions(targets.version_of(client))
        if options.provider:
            host, port = _address(options.provider)
            provider, pid = stack.enter_context(a_provider(loads[0], host, port))
            model = stack.enter_context(targets.our_model(client, provider))
            target = targets.target_of(client, token, model=model, provider=provider)
        else:
            offered = targets.model_of(client, options.model)
            calls = sum(load.chats * load.turns + load.interrupts for load in loads)
            targets.refuse_costs(options, client.url, offered, calls * options.repeat)
            target = targets.target_of(client, token, model=offered.id, provider=None)
            pid = None
        rows = [
            run_row("daemon", load, target, provider=pid, daemon=None, pins=False)
            for load in loads
            for _ in range(options.repeat)
        ]
    return rows, versions


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isascii() and port.isdecimal() and int(port) <= 65535):
        raise CannotStart("bench", f"--provider={text}, must be HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), int(port)


# settings, versions, signals


def _settings(options: argparse.Namespace) -> dict[str, str]:
    if options.url:
        return {"daemon": options.url, "model": options.model or "its default"}
    pinned = not options.no_pin and options.processes == 1 and len(gauges.cores()) > 1
    cores = "one for the daemon, one for driver and provider" if pinned else "shared"
    return {"processes": str(options.processes), "cores": cores, "repeats": str(options.repeat)}


def _machine() -> dict[str, str]:
    load = f"{os.getloadavg()[0]:.1f}"
    return {"system": platform.platform(), "cores there": str(os.cpu_count()), "load average": load}


def _versions(daemon: str) -> dict[str, str]:
    found = {"daemon version": daemon, "bench": metadata.version("promptcorner")}
    found["Python"] = platform.python_version()
    return found | {name: metadata.version(name) for name in LIBRARIES}


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """End the run at SIGTERM and SIGHUP as at ctrl-C: its processes are ended with it."""

    def end(number: int, _: FrameType | None) -> None:
        sys.exit(128 + number)

    before = {each: signal.signal(each, end) for each in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
