"""The route by which the owner of a chat follows a command that goes on beside it.

While a call waits for a command, the chat's own stream tells what it writes. A command in the
background is waited for by no call, and is followed here: server-sent events with a `text` that is
joined to those before it, or takes their place with `resets`; signs of life named `heartbeat`, and
a last one named `end`.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

import msgspec
import trio
from msgspec import Struct

from actors.law.ids import ChatId
from actors.tools.live_output import LivePiece
from actors.tools.workspaces import Process, WorkspaceRefusal
from adapters.access.admission import Admission
from adapters.http.endpoints import Call, Endpoint, HttpResponse
from adapters.http.refusals import HttpError, not_found
from adapters.workspaces.commands.peers import Peers
from adapters.workspaces.commands.processes import ProcessTable

BEAT_SECONDS = 15.0  # without output; then a sign of life
ELSEWHERE_SECONDS = 2.0  # between two looks at a command in another process of the daemon
FOLLOWERS_MAX = 1_024  # in this process; one more is refused

_BEAT = b"event: heartbeat\ndata: {}\n\n"
_UNBUFFERED = (("cache-control", "no-cache"), ("x-accel-buffering", "no"))


class CommandOutputPiece(Struct, frozen=True, omit_defaults=True):
    """The next bit of a command's output. `resets`: it stands in the place of all bits before."""

    text: str
    resets: bool = False


class CommandEnd(Struct, frozen=True):
    """The end of a command. `why` is empty if it has ended by itself."""

    exit_code: int
    why: str = ""


class PieceReader(Protocol):
    """A reader of a command's output, here or in another process."""

    async def next(self) -> LivePiece | None: ...

    @property
    def process(self) -> Process: ...


class ElsewhereReader:
    """A reader of a command that runs in another process of this machine. It gets what is kept of
    the output, whole, whenever there is more of it."""

    def __init__(self, peers: Peers, chat: ChatId, process: Process) -> None:
        self._peers = peers
        self._chat = chat
        self.process = process
        self._shown: int | None = None

    async def next(self) -> LivePiece | None:
        while self._shown == self.process.output.original_bytes:
            if not self.process.is_running:
                return None
            found = await self._peers.wait(self._chat, self.process.id, ELSEWHERE_SECONDS)
            if found is None:  # that process has gone, and the command with it
                return None
            self.process = found
        self._shown = self.process.output.original_bytes
        return LivePiece(self.process.output.text, resets=True)


class ProcessRoutes:
    """Handlers of the commands of chats."""

    def __init__(self, admission: Admission, table: ProcessTable, peers: Peers) -> None:
        self._admission = admission
        self._table = table
        self._peers = peers
        self._followers = 0

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path="/api/v2/chats/{chat}/processes/{process}/output",
                handle=self.follow,
                summary="What a command of the chat writes, to its end; server-sent events.",
                tag="streams",
                answers={200: CommandOutputPiece},
                refusals=(503,),
            ),
        )

    async def follow(self, call: Call) -> HttpResponse:
        chat = (await self._admission.to_update(call)).id
        id = call.path["process"]
        reader: PieceReader | WorkspaceRefusal = self._table.follow(chat, id)
        if isinstance(reader, WorkspaceRefusal):
            elsewhere = await self._peers.wait(chat, id, 0.0)
            if elsewhere is None:
                raise not_found()
            reader = ElsewhereReader(self._peers, chat, elsewhere)
        if self._followers >= FOLLOWERS_MAX:
            raise HttpError(503, "Too many commands are followed here.", detail="try again later")
        return HttpResponse(
            200, self._events(reader), "text/event-stream; charset=utf-8", _UNBUFFERED
        )

    async def _events(self, reader: PieceReader) -> AsyncIterator[bytes]:
        self._followers += 1
        try:
            yield b"retry: 1000\n\n"
            while True:
                piece = None
                with trio.move_on_after(BEAT_SECONDS) as silence:
                    piece = await reader.next()
                if silence.cancelled_caught:
                    yield _BEAT
                elif piece is None:
                    break
                else:
                    yield _event("", CommandOutputPiece(piece.text, piece.resets))
            ended = reader.process
            code = -1 if ended.exit_code is None else ended.exit_code
            yield _event("event: end\n", CommandEnd(code, ended.why))
        finally:
            self._followers -= 1


def _event(head: str, said: Struct) -> bytes:
    return f"{head}data: {msgspec.json.encode(said).decode()}\n\n".encode()
