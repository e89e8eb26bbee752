"""The commands of a chat in other processes of this machine, asked for over sockets.

A process that does not answer is left out.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Annotated, NoReturn
from uuid import UUID

import msgspec
import trio
from msgspec import Struct

from actors.law.ids import ChatId
from actors.tools.output import OutputExcerpt
from actors.tools.workspaces import Process, Signal, WorkspaceRefusal
from adapters.workspaces.commands.peer_sockets import PeerSockets
from adapters.workspaces.commands.processes import ProcessTable
from runtime.statistics import CounterMetric, GaugeMetric

ANSWER_SECONDS = 2.0  # for a peer, beside what it waits for a command; then it is left out
ASKED_BYTES_MAX = 4_096  # of a question; a longer one is none
TOLD_BYTES_MAX = 1024 * 1024  # of an answer; likewise
LISTED_MAX = 50  # commands of one chat that a peer tells of, without what they have written
ANSWERED_MAX = 512  # questions at once; one more is not heard until one is answered

UNSEEN = "other processes do not find them"
_UNWRITTEN = OutputExcerpt("", 0, 0)


class PeerAction(Enum):
    ALL = "all"
    WAIT = "wait"
    SIGNAL = "signal"
    BUSY = "busy"


class PeerQuestion(Struct, frozen=True):
    do: PeerAction
    chat: UUID
    id: str = ""  # of the process that is meant
    seconds: float = 0.0  # to wait for its end
    signal: Signal = Signal.TERMINATE
    workspace: UUID | None = None  # in which commands may run


class PeerAnswer(Struct, frozen=True):
    """An answer of another process. `is_known` says that it runs the command, or has run it."""

    is_known: bool = True
    processes: Sequence[Process] = ()
    refused: str = ""


_decode_asked = msgspec.json.Decoder(PeerQuestion).decode
_decode_told = msgspec.json.Decoder(PeerAnswer).decode


@dataclass(frozen=True, slots=True)
class PeersStatistics:
    answering: Annotated[
        int, GaugeMetric("Questions of other processes about commands that are being answered.")
    ]
    asked_count: Annotated[
        int, CounterMetric("Questions that were put to other processes about commands there.")
    ]
    answered_count: Annotated[
        int, CounterMetric("Questions of other processes about commands that were answered.")
    ]


class Peers:
    """The other processes of the daemon on this machine, and their commands.

    While this is `run`, other processes find the commands of this one. It finds theirs in any case.
    """

    def __init__(self, directory: Path, table: ProcessTable) -> None:
        self._table = table
        self._sockets = PeerSockets(directory)
        self._places = trio.CapacityLimiter(ANSWERED_MAX)
        self._asked_count = self._answered_count = 0

    async def all(self, chat: ChatId) -> Sequence[Process]:
        answers = await self._ask(PeerQuestion(PeerAction.ALL, chat), seconds=0.0)
        return [process for told in answers for process in told.processes]

    async def wait(self, chat: ChatId, id: str, seconds: float) -> Process | None:
        """Wait for a command of another process. Return None if no process knows it."""
        told = await self._one(PeerQuestion(PeerAction.WAIT, chat, id, seconds), seconds)
        return told.processes[0] if told is not None and told.processes else None

    async def signal(self, chat: ChatId, id: str, signal: Signal) -> PeerAnswer | None:
        """Send a signal to a command of another process. Return its answer, or None if no process
        knows it."""
        return await self._one(PeerQuestion(PeerAction.SIGNAL, chat, id, signal=signal), 0.0)

    async def is_busy(self, chat: ChatId, workspace: UUID) -> bool:
        """Return whether commands run in a workspace at another process."""
        asked = PeerQuestion(PeerAction.BUSY, chat, workspace=workspace)
        return await self._one(asked, 0.0) is not None

    def statistics(self) -> PeersStatistics:
        answering = self._places.borrowed_tokens
        return PeersStatistics(answering, self._asked_count, self._answered_count)

    # asking

    async def _one(self, asked: PeerQuestion, seconds: float) -> PeerAnswer | None:
        """Return the answer of the process that knows the command. A process that does not know it
        says so at once."""
        known = await self._ask(asked, seconds=seconds, enough=lambda told: told.is_known)
        return next((told for told in known if told.is_known), None)

    async def _ask(
        self,
        asked: PeerQuestion,
        *,
        seconds: float,
        enough: Callable[[PeerAnswer], bool] = lambda told: False,
    ) -> Sequence[PeerAnswer]:
        """Ask all processes at once, until one answer is enough."""
        answers: list[PeerAnswer] = []
        names = await self._sockets.others()
        async with trio.open_nursery() as nursery:

            async def ask(name: str) -> None:
                with trio.move_on_after(seconds + ANSWER_SECONDS):
                    told = await self._ask_process(name, asked)
                    if told is not None:
                        answers.append(told)
                        if enough(told):
                            nursery.cancel_scope.cancel()

            for name in names:
                self._asked_count += 1
                nursery.start_soon(ask, name)
        return answers

    async def _ask_process(self, name: str, asked: PeerQuestion) -> PeerAnswer | None:
        """Ask the process behind a socket. None: there is none, or it does not answer."""
        with suppress(OSError, trio.BrokenResourceError, msgspec.MsgspecError):
            stream = await self._sockets.connect(name)
            if stream is not None:
                async with stream:
                    await stream.send_all(msgspec.json.encode(asked) + b"\n")
                    return _decode_told(await _all_of(stream))
        return None

    # answering

    async def run(self) -> NoReturn:
        await self._sockets.serve(self._attend, event="commands.unseen", says=UNSEEN)

    async def _attend(self, stream: trio.SocketStream) -> None:
        async with stream, self._places:
            with suppress(trio.BrokenResourceError, msgspec.MsgspecError):
                asked = _decode_asked(await _line(stream))
                self._answered_count += 1
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_until_gone, stream, nursery.cancel_scope)
                    told = await self._answer(asked)
                    # Who asked may have gone, with another's answer.
                    with trio.move_on_after(ANSWER_SECONDS), suppress(trio.BrokenResourceError):
                        await stream.send_all(msgspec.json.encode(told))
                    nursery.cancel_scope.cancel()

    async def _answer(self, asked: PeerQuestion) -> PeerAnswer:
        chat = ChatId(asked.chat)
        if asked.do is PeerAction.ALL:
            listed = self._table.all(chat)[:LISTED_MAX]
            return PeerAnswer(processes=[replace(each, output=_UNWRITTEN) for each in listed])
        if asked.do is PeerAction.BUSY:
            return PeerAnswer(is_known=asked.workspace in self._table.workspaces())
        if not self._table.knows(chat, asked.id):
            return PeerAnswer(is_known=False)
        if asked.do is PeerAction.SIGNAL:
            refused = self._table.signal(chat, asked.id, asked.signal)
            return PeerAnswer(refused="" if refused is None else refused.says)
        found = await self._table.wait(chat, asked.id, asked.seconds)
        return (
            PeerAnswer(is_known=False)
            if isinstance(found, WorkspaceRefusal)
            else PeerAnswer(processes=[found])
        )


async def _line(stream: trio.SocketStream) -> bytes:
    line = bytearray()
    with trio.move_on_after(ANSWER_SECONDS):
        while not line.endswith(b"\n") and len(line) <= ASKED_BYTES_MAX:
            data = await stream.receive_some(ASKED_BYTES_MAX)
            if not data:
                break
            line += data
    return bytes(line)


async def _all_of(stream: trio.SocketStream) -> bytes:
    answer = bytearray()
    while len(answer) <= TOLD_BYTES_MAX and (data := await stream.receive_some()):
        answer += data
    return bytes(answer)


async def _until_gone(stream: trio.SocketStream, scope: trio.CancelScope) -> None:
    """Wait until the other process has closed its connection: it says nothing more, and no answer
    is needed then."""
    with suppress(trio.BrokenResourceError):
        await stream.receive_some(1)
    scope.cancel()
