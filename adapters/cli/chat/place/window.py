"""The window at the bottom of the terminal: what is unfinished, the prompt, the line of state.

What is finished is printed above it, once, and scrolls away as the output of any command does. The
window is erased before and drawn again after; terminals are told to show both at once.
"""

import asyncio
import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_input
from prompt_toolkit.styles import Style

from adapters.cli.chat.deciding.asking import Ask
from adapters.cli.chat.deciding.pace import TICK_SECONDS, AskGate, RedrawPace, SleepWatch
from adapters.cli.chat.deciding.picking import PickList
from adapters.cli.chat.place.desk import Desk, Pick
from adapters.cli.chat.place.devices import (
    InlineOutput,
    bell_text,
    history_of_lines,
    look_at,
    show_in_pager,
)
from adapters.cli.chat.place.layout import layout_of
from adapters.cli.chat.reading.drawing import Look, live_fragments, text_of_items
from adapters.cli.chat.reading.scrollback import Item
from adapters.cli.chat.reading.status_line import progress_text, spinner_at, state_line
from runtime.clock import wall

SECOND_ESC_SECONDS = 0.3
ROWS_KEPT = 10  # for the prompt and all around it; the rest may show what is unfinished
ROWS_MIN, ROWS_MAX = 3, 16
PRINTED_CHARACTERS_MAX = 32_768  # about so many at once, so that a slow terminal takes keys between
STYLE = Style.from_dict(
    {
        "dim": "ansibrightblack",
        "ask": "bold ansiyellow",
        "title": "bold",
        "chosen": "reverse",
        "prompt": "bold ansicyan",
        "rule": "ansibrightblack",
        "state": "ansibrightblack",
        "lost": "bold ansired",
        "completion-menu": "noinherit",
        "completion-menu.completion": "noinherit",
        "completion-menu.completion.current": "noinherit reverse",
        "completion-menu.meta.completion": "noinherit ansibrightblack",
        "completion-menu.meta.completion.current": "noinherit reverse",
        "scrollbar.background": "noinherit",
        "scrollbar.button": "noinherit reverse",
    }
)


class ChatWindow:
    """The place where a chat is shown and the user types; fulfils `desk.Front`."""

    def __init__(self, *, theme: str, bell: str, is_vi: bool) -> None:
        self._theme, self._bell = theme, bell
        self.desk: Desk | None = None
        self.picking: PickList | None = None
        self.gate = AskGate()
        self.draft = ""  # what was typed before a question opened
        self._picked: asyncio.Future[Pick | None] | None = None
        self._items: deque[Item] = deque()  # to be printed
        self._ready = ""  # the text of such items
        self._bells = ""
        self._is_dirty = self._is_away = False
        self._pace = RedrawPace()
        self._live: tuple[object, StyleAndTextTuples] = (None, [])
        output = InlineOutput.from_pty(sys.stdout, term=os.environ.get("TERM"))
        assert isinstance(output, InlineOutput), "it makes what it belongs to"
        output.enable_cpr = False  # nothing is asked of the terminal, so nothing waits for it
        self._output = output
        self.buffer = Buffer(
            multiline=True,
            history=history_of_lines() or InMemoryHistory(),
            complete_while_typing=True,
            tempfile_suffix=".md",  # of what $EDITOR is given
            on_text_changed=self._text_changed,
        )
        self.query = Buffer(multiline=False, on_text_changed=self._query_changed)
        self.app: Application[None] = Application(
            layout=layout_of(self),
            style=STYLE,
            input=create_input(sys.stdin),
            output=self._output,
            editing_mode=EditingMode.VI if is_vi else EditingMode.EMACS,
            erase_when_done=True,
            after_render=self._rendered,
        )
        self.app.timeoutlen = SECOND_ESC_SECONDS
        self.app.ttimeoutlen = 0.05

    # Front

    def show(self, items: Sequence[Item]) -> None:
        self._items += items
        self._is_dirty = True

    def changed(self) -> None:
        self._is_dirty = True

    def ring(self, why: str) -> None:
        self._bells = bell_text(why, self._bell, os.environ)

    def put(self, text: str) -> None:
        if self.buffer.text and self.buffer.text != text:
            self.buffer.append_to_history()
        self.buffer.text = text
        self.buffer.cursor_position = len(text)
        self.app.invalidate()

    async def pick(self, rows: PickList) -> Pick | None:
        self.finish_pick("")  # of a list before, which was opened while this one was asked for
        self.picking, self._picked = rows, asyncio.get_running_loop().create_future()
        picked = self._picked
        self.query.reset()
        self.app.layout.focus(self.query)
        self.app.invalidate()
        try:
            return await picked
        finally:
            if self._picked is picked:
                self.picking = self._picked = None
                self.app.layout.focus(self.buffer)
                self.reprint()

    async def page(self, text: str) -> None:
        await self.away(lambda: show_in_pager(text))

    def leave(self) -> None:
        if self.app.is_running and not self.app.is_done:
            self.app.exit()

    def toggle_vi(self) -> bool:
        is_vi = self.app.editing_mode is EditingMode.VI
        self.app.editing_mode = EditingMode.EMACS if is_vi else EditingMode.VI
        self.app.vi_state.reset()  # a search leaves it as if Esc had been pressed
        return not is_vi

    # What keys do

    @property
    def asked(self) -> Ask | None:
        return self.desk.live.asked if self.desk is not None else None

    def submit(self, *, busy: str = "") -> None:
        """Hand the line over, and begin a new one."""
        desk, line = self.desk, self.buffer.text
        if desk is None or (not line.strip() and not desk.attachments and self.asked is None):
            return
        opens_now = self.gate.look(self.asked, asyncio.get_running_loop().time())
        asked = self.asked if self.gate.is_open and not opens_now else None
        if line.strip() and asked is None:
            self.buffer.append_to_history()
        self.buffer.reset()
        self.app.vi_state.reset()  # each line begins in the mode in which one types
        self.answer(line, busy=busy, asked=asked)

    def answer(self, line: str, *, busy: str = "", asked: Ask | None = None) -> None:
        """Do what a line says."""
        desk = self.desk
        assert desk is not None, "a window takes keys once it has a desk"
        if asked is not None:
            self.gate.answered(asyncio.get_running_loop().time())
        desk.live.spawn(desk.typed(line, busy=busy, asked=asked))

    def finish_pick(self, key: str) -> None:
        """End the list with a key on the row that is chosen, or with nothing for an empty key."""
        rows = self.picking
        if rows is None or self._picked is None or self._picked.done():
            return
        chosen = rows.chosen
        self._picked.set_result((key, chosen) if key and chosen is not None else None)

    async def away(self, work: Callable[[], None]) -> None:
        """Give the terminal to another program, in a thread, until it ends."""
        self._is_away = True
        try:
            await run_in_terminal(work, in_executor=True)
        finally:
            self._is_away = False

    async def edit_outside(self) -> None:
        """Let the user write in $EDITOR."""
        self._is_away = True
        try:
            await self.buffer.open_in_editor()
        finally:
            self._is_away = False

    # Drawing

    def look(self) -> Look:
        return look_at(self.app.output.get_size().columns, theme=self._theme, is_plain=False)

    def live_fragments(self) -> StyleAndTextTuples:
        """Return what is unfinished; it is built anew only if it is another."""
        if self.desk is None:
            return []
        live, size = self.desk.live.unfinished(), self.app.output.get_size()
        spinner = spinner_at(asyncio.get_running_loop().time()) if live.calls else ""
        key = (live, size, spinner)
        if key != self._live[0]:
            rows = min(ROWS_MAX, max(ROWS_MIN, size.rows - ROWS_KEPT))
            fragments = live_fragments(live, self.look(), rows=rows, spinner=spinner)
            self._live = (key, [(style, text) for style, text in fragments])
        return self._live[1]

    def progress(self) -> str:
        """Return what the chat does now."""
        if self.desk is None:
            return ""
        live, now = self.desk.live, asyncio.get_running_loop().time()
        calls = len(live.unfinished().calls)
        text = progress_text(live.seen, now - live.began_at, calls=calls)
        return f"{spinner_at(now)} {text}" if text else ""

    def state(self) -> str:
        if self.desk is None:
            return ""
        facts = replace(self.desk.live.state(), attachments=len(self.desk.attachments))
        return state_line(facts, self.app.output.get_size().columns)

    def reprint(self) -> None:
        """Draw the window anew from its top: it may have become smaller."""
        if self._is_away or not self.app.is_running or self.app.is_done:
            return
        ready, self._ready = self._ready, ""
        bells, self._bells = self._bells, ""
        with self._output.held():
            self.app.renderer.erase(leave_alternate_screen=False)
            self._output.write_raw(ready + bells)
            self.app.render_counter += 1  # by which the parts know that they are to be built anew
            self.app.renderer.render(self.app, self.app.layout)
        self._is_dirty = False
        self._rendered(self.app)

    def draw_last(self) -> None:
        """Print what has not been printed when the window is closed."""
        sys.stdout.write(self._ready + text_of_items(self._items, self.look()))
        sys.stdout.flush()

    async def draw_news(self) -> None:
        """Draw what has happened, at a pace, until cancelled."""
        loop, sleeps = asyncio.get_running_loop(), SleepWatch()
        while True:
            works = self.desk is not None and (self.desk.live.works or self.asked is not None)
            await asyncio.sleep(TICK_SECONDS)
            if sleeps.look(wall().timestamp()) and self.desk is not None:
                self.desk.live.spawn(self.desk.live.reconnect())
            if self.gate.look(self.asked, loop.time()):
                self._keep_draft()
            elif self.asked is None and self.draft:
                self._restore_draft()
            if self._items or self._ready or self._bells:
                await self._build_items()
                self.reprint()
            elif (self._is_dirty or works) and self._pace.is_due(loop.time()):
                self._is_dirty = False
                self.app.invalidate()

    async def _build_items(self) -> None:
        """Make text of items, one after the other: keys are taken and answered between them."""
        while self._items and len(self._ready) < PRINTED_CHARACTERS_MAX:
            self._ready += text_of_items([self._items.popleft()], self.look())
            await asyncio.sleep(0)

    def _keep_draft(self) -> None:
        """Put aside what was typed before a question opened: it is no answer."""
        self.draft, text = "", self.buffer.text
        if text:
            self.buffer.reset()
            self.draft = text
        self._is_dirty = True

    def _restore_draft(self) -> None:
        if not self.buffer.text:
            self.put(self.draft)
        self.draft = ""

    def _rendered(self, app: Application[None]) -> None:
        self.app.min_redraw_interval = self._pace.drawn(asyncio.get_running_loop().time())

    def _text_changed(self, buffer: Buffer) -> None:
        if self.app.is_running:
            self.gate.typed(asyncio.get_running_loop().time())

    def _query_changed(self, buffer: Buffer) -> None:
        if self.picking is not None:
            self.picking = self.picking.narrowed(buffer.text)
