"""One chat of a load: its requests, its stream, and the watchers of all streams.

Each chat has a connection for requests and one for its stream, as separate clients would. All
streams are read by one task where the system has epoll: a delta then costs a third of what it does
with a task for each stream, and the driver has to stay cheaper than the daemon.
"""

import os
import select
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from urllib.parse import urlsplit

import msgspec
import trio

from adapters.cli.bench.plan import LoadTarget
from adapters.cli.bench.processes.conversation import WatchedTalk
from adapters.cli.bench.processes.lines import (
    UPGRADED,
    Answer,
    BadAnswer,
    FrameReader,
    read_answer,
    request_head,
    upgrade_head,
)
from runtime.clock import machine

CHATS = "/api/experimental/chats"  # which every release of this API has
READ_BYTES = 64 * 1024
ANSWER_SECONDS = 60.0  # for an answer to come; then the request has failed
EVENTS_MAX = 256  # streams that are read before others have their turn
GONE = (
    OSError,
    trio.BrokenResourceError,
    trio.ClosedResourceError,
    BadAnswer,
    msgspec.MsgspecError,
)
CONFLICT = 409  # the chat has nothing to interrupt
PORTS = {"http": 80, "https": 443}


class StageFailed(Exception):
    """A step of a chat that failed; its text says why."""

    def __init__(self, stage: str, why: str) -> None:
        super().__init__(why)
        self.stage = stage


class Line:
    """A connection to the daemon, for one request after the other. One that the daemon has closed
    meanwhile is made anew."""

    def __init__(self, target: LoadTarget) -> None:
        url = urlsplit(target.url)
        self._is_secure = url.scheme == "https"
        self._name, self._port = url.hostname or "", url.port or PORTS[url.scheme]
        self.host, self.path = url.netloc, url.path.rstrip("/")
        self._token = target.token
        self._stream: trio.abc.Stream | None = None
        self._is_due = False  # an answer; one that is late is dropped when we ask again

    async def open(self) -> trio.abc.Stream:
        """Connect."""
        stream = await trio.open_tcp_stream(self._name, self._port)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not self._is_secure:
            return stream
        context = ssl.create_default_context()
        return trio.SSLStream(stream, context, server_hostname=self._name, https_compatible=True)

    async def ask(self, method: str, path: str, document: object = None) -> Answer:
        """Return the answer to a request."""
        body = None if document is None else msgspec.json.encode(document)
        head = request_head(method, self.path + path, self.host, self._token, body)
        with trio.fail_after(ANSWER_SECONDS):
            return await self._exchange(head + (body or b""))

    async def _exchange(self, request: bytes) -> Answer:
        if self._stream is not None and (self._is_due or _is_closed(self._stream)):
            await self.close()
        if self._stream is None:
            self._stream = await self.open()
        self._is_due = True
        await self._stream.send_all(request)
        answer = await receive_answer(self._stream)
        self._is_due = False
        if answer.is_last:
            await self.close()
        return answer

    async def close(self) -> None:
        if self._stream is not None:
            await trio.aclose_forcefully(self._stream)
            self._stream = None


def _is_closed(stream: trio.abc.Stream) -> bool:
    """Tell whether a server has closed a connection: nothing is due on it, but it is readable."""
    inner = stream.transport_stream if isinstance(stream, trio.SSLStream) else stream
    if not isinstance(inner, trio.SocketStream):
        return False
    poll = select.poll()
    poll.register(inner.socket.fileno(), select.POLLIN)
    return bool(poll.poll(0))


async def receive_answer(stream: trio.abc.Stream) -> Answer:
    """Read one answer."""
    data = b""
    while (answer := read_answer(data)) is None:
        more = await stream.receive_some(READ_BYTES)
        if not more:
            raise BadAnswer("the connection was closed before the answer")
        data += more
    return answer


class BenchChat:
    """One chat and its watcher."""

    def __init__(self, target: LoadTarget, watchers: "Watchers") -> None:
        self._target, self._watchers = target, watchers
        self._line = Line(target)
        self.id = ""
        self.talk = WatchedTalk()
        self.is_well = True
        self._over = trio.Event()
        self._lost: str | None = None  # why the stream has ended

    async def create(self, words: str, posted: float) -> float:
        """Make the chat and its first turn; return how long the answer took."""
        self._begin(posted)
        target = self._target
        said = {"organization_id": target.organization, "content": _text(words)} | self._model
        began = machine()
        answer = await self._ask("create_chat", (201,), "POST", CHATS, said)
        try:
            self.id = str(msgspec.json.decode(answer.body)["id"])
        except (msgspec.MsgspecError, TypeError, KeyError):
            raise StageFailed("create_chat", "the answer has no id") from None
        return machine() - began

    async def send(self, words: str, posted: float) -> float:
        """Begin another turn; return how long the answer took."""
        self._begin(posted)
        path, said = f"{CHATS}/{self.id}/messages", {"content": _text(words)} | self._model
        began = machine()
        await self._ask("create_message", (200,), "POST", path, said)
        return machine() - began

    async def watch(self) -> float:
        """Open the stream; return how long that took."""
        began = machine()
        try:
            with trio.fail_after(ANSWER_SECONDS):
                stream = await self._line.open()
                path = f"{self._line.path}{CHATS}/{self.id}/stream"
                await stream.send_all(upgrade_head(path, self._line.host, self._target.token))
                answer = await receive_answer(stream)
        except (trio.TooSlowError, *GONE) as fault:
            raise StageFailed("stream_open", _words(fault)) from None
        if answer.status != UPGRADED:
            raise StageFailed("stream_open", _refusal(answer))
        opened = machine() - began
        self._watchers.add(self, stream, answer.rest)
        return opened

    async def over(self) -> None:
        """Wait until the turn is over."""
        await self._over.wait()
        if self._lost is not None:
            raise StageFailed("stream_ended_early", self._lost)
        if self.talk.turn.ended == "error":
            raise StageFailed("status_error", self.talk.error or "no reason is told")

    async def interrupt(self) -> float | None:
        """Interrupt the turn under way; return how long it took to be `waiting`.

        None: the turn was over before.
        """
        began = machine()
        was_over = self.talk.turn.ended is not None
        if not was_over:
            self.talk.turn.is_interrupted = True
            path = f"{CHATS}/{self.id}/interrupt"
            answer = await self._ask("interrupt", (200, CONFLICT), "POST", path)
            was_over = answer.status == CONFLICT  # our watcher has not heard it yet
        await self.over()
        return None if was_over else self.talk.turn.ended_at - began

    async def archive(self) -> None:
        await self._ask("archive", (204,), "PATCH", f"{CHATS}/{self.id}", {"archived": True})
        await self.close()

    async def close(self) -> None:
        """Close the connection for requests."""
        await self._line.close()

    @property
    def _model(self) -> dict[str, str]:
        return {} if self._target.model is None else {"model_config_id": self._target.model}

    def _begin(self, posted: float) -> None:
        self._over = trio.Event()
        self.talk.begin(posted)

    async def _ask(
        self,
        stage: str,
        statuses: tuple[int, ...],
        method: str,
        path: str,
        document: object = None,
    ) -> Answer:
        lost: Exception | None = None
        try:
            answer = await self._line.ask(method, path, document)
        except (trio.TooSlowError, *GONE) as fault:
            lost = fault
        if lost is not None:
            await self._line.close()
            raise StageFailed(stage, _words(lost))
        if answer.status not in statuses:
            raise StageFailed(stage, _refusal(answer))
        return answer

    def hear(self, messages: list[bytes], moment: float) -> None:
        """Take messages of the stream."""
        for message in messages:
            if self.talk.hear(message, moment):
                self._over.set()

    def lose(self, why: str) -> None:
        """Note that the stream has ended."""
        self._lost = why
        self._over.set()


class Watchers:
    """The streams of all chats. Made by `open_watchers`."""

    def __init__(self, nursery: trio.Nursery, poll: "select.epoll | None") -> None:
        self._nursery, self._poll = nursery, poll  # None: the system has no epoll
        self._watched: dict[int, tuple[BenchChat, trio.SocketStream, FrameReader]] = {}
        if self._poll is not None:
            nursery.start_soon(self._read_all, self._poll)

    def close(self) -> None:
        """Close all streams, when no task reads them any more."""
        for _, stream, _ in self._watched.values():
            stream.socket.close()

    def add(self, chat: BenchChat, stream: trio.abc.Stream, rest: bytes) -> None:
        """Read a stream from now on; `rest` came with the answer to its upgrade."""
        frames = FrameReader()
        if rest:
            chat.hear(frames.feed(rest)[0], machine())
        if self._poll is None or not isinstance(stream, trio.SocketStream):
            self._nursery.start_soon(self._read_one, chat, stream, frames)
            return
        descriptor = stream.socket.fileno()
        self._watched[descriptor] = (chat, stream, frames)
        self._poll.register(descriptor, select.EPOLLIN)

    async def _read_all(self, poll: "select.epoll") -> None:
        while True:
            await trio.lowlevel.wait_readable(poll.fileno())
            for descriptor, _ in poll.poll(0, EVENTS_MAX):
                chat, stream, frames = self._watched[descriptor]
                if (why := _read_ready(chat, descriptor, frames)) is not None:
                    poll.unregister(descriptor)
                    del self._watched[descriptor]
                    stream.socket.close()
                    chat.lose(why)

    async def _read_one(
        self, chat: BenchChat, stream: trio.abc.Stream, frames: FrameReader
    ) -> None:
        why = "the connection was closed"
        with suppress(trio.ClosedResourceError):
            try:
                while data := await stream.receive_some(READ_BYTES):
                    messages, reply, is_over = frames.feed(bytes(data))
                    chat.hear(messages, machine())
                    if reply:
                        await stream.send_all(reply)
                    if is_over:
                        break
            except GONE as fault:
                why = _words(fault)
        await trio.aclose_forcefully(stream)
        chat.lose(why)


@asynccontextmanager
async def open_watchers() -> AsyncIterator[Watchers]:
    """Read streams until the block is left."""
    poll = select.epoll() if hasattr(select, "epoll") else None
    with ExitStack() as stack:
        if poll is not None:
            stack.callback(poll.close)
        async with trio.open_nursery() as nursery:
            watchers = Watchers(nursery, poll)
            stack.callback(watchers.close)
            yield watchers
            nursery.cancel_scope.cancel()


def _read_ready(chat: BenchChat, descriptor: int, frames: FrameReader) -> str | None:
    """Read what is there; return why the stream is over, or None."""
    moment = machine()
    try:
        data = _read(descriptor)
        if data is None:
            return None
        if not data:
            return "the connection was closed"
        messages, reply, is_over = frames.feed(data)
        chat.hear(messages, moment)
        if reply:
            os.write(descriptor, reply)  # a pong, which always has room
    except GONE as fault:
        return _words(fault)
    return "the daemon ended the stream" if is_over else None


def _read(descriptor: int) -> bytes | None:
    try:
        return os.read(descriptor, READ_BYTES)
    except BlockingIOError:
        return None


def _text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


def _refusal(answer: Answer) -> str:
    try:
        message = str(msgspec.json.decode(answer.body)["message"])
    except (msgspec.MsgspecError, TypeError, KeyError):
        message = ""
    return f"answered {answer.status} {message}".strip()


def _words(fault: BaseException) -> str:
    if isinstance(fault, trio.TooSlowError):
        return f"no answer in {ANSWER_SECONDS:g} s"
    return str(fault) or type(fault).__name__
