"""What a follower of a chat has been told, over however many connections. Pure.

A stream that begins again tells the state of the chat anew: messages that are known, the status
that is known, the pieces of an attempt from the first one on. `Following.heard` passes on what is
new and nothing else, so that whoever reads it neither loses nor repeats anything:

    following = Following()
    for events in stream(following.resume):     none of them: a heartbeat
        for news in following.heard(events): ...
    following.lost()        and connect again, with what `resume` says now

What is passed on obeys the rules of the stream itself: messages are replaced by their ids, a
`preview_reset` drops all pieces so far, a `history_reset` drops all messages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from msgspec import UNSET
from msgspec.structs import replace

from adapters.chats.wire.streams import ChatStreamEvent, encoded

# With what a stream begins before it says what waits for consent, if anything does.
_BEFORE_ASKS = frozenset(
    {"history_reset", "message", "queue_update", "status", "error", "action_required"}
)
_AT_REST = frozenset({"waiting", "error", "requires_action"})  # nothing is being said


@dataclass(frozen=True, slots=True)
class Place:
    """Of a piece: which attempt it belongs to, and its number in it."""

    history_version: int
    attempt: int
    seq: int

    def __str__(self) -> str:
        return f"{self.history_version}.{self.attempt}.{self.seq}"

    def continues(self, other: "Place") -> bool:
        return (self.history_version, self.attempt) == (other.history_version, other.attempt)


@dataclass(slots=True)
class Following:
    """One follower of one chat. `after_id`: messages up to this one are known to him already."""

    after_id: int = 0
    _messages: dict[int, bytes] = field(default_factory=dict)  # digests of what was told, by id
    _states: dict[str, bytes] = field(default_factory=dict)  # the last status, queue, error, …
    _place: Place | None = None  # of the last piece that is shown
    _held: ChatStreamEvent | None = None  # a reset, until it is known whether the attempt goes on
    _is_back: bool = False  # connected again, and the attempt that is shown may still go on
    _history: list[ChatStreamEvent] | None = None  # one that comes whole, as far as it has come
    _asks: ChatStreamEvent | None = None  # what waits for consent, if anything does
    _doubts_asks: bool = False  # connected again, and not yet told whether it still does

    @property
    def resume(self) -> Mapping[str, str]:
        """What the next connection asks for."""
        asked = {}
        if self.after_id:
            asked["after_id"] = str(self.after_id)
        if self._place is not None:
            asked["after_part"] = str(self._place)
        return asked

    def lost(self) -> None:
        """The connection has ended; the next one begins with what is known."""
        self._is_back = True
        self._history = self._held = None
        self._doubts_asks = self._asks is not None

    def heard(self, events: Sequence[ChatStreamEvent]) -> list[ChatStreamEvent]:
        """What of it is new."""
        if not events:  # it is quiet: what might have gone on does not
            return [*self._unasked(), *self._dropped()]
        return [news for event in events for news in self._heard(event)]

    def _heard(self, event: ChatStreamEvent) -> list[ChatStreamEvent]:
        history = self._history
        if history is not None and event.type == "message":
            history.append(event)
            return []
        self._history = None
        if event.type == "approvals":
            self._doubts_asks = False
        unasked = () if event.type in _BEFORE_ASKS else self._unasked()
        return [*self._replaced(history or ()), *unasked, *self._told(event)]

    def _told(self, event: ChatStreamEvent) -> list[ChatStreamEvent]:
        match event.type:
            case "message_part":
                return self._piece(event)
            case "preview_reset":
                return self._reset(event)
            case "history_reset":
                self._history = [event]
                return []
            case "message":
                return [*self._dropped(), *self._message(event)]
            case _:
                return [*self._dropped(), *self._state(event)]

    def _message(self, event: ChatStreamEvent) -> list[ChatStreamEvent]:
        assert event.message is not UNSET, "a message event has one"
        id, digest = event.message.id, _digest(event)
        if self._messages.get(id) == digest:
            return []
        self._messages[id] = digest
        self.after_id = max(self.after_id, id)
        self._is_back = False  # whatever was being said before it is over
        self._begin_anew()
        return [event]

    def _replaced(self, history: Sequence[ChatStreamEvent]) -> Sequence[ChatStreamEvent]:
        """A history that came whole; nothing, if it is the one that is known."""
        came = {e.message.id: _digest(e) for e in history if e.message is not UNSET}
        if not history or came == self._messages:
            return ()
        self._messages = came
        self.after_id = max(came, default=0)
        self._begin_anew()
        return history

    def _piece(self, event: ChatStreamEvent) -> list[ChatStreamEvent]:
        piece = event.message_part
        assert piece is not UNSET, "a message_part event has one"
        place = Place(piece.history_version, piece.generation_attempt, piece.seq)
        held, self._held = self._held, None
        self._is_back = False
        last, self._place = self._place, place
        if last is None or not place.continues(last):
            return [event] if held is None else [held, event]
        if place.seq > last.seq:
            return [event]
        self._place = last
        return []

    def _reset(self, event: ChatStreamEvent) -> list[ChatStreamEvent]:
        if self._place is None:
            return []  # nothing is shown
        if self._is_back:
            self._is_back, self._held = False, event
            return []
        self._place = self._held = None
        return [event]

    def _dropped(self) -> list[ChatStreamEvent]:
        """The reset that was held: the attempt does not go on."""
        held, self._held = self._held, None
        if held is None:
            return []
        self._place = None
        return [held]

    def _unasked(self) -> list[ChatStreamEvent]:
        """A stream that begins and does not say what waits for consent says that nothing does."""
        if not self._doubts_asks or self._asks is None:
            return []
        self._doubts_asks = False
        return self._state(replace(self._asks, approvals=()))

    def _state(self, event: ChatStreamEvent) -> list[ChatStreamEvent]:
        if event.type == "approvals":
            self._asks = event if event.approvals else None
        if event.status is not UNSET and event.status.status in _AT_REST:
            self._is_back = False
        now = encoded(event)
        if self._states.get(event.type) == now:
            return []
        if event.type == "status":
            self._begin_anew()
        self._states[event.type] = now
        return [event]

    def _begin_anew(self) -> None:
        """The next error ends another turn, and the next calls are others, even in the same words:
        some providers count the calls of each answer from one on."""
        for type in ("error", "action_required"):
            self._states.pop(type, None)


def _digest(event: ChatStreamEvent) -> bytes:
    return blake2b(encoded(event), digest_size=16).digest()
