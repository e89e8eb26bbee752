"""What a call of a server's tool comes to, as the result that a model reads. Pure."""

import json
from collections.abc import Iterator

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from actors.parts.json_text import is_json, parsed, well_formed
from actors.parts.model import JsonText
from actors.turn.ports import ToolOutput
from actors.turn.steps import error_output

MEDIA_CHARACTERS_MAX = 7 * 1024 * 1024  # of base64: 5 MiB; a bigger file is refused with words


def output_of(result: CallToolResult) -> ToolOutput:
    """Text wins; media come only where there is none, and then the first."""
    text = "\n".join(_texts(result))
    if result.is_error:
        return error_output(text or "the tool failed and did not say why")
    media = next(_media(result), None)
    if text or media is None:
        return text_output(text or "\n".join(_notes(result)))
    data, kind = media
    if len(data) > MEDIA_CHARACTERS_MAX:
        most = MEDIA_CHARACTERS_MAX // 4 * 3
        return error_output(
            f"the tool returned {kind} of {len(data) // 4 * 3} bytes, at most {most} can be shown"
        )
    document = {"data": data, "mime_type": kind, "text": ""}
    return ToolOutput(JsonText(json.dumps(document)), is_media=True)


def text_output(text: str) -> ToolOutput:
    """JSON is stored as what it is; other text under `output`."""
    text = well_formed(text)
    result = text if is_json(text) else json.dumps({"output": text}, ensure_ascii=False)
    return ToolOutput(JsonText(result))


def _texts(result: CallToolResult) -> Iterator[str]:
    """Many say the same twice, as text and structured: once is enough."""
    texts = [text for item in result.content if (text := _text(item)) is not None]
    yield from texts
    structured = result.structured_content
    if structured is not None and not any(_means(text, structured) for text in texts):
        yield json.dumps(structured, ensure_ascii=False)


def _means(text: str, value: object) -> bool:
    try:
        return bool(parsed(text) == value)
    except ValueError:
        return False


def _text(item: ContentBlock) -> str | None:
    match item:
        case TextContent(text=text):
            return text
        case EmbeddedResource(resource=TextResourceContents(text=text)):
            return text
        case ResourceLink(name=name, uri=uri, description=description):
            said = f": {description}" if description else ""
            return f"[resource {name} at {uri}{said}]"
        case _:
            return None


def _media(result: CallToolResult) -> Iterator[tuple[str, str]]:
    for item in result.content:
        match item:
            case ImageContent(data=data, mime_type=kind) | AudioContent(data=data, mime_type=kind):
                yield data, kind
            case EmbeddedResource(resource=BlobResourceContents(blob=data, mime_type=kind)):
                yield data, kind or "application/octet-stream"
            case _:
                pass


def _notes(result: CallToolResult) -> Iterator[str]:
    """Of what is of no kind that we know."""
    for item in result.content:
        yield f"[the tool returned {item.type}, which cannot be shown here]"
