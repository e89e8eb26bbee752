"""Items of a chat as text of a terminal: with colours, at a width. Pure.

What models, users and commands have written may hold control characters; none of them reaches the
terminal, except the colours of a command's output.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import StringIO
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

from actors.tools.approval_rules import START
from adapters.cli.chat.reading.blocks import MarkdownBlock
from adapters.cli.chat.reading.cards import (
    CallCard,
    outcome_of,
    output_of,
    pretty,
    subject_of,
)
from adapters.cli.chat.reading.diffs import FileChange, changes_of, is_readable_change
from adapters.cli.chat.reading.scrollback import (
    ConsentCard,
    Item,
    NoteLine,
    ThoughtFold,
    Unfinished,
    UserWords,
)
from adapters.cli.harmless import coloured, harmless, one_line
from promptcorner_client.wire import ChatApproval

OUTPUT_LINES = 5  # of a command or a result that went well; the rest is in the pager
FAILED_LINES = 15
DIFF_LINES = 30
LIVE_LINES = 5  # of a command that runs
OUTPUT_CHARACTERS_MAX = 16_384  # of these lines; what stands before them is in the pager
CODE_CHARACTERS_MAX = 8_192  # of a block with colours; a longer one, of few long lines, has none
TONES = {"quiet": "dim", "title": "bold", "warning": "yellow", "error": "red"}
DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}

_MEASURE = Console(file=StringIO(), legacy_windows=False)  # knows how wide letters are
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class PlainHeading(Heading):
    """A heading at the left, without a box around it."""

    def __rich_console__(self, console: Console, options: object) -> Iterator[RenderableType]:
        self.text.justify = "left"
        self.text.stylize("bold underline" if self.tag in ("h1", "h2") else "bold")
        yield self.text


class BoundedCode(CodeBlock):
    """A block of code, whose colours are left out where to find them would take too long."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if len(self.text) > CODE_CHARACTERS_MAX:
            yield Padding(Text(str(self.text).rstrip(), overflow="fold"), 1)
            return
        yield from super().__rich_console__(console, options)


class ChatMarkdown(Markdown):
    """Markdown as answers are drawn."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": PlainHeading,
        "fence": BoundedCode,
        "code_block": BoundedCode,
    }


@dataclass(frozen=True, slots=True)
class Look:
    """The width of the terminal, and what it can show."""

    width: int = 80
    has_colour: bool = True
    is_light: bool = False
    is_plain: bool = False  # for screen readers: words instead of signs

    def console(self) -> Console:
        return Console(
            file=StringIO(),
            force_terminal=not self.is_plain,
            width=max(20, self.width),
            color_system="standard" if self.has_colour and not self.is_plain else None,
            no_color=not self.has_colour,
            highlight=False,
            emoji=False,
            legacy_windows=False,
        )

    @property
    def code_theme(self) -> str:
        return "ansi_light" if self.is_light else "ansi_dark"


def text_of_items(items: Sequence[Item], look: Look, *, gap: bool = True) -> str:
    """Return items as text, each after an empty line."""
    text = ""
    for item in items:
        is_close = isinstance(item, NoteLine) and item.tone == "quiet" and "\n" not in item.text
        is_close = is_close or (isinstance(item, MarkdownBlock) and item.goes_on)
        text += ("\n" if gap and not is_close else "") + _drawn(view_of(item, look), look)
    return text


def _drawn(view: RenderableType, look: Look) -> str:
    """Return what is drawn, without empty lines around it."""
    console = look.console()
    console.print(view)
    file = console.file
    assert isinstance(file, StringIO), "the console writes into memory"
    lines = [line.rstrip() for line in file.getvalue().splitlines()]
    while lines and not _COLOUR.sub("", lines[0]).strip():
        lines.pop(0)
    while lines and not _COLOUR.sub("", lines[-1]).strip():
        lines.pop()
    return "".join(f"{line}\n" for line in lines)


def view_of(item: Item, look: Look) -> RenderableType:
    """Return an item as rich draws it."""
    match item:
        case UserWords(text, files):
            lines = [*harmless(text).splitlines(), *(f"▫ {harmless(name)}" for name in files)]
            mark = "You: " if look.is_plain else "> "
            said = [f"{mark if n == 0 else '  '}{line}" for n, line in enumerate(lines)]
            return Text("\n".join(said), "bold cyan" if not look.is_light else "bold blue")
        case MarkdownBlock(text):
            return markdown_view(text, look)
        case ThoughtFold(text):
            words = len(text.split())
            return Text(f"∴ thought, {words} words · ctrl-O opens it", "dim italic")
        case NoteLine(text, tone):
            return Text(harmless(text), TONES[tone])
        case ConsentCard(approval, is_agents):
            return consent_view(approval, look, is_agents=is_agents)
        case CallCard():
            return card_view(item, look)


def markdown_view(text: str, look: Look) -> Markdown:
    return ChatMarkdown(harmless(text), code_theme=look.code_theme, hyperlinks=False)


def card_view(card: CallCard, look: Look, *, spinner: str = "") -> RenderableType:
    """Return a call: its head, and what there is to see of its result or of what it does."""
    style = "red" if card.has_failed and card.is_done else "green" if card.is_done else "cyan"
    mark = spinner or card.mark
    if look.is_plain:
        mark = "Failed:" if card.mark == "✗" else "Done:" if card.is_done else "Running:"
    head = Text.assemble((f"{mark} ", style), (harmless(card.name), "bold"))
    if subject := subject_of(card):
        head.append(f"  {harmless(subject)}")
    if outcome := outcome_of(card):
        head.append(f" · {harmless(outcome)}", "red" if card.has_failed else "dim")
    head.overflow, head.no_wrap = "ellipsis", not card.has_failed
    body = [*_changes(card.changes)] if card.is_done else []
    if not body:
        body = list(_output(card))
    return Group(head, *[Padding(line, (0, 0, 0, 2)) for line in body])


def _output(card: CallCard) -> Iterator[Text]:
    text = output_of(card)
    most = LIVE_LINES if not card.is_done else FAILED_LINES if card.has_failed else OUTPUT_LINES
    if card.is_done and not card.has_failed and card.name in ("read_file", "read_skill"):
        most = 0
    shown, hidden = last_lines(text, most)
    lines = Text.from_ansi(coloured(shown)).split("\n", allow_blank=False)
    if hidden and card.is_done:
        yield Text(f"… {hidden} lines · ctrl-O opens them", "dim")
    for line in lines[-most:] if most else ():
        line.no_wrap, line.overflow = True, "ellipsis"
        line.style = "dim" if not card.has_failed else ""
        yield line


def _changes(changes: Sequence[FileChange]) -> Iterator[RenderableType]:
    for change in changes:
        if len(changes) > 1:
            yield Text(harmless(change.summary), "bold")
        yield from diff_lines(change, DIFF_LINES)


def diff_lines(change: FileChange, most: int = 0) -> Iterator[Text]:
    """Yield the lines of a diff, all or the first ones."""
    shown = change.lines[:most] if most else change.lines
    for line in shown:
        yield Text(
            harmless(line), DIFF_STYLES.get(line[:1], ""), no_wrap=bool(most), overflow="fold"
        )
    if hidden := len(change.lines) - len(shown):
        yield Text(f"… {hidden} more lines · ctrl-O opens them", "dim")


def consent_view(approval: ChatApproval, look: Look, *, is_agents: bool) -> RenderableType:
    """Return all that a call would do, so that users do not allow what they have not seen."""
    who = f"the agent “{approval.chat_title}”" if is_agents else f"“{approval.chat_title}”"
    head = Text(one_line(f"? {approval.tool_name}, asked by {who}"), "bold yellow")
    try:
        args: object = json.loads(approval.args)
    except ValueError:
        args = approval.args
    body: list[RenderableType] = []
    if is_readable_change(approval.tool_name, args):
        for change in changes_of(approval.tool_name, args):
            body += [Text(harmless(change.summary), "bold"), *diff_lines(change)]
    elif is_command(approval, args):
        assert isinstance(args, Mapping), "a command has arguments"
        command = harmless(args["command"])
        body.append(Syntax(command, "bash", theme=look.code_theme, word_wrap=True))
        rest = {name: value for name, value in args.items() if name != "command" and value}
        body += [Text(harmless(pretty(rest)), "dim")] if rest else []
    else:
        body.append(Text(harmless(pretty(args))))
    return Group(head, *[Padding(line, (0, 0, 0, 2)) for line in body])


def is_command(approval: ChatApproval, args: object) -> bool:
    """Tell whether a call runs a command that can be shown as such."""
    is_start = approval.tool_name.startswith(START)
    return not is_start and isinstance(args, Mapping) and isinstance(args.get("command"), str)


def deadline_text(approval: ChatApproval, at: datetime) -> str:
    """Return until when a call waits, and how long that is."""
    if approval.expires_at is None:
        return "it waits as long as it takes"
    left = max(0, int((approval.expires_at - at).total_seconds()))
    clock = approval.expires_at.astimezone().strftime("%H:%M:%S")
    return f"until {clock} ({left // 60}:{left % 60:02d} left), then it is denied"


def live_fragments(
    live: Unfinished, look: Look, *, rows: int, spinner: str
) -> list[tuple[str, str]]:
    """Return the end of what is unfinished, in so many rows, as fragments of prompt_toolkit."""
    views: list[RenderableType] = []
    if live.thought:
        tail = harmless(" ".join(live.thought[-look.width * 2 :].split()))
        words = len(live.thought.split())
        views.append(Text(f"∴ thinking, {words} words … {tail[-look.width + 30 :]}", "dim italic"))
    if live.markdown.strip():
        views.append(markdown_view(end_of(live.markdown, 2 * rows * look.width), look))
    views += [card_view(card, look, spinner=spinner) for card in live.calls]
    if not views:
        return []
    console = look.console()
    lines = console.render_lines(Group(*views), pad=False)[-rows:]
    return [fragment for line in lines for fragment in (*map(_fragment, line), ("", "\n"))][:-1]


def last_lines(text: str, most: int) -> tuple[str, int]:
    """Return the last lines of a text, and how many stand before them."""
    text = text.rstrip("\n")
    at = len(text)
    for _ in range(most):
        at = text.rfind("\n", 0, max(0, at))
        if at < 0:
            break
    shown = text[at + 1 :] if most else ""
    hidden = (text.count("\n") + 1 if text else 0) if not most else text.count("\n", 0, at + 1)
    return shown[-OUTPUT_CHARACTERS_MAX:], hidden


def end_of(text: str, length: int) -> str:
    """Return the end of a block that is too long to be seen whole: as text from the beginning of a
    word, as code and as a table with the lines that say what it is."""
    if len(text) <= length:
        return text
    begun = text.lstrip()
    lines_kept = 1 if begun.startswith(("```", "~~~")) else 2 if begun.startswith("|") else 0
    if not lines_kept:
        return text[-length:].partition(" ")[2]
    head = begun.split("\n", lines_kept)
    if len(head) <= lines_kept:
        return text[:length]
    end = head.pop()
    if len(end) > length:
        end = end[-length:]
        end = end.partition("\n")[2] or (end if lines_kept == 1 else "")
    return "\n".join([*(line[:length] for line in head), end])


def _fragment(segment: Segment) -> tuple[str, str]:
    return style_words(segment.style), segment.text


def style_words(style: Style | None) -> str:
    """Return a style of rich in the words of prompt_toolkit."""
    if style is None:
        return ""
    words = [
        name
        for name, is_set in (
            ("bold", style.bold),
            ("italic", style.italic),
            ("underline", style.underline),
            ("reverse", style.reverse),
            ("class:dim", style.dim),
        )
        if is_set
    ]
    for prefix, colour in (("fg", style.color), ("bg", style.bgcolor)):
        if colour is not None and colour.number is not None and colour.number < 16:
            words.append(f"{prefix}:{ANSI_NAMES[colour.number]}")
    return " ".join(words)


ANSI_NAMES = (
    *("ansiblack", "ansired", "ansigreen", "ansiyellow", "ansiblue", "ansimagenta", "ansicyan"),
    *("ansigray", "ansibrightblack", "ansibrightred", "ansibrightgreen", "ansibrightyellow"),
    *("ansibrightblue", "ansibrightmagenta", "ansibrightcyan", "ansiwhite"),
)


def fitted(text: str, columns: int) -> str:
    """Return a text on one line that takes no more columns; wide letters take two."""
    flat = " ".join(text.split()) if "\n" in text else text
    if cell_len(flat) <= columns:
        return flat
    return set_cell_size(flat, max(1, columns - 1)).rstrip() + "…"


def wrapped(text: str, columns: int) -> list[str]:
    """Return a text as lines of so many columns; those that go on are indented."""
    first, *more = Text(text).wrap(_MEASURE, max(10, columns - 2)) or [Text("")]
    return [first.plain.rstrip(), *(f"  {line.plain.rstrip()}" for line in more)]
