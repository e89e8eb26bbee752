"""The result of a call of a server's tool, as a model reads it. Pure.

Text wins; a file comes only where there is none, and then the first. The type of a file is seen
from its content: a provider refuses the whole chat for one that is not what it is said to be.
"""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from typing import Any

from actors.chat.turn.ports import ToolOutput
from actors.chat.turn.steps import error_output
from actors.law.parts.json_text import is_json, parsed, well_formed
from actors.law.parts.message import JsonText
from actors.law.parts.vendors import IMAGE_BYTES_MAX
from adapters.http.files import ACCEPTED, UNKNOWN, media_type_of

MEDIA_BYTES_MAX = IMAGE_BYTES_MAX - 1  # a bigger file is refused with words
NOT_SHOWN = "which cannot be shown here"

_TEXTS = ("text/", "application/json", "application/xml", "image/svg+xml")
# Without looks of their own, and known to those who listen.
_SOUNDS = frozenset(
    f"audio/{kind}" for kind in ("aac", "aiff", "flac", "mp3", "mpeg", "ogg", "wav", "x-wav")
)
_SHOWN = frozenset(kind for kind in ACCEPTED if not kind.startswith(_TEXTS))


def output_of(said: Mapping[str, Any]) -> ToolOutput:
    """Return what a model reads of a call's result, which may be anything that a server sends."""
    content = said.get("content")
    items = content if isinstance(content, list) else []
    text = "\n".join(_texts(items, said.get("structuredContent")))
    if said.get("isError"):
        return error_output(text or "the tool failed and did not say why")
    if text:
        return text_output(text)
    files = (_media(item) for item in items)
    media = next((each for each in files if isinstance(each, ToolOutput)), None)
    return media or text_output("\n".join(_notes(items)))


def text_output(text: str) -> ToolOutput:
    """Return a text as output. JSON is stored as it is, other text under the key `output`."""
    text = well_formed(text)
    result = text if is_json(text) else json.dumps({"output": text}, ensure_ascii=False)
    return ToolOutput(JsonText(result))


def _texts(items: list[Any], structured: object) -> Iterator[str]:
    """Yield the texts of a result. Many servers send the same twice, as text and as structured
    content; then the text is enough."""
    texts = [text for item in items if (text := _text(item)) is not None]
    yield from texts
    if structured is not None and not _is_said(structured, list(map(_value, texts))):
        yield json.dumps(structured, ensure_ascii=False)


def _is_said(structured: object, values: list[object]) -> bool:
    """Return whether the texts say what the structured content says.

    Some servers wrap what is no object as `{"result": …}`, and send each item of a list as a text
    of its own: that counts as the same."""
    match structured:
        case {"result": result, **rest} if not rest:
            same: list[object] = [structured, result]
        case _:
            result, same = None, [structured]
    return any(value in same for value in values) or (bool(values) and values == result)


def _value(text: str) -> object:
    try:
        return parsed(text)
    except ValueError:
        return text


def _text(item: object) -> str | None:
    match item:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "resource", "resource": {"text": str(text)}}:
            return text
        case {"type": "resource_link", "uri": str(uri), **rest}:
            description = rest.get("description")
            said = f": {description}" if description else ""
            return f"[resource {rest.get('name') or ''} at {uri}{said}]"
        case _:
            return None


def _media(item: object) -> ToolOutput | None:
    """Return the file in this item, or None if there is none, or none that can be shown."""
    data, declared = _file(item)
    if data is None:
        return None
    if declared.startswith(_TEXTS) and (text := _decoded(data)) is not None:
        return text_output(text)
    looks = _looks(data, declared)
    if looks is None:
        return None
    if len(data) > MEDIA_BYTES_MAX:
        return error_output(
            f"the tool returned {looks} of {len(data)} bytes,"
            f" at most {MEDIA_BYTES_MAX} can be shown; ask it for less"
        )
    encoded = base64.b64encode(data).decode()
    document = {"data": encoded, "mime_type": looks, "text": ""}
    return ToolOutput(JsonText(json.dumps(document)), is_media=True)


def _decoded(data: bytes) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _looks(data: bytes, declared: str) -> str | None:
    found = media_type_of(UNKNOWN, "", data)
    if isinstance(found, str) and found in _SHOWN:
        return found
    return declared if declared in _SOUNDS else None


def _file(item: object) -> tuple[bytes | None, str]:
    match item:
        case {"type": "image" | "audio", "data": str(encoded), **rest}:
            pass
        case {"type": "resource", "resource": {"blob": str(encoded), **rest}}:
            pass
        case _:
            return None, ""
    declared = str(rest.get("mimeType") or "").partition(";")[0].strip().lower()
    try:
        return base64.b64decode(encoded, validate=True) or None, declared
    except (binascii.Error, ValueError):
        return None, declared


def _notes(items: list[Any]) -> Iterator[str]:
    """Yield a note for each item that is no text and cannot be shown either."""
    for item in items:
        data, declared = _file(item)
        kind = item.get("type") if isinstance(item, dict) else None
        what = declared or (kind if isinstance(kind, str) else "something")
        size = f" of {len(data)} bytes" if data else ""
        yield f"[the tool returned {what[:80]}{size}, {NOT_SHOWN}]"
