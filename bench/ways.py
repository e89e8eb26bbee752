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
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

import trio

from bench.first_token import CHATS_PATH, Chat, a_daemon, a_model, chats, text_part

QUESTION = "how many functions of ours does a message, a delta or an interrupt pass through?"
ROOT = Path(__file__).parents[1]
PACKAGES = tuple(str(ROOT / name) + os.sep for name in ("runtime", "actors", "adapters"))
CALLS_FILE = "BENCH_WAYS_CALLS"  # the variable that says where the daemon writes what it has noted
SETTLE_SECONDS = 1.0  # after a turn or an interrupt, for the chat's actor to leave
PATIENCE_SECONDS = 60.0
WARM_TURNS = 2


# in the daemon


def serve_noting_calls() -> int:
    """Run the command with every call of a function of ours noted; write the notes at its end."""
    from promptcorner.__main__ import main

    calls: list[tuple[float, CodeType]] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGES):
            calls.append((time.monotonic(), frame.f_code))

    def write() -> None:
        sys.setprofile(None)
        with Path(os.environ[CALLS_FILE]).open("w") as file:
            for moment, code in calls:
                path = Path(code.co_filename).relative_to(ROOT).as_posix()
                file.write(json.dumps([moment, path, code.co_qualname]) + "\n")

    atexit.register(write)
    threading.setprofile(note)
    sys.setprofile(note)
    return main()


# in the client


@dataclass
class NotingChat(Chat):
    """A chat that keeps the moments between which its ways lie."""

    asked: float = 0.0  # when the model had the request of this turn
    deltas: list[tuple[float, float]] = field(default_factory=list)  # sent by the model, seen here

    def _hear_part(self, text: str, now: float) -> None:
        for stamps in text.split(";")[:-1]:
            self.asked, sent = map(float, stamps.split())
            self.deltas.append((sent, now))
        super()._hear_part(text, now)


async def _lived(port: int) -> dict[str, tuple[float, float]]:
    """Let a chat live; return the beginning and the end of each way."""
    ways = {}
    with trio.fail_after(PATIENCE_SECONDS):
        async with chats(port, 1, NotingChat) as [chat]:
            assert isinstance(chat, NotingChat)
            for _ in range(WARM_TURNS):
                await chat.turn("fast")
            await trio.sleep(SETTLE_SECONDS)  # else the end of the last turn is counted as well
            await chat.turn("slowly")
            ways["message"] = (chat.posted, chat.asked)
            ways["delta"] = chat.deltas[-10]  # of the slow turn, with nothing else at that moment
            for _ in ("warm", "counted"):  # the first one prepares its statements
                chat.begin()
                message = {"content": text_part("slowly")}
                await chat.requests.ask("POST", f"{CHATS_PATH}/{chat.id}/messages", message)
                await trio.sleep(SETTLE_SECONDS)
                began = time.monotonic()
                await chat.interrupt()
                await trio.sleep(SETTLE_SECONDS)
                ways["interrupt"] = (began, time.monotonic())
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
        command = [sys.executable, "-m", "bench.ways", "--daemon"]
        with a_model() as model, a_daemon(model, command, **{CALLS_FILE: str(file)}) as (port, _):
            moments = trio.run(_lived, port)
            end = time.monotonic()
        calls = [json.loads(line) for line in file.read_text().splitlines()]
    moments["SIGTERM"] = (end, time.monotonic())
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
    if sys.argv[1:2] == ["--daemon"]:
        del sys.argv[1]
        sys.exit(serve_noting_calls())
    main()
