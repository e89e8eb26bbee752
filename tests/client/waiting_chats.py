"""A daemon with one chat that waits for its client's tools, as the API shows it, in memory.

daemon = WaitingDaemon()
daemon.awaits(a_call("1", "weather", '{"city": "Rome"}'))
async with daemon.client() as client: ...
daemon.posts       what it was answered: (status, results)
"""

from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

import httpx2
import msgspec
import trio

from promptcorner_client.async_client import AsyncClient
from promptcorner_client.wire import (
    ChatApproval,
    ChatMessage,
    ChatMessagePart,
    ChatStreamActionRequired,
    ChatStreamEvent,
    ChatStreamStatus,
    ChatStreamToolCall,
)

CHAT = UUID(int=7)


def a_call(id, name, args="{}"):
    return ChatStreamToolCall(id, name, args)


def a_message(id, role, answers=None, text=""):
    """A text, or the result of a call."""
    part = (
        ChatMessagePart(type="text", text=text)
        if answers is None
        else ChatMessagePart(type="tool-result", tool_call_id=answers)
    )
    at = datetime(2030, 1, 1, tzinfo=UTC)
    return ChatMessage(id=id, chat_id=CHAT, created_at=at, role=role, content=(part,))


@dataclass
class WaitingDaemon:
    messages: list[ChatMessage] = field(default_factory=list)
    status: str = "running"
    calls: tuple = ()
    asked: tuple = ()
    posts: list = field(default_factory=list)
    faults: deque = field(default_factory=deque)  # of the next answers to results: what happens
    heard: trio.Event = field(default_factory=trio.Event)  # that somebody has posted
    _streams: list = field(default_factory=list)

    def client(self):
        return AsyncClient("http://d", "token", transport=httpx2.MockTransport(self._handle))

    def awaits(self, *calls):
        self._says("assistant", "look it up")
        self.status, self.calls = "requires_action", calls
        self._tell(self._now())

    def goes_on(self):
        """The calls are answered, or no longer wanted."""
        calls, self.calls, self.status = self.calls, (), "running"
        for call in calls:
            self._says("tool", id=call.tool_call_id)
        self._tell([self._status()])

    def answers_another(self, id):
        """A call of the same step, which was not the client's; its own go on waiting."""
        self._says("tool", id=id)
        self._tell(self._now())

    def finishes(self, text="done"):
        self._says("assistant", text)
        self.status = "waiting"
        self._tell([self._status()])

    def asks_consent(self, id):
        """For a call of the chat's own, or of an agent of it."""
        at = datetime(2030, 1, 1, tzinfo=UTC)
        self.asked = (ChatApproval(CHAT, "a chat", id, "execute", "{}", at, None),)
        self._tell(self._now())

    def waits_for_consent(self):
        """And for nothing else: its client has answered."""
        self.status = "requires_action"
        self._tell(self._now())

    def stops(self):
        """In an invalid state, which somebody puts right."""
        self.status, self.calls = "error", ()
        self._tell([self._status()])

    def cut(self):
        """All streams break."""
        for send in self._streams:
            send.close()
        self._streams = []

    async def _handle(self, request):
        match request.method, request.url.path.rpartition("/")[2]:
            case "GET", "sse":
                return self._stream()
            case "GET", "messages":
                after = int(request.url.params["after_id"])
                newer = [message for message in self.messages if message.id > after]
                return _said({"messages": newer, "queued_messages": [], "has_more": False})
            case "POST", "tool-results":
                return self._results(msgspec.json.decode(request.content)["results"])
        raise AssertionError(request)

    def _results(self, results):
        fault = self.faults.popleft() if self.faults else None
        if isinstance(fault, int):
            self.posts.append((fault, results))
            return _said({"message": "no"}, fault)
        status = self._status_for(results)
        self.posts.append((status, results))
        if status == 204:
            self.goes_on()
        self.heard.set()
        if fault is not None:
            raise fault
        return _said({"message": "no"}, status)

    def _status_for(self, results):
        if self.status != "requires_action":
            return 409
        wanted = {call.tool_call_id for call in self.calls}
        ids = [result["tool_call_id"] for result in results]
        return 204 if sorted(ids) == sorted(wanted) else 400

    def _stream(self):
        send, receive = trio.open_memory_channel(1_000)
        self._streams.append(send)
        send.send_nowait([*map(_message, self.messages), *self._now()])

        kind = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=kind, stream=_Said(receive))

    def _now(self):
        events = [self._status()]
        if self.status == "requires_action":
            required = ChatStreamActionRequired(self.calls)
            events.append(_event("action_required", action_required=required))
        if self.asked:
            events.append(_event("approvals", approvals=self.asked))
        return events

    def _status(self):
        return _event("status", status=ChatStreamStatus(self.status))

    def _says(self, role, text="", id=None):
        message = a_message(10 + len(self.messages), role, id, text)
        self.messages.append(message)
        self._tell([_message(message)])

    def _tell(self, events):
        for send in self._streams:
            send.send_nowait(events)


class _Said(httpx2.AsyncByteStream):
    def __init__(self, receive):
        self._receive = receive

    def __aiter__(self):
        return self

    async def __anext__(self):
        events = await anext(self._receive)
        return b"data: " + msgspec.json.encode(events) + b"\n\n"

    async def aclose(self):
        self._receive.close()


def _event(type, **more):
    return ChatStreamEvent(type=type, chat_id=CHAT, **more)


def _message(message):
    return _event("message", message=message)


def _said(document, status=200):
    content = b"" if status == 204 else msgspec.json.encode(document)
    return httpx2.Response(status, content=content)
