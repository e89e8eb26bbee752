"""The layout of the window: one part below the other, each as high as it has to be."""

from typing import Protocol

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, has_completions
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import (
    BufferControl,
    CompletionsMenu,
    ConditionalContainer,
    Dimension,
    FormattedTextControl,
    HSplit,
    Layout,
    SearchBufferControl,
    Window,
)
from prompt_toolkit.layout.containers import AnyContainer
from prompt_toolkit.widgets import SearchToolbar

from adapters.cli.chat.deciding.asking import Ask
from adapters.cli.chat.deciding.pace import AskGate
from adapters.cli.chat.deciding.picking import PickList
from adapters.cli.chat.place.desk import Desk
from adapters.cli.chat.reading.cards import cut_line
from adapters.cli.chat.reading.drawing import fitted, wrapped
from adapters.cli.harmless import one_line
from promptcorner_client.transcript import text_of
from runtime.clock import wall

INPUT_ROWS_MAX = 10
# A terminal that becomes narrower breaks lines that are longer; what is broken is not erased whole.
RULE_COLUMNS_MAX = 80
COMPLETIONS_MAX = 8
QUEUE_ROWS_MAX = 3  # shown above the prompt; the list of ctrl-T has all


class WindowView(Protocol):
    """A window as its layout sees it."""

    buffer: Buffer
    query: Buffer
    app: Application[None]
    desk: Desk | None
    picking: PickList | None
    gate: AskGate
    draft: str

    @property
    def asked(self) -> Ask | None: ...
    def live_fragments(self) -> StyleAndTextTuples: ...
    def progress(self) -> str: ...
    def state(self) -> str: ...


def layout_of(window: WindowView) -> Layout:
    """Return the layout of a window; its parts ask the window what to show."""
    parts = WindowParts(window)
    search = SearchToolbar()
    prompt = Window(
        BufferControl(
            window.buffer, search_buffer_control=_control_of(search), preview_search=True
        ),
        height=Dimension(min=1, max=INPUT_ROWS_MAX),
        wrap_lines=True,
        dont_extend_height=True,
        get_line_prefix=parts.prefix,
    )
    query = Window(BufferControl(window.query), height=1, get_line_prefix=parts.query_prefix)
    is_picking = Condition(lambda: window.picking is not None)
    rows: list[AnyContainer] = [
        Window(height=1),  # between what was printed and what is not finished
        _shown_if(window.live_fragments, Condition(lambda: bool(window.live_fragments()))),
        _shown_if(parts.progress, Condition(lambda: bool(window.progress()))),
        _shown_if(parts.queue, Condition(lambda: bool(parts.queue())) & ~is_picking),
        _shown_if(parts.ask, Condition(lambda: window.asked is not None) & ~is_picking),
        _text(parts.rule),
        ConditionalContainer(_text(parts.rows), is_picking),
        ConditionalContainer(query, is_picking),
        ConditionalContainer(prompt, ~is_picking),
        search,
        ConditionalContainer(CompletionsMenu(max_height=COMPLETIONS_MAX), has_completions),
        Window(FormattedTextControl(parts.state), height=1),
    ]
    return Layout(HSplit(rows), focused_element=prompt)


def _control_of(search: SearchToolbar) -> SearchBufferControl:
    return search.control


def _text(content: object) -> Window:
    return Window(
        FormattedTextControl(content),  # type: ignore[arg-type]
        dont_extend_height=True,
        wrap_lines=False,
    )


def _shown_if(content: object, condition: object) -> ConditionalContainer:
    return ConditionalContainer(_text(content), condition)  # type: ignore[arg-type]


class WindowParts:
    """The contents of the parts of a window."""

    def __init__(self, window: WindowView) -> None:
        self._window = window

    def prefix(self, line: int, wrapped: int) -> StyleAndTextTuples:
        """Return what stands before a line of the prompt."""
        is_first = line == 0 and wrapped == 0
        return [("class:prompt", "> " if is_first else "  ")]

    def query_prefix(self, line: int, wrapped: int) -> StyleAndTextTuples:
        return [("class:prompt", "search ")]

    def rule(self) -> StyleAndTextTuples:
        return [("class:rule", "─" * min(RULE_COLUMNS_MAX, self._columns))]

    def progress(self) -> StyleAndTextTuples:
        return [("class:dim", self._fitted(self._window.progress()))]

    def queue(self) -> StyleAndTextTuples:
        """Return the messages that wait, and what is being reworded or kept for later."""
        desk = self._window.desk
        if desk is None:
            return []
        lines = []
        for one in desk.live.seen.queue[:QUEUE_ROWS_MAX]:
            sign = "↳" if one.busy_behavior == "steer" else "◷"
            lines.append(f"{sign} {cut_line(text_of(one.content)) or 'a file'}")
        if more := len(desk.live.seen.queue) - QUEUE_ROWS_MAX:
            lines += [f"  and {more} more"] if more > 0 else []
        if desk.rewording is not None:
            lines.append(desk.rewording.label)
        if self._window.draft:
            lines.append(f"kept for afterwards: {cut_line(self._window.draft)}")
        return joined([("class:dim", self._fitted(one_line(line))) for line in lines])

    def ask(self) -> StyleAndTextTuples:
        """Return the question, dim as long as keys do not answer it yet."""
        asked = self._window.asked
        if asked is None:
            return []
        is_open = self._window.gate.is_open
        shown = [
            (style if is_open else "class:dim", row)
            for style, text in asked.lines(wall())
            for row in wrapped(text, self._columns - 1)
        ]
        return joined(shown if is_open else [*shown, ("class:dim", "keys answer once you pause")])

    def rows(self) -> StyleAndTextTuples:
        picking = self._window.picking
        return [] if picking is None else joined(picking.lines(self._columns))

    def state(self) -> StyleAndTextTuples:
        """Return the line of state, loud if the connection is lost."""
        desk = self._window.desk
        is_lost = desk is not None and not desk.live.state().is_connected
        return [("class:lost" if is_lost else "class:state", self._window.state())]

    def _fitted(self, text: str) -> str:
        return fitted(text, self._columns - 1)

    @property
    def _columns(self) -> int:
        return self._window.app.output.get_size().columns


def joined(lines: list[tuple[str, str]]) -> StyleAndTextTuples:
    """Return lines with ends between them."""
    found: StyleAndTextTuples = []
    for number, line in enumerate(lines):
        found += [("", "\n"), line] if number else [line]
    return found
