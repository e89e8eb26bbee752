"""Messages as HTML that needs no script: texts, and a line to open for all that was done. Pure."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

import msgspec

from adapters.web.markdown import markdown_html

LINE_CHARACTERS_MAX = 120  # of what stands beside the name of a tool
RESULT_CHARACTERS_MAX = 20_000  # of arguments or a result; the rest is left out, and it says so


class ReadPart(msgspec.Struct, frozen=True):
    """A part of a message, as far as it is shown here."""

    type: str
    text: str = ""
    tool_call_id: str = ""
    tool_name: str = ""
    args: Any = None
    result: Any = None
    is_error: bool = False
    url: str = ""
    title: str = ""
    name: str = ""
    file_id: str | None = None
    file_name: str = ""
    start_line: int = 0
    end_line: int = 0
    content: str = ""
    context_file_path: str = ""
    skill_name: str = ""


class ReadMessage(msgspec.Struct, frozen=True):
    """A message, as far as it is shown here."""

    id: int
    role: str
    created_at: datetime
    content: Sequence[ReadPart] = ()


def messages_html(messages: Sequence[ReadMessage]) -> str:
    """Return messages, the oldest first. A result stands with the call that it belongs to."""
    results = {
        part.tool_call_id: part
        for message in messages
        for part in message.content
        if part.type == "tool-result"
    }
    calls = {
        part.tool_call_id
        for message in messages
        for part in message.content
        if part.type == "tool-call"
    }
    return "".join(_message(message, results, calls) for message in messages)


def _message(
    message: ReadMessage, results: Mapping[str, ReadPart], calls: frozenset[str] | set[str]
) -> str:
    shown = [
        part
        for part in message.content
        if not (part.type == "tool-result" and part.tool_call_id in calls)
    ]
    if not shown:
        return f'<a id="m{message.id}"></a>'
    is_own = message.role == "user"
    inside = "".join(
        _part(part, results, f"{message.id}-{at}", is_own=is_own) for at, part in enumerate(shown)
    )
    who = "You" if is_own else "Answer"
    time = f"{message.created_at:%Y-%m-%d %H:%M}"
    meta = (
        f'<div class="meta"><a href="#m{message.id}"><time datetime="'
        f'{message.created_at.isoformat()}">{time}</time></a></div>'
    )
    body = f'<div class="bub said">{inside}</div>' if is_own else inside
    name = "me" if is_own else "answer"
    return (
        f'<article id="m{message.id}" class="{name}" aria-label="{who}, {time}">'
        f"{body}{meta if is_own else ''}</article>\n"
    )


def _part(part: ReadPart, results: Mapping[str, ReadPart], place: str, *, is_own: bool) -> str:
    match part.type:
        case "text" if is_own:  # as it was written
            return f'<div class="own">{escape(part.text)}</div>'
        case "text":
            return f'<div class="said">{markdown_html(part.text, place)}</div>'
        case "reasoning":
            return _folded(
                "<b>Thought</b>", f'<div class="think">{markdown_html(part.text, place)}</div>'
            )
        case "tool-call":
            return _call(part, results.get(part.tool_call_id))
        case "tool-result":
            return _call(part, part)
        case "file":
            return _file(part)
        case "source":
            return _source(part)
        case "file-reference":
            lines = f"{part.start_line}-{part.end_line}" if part.start_line else ""
            words = escape(f"{part.file_name}:{lines}" if lines else part.file_name)
            return _folded(f"<b>{words}</b>", _pre(part.content))
        case "hook-notice":
            return f'<p class="dim">{escape(part.text)}</p>'
        case _:
            words = part.context_file_path or part.skill_name or part.text
            return f'<p class="dim">{escape(part.type)} {escape(words)}</p>'


def _call(call: ReadPart, result: ReadPart | None) -> str:
    is_bad = result is not None and result.is_error
    state = "" if result is not None else '<span class="r">no result yet</span>'
    if is_bad:
        state = '<span class="r bad">failed</span>'
    words = escape(_line_of(call.args))
    inside = _pre(_json(call.args)) if call.args not in (None, {}) else ""
    if result is not None:
        inside += _pre(_result_text(result.result))
    return _folded(f"<b>{escape(call.tool_name or 'tool')}</b> {words}", inside, state)


def _line_of(args: Any) -> str:
    """Return what says best what a call is about: its first text, in one line."""
    if not isinstance(args, dict):
        return ""
    words = next((value for value in args.values() if isinstance(value, str) and value), "")
    line = " ".join(words.split())
    return line if len(line) <= LINE_CHARACTERS_MAX else f"{line[:LINE_CHARACTERS_MAX]}…"


def _result_text(result: Any) -> str:
    """Return the output of a command as it was; everything else as JSON."""
    if isinstance(result, str):
        return result
    if isinstance(result, dict) and isinstance(result.get("output"), str):
        return str(result["output"])
    return _json(result)


def _json(value: Any) -> str:
    return "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)


def _pre(text: str) -> str:
    if not text:
        return ""
    rest = len(text) - RESULT_CHARACTERS_MAX
    cut = f"\n… {rest:,} characters more" if rest > 0 else ""
    return f'<pre class="term" tabindex="0">{escape(text[:RESULT_CHARACTERS_MAX])}{cut}</pre>'


def _folded(words: str, inside: str, state: str = "") -> str:
    return (
        f'<details class="w"><summary><span class="what">{words}</span>{state}</summary>'
        f"{inside}</details>\n"
    )


def _file(part: ReadPart) -> str:
    name = escape(part.name or "file")
    if not part.file_id:
        return f'<p class="att">{name}</p>'
    address = f"/api/experimental/chats/files/{escape(part.file_id)}"
    return f'<p class="att"><a href="{address}" download>{name}</a></p>'


def _source(part: ReadPart) -> str:
    words = escape(part.title or part.url)
    if not part.url.startswith(("http://", "https://")):
        return f'<p class="dim">{words}</p>'
    return f'<p class="src"><a href="{escape(part.url)}" rel="noreferrer">{words}</a></p>'
