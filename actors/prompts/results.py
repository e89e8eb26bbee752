"""A stored tool result as the answer that a model reads. Pure.

As stored: text that is JSON stands there as it is, other text under `output`, an error under
`error` (or as a JSON string), media as `data`, `mime_type` and `text`.
"""

import base64
import binascii
import re

from actors.law.parts.json_text import parsed
from actors.law.parts.message import FilePart, JsonText, ToolResultPart
from actors.law.parts.prompt import ToolAnswer

NO_RESULT = "the tool call was interrupted before it produced a result"


# What may be a text or a text alone in an object. Anything else goes out as it stands, and need not
# be read: in a long history that is most of it.
_MAY_BE_TEXT = re.compile(r'\s*("|\{\s*"(output|error|[^"]*\\))')


def answer_said(part: ToolResultPart, id: str) -> ToolAnswer:
    if not part.is_media and _MAY_BE_TEXT.match(part.result) is None:
        return ToolAnswer(id, part.name, part.result, part.is_error)
    value = _value(part.result)
    if part.is_media and isinstance(value, dict):
        return _media(part, id, value)
    return ToolAnswer(id, part.name, _text(part.result, value), part.is_error)


def text_of(result: JsonText) -> str | None:
    """The text in a stored result, if it is nothing but a text."""
    value = _value(result)
    if isinstance(value, dict) and len(value) == 1:
        value = value.get("output", value.get("error"))
    return value if isinstance(value, str) and value.strip() else None


def unanswered(id: str, name: str) -> ToolAnswer:
    return ToolAnswer(id, name, NO_RESULT, is_error=True)


def _value(result: str) -> object:
    try:
        value: object = parsed(result)
        return value
    except ValueError:
        return None


def _text(result: str, value: object) -> str:
    if isinstance(value, dict) and len(value) == 1:
        only = value.get("output", value.get("error"))
        if isinstance(only, str):
            return only
    return value if isinstance(value, str) else result


def _media(part: ToolResultPart, id: str, value: dict[str, object]) -> ToolAnswer:
    """Media that cannot be read back leave their text."""
    text, data, kind = (value.get(name) for name in ("text", "data", "mime_type"))
    said = text if isinstance(text, str) else ""
    if isinstance(data, str) and isinstance(kind, str) and _is_base64(data):
        file = FilePart(kind, data=data)
        return ToolAnswer(id, part.name, said, part.is_error, file)
    return ToolAnswer(id, part.name, said or "[unreadable media]", part.is_error)


def _is_base64(data: str) -> bool:
    try:
        return bool(base64.b64decode(data, validate=True))
    except binascii.Error:
        return False
