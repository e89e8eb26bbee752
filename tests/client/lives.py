"""A chat that lives, and what a server tells of it: a snapshot to whoever connects, then the rest.

The rules are those of the protocol, written down anew and as plainly as possible.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from promptcorner_client.wire import (
    ChatApproval,
    ChatMessage,
    ChatMessagePart,
    ChatStreamEvent,
    ChatStreamMessagePart,
    ChatStreamStatus,
)

CHAT = UUID(int=7)


def event(type, **more):
    return ChatStreamEvent(type=type, chat_id=CHAT, **more)


@dataclass
class Life:
    """The truth. Each verb says what a connected client is told of it."""

    honours_places: bool = True
    messages: dict[int, ChatMessage] = field(default_factory=dict)
    status: str = "waiting"
    pieces: list[str] = field(default_factory=list)
    attempt: int = 0
    version: int = 1
    ids: int = 0
    edited_at: int = 0  # the version; 0: never
    approvals: tuple[ChatApproval, ...] = ()

    def send(self):
        told = [self._say("user"), *self._turn("running"), *self._moves()]
        return told

    def begin(self):
        self.attempt += 1
        self.pieces = []
        return [event("preview_reset")]

    def piece(self):
        if not self.attempt:
            return []
        self.pieces.append(f"{self.version}.{self.attempt}.{len(self.pieces) + 1} ")
        return [self._piece(len(self.pieces))]

    def commit(self):
        return [self._say("assistant"), *self._moves()]

    def finish(self):
        return self._turn("waiting")

    def edit(self):
        if not self.messages:
            return []
        self.edited_at = self.version + 1
        kept = sorted(self.messages)[: len(self.messages) // 2]
        self.messages = {id: self.messages[id] for id in kept}
        self._say("user")
        return [*self._history(), *self._turn("running"), *self._moves()]

    def ask(self):
        """It, or one of its agents, asks for consent to one call more."""
        self.ids += 1
        at = datetime(2026, 1, 1, tzinfo=UTC)
        asked = ChatApproval(CHAT, "agent", f"call {self.ids}", "execute", "{}", at, None)
        self.approvals = (*self.approvals, asked)
        return [event("approvals", approvals=self.approvals)]

    def decide(self):
        if not self.approvals:
            return []
        self.approvals = self.approvals[1:]
        return [event("approvals", approvals=self.approvals)]

    def snapshot(self, after_id="0", after_part=None):
        version, attempt, seq = map(int, (after_part or "0.0.0").split("."))
        told = (
            self._history()
            if self.edited_at > (version if self.honours_places else 0)
            else [self._message(id) for id in sorted(self.messages) if id > int(after_id)]
        )
        told.append(event("status", status=ChatStreamStatus(self.status)))
        told += [event("approvals", approvals=self.approvals)] if self.approvals else []
        goes_on = self.honours_places and (version, attempt) == (self.version, self.attempt)
        if not goes_on:
            told.append(event("preview_reset"))
        first = seq + 1 if goes_on else 1
        return [*told, *(self._piece(seq) for seq in range(first, len(self.pieces) + 1))]

    def _say(self, role):
        self.ids += 1
        part = ChatMessagePart(type="text", text=f"message {self.ids}")
        self.messages[self.ids] = ChatMessage(
            id=self.ids,
            chat_id=CHAT,
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
            role=role,
            content=(part,),
        )
        return self._message(self.ids)

    def _moves(self):
        self.version += 1
        self.attempt = 0
        self.pieces = []
        return [event("preview_reset")]

    def _turn(self, status):
        if status == self.status:
            return []
        self.status = status
        return [event("status", status=ChatStreamStatus(status))]

    def _history(self):
        return [event("history_reset"), *map(self._message, sorted(self.messages))]

    def _message(self, id):
        return event("message", message=self.messages[id])

    def _piece(self, seq):
        text = ChatMessagePart(type="text", text=self.pieces[seq - 1])
        said = ChatStreamMessagePart("assistant", text, self.version, self.attempt, seq)
        return event("message_part", message_part=said)
