"""A program that is spoken with over its standard streams, message by message, a line each.

It is started as commands are: in the sandbox, within their limits, in a group of its own, known to
the lifeline before it begins. Its group ends with the session. What it writes is bounded, and so is
how fast it may write; what it says beside the protocol is kept to say why it failed.
"""

import math
import os
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from subprocess import PIPE
from typing import Self

import anyio
import trio
from mcp.shared.message import SessionMessage
from mcp.types import (
    METHOD_NOT_FOUND,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)

from adapters.tools.mcp.http import ANSWER_BYTES_MAX, PAUSE_SECONDS, ReadingPace
from adapters.tools.mcp.tolerance import mend
from adapters.workspaces.commands.process_groups import Lifeline, ProcessGroup, spawn, stream_of
from adapters.workspaces.commands.processes import ProcessSpec

READ_BYTES = 65_536
# Messages that wait to be written, and how long the program may take to read one; at either bound
# it is taken to read nothing, and is ended.
WRITERS_MAX = 64
WRITE_SECONDS = 60.0
LAST_WORDS_BYTES = 300  # of its standard error
# For an answer to the first question of newer versions of the protocol. Older servers may never
# give one; then they are taken to have said that they do not know it.
PROBE_SECONDS = 2.0
PROBE = "server/discover"
DRAIN_SECONDS = 1.0  # for the last messages of one that has ended, and for one that has ended them
LEAVE_SECONDS = 2.0  # to end by itself when its input is closed; then it is killed
REAP_SECONDS = 5.0  # for a killed program to be gone; then it is left to the kernel


class ProgramEnded(Exception):
    """The program is over, or is to be. The words are for people and models."""


@asynccontextmanager
async def open_program(
    spec: ProcessSpec, lifeline: Lifeline
) -> AsyncIterator[tuple["PipeReader", "PipeWriter"]]:
    """Start a program and give its transport, as the SDK takes it. OSError, ValueError: it could
    not be started."""
    with _begun(spec, lifeline) as program:
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(program.messages.write)
                nursery.start_soon(program.hear_complaints)
                nursery.start_soon(program.until_over)
                wrong: Exception | None = None
                try:
                    yield program.lines, program.messages
                except Exception as error:  # noqa: BLE001  raised below
                    wrong = error
                if wrong is not None:
                    if program.lines.over.is_set():  # what ended it says more, in a moment
                        await trio.sleep(2 * DRAIN_SECONDS)
                    raise wrong
                nursery.cancel_scope.cancel()
        finally:
            with trio.move_on_after(LEAVE_SECONDS + REAP_SECONDS, shield=True):
                await program.leave()


class PipeReader:
    """The messages that the program writes. Fulfils the SDK's `ReadStream`."""

    def __init__(self, stream: trio.abc.ReceiveStream) -> None:
        self._stream = stream
        self._bytes = bytearray()
        self._searched = 0
        self._pace = ReadingPace()
        self._probe: JSONRPCRequest | None = None
        self._until = math.inf  # the probe has to be answered
        self._patience = trio.move_on_at(math.inf)
        self.over = trio.Event()

    def expect(self, probe: JSONRPCRequest) -> None:
        self._probe = probe
        self._patience.deadline = self._until = trio.current_time() + PROBE_SECONDS

    async def receive(self) -> SessionMessage | Exception:
        while True:
            await self._pace.rest()
            if (line := self._line()) is None:
                if (answer := await self._more()) is not None:
                    return answer
                continue
            self._pace.add(line, lines=1)
            if (message := _message(line)) is not None:
                self._probe, self._until = None, math.inf
                return message

    def _line(self) -> bytes | None:
        end = self._bytes.find(b"\n", self._searched)
        self._searched = len(self._bytes)
        if end < 0:
            return None
        line = bytes(self._bytes[:end])
        del self._bytes[: end + 1]
        self._searched = 0
        return line

    async def _more(self) -> SessionMessage | None:
        """More bytes; or an answer in the place of one who gives none."""
        if len(self._bytes) > ANSWER_BYTES_MAX:
            raise ProgramEnded(f"it said more than {ANSWER_BYTES_MAX} bytes at once")
        with trio.move_on_at(self._until) as self._patience:
            data = await self._stream.receive_some(READ_BYTES)
        if self._patience.cancelled_caught:
            return self._not_answered()
        if not data:
            self.over.set()
            raise anyio.EndOfStream
        self._bytes += data
        return None

    def _not_answered(self) -> SessionMessage | None:
        probe, self._probe, self._until = self._probe, None, math.inf
        if probe is None:
            return None
        error = ErrorData(code=METHOD_NOT_FOUND, message="not answered")
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=probe.id, error=error))

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except (anyio.EndOfStream, trio.ClosedResourceError, trio.BrokenResourceError):
            self.over.set()
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()


@dataclass(eq=False, slots=True)
class _Line:
    """A message that waits to be written, and what became of it."""

    content: bytes
    is_written: bool = False
    settled: trio.Event = field(default_factory=trio.Event)


class PipeWriter:
    """The messages that are written to the program. Fulfils the SDK's `WriteStream`.

    Many chats speak to one program, and each of their callers may be cancelled at any moment. So no
    caller writes: `write` does, in a task of the program. A line that it has begun is written to
    its end, whether its caller still waits or not; one that it has not begun is taken back.
    """

    def __init__(self, stream: trio.abc.SendStream, lines: PipeReader) -> None:
        self._stream = stream
        self._lines = lines
        self._waiting: deque[_Line] = deque()
        self._more = trio.lowlevel.ParkingLot()
        self._is_over = False

    async def send(self, item: SessionMessage) -> None:
        if self._is_over or len(self._waiting) >= WRITERS_MAX:
            self._end()
            raise anyio.BrokenResourceError
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        if isinstance(item.message, JSONRPCRequest) and item.message.method == PROBE:
            self._lines.expect(item.message)
        line = _Line(text.encode() + b"\n")
        self._waiting.append(line)
        self._more.unpark()
        try:
            await line.settled.wait()
        finally:
            with suppress(ValueError):  # it has been begun, or is written
                self._waiting.remove(line)
        if not line.is_written:
            raise anyio.BrokenResourceError

    async def write(self) -> None:
        """Write what waits, a line after the other, as long as the program takes it. When this ends
        nothing more can be said, and all who wait are told."""
        line = None
        try:
            while True:
                while not self._waiting:
                    await self._more.park()
                line = self._waiting.popleft()
                with trio.fail_after(WRITE_SECONDS):
                    await self._stream.send_all(line.content)
                line.is_written = True
                line.settled.set()
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError):
            pass
        finally:
            self._end(line)

    def _end(self, begun: _Line | None = None) -> None:
        self._is_over = True
        self._lines.over.set()
        for line in (*self._waiting, *([begun] if begun else [])):
            line.settled.set()
        self._waiting.clear()

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()


@dataclass(eq=False, slots=True)
class _Program:
    group: ProcessGroup
    lines: PipeReader
    messages: PipeWriter
    complaints: trio.lowlevel.FdStream
    seconds_max: float
    complained: bytes = b""
    all_heard: trio.Event = field(default_factory=trio.Event)

    async def hear_complaints(self) -> None:
        while data := await self.complaints.receive_some(READ_BYTES):
            self.complained = (self.complained + data)[-LAST_WORDS_BYTES:]
            await trio.sleep(PAUSE_SECONDS)
        self.all_heard.set()

    async def until_over(self) -> None:
        """Wait until the program cannot be spoken with any more, and raise `ProgramEnded`."""
        with trio.move_on_after(self.seconds_max) as life:
            async with trio.open_nursery() as either:
                for wait in (self.lines.over.wait, self.group.wait):
                    either.start_soon(_first, wait, either)
        if life.cancelled_caught:
            raise ProgramEnded(f"it ran for {self.seconds_max:g} s, which is its limit")
        with trio.move_on_after(DRAIN_SECONDS):
            await self.lines.over.wait()
            await self.group.wait()
            await self.all_heard.wait()
        raise ProgramEnded(self._epitaph())

    async def leave(self) -> None:
        """End the program: it may end by itself first, then its whole group is killed. The group
        keeps its number until it is reaped."""
        await self.messages.aclose()
        with trio.move_on_after(LEAVE_SECONDS):
            await self.group.wait()
        self.group.kill()
        await self.group.wait()

    def _epitaph(self) -> str:
        status = self.group.ending()
        how = "it is not to be spoken with any more"
        if status is not None:
            is_exit = status.si_code == os.CLD_EXITED
            how = f"it ended {'with exit code' if is_exit else 'by signal'} {status.si_status}"
        words = " ".join(self.complained.decode(errors="replace").split())
        return f"{how}: {words}" if words else how


async def _first(wait: Callable[[], Awaitable[object]], either: trio.Nursery) -> None:
    await wait()
    either.cancel_scope.cancel()


@contextmanager
def _begun(spec: ProcessSpec, lifeline: Lifeline) -> Iterator[_Program]:
    """Run the program for the length of the block; then it is killed, forgotten and reaped."""
    group = spawn(
        spec.arguments,
        lifeline,
        workdir=spec.workdir,
        environment=spec.environment,
        stderr=PIPE,
        keeps_input=True,
    )
    with ExitStack() as leaving:
        leaving.callback(group.reap)
        leaving.callback(group.kill)
        group.release()
        pipes = (group.popen.stdin, group.popen.stdout, group.popen.stderr)
        told, said, complaints = (leaving.enter_context(stream_of(pipe)) for pipe in pipes)
        lines = PipeReader(said)
        yield _Program(group, lines, PipeWriter(told, lines), complaints, spec.seconds_max)


def _message(line: bytes) -> SessionMessage | None:
    """Return the message in a line, or None if there is none: some programs greet people there."""
    text = mend(line).decode(errors="replace")
    try:
        message = jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        return None
    return SessionMessage(message)
