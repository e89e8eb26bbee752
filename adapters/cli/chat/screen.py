"""The picture of a chat: on a terminal that is drawn again and again, or in a pipe.

A screen is told every event once the transcript has it, and as time passes. The functions below the
classes make of messages and their parts what rich draws; they are pure.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import msgspec
from msgspec import UNSET
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.segment import Segment, Segments
from rich.spinner import Spinner
from rich.text import Text

from adapters.cli.command_line import printable
from adapters.cli.harmless import harmless, one_line
from promptcorner_client.api import CostSummary
from promptcorner_client.transcript import Transcript, text_of
from promptcorner_client.wire import ChatApproval, ChatMessage, ChatMessagePart, ChatStreamEvent
from runtime.clock import now

ARGUMENTS_MAX = 72  # characters of a call's arguments; the rest is cut
RESULT_MAX = 100
PROMPT = "> "

FRAMES_PER_SECOND = 12
LINES_SPARED = 4  # below the preview: the progress, and the line that the user types on

Parts = Sequence[ChatMessagePart]


class ChatScreen(Protocol):
    """A place where one turn is shown."""

    def show(self, event: ChatStreamEvent, seen: Transcript) -> None:
        """Show an event; the transcript is the chat after it."""

    def tick(self, seen: Transcript) -> None:
        """Show that time has passed."""

    def end(self, seen: Transcript) -> None:
        """Show how the chat rests."""


class TerminalScreen:
    """A terminal: the answer that is being written is drawn below the messages that are kept.

    It gives way to its message once that is kept.
    """

    def __init__(self, console: Console, live: Live) -> None:
        self._console = console
        self._live = live
        self._began = now()
        self._drawn_at = self._began
        self._spinner = Spinner("dots")

    def show(self, event: ChatStreamEvent, seen: Transcript) -> None:
        if event.message is not UNSET:
            self._print_kept(event.message)  # the preview of it goes next
        elif now() - self._drawn_at >= 1 / FRAMES_PER_SECOND:
            self.tick(seen)

    def _print_kept(self, message: ChatMessage) -> None:
        kept = None
        if message.role != "user":  # the user has just typed that one
            kept = message_view(message, width=self._console.width)
        if kept is not None:
            self._live.update("")
            self._console.print(kept)

    def tick(self, seen: Transcript) -> None:
        self._drawn_at = now()
        self._spinner.update(text=progress_line(seen, self._drawn_at - self._began))
        self._live.update(Group(self._preview(seen), self._spinner), refresh=True)

    def end(self, seen: Transcript) -> None:
        self._live.update("", refresh=True)
        last = outcome_line(seen)
        if last is not None:
            self._console.print(last)

    def _preview(self, seen: Transcript) -> Segments:
        """Return as much of its end as fits: lines that scrolled away cannot be drawn again."""
        whole = parts_view(seen.preview, width=self._console.width, is_live=True)
        room = max(1, self._console.height - LINES_SPARED)
        lines = self._console.render_lines(whole, pad=False)[-room:]
        return Segments([segment for line in lines for segment in (*line, Segment.line())])


class PipeScreen:
    """A pipe: the answers that are kept, for programs; everything else goes to stderr."""

    def show(self, event: ChatStreamEvent, seen: Transcript) -> None:
        if event.message is UNSET or event.message.role == "user":
            return
        content = event.message.content or ()
        if event.message.role == "assistant" and (text := text_of(content)):
            sys.stdout.write(text + "\n")
            sys.stdout.flush()
        for part in content:
            if part.type in ("tool-call", "tool-result"):
                sys.stderr.write(call_line(part) + "\n")
            elif part.type == "hook-notice":
                sys.stderr.write(f"! {harmless(part.text)}\n")

    def tick(self, seen: Transcript) -> None:
        pass

    def end(self, seen: Transcript) -> None:
        last = outcome_line(seen)
        if last is not None:
            sys.stderr.write(f"{last}\n")


@contextmanager
def open_screen(console: Console) -> Iterator[ChatScreen]:
    """Open a screen for one turn."""
    if not console.is_terminal:
        yield PipeScreen()
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield TerminalScreen(console, live)


def parts_view(parts: Parts, *, width: int, is_live: bool = False) -> Group:
    """Return the parts of an answer, each drawn by its type."""
    return Group(*[_part(part, width, is_live) for part in parts if _is_seen(part)])


def message_view(message: ChatMessage, *, width: int) -> RenderableType | None:
    """Return a kept message, or None if nothing of it is shown."""
    content = message.content or ()
    if message.role == "user":
        return Text.assemble((PROMPT, "bold cyan"), (harmless(text_of(content)), "bold"))
    seen = [part for part in content if _is_seen(part)]
    return parts_view(seen, width=width) if seen else None


def progress_line(seen: Transcript, elapsed_seconds: float) -> Text:
    """Return what the chat is doing."""
    clock = f" {elapsed_seconds:.0f} s"
    if seen.retry is not None:
        tried = (
            f"attempt {seen.retry.attempt} failed, it is tried again: {one_line(seen.retry.error)}"
        )
        return Text.assemble((tried, "yellow"), (clock, "dim"))
    if seen.status == "interrupting":
        return Text("stopping …", "yellow")
    waiting = f", {len(seen.queue)} queued" if seen.queue else ""
    words = "answering" if seen.preview else "thinking"
    return Text(f"{words}{waiting} … ctrl-C stops it{clock}", "dim")


def outcome_line(seen: Transcript) -> Text | None:
    """Return how the turn ended, or None if it ended with its answer."""
    if seen.error is not None:
        detail = "" if seen.error.detail is UNSET else f"\n  {seen.error.detail}"
        return Text(harmless(f"✗ {seen.error.message}{detail}"), "red")
    if seen.status == "requires_action" and seen.approvals:
        names = ", ".join(dict.fromkeys(one.tool_name for one in seen.approvals))
        return Text(one_line(f"waits for a person's consent: {names}"), "yellow")
    if seen.pending:
        names = ", ".join(call.tool_name for call in seen.pending)
        return Text(one_line(f"waits for results of its client's tools: {names}"), "yellow")
    return None


def approval_view(approval: ChatApproval) -> RenderableType:
    """Return all that the call would do, so that users do not allow what they have not seen."""
    call = printable(f"⚙ {approval.tool_name}, asked by “{approval.chat_title}”")
    lines = [f"  {printable(line)}" for line in _whole(approval.args).splitlines()]
    return Group(Text(call, "bold yellow"), Text("\n".join(lines)))


def cost_text(paid: CostSummary) -> str:
    """Return the cost of the chat and its agents; requests without a price are not called free."""
    requests = "1 request" if paid.request_count == 1 else f"{paid.request_count} requests"
    unknown = paid.unpriced_request_count
    if unknown and unknown == paid.request_count:
        return f"{requests}; what {'it' if unknown == 1 else 'they'} cost is unknown"
    known = f"{requests}, ${paid.total_cost_micros / 1_000_000:.4f}"
    return f"{known}; what {unknown} of them cost is unknown" if unknown else known


def call_line(part: ChatMessagePart) -> str:
    """Return a call or a result on one line."""
    name = part.tool_name or "tool"
    if part.type == "tool-call":
        arguments = part.args if part.args is not UNSET else part.args_delta
        return one_line(f"⚙ {name} {_cut(_compact(arguments), ARGUMENTS_MAX)}".rstrip())
    mark = "✗" if part.is_error is True else "✓"
    result = part.result if part.result is not UNSET else part.result_delta
    return one_line(f"{mark} {name} {_cut(_compact(result), RESULT_MAX)}".rstrip())


def _part(part: ChatMessagePart, width: int, is_live: bool) -> RenderableType:
    match part.type:
        case "text":
            return Markdown(harmless(part.text), hyperlinks=False)
        case "reasoning":
            return Text(_cut(harmless(part.text), 4 * width, tail=is_live), "dim italic")
        case "tool-call":
            return Text(call_line(part), "cyan")
        case "tool-result":
            return Text(f"  {call_line(part)}", "red" if part.is_error is True else "green")
        case "hook-notice":
            return Text(harmless(f"! {part.text}"), "yellow")
        case "source":
            return Text(one_line(f"↗ {part.title or part.url} {part.url}"), "blue")
        case _:
            name = part.name or part.file_name or part.media_type or part.type
            return Text(one_line(f"▫ {name}"), "dim")


def _is_seen(part: ChatMessagePart) -> bool:
    return bool(part.text) if part.type in ("text", "reasoning") else True


def _compact(value: object) -> str:
    """Return JSON on one line, without the quotes around a text."""
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
    """Return arguments as users write them: a line each, texts with their lines."""
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
