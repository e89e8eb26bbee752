"""What watchers are sent of an attempt: a piece with its place, encoded once for all of them.

{"type":"message_part","chat_id":"…","message_part":{"role":"assistant",
 "part":{"type":"text","text":"Hel",…},"history_version":3,"generation_attempt":1,"seq":7}}
"""

import msgspec
from msgspec import UNSET

from actors.law.ids import EpisodeKey
from actors.law.parts.message import HookContextPart, TextPart
from actors.streams.pieces import ArgsPiece, NumberedPiece, Piece, ReasoningPiece, ResultPiece
from adapters.chats.wire.messages import ChatMessagePart, part_of
from adapters.chats.wire.streams import ChatStreamEvent, ChatStreamMessagePart
from adapters.postgres.codec.parts import whole

_encode = msgspec.json.Encoder().encode


def encoded(key: EpisodeKey, said: NumberedPiece) -> bytes:
    """Fulfils `actors.streams.previews.Encode`."""
    try:
        return _encode(_event(key, said, said.piece))
    except UnicodeEncodeError:
        return _encode(_event(key, said, whole(said.piece)))


def _event(key: EpisodeKey, said: NumberedPiece, piece: Piece) -> ChatStreamEvent:
    return ChatStreamEvent(
        type="message_part",
        chat_id=key.chat,
        message_part=ChatStreamMessagePart(
            said.role.value,
            _shown(piece),
            key.history_version,
            key.attempt,
            said.seq,
        ),
    )


def _shown(piece: Piece) -> ChatMessagePart:
    """Most of them are text."""
    if type(piece) is TextPart:
        return ChatMessagePart(type="text", text=piece.text)
    match piece:
        case ReasoningPiece(text=text, created_at=created_at):
            return ChatMessagePart(type="reasoning", text=text, created_at=created_at or UNSET)
        case ArgsPiece(id=id, name=name, args_delta=delta):
            return ChatMessagePart(
                type="tool-call",
                tool_call_id=id or UNSET,
                tool_name=name or UNSET,
                mcp_server_config_id=piece.mcp_server_config_id,
                args_delta=delta or UNSET,
                provider_executed=piece.provider_executed or UNSET,
            )
        case ResultPiece(id=id, name=name, result_delta=delta, resets=resets):
            return ChatMessagePart(
                type="tool-result",
                tool_call_id=id or UNSET,
                tool_name=name or UNSET,
                result_delta=delta or UNSET,
                result_reset=resets or UNSET,
            )
        case HookContextPart():
            raise AssertionError("what a hook tells the model is said to nobody else")
        case _:
            return part_of(piece)
