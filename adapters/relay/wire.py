"""What goes over a line: frames as MessagePack, as many in a message as there are. Pure."""

from collections.abc import Sequence
from enum import IntEnum
from uuid import UUID

import msgspec

from actors.law.ids import ChatId, EpisodeKey
from actors.streams.relay.exchange import (
    BATCH_BYTES_MAX,
    BATCH_PIECES_MAX,
    FOLLOWS_MAX,
    PIECE_BYTES_MAX,
    Follow,
    FollowEnded,
    FollowRefused,
    PieceCount,
    RelayAnswer,
    RelayedPieces,
    RelayRequest,
    Unfollow,
)

# Of one message; whoever sends a longer one is hung up on. News: a batch to which one piece came
# that was larger than all the rest, and the heads of what it is made of.
WISHES_BYTES_MAX = 64 * 1024
NEWS_BYTES_MAX = BATCH_BYTES_MAX + PIECE_BYTES_MAX + 8 * BATCH_PIECES_MAX + 32 * FOLLOWS_MAX


class Garbled(Exception):
    """What came is none of ours."""


class Kind(IntEnum):
    STANDS = 0
    PIECES = 1
    ENDED = 2
    TOO_MANY = 3


class Wished(msgspec.Struct, frozen=True, array_like=True):
    """`chat` is missing: followed no more."""

    number: int
    chat: UUID | None = None
    history_version: int = 0
    attempt: int = 0
    seq: int = 0


class Told(msgspec.Struct, frozen=True, array_like=True):
    number: int
    kind: Kind
    seq: int = 0
    pieces: Sequence[bytes] = ()


_encode = msgspec.msgpack.Encoder().encode
_wishes = msgspec.msgpack.Decoder(tuple[Wished, ...]).decode
_news = msgspec.msgpack.Decoder(tuple[Told, ...]).decode


def wishes_encoded(wishes: Sequence[RelayRequest]) -> bytes:
    return _encode([_wished(wish) for wish in wishes])


def wishes_of(message: bytes) -> Sequence[RelayRequest]:
    """Garbled if it is none."""
    try:
        return [_wish(wished) for wished in _wishes(message)]
    except msgspec.MsgspecError as error:
        raise Garbled(str(error)) from error


def news_encoded(news: Sequence[RelayAnswer]) -> bytes:
    return _encode([_told(each) for each in news])


def news_of(message: bytes) -> Sequence[RelayAnswer]:
    """Garbled if it is none."""
    try:
        return [_piece_of_news(told) for told in _news(message)]
    except msgspec.MsgspecError as error:
        raise Garbled(str(error)) from error


def _wished(wish: RelayRequest) -> Wished:
    match wish:
        case Follow(number, key, seq):
            return Wished(number, key.chat, key.history_version, key.attempt, seq)
        case Unfollow(number):
            return Wished(number)


def _wish(wished: Wished) -> RelayRequest:
    if wished.chat is None:
        return Unfollow(wished.number)
    key = EpisodeKey(ChatId(wished.chat), wished.history_version, wished.attempt)
    return Follow(wished.number, key, wished.seq)


def _told(news: RelayAnswer) -> Told:
    match news:
        case RelayedPieces(number, seq, pieces):
            return Told(number, Kind.PIECES, seq, pieces)
        case PieceCount(number, seq):
            return Told(number, Kind.STANDS, seq)
        case FollowEnded(number):
            return Told(number, Kind.ENDED)
        case FollowRefused(number):
            return Told(number, Kind.TOO_MANY)


def _piece_of_news(told: Told) -> RelayAnswer:
    match told.kind:
        case Kind.PIECES:
            return RelayedPieces(told.number, told.seq, told.pieces)
        case Kind.STANDS:
            return PieceCount(told.number, told.seq)
        case Kind.ENDED:
            return FollowEnded(told.number)
        case Kind.TOO_MANY:
            return FollowRefused(told.number)
