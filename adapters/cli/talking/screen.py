"""Where a chat is shown: a terminal that is drawn on again and again, or a pipe that is written to.

Both are told every event once the transcript has it, and as time passes.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from msgspec import UNSET
from rich.console import Console, Group
from rich.live import Live
from rich.segment import Segment, Segments
from rich.spinner import Spinner

from adapters.cli.talking import drawing
from promptcorner_client.transcript import Transcript, text_of
from promptcorner_client.wire import ChatMessage, ChatStreamEvent
from runtime.clock import now

FRAMES_PER_SECOND = 12
LINES_SPARED = 4  # below what is being said: its state, and the line that one types on


class Screen(Protocol):
    def show(self, event: ChatStreamEvent, seen: Transcript) -> None:
        """This happened, and that is how the chat looks now."""

    def tick(self, seen: Transcript) -> None:
        """Time has passed."""

    def end(self, seen: Transcript) -> None:
        """The chat rests."""


class Terminal:
    """What is being said is drawn below what is kept, and gives way to it once it is kept."""

    def __init__(self, console: Console, live: Live) -> None:
        self._console = console
        self._live = live
        self._began = now()
        self._drawn_at = self._began
        self._spinner = Spinner("dots")

    def show(self, event: ChatStreamEvent, seen: Transcript) -> None:
        if event.message is not UNSET:
            self._keep(event.message)  # what was shown of it while it was said goes next
        elif now() - self._drawn_at >= 1 / FRAMES_PER_SECOND:
            self.tick(seen)

    def _keep(self, message: ChatMessage) -> None:
        kept = None
        if message.role != "user":  # that one has just been typed
            kept = drawing.said(message, width=self._console.width)
        if kept is not None:
            self._live.update("")
            self._console.print(kept)

    def tick(self, seen: Transcript) -> None:
        self._drawn_at = now()
        self._spinner.update(text=drawing.state(seen, self._drawn_at - self._began))
        self._live.update(Group(self._preview(seen), self._spinner), refresh=True)

    def end(self, seen: Transcript) -> None:
        self._live.update("", refresh=True)
        last = drawing.ending(seen)
        if last is not None:
            self._console.print(last)

    def _preview(self, seen: Transcript) -> Segments:
        """As much of its end as there is room for: what has scrolled away cannot be drawn again."""
        whole = drawing.drawn(seen.preview, width=self._console.width, is_live=True)
        room = max(1, self._console.height - LINES_SPARED)
        lines = self._console.render_lines(whole, pad=False)[-room:]
        return Segments([segment for line in lines for segment in (*line, Segment.line())])


class Pipe:
    """What is kept of the answer, for programs; everything else goes to stderr."""

    def show(self, event: ChatStreamEvent, seen: Transcript) -> None:
        if event.message is UNSET or event.message.role == "user":
            return
        content = event.message.content or ()
        if event.message.role == "assistant" and (text := text_of(content)):
            sys.stdout.write(text + "\n")
            sys.stdout.flush()
        for part in content:
            if part.type in ("tool-call", "tool-result"):
                sys.stderr.write(drawing.row(part) + "\n")

    def tick(self, seen: Transcript) -> None:
        pass

    def end(self, seen: Transcript) -> None:
        last = drawing.ending(seen)
        if last is not None:
            sys.stderr.write(f"{last}\n")


@contextmanager
def opened(console: Console) -> Iterator[Screen]:
    """A screen for one turn."""
    if not console.is_terminal:
        yield Pipe()
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield Terminal(console, live)
