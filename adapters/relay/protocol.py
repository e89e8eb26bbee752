"""The protocol of the relay: messages as bytes, and the tickets by which processes know each other.

A message is MessagePack and holds as many frames as there are. Only processes that have the same
secret key may follow what is said here. A ticket names who comes, to whom, and when; it is good
once, for a minute. The process that is asked proves in turn that it has the key, so that no other
is taken for it. No user's token is ever asked for, and none opens this door.
"""

import hmac
from collections import OrderedDict
from collections.abc import Sequence
from enum import IntEnum
from hashlib import sha256
from secrets import token_hex
from uuid import UUID

import msgspec

from actors.law.ids import ChatId, EpisodeKey, WorkerId
from actors.streams.previews import PIECE_BYTES_MAX
from actors.streams.relay.exchange import (
    BATCH_BYTES_MAX,
    BATCH_PIECES_MAX,
    FOLLOWS_MAX,
    Follow,
    FollowEnded,
    FollowRefused,
    PieceCount,
    RelayAnswer,
    RelayedPieces,
    RelayRequest,
    Unfollow,
)

# Of one message; a connection that brings a longer one is closed. Answers: a batch to which one
# piece came that was larger than all the rest, and the heads of what it is made of.
REQUESTS_BYTES_MAX = 64 * 1024
ANSWERS_BYTES_MAX = BATCH_BYTES_MAX + PIECE_BYTES_MAX + 8 * BATCH_PIECES_MAX + 32 * FOLLOWS_MAX

PURPOSE = "relay"  # of the key, among those derived from the secret one
HEADER = "x-promptcorner-relay"
WINDOW_SECONDS = 60.0  # between the clocks of two processes; a ticket older than that is none
NONCES_MAX = 10_000  # of tickets that were good; more than that in a window are refused
TICKET_CHARACTERS_MAX = 256
_VERSION = "1"


class GarbledMessage(Exception):
    """A message that is none of this protocol."""


class AnswerKind(IntEnum):
    """The kinds of answers, by their numbers on the wire."""

    STANDS = 0
    PIECES = 1
    ENDED = 2
    TOO_MANY = 3


class RequestFrame(msgspec.Struct, frozen=True, array_like=True):
    """A request on the wire: to follow an attempt, or without `chat` to stop following it."""

    number: int
    chat: UUID | None = None
    history_version: int = 0
    attempt: int = 0
    seq: int = 0


class AnswerFrame(msgspec.Struct, frozen=True, array_like=True):
    """An answer on the wire."""

    number: int
    kind: AnswerKind
    seq: int = 0
    pieces: Sequence[bytes] = ()


_encode = msgspec.msgpack.Encoder().encode
_wishes = msgspec.msgpack.Decoder(tuple[RequestFrame, ...]).decode
_news = msgspec.msgpack.Decoder(tuple[AnswerFrame, ...]).decode


def encode_requests(requests: Sequence[RelayRequest]) -> bytes:
    return _encode([_frame_of_request(request) for request in requests])


def decode_requests(message: bytes) -> Sequence[RelayRequest]:
    """Decode a message. GarbledMessage if it is none."""
    try:
        return [_request_of(frame) for frame in _wishes(message)]
    except msgspec.MsgspecError as error:
        raise GarbledMessage(str(error)) from error


def encode_answers(answers: Sequence[RelayAnswer]) -> bytes:
    return _encode([_frame_of_answer(each) for each in answers])


def decode_answers(message: bytes) -> Sequence[RelayAnswer]:
    """Decode a message. GarbledMessage if it is none."""
    try:
        return [_answer_of(frame) for frame in _news(message)]
    except msgspec.MsgspecError as error:
        raise GarbledMessage(str(error)) from error


def _frame_of_request(request: RelayRequest) -> RequestFrame:
    match request:
        case Follow(number, key, seq):
            return RequestFrame(number, key.chat, key.history_version, key.attempt, seq)
        case Unfollow(number):
            return RequestFrame(number)


def _request_of(frame: RequestFrame) -> RelayRequest:
    if frame.chat is None:
        return Unfollow(frame.number)
    key = EpisodeKey(ChatId(frame.chat), frame.history_version, frame.attempt)
    return Follow(frame.number, key, frame.seq)


def _frame_of_answer(answer: RelayAnswer) -> AnswerFrame:
    match answer:
        case RelayedPieces(number, seq, pieces):
            return AnswerFrame(number, AnswerKind.PIECES, seq, pieces)
        case PieceCount(number, seq):
            return AnswerFrame(number, AnswerKind.STANDS, seq)
        case FollowEnded(number):
            return AnswerFrame(number, AnswerKind.ENDED)
        case FollowRefused(number):
            return AnswerFrame(number, AnswerKind.TOO_MANY)


def _answer_of(frame: AnswerFrame) -> RelayAnswer:
    match frame.kind:
        case AnswerKind.PIECES:
            return RelayedPieces(frame.number, frame.seq, frame.pieces)
        case AnswerKind.STANDS:
            return PieceCount(frame.number, frame.seq)
        case AnswerKind.ENDED:
            return FollowEnded(frame.number)
        case AnswerKind.TOO_MANY:
            return FollowRefused(frame.number)


# tickets


class RelayTickets:
    """The tickets of one process: it writes them for others, and takes those written for it."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._used: OrderedDict[str, float] = OrderedDict()  # until when they would be good

    def write(self, me: WorkerId, to: WorkerId, *, at: float) -> str:
        text = f"{_VERSION}.{me}.{to}.{int(at)}.{token_hex(16)}"
        return f"{text}.{self._signed('ticket', text)}"

    def take(self, ticket: str, me: WorkerId, *, at: float) -> WorkerId | None:
        """Take a ticket, and return who comes. None: it is not for us, or was used already."""
        if len(ticket) > TICKET_CHARACTERS_MAX or not ticket.isascii():
            return None
        text, _, signature = ticket.rpartition(".")
        if not hmac.compare_digest(signature, self._signed("ticket", text)):
            return None
        version, *fields = text.split(".")
        if version != _VERSION:
            return None
        came, to, written_at, nonce = fields  # we have written it
        if to != str(me) or abs(at - int(written_at)) > WINDOW_SECONDS:
            return None
        return WorkerId(UUID(came)) if self._is_first(nonce, at) else None

    def proof(self, ticket: str) -> bytes:
        """Return the answer to a ticket that only a process with the key can give."""
        return self._signed("proof", ticket).encode()

    def _is_first(self, nonce: str, at: float) -> bool:
        while self._used and next(iter(self._used.values())) < at:
            self._used.popitem(last=False)
        if nonce in self._used or len(self._used) >= NONCES_MAX:
            return False
        self._used[nonce] = at + 2 * WINDOW_SECONDS  # by then its own time is over
        return True

    def _signed(self, what: str, text: str) -> str:
        return hmac.new(self._key, f"{what} {text}".encode(), sha256).hexdigest()
