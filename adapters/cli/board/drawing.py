"""The board as the lines of a screen. Pure."""

import io
from collections.abc import Iterator, Sequence
from datetime import datetime

from rich.console import Console
from rich.text import Text

from adapters.cli.board.rows import (
    BoardFilter,
    BoardGroup,
    BoardRow,
    BoardState,
    age_of,
    cost_text,
    tokens_text,
)
from adapters.cli.command_line import printable

KEYS = "↑↓ choose · enter open · i interrupt · a archive · f filter · / search · q leave"
WIDTH_MIN = 40  # a narrower terminal shows the beginnings of lines
COLOURS = {BoardGroup.NEEDS: "yellow", BoardGroup.WORKS: "cyan", BoardGroup.RESTS: ""}
MARKS = {BoardGroup.NEEDS: "!", BoardGroup.WORKS: "●", BoardGroup.RESTS: " "}
AGE, TOKENS, COST = 5, 11, 11  # cells of these columns, with a gap before each


def frame(state: BoardState, at: datetime, *, width: int, height: int) -> Sequence[Text]:
    """Return exactly `height` lines of at most `width` cells."""
    body = max(1, height - 2)
    lines = list(_body(state, at, max(width, WIDTH_MIN)))
    chosen = next((number for number, (_, is_chosen) in enumerate(lines) if is_chosen), 0)
    first = max(0, min(chosen - body // 2, len(lines) - body))
    shown = [line for line, _ in lines[first : first + body]]
    shown += [Text("")] * (body - len(shown))
    every = [_head(state, width), *shown, _foot(state, width)][:height]
    for line in every:
        line.truncate(width, overflow="ellipsis")
    return every


def _head(state: BoardState, width: int) -> Text:
    rows = state.rows
    needs = sum(row.group is BoardGroup.NEEDS for row in rows)
    works = sum(row.group is BoardGroup.WORKS for row in rows)
    filtered = "" if state.filter is BoardFilter.ALL else f" · {state.filter.value} only"
    searched = f" · “{printable(state.search)}”" if state.search else ""
    chats = "1 chat" if len(rows) == 1 else f"{len(rows)} chats"
    counts = f"{chats} · {needs} need me · {works} at work{filtered}{searched}"
    return Text.assemble(("promptcorner ", "bold"), (counts, "bold yellow" if needs else ""))


def _foot(state: BoardState, width: int) -> Text:
    if state.typed is not None:
        return Text.assemble(("search: ", "bold"), printable(state.typed), ("▏", "bold"))
    if state.trouble:
        return Text(printable(state.trouble), "red")
    return Text(printable(state.said), "bold") if state.said else Text(KEYS, "dim")


def _body(state: BoardState, at: datetime, width: int) -> Iterator[tuple[Text, bool]]:
    """Yield the lines between head and foot, and whether each is the row that is selected."""
    rows, current = state.rows, state.current
    if not rows:
        words = without_chats(state) if state.is_loaded else "asking …"
        yield Text(f"  {words}", "dim"), False
    group = None
    for row in rows:
        if row.group is not group:
            if group is not None:
                yield Text(""), False
            group = row.group
            count = sum(each.group is group for each in rows)
            yield Text(f"{group.value} {count}", f"bold {COLOURS[group]}".strip()), False
        is_current = current is not None and row.id == current.id
        yield _line(row, at, width, is_current=is_current), is_current


def without_chats(state: BoardState) -> str:
    """Return what is said where there is no row."""
    if state.filter is not BoardFilter.ALL or state.search:
        return "no chat is like that"
    return "there are no chats yet: promptcorner chat begins one"


def _line(row: BoardRow, at: datetime, width: int, *, is_current: bool) -> Text:
    end = f"{age_of(row.since, at):>{AGE}}{tokens_text(row.detail):>{TOKENS}}"
    end += f"{cost_text(row.detail):>{COST}}"
    room = max(10, width - 4 - len(end))
    title, why = Text(printable(row.title) or "(no title)"), Text(printable(row.why))
    why_room = min(why.cell_len, max(room // 2, room - 1 - title.cell_len))
    why.truncate(why_room, overflow="ellipsis", pad=True)
    title.truncate(room - why_room - 1, overflow="ellipsis", pad=True)
    pointer = "▸ " if is_current else "  "
    line = Text.assemble(
        (pointer, "bold"),
        (MARKS[row.group] + " ", COLOURS[row.group]),
        (title.plain, "bold" if is_current else ""),
        " ",
        (why.plain, COLOURS[row.group] or "dim"),
        (end, "" if is_current else "dim"),
    )
    if is_current:
        line.stylize("reverse")
    return line


def encoded(lines: Sequence[Text], *, width: int, has_colours: bool) -> Sequence[str]:
    """Return lines as a terminal takes them."""
    console = Console(
        file=io.StringIO(),
        force_terminal=True,
        color_system="standard" if has_colours else None,
        no_color=not has_colours,
        width=width + 1,
        highlight=False,
        legacy_windows=False,
    )
    found = []
    for line in lines:
        with console.capture() as captured:
            console.print(line, end="", soft_wrap=True)
        found.append(captured.get())
    return found


def table_rows(state: BoardState, at: datetime) -> Sequence[Sequence[str]]:
    """Return the board as the rows of a table, for pipes."""
    return [
        (
            str(row.id),
            row.group.value,
            age_of(row.since, at),
            tokens_text(row.detail),
            cost_text(row.detail),
            row.why or "-",
            row.title or "-",
        )
        for row in state.rows
    ]
