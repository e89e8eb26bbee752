"""A chat's stream of events over any number of connections, without gaps or repetitions. Pure.

A stream that begins again tells the state of the chat anew: messages that are known, the status
that is known, the pieces of an attempt from the first one on. `ResumableStream.feed` passes on what
is new and nothing else:

    stream = ResumableStream()
    for events in connect(stream.resume_parameters):     an empty list: a heartbeat
        for event in stream.feed(events): ...
    stream.disconnected()        and connect again, with the new resume_parameters

Events that are passed on obey the rules of the protocol: messages are replaced by their ids, a
`preview_reset` drops all pieces so far, a `history_reset` drops all messages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from promptcorner_client.wire import ChatStreamEvent

# A stream begins with events of these types; then it says what waits for consent, if anything.
_BEFORE_APPROVALS = frozenset(
    {"history_reset", "message", "queue_update", "status", "error", "action_required"}
)
_AT_REST = frozenset({"waiting", "error", "requires_action"})  # no attempt runs
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class PiecePosition:
    """The attempt that a piece belongs to, and the piece's number in it."""

    history_version: int
    attempt: int
    seq: int

    def __str__(self) -> str:
        return f"{self.history_version}.{self.attempt}.{self.seq}"

    def continues(self, other: "PiecePosition") -> bool:
        """Tell whether both are positions in the same attempt."""
        return (self.history_version, self.attempt) == (other.history_version, other.attempt)


@dataclass(slots=True)
class ResumableStream:
    """The memory of what one follower of one chat has been told.

    `after_id`: the follower knows the messages up to this one already. `history_version`: as of
    this version of the history, so that an edit from before it is no reason to send all anew.
    """

    after_id: int = 0
    history_version: int = 0
    _messages: dict[int, bytes] = field(default_factory=dict)  # digests of messages, by id
    _states: dict[str, bytes] = field(default_factory=dict)  # the last status, queue, error, …
    _position: PiecePosition | None = None  # of the last piece that was passed on
    _held_reset: ChatStreamEvent | None = None  # until it is known whether the attempt goes on
    _is_reconnected: bool = False  # and the attempt whose pieces were passed on may still go on
    _history: list[ChatStreamEvent] | None = None  # a whole one, as far as it has come
    _approvals: ChatStreamEvent | None = None  # what waits for consent, if anything
    _doubts_approvals: bool = False  # connected again, and not yet told whether they still wait

    @property
    def resume_parameters(self) -> Mapping[str, str]:
        """The query of the next connection."""
        query = {}
        if self.after_id:
            query["after_id"] = str(self.after_id)
        if self._position is not None:
            query["after_part"] = str(self._position)
        elif self.history_version:
            query["after_part"] = str(PiecePosition(self.history_version, 0, 0))
        return query

    def disconnected(self) -> None:
        """Note that the connection has ended; the next one begins with what is known."""
        self._is_reconnected = True
        self._history = self._held_reset = None
        self._doubts_approvals = self._approvals is not None

    def feed(self, events: Sequence[ChatStreamEvent]) -> list[ChatStreamEvent]:
        """Take events of the connection and return those that are new to the follower."""
        if not events:  # a heartbeat: an attempt that could have gone on does not
            return [*self._approvals_gone(), *self._release_reset()]
        return [new for event in events for new in self._feed(event)]

    def _feed(self, event: ChatStreamEvent) -> list[ChatStreamEvent]:
        history = self._history
        if history is not None and event.type == "message":
            history.append(event)
            return []
        self._history = None
        if event.type == "approvals":
            self._doubts_approvals = False
        gone = () if event.type in _BEFORE_APPROVALS else self._approvals_gone()
        return [*self._replace_history(history or ()), *gone, *self._pass_on(event)]

    def _pass_on(self, event: ChatStreamEvent) -> list[ChatStreamEvent]:
        match event.type:
            case "message_part":
                return self._piece(event)
            case "preview_reset":
                return self._reset(event)
            case "history_reset":
                self._history = [event]
                return []
            case "message":
                return [*self._release_reset(), *self._message(event)]
            case _:
                return [*self._release_reset(), *self._state(event)]

    def _message(self, event: ChatStreamEvent) -> list[ChatStreamEvent]:
        assert event.message is not UNSET, "a message event has one"
        id, digest = event.message.id, _digest(event)
        if self._messages.get(id) == digest:
            return []
        self._messages[id] = digest
        self.after_id = max(self.after_id, id)
        self._is_reconnected = False  # an attempt that ran before the message is over
        self._forget_outcomes()
        return [event]

    def _replace_history(self, history: Sequence[ChatStreamEvent]) -> Sequence[ChatStreamEvent]:
        """Return a history that came whole, or nothing if it is the one that is known."""
        messages = {e.message.id: _digest(e) for e in history if e.message is not UNSET}
        if not history or messages == self._messages:
            return ()
        self._messages = messages
        self.after_id = max(messages, default=0)
        self._forget_outcomes()
        return history

    def _piece(self, event: ChatStreamEvent) -> list[ChatStreamEvent]:
        piece = event.message_part
        assert piece is not UNSET, "a message_part event has one"
        position = PiecePosition(piece.history_version, piece.generation_attempt, piece.seq)
        held, self._held_reset = self._held_reset, None
        self._is_reconnected = False
        last, self._position = self._position, position
        if last is None or not position.continues(last):
            return [event] if held is None else [held, event]
        if position.seq > last.seq:
            return [event]
        self._position = last
        return []

    def _reset(self, event: ChatStreamEvent) -> list[ChatStreamEvent]:
        if self._position is None:
            return []  # no pieces were passed on
        if self._is_reconnected:
            self._is_reconnected, self._held_reset = False, event
            return []
        self._position = self._held_reset = None
        return [event]

    def _release_reset(self) -> list[ChatStreamEvent]:
        """Pass on the reset that was held, because the attempt does not go on."""
        held, self._held_reset = self._held_reset, None
        if held is None:
            return []
        self._position = None
        return [held]

    def _approvals_gone(self) -> list[ChatStreamEvent]:
        """Tell that nothing waits for consent any more.

        A stream that begins and does not say what waits means that nothing does.
        """
        if not self._doubts_approvals or self._approvals is None:
            return []
        self._doubts_approvals = False
        return self._state(replace(self._approvals, approvals=()))

    def _state(self, event: ChatStreamEvent) -> list[ChatStreamEvent]:
        if event.type == "approvals":
            self._approvals = event if event.approvals else None
        if event.status is not UNSET and event.status.status in _AT_REST:
            self._is_reconnected = False
        encoded = _encode(event)
        if self._states.get(event.type) == encoded:
            return []
        if event.type == "status":
            self._forget_outcomes()
        self._states[event.type] = encoded
        return [event]

    def _forget_outcomes(self) -> None:
        """Let the next error or the next calls pass even if they look like the last ones.

        They belong to another turn: some providers count the calls of each answer from one on.
        """
        for type in ("error", "action_required"):
            self._states.pop(type, None)


def _digest(event: ChatStreamEvent) -> bytes:
    return blake2b(_encode(event), digest_size=16).digest()
