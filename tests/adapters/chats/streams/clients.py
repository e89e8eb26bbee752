"""A client of a stream by the rules of the protocol: what it has after any number of events."""

import json
from dataclasses import dataclass, field

import trio
from trio_websocket import ConnectionClosed

from tests.patience import PATIENCE_SECONDS


@dataclass
class State:
    """What a client knows of a chat."""

    messages: dict = field(default_factory=dict)  # by id
    queue: list = field(default_factory=list)
    status: str | None = None
    statuses: list = field(default_factory=list)
    error: dict | None = None
    retry: dict | None = None
    actions: list | None = None
    asks: list = field(default_factory=list)  # of the whole family
    parts: list = field(default_factory=list)  # of the preview
    resets: int = 0  # of the history

    def hear(self, event):
        match event["type"]:
            case "message":
                self.messages[event["message"]["id"]] = event["message"]
            case "message_part":
                self._preview(event["message_part"])
            case "status":
                self.status = event["status"]["status"]
                self.statuses.append(self.status)
                if self.status != "requires_action":
                    self.actions = None
            case "approvals":
                self.asks = event["approvals"]
            case "queue_update":
                self.queue = event.get("queued_messages", [])
            case "error":
                self.error = event["error"]
            case "retry":
                self.retry = event["retry"]
            case "action_required":
                self.actions = event["action_required"]["tool_calls"]
            case "preview_reset":
                self.parts.clear()
            case "history_reset":
                self.messages.clear()
                self.resets += 1
            case other:
                raise AssertionError(f"an event of no type: {other}")

    def _preview(self, part):
        """Within an attempt without gaps, from 1; of another attempt only after a reset."""
        place = (part["history_version"], part["generation_attempt"], part["seq"])
        before = self.parts[-1] if self.parts else None
        if before is None:
            assert 1 == part["seq"], f"the preview begins with {place}"
        else:
            last = (before["history_version"], before["generation_attempt"], before["seq"] + 1)
            assert last == place, f"after {last} came {place}"
        self.parts.append(part)

    @property
    def preview(self):
        return "".join(part["part"].get("text", "") for part in self.parts)

    @property
    def said(self):
        return [(m["role"], text_of(m)) for _, m in sorted(self.messages.items())]


def text_of(message):
    return "".join(part["text"] for part in message.get("content", []))


@dataclass
class Watcher:
    """One that is connected, and listens."""

    socket: object = field(repr=False)
    state: State = field(default_factory=State)
    events: list = field(default_factory=list)
    frames: list = field(default_factory=list)
    closed: object = None  # code and reason, when it is over
    news: object = field(default_factory=trio.lowlevel.ParkingLot, repr=False)

    async def listen(self):
        try:
            while True:
                self.hear(await self.socket.get_message())
        except ConnectionClosed as closed:
            self.closed = (closed.reason.code, closed.reason.reason)
            self.news.unpark_all()

    def hear(self, frame):
        assert frame.endswith("]\n"), "a frame is an array and a newline"
        events = json.loads(frame)
        assert 1 <= len(events) <= 256
        self.frames.append(events)
        for event in events:
            self.events.append(event)
            self.state.hear(event)
        self.news.unpark_all()

    async def until(self, condition, seconds=PATIENCE_SECONDS):
        """Wait until this holds of what it knows."""
        with trio.fail_after(seconds):
            while not condition(self.state):
                assert self.closed is None, f"closed with {self.closed}"
                await self.news.park()

    async def until_closed(self, seconds=PATIENCE_SECONDS):
        with trio.fail_after(seconds):
            while self.closed is None:
                await self.news.park()
        return self.closed

    @property
    def types(self):
        return [event["type"] for event in self.events]


def status(wanted, *, after=0):
    """That is what it became, `after` so many statuses before."""
    return lambda state: wanted in state.statuses[after:] and state.status == wanted
