"""What is seen of a chat in a terminal. Pure: parts in, what rich draws out."""

import json
from collections.abc import Sequence

import msgspec
from msgspec import UNSET
from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.text import Text

from adapters.cli.tables import plain
from promptcorner_client.api import CostSummary
from promptcorner_client.transcript import Transcript, text_of
from promptcorner_client.wire import ChatApproval, ChatMessage, ChatMessagePart

ARGUMENTS_MAX = 72  # characters of a call's arguments; the rest is cut
RESULT_MAX = 100
PROMPT = "> "

Parts = Sequence[ChatMessagePart]


def drawn(parts: Parts, *, width: int, is_live: bool = False) -> Group:
    """The parts of an answer, each in its way."""
    return Group(*[_part(part, width, is_live) for part in parts if _is_seen(part)])


def said(message: ChatMessage, *, width: int) -> RenderableType | None:
    """A message that is kept; None: there is nothing of it to be seen."""
    content = message.content or ()
    if message.role == "user":
        return Text.assemble((PROMPT, "bold cyan"), (text_of(content), "bold"))
    seen = [part for part in content if _is_seen(part)]
    return drawn(seen, width=width) if seen else None


def state(seen: Transcript, elapsed_seconds: float) -> Text:
    """What the chat is doing while there is nothing to read."""
    clock = f" {elapsed_seconds:.0f} s"
    if seen.retry is not None:
        tried = f"attempt {seen.retry.attempt} failed, it is tried again: {seen.retry.error}"
        return Text.assemble((tried, "yellow"), (clock, "dim"))
    if seen.status == "interrupting":
        return Text("stopping …", "yellow")
    waiting = f", {len(seen.queue)} queued" if seen.queue else ""
    words = "answering" if seen.preview else "thinking"
    return Text(f"{words}{waiting} … ctrl-C stops it{clock}", "dim")


def ending(seen: Transcript) -> Text | None:
    """What is to be said when the chat rests; None: nothing, its answer speaks for itself."""
    if seen.error is not None:
        detail = "" if seen.error.detail is UNSET else f"\n  {seen.error.detail}"
        return Text(f"✗ {seen.error.message}{detail}", "red")
    if seen.status == "requires_action" and seen.approvals:
        names = ", ".join(dict.fromkeys(one.tool_name for one in seen.approvals))
        return Text(f"waits for somebody's consent: {names}", "yellow")
    if seen.pending:
        names = ", ".join(call.tool_name for call in seen.pending)
        return Text(f"waits for results of its client's tools: {names}", "yellow")
    return None


def asked(approval: ChatApproval) -> RenderableType:
    """All that the call would do: nobody allows what he has not seen."""
    call = plain(f"⚙ {approval.tool_name}, asked by “{approval.chat_title}”")
    lines = [f"  {plain(line)}" for line in _whole(approval.args).splitlines()]
    return Group(Text(call, "bold yellow"), Text("\n".join(lines)))


def cost(paid: CostSummary) -> str:
    """Of the chat and its family. What has no price is not called free."""
    known = f"{paid.request_count} requests, ${paid.total_cost_micros / 1_000_000:.4f}"
    if not paid.unpriced_request_count:
        return known
    return f"{known}; what {paid.unpriced_request_count} of them cost is unknown"


def row(part: ChatMessagePart) -> str:
    """A call or a result on one line."""
    name = part.tool_name or "tool"
    if part.type == "tool-call":
        arguments = part.args if part.args is not UNSET else part.args_delta
        return f"⚙ {name} {_cut(_compact(arguments), ARGUMENTS_MAX)}".rstrip()
    mark = "✗" if part.is_error is True else "✓"
    result = part.result if part.result is not UNSET else part.result_delta
    return f"{mark} {name} {_cut(_compact(result), RESULT_MAX)}".rstrip()


def _part(part: ChatMessagePart, width: int, is_live: bool) -> RenderableType:
    match part.type:
        case "text":
            return Markdown(part.text)
        case "reasoning":
            return Text(_cut(part.text, 4 * width, tail=is_live), "dim italic")
        case "tool-call":
            return Text(row(part), "cyan")
        case "tool-result":
            return Text(f"  {row(part)}", "red" if part.is_error is True else "green")
        case "source":
            return Text(f"↗ {part.title or part.url} {part.url}", "blue")
        case _:
            return Text(f"▫ {part.name or part.file_name or part.media_type or part.type}", "dim")


def _is_seen(part: ChatMessagePart) -> bool:
    return bool(part.text) if part.type in ("text", "reasoning") else True


def _compact(value: object) -> str:
    """JSON on one line, without the quotes around a text."""
    if value is UNSET or value is None:
        return ""
    text = bytes(value).decode() if isinstance(value, msgspec.Raw) else str(value)
    try:
        found = json.loads(text)
    except ValueError:
        return " ".join(text.split())
    flat = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    return " ".join(flat.split())


def _whole(args: str) -> str:
    """Arguments as one would write them: a line each, texts with their lines."""
    try:
        found = json.loads(args)
    except ValueError:
        return args
    if not isinstance(found, dict):
        return args
    rows = [
        f"{name}: {said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)}"
        for name, said in found.items()
    ]
    return "\n".join(rows)


def _cut(text: str, length: int, *, tail: bool = False) -> str:
    if len(text) <= length:
        return text
    return "…" + text[-length:] if tail else text[:length] + "…"
