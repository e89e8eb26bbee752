"""Terminals of other processes of the daemon on this machine, reached over sockets.

A client of several processes behind one address may come to another one than the one that runs its
terminal. Between processes the messages are the same as to a page, each behind its length.
"""

import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import NoReturn
from uuid import UUID

import msgspec
import trio
from msgspec import Struct

from adapters.http.endpoints import SocketClosed
from adapters.workspaces.commands.peer_sockets import PeerSockets
from adapters.workspaces.commands.process_groups import open_lifeline
from adapters.workspaces.local import LocalWorkspaces
from adapters.workspaces.terminals.terminal import WATCHERS_MAX, Terminal
from adapters.workspaces.terminals.terminals import TERMINALS_MAX, Terminals
from adapters.workspaces.terminals.wire import FRAME_BYTES_MAX, HEARD_BYTES_MAX
from runtime.children import Child, open_children
from runtime.restart import Restart

ANSWER_SECONDS = 2.0  # for another process to say what it knows; then it is left out
MESSAGE_BYTES_MAX = FRAME_BYTES_MAX + HEARD_BYTES_MAX  # a longer one ends the connection
SEND_SECONDS = 20.0  # for another process to take a message; then its line is closed
ATTENDED_MAX = 512  # connections of other processes at once; one more waits

ENDED_BY_USER = "ended by its owner"
DIRECTORY = ".terminals"  # where processes find each other, among the workspaces
UNSEEN = "other processes do not find the terminals of this one"
_LENGTH = struct.Struct("!I")


class TerminalQuestion(Struct, frozen=True):
    """A question to another process. `id` is empty for all terminals of the workspace; `after` is
    the position behind which it is watched."""

    workspace: UUID
    id: str = ""
    after: int | None = None
    ends: bool = False


class TerminalFacts(Struct, frozen=True):
    """A terminal that runs."""

    id: str
    created_at: datetime
    rows: int
    columns: int
    watchers: int


_decode_question = msgspec.json.Decoder(TerminalQuestion).decode
_decode_facts = msgspec.json.Decoder(list[TerminalFacts]).decode
_encode = msgspec.json.Encoder().encode


def facts_of(terminal: Terminal) -> TerminalFacts:
    size = terminal.size
    return TerminalFacts(
        terminal.id, terminal.created_at, size.rows, size.columns, terminal.watchers
    )


class MessageLine:
    """A connection that carries whole messages."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._read = bytearray()

    async def send(self, message: bytes) -> None:
        """Send a message. trio.BrokenResourceError: the other side is gone, or does not read."""
        try:
            with trio.fail_after(SEND_SECONDS):
                await self._stream.send_all(_LENGTH.pack(len(message)) + message)
        except trio.TooSlowError:
            raise trio.BrokenResourceError("the other side does not read") from None

    async def receive(self) -> bytes | None:
        """Return the next message, or None at the end."""
        head = await self._exactly(_LENGTH.size)
        if head is None:
            return None
        [length] = _LENGTH.unpack(head)
        return None if length > MESSAGE_BYTES_MAX else await self._exactly(length)

    async def _exactly(self, count: int) -> bytes | None:
        while len(self._read) < count:
            data = await self._stream.receive_some()
            if not data:
                return None
            self._read += data
        taken = bytes(self._read[:count])
        del self._read[:count]
        return taken


class SharedTerminals:
    """The terminals of all processes of this machine. While it is `run`, others find ours."""

    def __init__(self, directory: Path, own: Terminals) -> None:
        self._sockets = PeerSockets(directory)
        self.own = own
        self._places = trio.CapacityLimiter(ATTENDED_MAX)

    async def elsewhere(self, workspace: UUID) -> Sequence[TerminalFacts]:
        """Return the terminals of a workspace in other processes."""
        found: list[TerminalFacts] = []
        async with trio.open_nursery() as nursery:

            async def ask(name: str) -> None:
                with trio.move_on_after(ANSWER_SECONDS):
                    async with self._asked(name, TerminalQuestion(workspace)) as (_, facts):
                        found.extend(facts)

            for name in await self._sockets.others():
                nursery.start_soon(ask, name)
        return found

    async def end(self, workspace: UUID, id: str) -> bool:
        """End a terminal of another process. Return False if no process knows it."""
        async with self._found(TerminalQuestion(workspace, id, ends=True)) as line:
            return line is not None

    @asynccontextmanager
    async def watched(
        self, workspace: UUID, id: str, after: int
    ) -> AsyncIterator[MessageLine | None]:
        """Give a line to a terminal of another process; None if no process knows it."""
        async with self._found(TerminalQuestion(workspace, id, after)) as line:
            yield line

    @asynccontextmanager
    async def _found(self, question: TerminalQuestion) -> AsyncIterator[MessageLine | None]:
        """Give a line to the process that knows the terminal, which has answered."""
        for name in await self._sockets.others():
            async with self._asked(name, question) as (line, facts):
                if line is not None and facts:
                    yield line
                    return
        yield None

    @asynccontextmanager
    async def _asked(
        self, name: str, question: TerminalQuestion
    ) -> AsyncIterator[tuple[MessageLine | None, Sequence[TerminalFacts]]]:
        """Give a line to a process, and what it answers. It is None if it does not answer."""
        stream = await self._sockets.connect(name)
        if stream is None:
            yield None, ()
            return
        async with stream:
            line, answer = MessageLine(stream), None
            with (
                trio.move_on_after(ANSWER_SECONDS),
                suppress(trio.BrokenResourceError, msgspec.MsgspecError),
            ):
                await line.send(_encode(question))
                message = await line.receive()
                answer = None if message is None else _decode_facts(message)
            yield (None, ()) if answer is None else (line, answer)

    # answering

    async def run(self) -> NoReturn:
        await self._sockets.serve(self._attend, event="terminals.unseen", says=UNSEEN)

    async def _attend(self, stream: trio.SocketStream) -> None:
        async with stream, self._places:
            with suppress(trio.BrokenResourceError, msgspec.MsgspecError):
                line, message = MessageLine(stream), None
                with trio.move_on_after(ANSWER_SECONDS):
                    message = await line.receive()
                if message is not None:
                    await self._answer(line, _decode_question(message))

    async def _answer(self, line: MessageLine, question: TerminalQuestion) -> None:
        if not question.id:
            listed = self.own.of(question.workspace)
            return await line.send(_encode([facts_of(each) for each in listed]))
        terminal = self.own.find(question.workspace, question.id)
        is_full = question.after is not None and (
            terminal is not None and terminal.watchers >= WATCHERS_MAX
        )
        if terminal is None or is_full:
            return await line.send(b"[]")
        if question.ends:
            terminal.stop(ENDED_BY_USER)
        await line.send(_encode([facts_of(terminal)]))
        if question.after is not None:
            await serve_watcher(terminal, question.after, line)


async def serve_watcher(terminal: Terminal, after: int, line: MessageLine) -> None:
    """Serve a watcher at another process until either side ends it."""
    async with trio.open_nursery() as nursery:

        async def hear() -> None:
            with suppress(trio.BrokenResourceError):
                while (message := await line.receive()) is not None and terminal.take(message):
                    pass
            nursery.cancel_scope.cancel()

        nursery.start_soon(hear)
        with suppress(trio.BrokenResourceError):
            await terminal.watch(after, line.send)
        nursery.cancel_scope.cancel()


async def pass_on(
    line: MessageLine, send: Callable[[bytes], Awaitable[None]], typed: "TypedMessages"
) -> None:
    """Pass messages between a page and a terminal of another process, until either side ends."""
    async with trio.open_nursery() as nursery:

        async def speak() -> None:
            with suppress(trio.BrokenResourceError):
                while True:
                    await line.send(await typed.next())
            nursery.cancel_scope.cancel()

        nursery.start_soon(speak)
        with suppress(trio.BrokenResourceError, SocketClosed):
            while (message := await line.receive()) is not None:
                await send(message)
        nursery.cancel_scope.cancel()


class TypedMessages:
    """Messages of a page that wait to be passed on, within a bound."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._waiting: list[bytes] = []
        self._more = trio.lowlevel.ParkingLot()

    def add(self, message: bytes) -> bool:
        """Take a message. Return False if too much waits."""
        if sum(map(len, self._waiting)) + len(message) > self._bytes_max:
            return False
        self._waiting.append(message)
        self._more.unpark()
        return True

    async def next(self) -> bytes:
        while not self._waiting:
            await self._more.park()
        return self._waiting.pop(0)


@asynccontextmanager
async def open_terminals(workspaces: LocalWorkspaces) -> AsyncIterator[SharedTerminals]:
    """Give the terminals of workspaces for the length of the block; at its end those of this
    process are killed."""
    async with (
        open_lifeline() as lifeline,
        open_children("terminals", capacity=TERMINALS_MAX + 1) as children,
    ):
        own = Terminals(workspaces, children, lifeline)
        shared = SharedTerminals(workspaces.directory / DIRECTORY, own)
        children.start(Child(name="terminals to others", body=shared.run, restart=Restart()))
        yield shared
