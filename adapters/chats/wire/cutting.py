"""Results of tools as a list shows them that was asked for without the large ones. Pure.

A result keeps its form: long texts in it lose their middle, long lists their end. So a card can be
drawn of it (the exit code of a command is there, and the end of its output), and the whole result
is read with its message when a person wants to see it.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
from msgspec import UNSET, Raw
from msgspec.structs import replace

from actors.tools.output import truncate
from adapters.chats.wire.messages import ChatMessage, ChatMessagePart

RESULT_BYTES_MAX = 4 * 1024  # of a result in such a list; a larger one is cut
# Bytes of a text and members of a list or object that are kept: the first that fit. If none do, the
# result is null.
BOUNDS = ((3_500, 100), (1_700, 50), (800, 25), (400, 12), (200, 6), (100, 3))

_encode = msgspec.json.Encoder().encode


def cut_message(message: ChatMessage) -> ChatMessage:
    """Return the message with its large results cut. Each says how large it is as a whole."""
    parts = message.content
    if parts is UNSET or not any(map(is_large, parts)):
        return message
    return replace(message, content=tuple(map(_cut_part, parts)))


def is_large(part: ChatMessagePart) -> bool:
    """Return whether the part has a result that such a list does not show whole."""
    return part.result is not UNSET and len(part.result) > RESULT_BYTES_MAX


def _cut_part(part: ChatMessagePart) -> ChatMessagePart:
    if part.result is UNSET or not is_large(part):
        return part
    whole = len(part.result)
    return replace(part, result=cut_json(part.result), result_bytes=whole)


def cut_json(whole: Raw) -> Raw:
    """Return JSON of the same form in at most RESULT_BYTES_MAX bytes; null if there is no way."""
    try:
        value = msgspec.json.decode(whole)
        for text_max, members_max in BOUNDS:
            cut = _encode(_shortened(value, text_max, members_max))
            if len(cut) <= RESULT_BYTES_MAX:
                return Raw(cut)
    except RecursionError:  # it is nested too deep
        pass
    return Raw(b"null")


def _shortened(value: Any, text_max: int, members_max: int) -> Any:
    match value:
        case str():
            return truncate(value, text_max)
        case list():
            return list(_members(value, text_max, members_max))
        case dict():
            return dict(zip(value, _members(value.values(), text_max, members_max), strict=False))
        case _:
            return value


def _members(values: Any, text_max: int, members_max: int) -> Iterator[Any]:
    return (_shortened(one, text_max, members_max) for one in islice(values, members_max))
