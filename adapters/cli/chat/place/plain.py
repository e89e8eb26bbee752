"""The chat as plain lines: nothing is drawn anew, so that a screen reader reads each line once.

The terminal itself edits the line that is typed. What is said is printed in whole blocks, with
words in the place of signs; a question is printed with its answers, and the next line answers it.
"""

import asyncio
import os
import shutil
import sys
from collections import deque
from collections.abc import Sequence

from adapters.cli.chat.deciding.asking import Ask
from adapters.cli.chat.deciding.pace import TICK_SECONDS, AskGate, SleepWatch, key_of_ask
from adapters.cli.chat.deciding.picking import PickList
from adapters.cli.chat.place.desk import Desk, Pick
from adapters.cli.chat.place.devices import bell_text, look_at, show_in_pager
from adapters.cli.chat.reading.drawing import text_of_items
from adapters.cli.chat.reading.scrollback import Item, UserWords
from runtime.clock import wall

LINES_MAX = 100  # messages of one's own that are not repeated; further ones are
READ_BYTES = 65_536
STATUS_WORDS = {
    "running": "Working.\n",
    "interrupting": "Stopping.\n",
    "waiting": "Done.\n> ",
    "error": "Stopped with an error.\n> ",
}
CHOICES_MAX = 30  # of a list; searching finds the others


class PlainFront:
    """Lines in, lines out; fulfils `desk.Front`."""

    def __init__(self, *, bell: str) -> None:
        self.desk: Desk | None = None
        self._bell = bell
        self._left = asyncio.Event()
        self._typed = b""
        self._lines: deque[str] = deque(maxlen=LINES_MAX)  # typed here, and not yet heard of
        self._picking: tuple[PickList, asyncio.Future[Pick | None]] | None = None
        self._gate = AskGate()
        self._said_ask: object = None
        self._said_status = ""

    def show(self, items: Sequence[Item]) -> None:
        look = look_at(shutil.get_terminal_size().columns, theme="dark", is_plain=True)
        self._write(text_of_items([item for item in items if not self._is_own(item)], look))

    def changed(self) -> None:
        """Say what the chat does, once each time that it does something else."""
        if self.desk is None:
            return
        status = self.desk.live.seen.status
        if status == self._said_status:
            return
        self._said_status = status
        self._write(STATUS_WORDS.get(status, ""))

    def ring(self, why: str) -> None:
        self._write(bell_text(why, self._bell, os.environ))

    async def pick(self, rows: PickList) -> Pick | None:
        if self._picking is not None:
            self._choose("")  # of a list before, which was opened while this one was asked for
        lines = [rows.title]
        for number, row in enumerate(rows.rows[:CHOICES_MAX], 1):
            lines.append(f"{number}: {row.text}" + (f", {row.note}" if row.note else ""))
        self._write("\n".join([*lines, "Type a number; an empty line chooses nothing.", "? "]))
        future: asyncio.Future[Pick | None] = asyncio.get_running_loop().create_future()
        self._picking = rows, future
        return await future

    async def page(self, text: str) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(sys.stdin.fileno())
        try:
            await loop.run_in_executor(None, show_in_pager, text)
        finally:
            loop.add_reader(sys.stdin.fileno(), self._readable)

    def put(self, text: str) -> None:
        self._write(f"Not sent, or to be typed anew:\n{text}\n")

    def leave(self) -> None:
        self._left.set()

    def toggle_vi(self) -> bool:
        return False

    async def run(self) -> None:
        """Take lines until the user leaves."""
        loop, sleeps = asyncio.get_running_loop(), SleepWatch()
        loop.add_reader(sys.stdin.fileno(), self._readable)
        try:
            self._write("> ")
            while not self._left.is_set():
                if sleeps.look(wall().timestamp()) and self.desk is not None:
                    self.desk.live.spawn(self.desk.live.reconnect())
                self._ask(loop.time())
                try:
                    await asyncio.wait_for(self._left.wait(), TICK_SECONDS)
                except TimeoutError:
                    continue
        finally:
            loop.remove_reader(sys.stdin.fileno())

    def interrupt(self) -> None:
        """Do what ctrl-C means."""
        if self._picking is not None:
            self._choose("")
        elif self.desk is not None:
            self.desk.interrupt("")

    @property
    def _asked(self) -> Ask | None:
        return self.desk.live.asked if self.desk is not None else None

    def _ask(self, now: float) -> None:
        """Print a question, once."""
        asked = self._asked
        self._gate.look(asked, now)
        key = key_of_ask(asked)
        if asked is None or key == self._said_ask:
            self._said_ask = key
            return
        self._said_ask = key
        self._write("\n" + "\n".join(text for _, text in asked.lines(wall())) + "\n? ")

    def _readable(self) -> None:
        read = os.read(sys.stdin.fileno(), READ_BYTES)
        if not read:
            self.leave()
            return
        *lines, self._typed = (self._typed + read).split(b"\n")
        for line in lines:
            self._line(line.decode(errors="replace").rstrip("\r"))

    def _line(self, line: str) -> None:
        desk = self.desk
        if self._picking is not None:
            self._choose(line)
        elif desk is not None:
            self._lines.append(line)
            self._gate.look(self._asked, asyncio.get_running_loop().time())
            asked = self._asked if self._gate.is_open else None
            desk.live.spawn(desk.typed(line, asked=asked))

    def _choose(self, line: str) -> None:
        assert self._picking is not None, "there is a list to choose from"
        rows, future = self._picking
        self._picking = None
        number = int(line) if line.strip().isdecimal() else 0
        is_one = 1 <= number <= min(len(rows.rows), CHOICES_MAX)
        if not future.done():
            future.set_result(("enter", rows.rows[number - 1]) if is_one else None)

    def _is_own(self, item: Item) -> bool:
        """Tell whether an item was just typed here: then it stands there already."""
        if not isinstance(item, UserWords) or item.text not in self._lines:
            return False
        self._lines.remove(item.text)
        return True

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
