"""Count the functions of ours that a message, a delta, an interrupt and a SIGTERM pass through.

`python -m bench.ways` starts a daemon whose interpreter notes every call of a function of this
project, lets one warm chat live, and prints for each way how many distinct functions were called
in how many files. `python -m bench.ways --list message` names them, in the order of their first
call. The counts say how many places a reader visits who follows a way; they say nothing of speed.

The daemon notes when each call began by the machine's monotonic clock. The client and the model
read the same clock, so a way is what was called between two of their moments. Whatever else the
daemon does at that moment is in the count too; on a quiet daemon that is a heartbeat at most.
"""

import argparse
import atexit
import json
import os
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

import trio

from adapters.cli.bench.plan import LoadTarget
from adapters.cli.bench.processes.chat import BenchChat, open_watchers
from adapters.cli.bench.processes.conversation import WatchedTalk
from bench.loads import a_load, a_loaded_daemon
from runtime.clock import machine

QUESTION = "how many functions of ours does a message, a delta or an interrupt pass through?"
ROOT = Path(__file__).parents[1]
PACKAGES = tuple(str(ROOT / name) + os.sep for name in ("runtime", "actors", "adapters"))
CALLS_FILE = "BENCH_WAYS_CALLS"  # the variable that says where the daemon writes what it has noted
SETTLE_SECONDS = 1.0  # after a turn or an interrupt, for the chat's actor to leave
PATIENCE_SECONDS = 60.0
WARM_TURNS = 2
LOAD = a_load("paced", 1, deltas=50)


# in the daemon, whose interpreter imports this as it starts

NOTING = """\
import sys
if "serve" in sys.orig_argv:
    from bench.ways import note_calls
    note_calls()
"""


def note_calls() -> None:
    """Note every call of a function of ours from now on; write the notes when the process ends."""
    calls: list[tuple[float, CodeType]] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGES):
            calls.append((machine(), frame.f_code))

    def write() -> None:
        sys.setprofile(None)
        with Path(os.environ[CALLS_FILE]).open("w") as file:
            for moment, code in calls:
                path = Path(code.co_filename).relative_to(ROOT).as_posix()
                file.write(json.dumps([moment, path, code.co_qualname]) + "\n")

    atexit.register(write)
    threading.setprofile(note)
    sys.setprofile(note)


# in the client


@dataclass(slots=True)
class NotingTalk(WatchedTalk):
    """A conversation that keeps when each delta was sent by the provider, and seen here."""

    heard: list[tuple[float, float]] = field(default_factory=list)

    def hear_text(self, text: str, moment: float) -> None:
        known = len(self.turn.delays)
        WatchedTalk.hear_text(self, text, moment)
        self.heard += [(moment - delay, moment) for delay in self.turn.delays[known:]]


async def _lived(target: LoadTarget) -> dict[str, tuple[float, float]]:
    """Let a chat live; return the beginning and the end of each way."""
    ways = {}
    with trio.fail_after(PATIENCE_SECONDS):
        async with open_watchers() as watchers:
            chat = BenchChat(target, watchers)
            chat.talk = talk = NotingTalk()
            await chat.create(LOAD.prompt, machine())
            await chat.watch()
            await chat.over()
            for _ in range(WARM_TURNS):
                await chat.send(LOAD.prompt, machine())
                await chat.over()
            await trio.sleep(SETTLE_SECONDS)  # else the end of the last turn is counted as well
            await chat.send(LOAD.prompt, machine())
            await chat.over()
            assert talk.turn.asked is not None
            ways["message"] = (talk.turn.began, talk.turn.asked)
            ways["delta"] = talk.heard[-10]  # with nothing else at that moment
            for _ in ("warm", "counted"):  # the first one prepares its statements
                await chat.send(LOAD.prompt, machine())
                await trio.sleep(LOAD.answer_seconds / 2)
                began = machine()
                await chat.interrupt()
                await trio.sleep(SETTLE_SECONDS)
                ways["interrupt"] = (began, machine())
    return ways


@dataclass(frozen=True)
class Way:
    """The distinct functions that were called on a way, in the order of their first call."""

    functions: tuple[tuple[str, str], ...]

    @property
    def files(self) -> int:
        return len({path for path, _ in self.functions})


def ways() -> dict[str, Way]:
    with tempfile.TemporaryDirectory(prefix="promptcorner-bench-") as folder:
        file = Path(folder) / "calls"
        (Path(folder) / "sitecustomize.py").write_text(NOTING)
        noting = {"PYTHONPATH": os.pathsep.join((folder, str(ROOT))), CALLS_FILE: str(file)}
        with a_loaded_daemon(LOAD, **noting) as loaded:
            moments = trio.run(_lived, loaded.target)
            end = machine()
        calls = [json.loads(line) for line in file.read_text().splitlines()]
    moments["SIGTERM"] = (end, machine())
    return {name: _way(calls, *between) for name, between in moments.items()}


def _way(calls: Sequence[tuple[float, str, str]], begin: float, end: float) -> Way:
    """Comprehensions and lambdas belong to the function that holds them."""
    called = (
        (path, name) for moment, path, name in calls if begin <= moment <= end and name[-1] != ">"
    )
    return Way(tuple(dict.fromkeys(called)))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.ways", description=QUESTION)
    parser.add_argument("--list", metavar="WAY", help="name the functions of this way")
    chosen = parser.parse_args().list
    for name, way in ways().items():
        print(f"{name}: {len(way.functions)} functions in {way.files} files")
        if name == chosen:
            print("\n".join(f"  {path}  {function}" for path, function in way.functions))


if __name__ == "__main__":
    main()
