"""The driver: a process that lets chats talk to a daemon, and tells what their watchers saw.

It reads a task from its standard input and writes JSON, a line each: where a phase begins and ends
(the command then looks at processor times, and answers with an empty line), how far it is, and at
the end everything that was seen. It ends when its standard input does.
"""

import gc
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

import msgspec
import trio

from adapters.cli.bench.plan import Task
from adapters.cli.bench.processes import floor
from adapters.cli.bench.processes.chat import BenchChat, StageFailed, open_watchers
from adapters.cli.bench.processes.ending import allow_many_connections
from adapters.cli.bench.telling.figures import Percentiles, percentiles
from adapters.settings import names
from runtime.clock import machine

READ_BYTES = 64 * 1024
PROGRESS_SECONDS = 0.2
ARCHIVERS = 16  # chats that are archived at once, afterwards
ARCHIVE_SECONDS = 60.0  # for all of them; the rest stays
REASONS_MAX = 20  # kinds of failures that are told in words; the rest is only counted
REASON_CHARACTERS_MAX = 200


class Told(msgspec.Struct, tag_field="told", omit_defaults=True):
    """A line of the driver."""


class PhaseBegins(Told, tag="begins"):
    name: str


class PhaseEnds(Told, tag="ends"):
    name: str
    seconds: float
    turns: int
    deltas: int
    live: int
    times: dict[str, Percentiles]


class Progress(Told, tag="progress"):
    phase: str
    done: int
    of: int


class RunFinished(Told, tag="finished"):
    failures: dict[str, int]
    reasons: dict[str, int]
    retries: int
    seconds: float


Line = PhaseBegins | PhaseEnds | Progress | RunFinished


@dataclass(slots=True)
class Seen:
    """The sights of a phase: seconds by what they are of."""

    times: dict[str, list[float]] = field(default_factory=dict)
    turns: int = 0
    deltas: int = 0
    live: int = 0

    def add(self, what: str, seconds: float | None) -> None:
        if seconds is not None:
            self.times.setdefault(what, []).append(seconds)

    def add_turn(self, chat: BenchChat, *, is_paced: bool) -> None:
        """Note a turn that ended in good order. Deltas without a pace are not late one by one."""
        turn = chat.talk.turn
        self.turns += 1
        self.deltas += turn.deltas
        self.live += turn.deltas > 0
        for what, at in (
            ("running", turn.running),
            ("request", turn.asked),
            ("first_words", turn.output),
            ("turn", turn.ended_at),
        ):
            self.add(what, None if at is None else at - turn.began)
        if turn.delays and is_paced:
            self.times.setdefault("deltas", []).extend(turn.delays)

    def summed(self) -> dict[str, Percentiles]:
        found = {name: percentiles(values) for name, values in self.times.items()}
        return {name: each for name, each in found.items() if each is not None}


class Driver:
    """One run."""

    def __init__(self, task: Task, tell: "Commander") -> None:
        self._load, self._target = task.load, task.target
        self._wants_progress = task.wants_progress
        self._tell = tell
        self._failures: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._seen = Seen()
        self._phase, self._done, self._of = "", 0, 0
        self._began = 0.0  # of the phase
        self._chats: list[BenchChat] = []

    async def run(self) -> None:
        """Run all phases."""
        load, began = self._load, machine()
        async with trio.open_nursery() as nursery:
            if self._wants_progress:
                nursery.start_soon(self._show_progress)
            if self._target.provider is not None:
                await self._measure_floor(self._target.provider)
            async with open_watchers() as watchers:
                self._chats = [BenchChat(self._target, watchers) for _ in range(load.chats)]
                with trio.move_on_after(load.seconds) as within:
                    await self._talk()
                if within.cancelled_caught:
                    left = self._of - self._done
                    self._fail("unfinished", f"{self._phase}: not over in {load.seconds:g} s", left)
                    await self._end_phase()
                if not load.keep:
                    await self._archive()
            nursery.cancel_scope.cancel()
        retries = sum(chat.talk.retries for chat in self._chats)
        await self._tell.say(
            RunFinished(dict(self._failures), dict(self._reasons), retries, machine() - began)
        )

    async def _talk(self) -> None:
        load = self._load
        live = self._chats
        first = await self._phase_of("initial", live, self._first_turn, 1)
        await trio.sleep(load.pause)
        rest = [chat for chat in live if chat.is_well]
        if load.turns > 1 and rest:
            await self._phase_of("follow_up", rest, self._later_turns, load.turns - 1)
        well = [chat for chat in rest if chat.is_well][: load.interrupts]
        if well and first and load.answer_seconds:
            await self._phase_of("interrupt", well, self._interrupted_turn, 1)

    async def _phase_of(
        self,
        name: str,
        chats: list[BenchChat],
        live: Callable[[int, BenchChat, float], Awaitable[None]],
        turns: int,
    ) -> int:
        """Let chats live through a phase; return how many turns ended."""
        self._seen, self._phase, self._done = Seen(), name, 0
        self._of = turns * len(chats)
        await self._tell.begin(name)
        self._began = machine()
        async with trio.open_nursery() as nursery:
            for number, chat in enumerate(chats):
                nursery.start_soon(self._guarded, live, number, chat, self._began)
        await self._end_phase()
        return self._seen.turns

    async def _end_phase(self) -> None:
        seen = self._seen
        seconds = machine() - self._began
        ends = PhaseEnds(self._phase, seconds, seen.turns, seen.deltas, seen.live, seen.summed())
        await self._tell.end(ends)

    async def _guarded(
        self,
        live: Callable[[int, BenchChat, float], Awaitable[None]],
        number: int,
        chat: BenchChat,
        began: float,
    ) -> None:
        try:
            await live(number, chat, began)
        except StageFailed as failure:
            chat.is_well = False
            self._fail(failure.stage, str(failure), 1)

    def _fail(self, stage: str, words: str, count: int) -> None:
        if count <= 0:
            return
        self._failures[stage] += count
        reason = f"{stage}: {words}"[:REASON_CHARACTERS_MAX]
        if reason in self._reasons or len(self._reasons) < REASONS_MAX:
            self._reasons[reason] += count

    # what a chat does

    async def _first_turn(self, number: int, chat: BenchChat, began: float) -> None:
        load = self._load
        wait = number / load.rate if load.rate else load.spread * number / load.chats
        due = began + wait
        await trio.sleep(max(0.0, due - machine()))
        posted = due if load.rate else machine()
        self._seen.add("create", await chat.create(load.prompt, posted))
        self._seen.add("stream_open", await chat.watch())
        await chat.over()
        self._note(chat)

    async def _later_turns(self, number: int, chat: BenchChat, began: float) -> None:
        load, count = self._load, len(self._chats)
        if not load.rate:
            await trio.sleep(load.spread * number / load.chats)
        for turn in range(load.turns - 1):
            posted = machine()
            if load.rate:  # counted from when it was due: a late daemon cannot slow us down
                due = began + (number + turn * count) / load.rate
                await trio.sleep(max(0.0, due - machine()))
                posted = due
            elif turn:
                await trio.sleep(load.think)
                posted = machine()
            self._seen.add("send", await chat.send(load.prompt, posted))
            await chat.over()
            self._note(chat)

    async def _interrupted_turn(self, number: int, chat: BenchChat, _: float) -> None:
        load = self._load
        await trio.sleep(load.answer_seconds * number / max(1, load.interrupts))
        await chat.send(load.prompt, machine())
        await trio.sleep(load.answer_seconds / 4)
        self._seen.add("interrupt", await chat.interrupt())
        self._seen.turns += 1
        self._done += 1

    def _note(self, chat: BenchChat) -> None:
        self._seen.add_turn(chat, is_paced=self._load.delta_ms > 0)
        self._done += 1

    # around it

    async def _measure_floor(self, provider: str) -> None:
        """Ask the provider as a bare client does, with nothing between."""
        load = self._load
        self._seen, self._phase, self._done, self._of = Seen(), "floor", 0, load.chats
        await self._tell.begin("floor")
        self._began = machine()

        def note(found: floor.BareTurn) -> None:
            self._seen.turns += 1
            self._seen.deltas += found.deltas
            self._seen.live += 1
            self._seen.add("request", found.asked - found.began)
            self._seen.add("first_words", found.output - found.began)
            self._seen.add("turn", found.ended - found.began)
            if load.delta_ms:
                self._seen.times.setdefault("deltas", []).extend(found.delays)
            self._done += 1

        with trio.move_on_after(load.seconds):
            await floor.ask_all(provider, load, note)
        await self._end_phase()

    async def _show_progress(self) -> None:
        while True:
            await trio.sleep(PROGRESS_SECONDS)
            await self._tell.say(Progress(self._phase, self._done, self._of))

    async def _archive(self) -> None:
        """Archive the chats of the run, as many as can be within ARCHIVE_SECONDS."""
        left = [chat for chat in self._chats if chat.id]
        self._phase, self._done, self._of = "archive", 0, len(left)
        with trio.move_on_after(ARCHIVE_SECONDS):
            async with trio.open_nursery() as nursery:
                for _ in range(ARCHIVERS):
                    nursery.start_soon(self._archive_some, left)

    async def _archive_some(self, left: list[BenchChat]) -> None:
        while left:
            chat = left.pop()
            try:
                await chat.archive()
            except StageFailed as failure:
                if chat.is_well:  # one that has failed may be at work still
                    self._fail(failure.stage, str(failure), 1)
            self._done += 1


class Commander:
    """The command that started us, at the other ends of standard input and output."""

    def __init__(self, scope: trio.CancelScope) -> None:
        self._scope = scope
        self._input = trio.lowlevel.FdStream(0)
        self._rest = b""
        self._answered = trio.Event()

    async def task(self) -> Task:
        """Return the task, which is the first line."""
        while b"\n" not in self._rest:
            data = await self._input.receive_some(READ_BYTES)
            if not data:
                raise SystemExit(1)
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return msgspec.json.decode(line, type=Task)

    async def listen(self) -> None:
        """Hear answers, and the end."""
        while await self._input.receive_some(READ_BYTES):
            self._answered.set()
        self._scope.cancel()

    async def say(self, line: Line) -> None:
        sys.stdout.write(msgspec.json.encode(line).decode() + "\n")
        sys.stdout.flush()
        await trio.lowlevel.checkpoint()

    async def begin(self, name: str) -> None:
        """Say that a phase begins, and wait until the command has looked."""
        await self._ask(PhaseBegins(name))

    async def end(self, ends: PhaseEnds) -> None:
        await self._ask(ends)

    async def _ask(self, line: Line) -> None:
        self._answered = trio.Event()
        await self.say(line)
        await self._answered.wait()


async def drive() -> None:
    """Do the task that standard input tells."""
    async with trio.open_nursery() as nursery:
        commander = Commander(nursery.cancel_scope)
        driver = Driver(await commander.task(), commander)
        nursery.start_soon(commander.listen)
        nursery.start_soon(partial(_then_end, driver.run, nursery.cancel_scope))


async def _then_end(run: Callable[[], Awaitable[None]], scope: trio.CancelScope) -> None:
    await run()
    scope.cancel()


def main() -> None:
    """Run as a process of its own."""
    allow_many_connections()
    gc.freeze()
    names.run(drive)
