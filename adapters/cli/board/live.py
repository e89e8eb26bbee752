"""The board while it is open: keys, news of chats, facts about those that are seen, and frames.

A frame is drawn when something has changed, ten times a second at most, and only the lines that
differ are written. While nothing works, the clock turns once a minute; a board that nobody touches
looks at the time every two seconds in between, and does nothing else.
"""

import os
import signal
import subprocess
import sys
import termios
import tty
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

import trio

from adapters.cli.board.details import details_of
from adapters.cli.board.drawing import encoded, frame
from adapters.cli.board.news import ChatListWatcher, ask_quietly, query_of
from adapters.cli.board.rows import (
    BoardGroup,
    BoardState,
    RowGate,
    keys_of,
)
from adapters.cli.chat.deciding.pace import SleepWatch
from adapters.cli.daemon_place import DaemonPlace
from promptcorner_client import api
from promptcorner_client.wire import Chat
from runtime.clock import wall

FRAME_SECONDS = 0.1  # between two frames, at least
WORKING_SECONDS = 5.0  # between two looks at what chats at work do and cost
RESTING_SECONDS = 60.0  # between two frames where only the clock turns
SLEEP_LOOK_SECONDS = 2.0  # between two looks whether the machine has slept
DETAILS_MAX = 60  # chats that are asked about at once: those at the top
KEY_BYTES = 1024
OPEN, CLOSE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"  # another screen, no cursor; back


class LiveBoard:
    """The board of one user, from the first frame to the last key."""

    def __init__(
        self, locate: Callable[[], DaemonPlace], state: BoardState, more_words: Sequence[str]
    ) -> None:
        self._locate = locate
        self._more_words = more_words  # of the command that opens a chat
        self._state = state
        self._gate = RowGate()
        self._drawn: Sequence[str] = ()
        self._changed = trio.Event()
        self._wanting = trio.Event()  # set when facts of chats are to be asked for
        self._stale: set[UUID] = set()  # chats whose facts are older than their last news
        self._has_colours = "NO_COLOR" not in os.environ
        self._watcher = ChatListWatcher(
            locate,
            on_list=self._take_list,
            on_chat=self._take_chat,
            on_gone=lambda id: self._become(self._state.without(id)),
            on_trouble=lambda why: self._become(replace(self._state, trouble=why)),
        )
        self._watcher.query = query_of(state)
        self._requests: trio.Nursery

    async def run(self) -> int:
        """Show the board until the user leaves; return the exit code."""
        with _own_screen(), trio.open_signal_receiver(signal.SIGINT, signal.SIGWINCH) as signals:
            async with trio.open_nursery() as self._requests:
                self._requests.start_soon(self._watcher.run)
                self._requests.start_soon(self._draw)
                self._requests.start_soon(self._learn)
                self._requests.start_soon(self._turn_clock)
                self._requests.start_soon(self._notice_sleep)
                self._requests.start_soon(self._heed, signals)
                await self._read_keys()
                self._requests.cancel_scope.cancel()
        return 0

    # the state, and what changes it

    def _become(self, state: BoardState) -> None:
        self._state = state
        self._changed.set()

    def _take_list(self, chats: list[Chat]) -> None:
        self._stale |= {chat.id for chat in chats}
        known = {chat.id: chat for chat in chats}
        self._become(replace(self._state, chats=known, is_loaded=True, trouble=""))
        self._wanting.set()

    def _take_chat(self, chat: Chat) -> None:
        """Take in news of a chat, if it is one of those that were searched for."""
        root = chat.root_chat_id
        if self._watcher.query and root not in self._state.chats:
            return
        self._stale.add(root)
        self._become(self._state.with_chat(chat))
        self._wanting.set()

    def _say(self, words: str) -> None:
        self._become(replace(self._state, said=words))

    # tasks

    async def _draw(self) -> None:
        while True:
            self._changed = trio.Event()
            self._write_frame()
            await trio.sleep(FRAME_SECONDS)
            await self._changed.wait()

    def _write_frame(self) -> None:
        width, height = os.get_terminal_size(sys.stdout.fileno())
        lines = frame(self._state, wall(), width=width, height=height)
        drawn = encoded(lines, width=width, has_colours=self._has_colours)
        if len(drawn) != len(self._drawn):
            self._drawn = [""] * len(drawn)
            sys.stdout.write("\x1b[2J")
        changes = [
            f"\x1b[{number};1H{line}\x1b[K"
            for number, (line, before) in enumerate(zip(drawn, self._drawn, strict=True), 1)
            if line != before
        ]
        sys.stdout.write("".join(changes))
        sys.stdout.flush()
        self._drawn = drawn
        row = self._state.current
        self._gate.drawn(row.id if row is not None else None, trio.current_time())

    async def _turn_clock(self) -> None:
        """Look again at what works, and let the ages of rows grow."""
        while True:
            with trio.move_on_after(WORKING_SECONDS if self._working() else RESTING_SECONDS):
                await self._wanting.wait()  # a chat that begins to work shortens the pause
                await trio.sleep(WORKING_SECONDS)
            working = self._working()
            self._stale |= set(working)
            if working:
                self._wanting.set()
            self._changed.set()

    async def _notice_sleep(self) -> None:
        """Make the connection anew after the machine has slept: it may be dead without a word."""
        sleeps = SleepWatch()
        while True:
            if sleeps.look(wall().timestamp()):
                self._watcher.reload(self._watcher.query)
            await trio.sleep(SLEEP_LOOK_SECONDS)

    def _working(self) -> Sequence[UUID]:
        return [row.id for row in self._state.rows if row.group is BoardGroup.WORKS]

    async def _learn(self) -> None:
        """Ask for the facts of chats that have news, the uppermost first."""
        while True:
            await self._wanting.wait()
            self._wanting = trio.Event()
            place = self._watcher.place
            if place is None:
                continue  # a list that comes again wants them again
            rows = self._state.rows[:DETAILS_MAX]
            asked = [self._state.chats[row.id] for row in rows if row.id in self._stale]
            self._stale -= {chat.id for chat in asked}
            await ask_quietly(self._take_facts(place, asked), self._say)
            await trio.sleep(FRAME_SECONDS)

    async def _take_facts(self, place: DaemonPlace, chats: Sequence[Chat]) -> None:
        # The connection of the list may end at any time, and these have one of their own.
        async with place.client() as client:
            found = await details_of(client, chats)
        if found:
            self._become(replace(self._state, details={**self._state.details, **found}))

    async def _heed(self, signals: AsyncIterator[int]) -> None:
        async for number in signals:
            if number == signal.SIGINT:
                self._requests.cancel_scope.cancel()
                return
            self._drawn = ()  # another size: every line is written anew
            self._changed.set()

    async def _read_keys(self) -> None:
        while True:
            await trio.lowlevel.wait_readable(sys.stdin.fileno())
            data = os.read(sys.stdin.fileno(), KEY_BYTES)
            if not data:
                return
            for key in keys_of(data):
                if self._state.typed is not None:
                    self._type(key)
                elif key in ("q", "escape"):
                    return
                else:
                    self._press(key)

    # keys

    def _press(self, key: str) -> None:
        height = os.get_terminal_size(sys.stdout.fileno()).lines
        moves = {"up": -1, "k": -1, "down": 1, "j": 1, "page up": -height, "page down": height}
        ends = {"home": -len(self._state.rows), "end": len(self._state.rows)}
        if key in moves or key in ends:
            self._become(self._state.moved((moves | ends)[key]))
            return self._gate.moved(self._state.selected)
        match key:
            case "/":
                self._become(replace(self._state, typed=self._state.search, said=""))
            case "f":
                self._search(replace(self._state, filter=self._state.filter.next, said=""))
            case "r":
                self._search(self._state)
            case "enter":
                self._open()
            case "i":
                self._act("interrupted", api.interrupt)
            case "a":
                self._act("archived", api.archive)

    def _type(self, key: str) -> None:
        """Change the search that is being typed."""
        typed = self._state.typed or ""
        match key:
            case "enter":
                self._search(replace(self._state, search=typed.strip(), typed=None))
            case "escape":
                self._become(replace(self._state, typed=None))
            case "backspace":
                self._become(replace(self._state, typed=typed[:-1]))
            case _ if len(key) == 1:
                self._become(replace(self._state, typed=typed + key))

    def _search(self, state: BoardState) -> None:
        self._become(state)
        self._watcher.reload(query_of(state))

    def _act(self, done: str, request: Callable[[UUID], api.ApiRequest[Any]]) -> None:
        """Ask the daemon to do something with the chat that is selected."""
        row, place = self._state.current, self._watcher.place
        if row is None or place is None:
            return
        if not self._gate.takes(row.id, trio.current_time()):
            return self._say(f"nothing is done: look at {row.title}, and press the key again")

        async def act() -> None:
            async with place.client() as client:
                await client.request(request(row.id))
            self._say(f"{done}: {row.title}")

        self._requests.start_soon(ask_quietly, act(), self._say)

    def _open(self) -> None:
        """Leave the screen to a conversation, and come back when it is over."""
        row = self._state.current
        if row is None:
            return
        words = [sys.executable, "-P", "-m", "promptcorner", "chat", str(row.id)]
        with _others_screen():
            subprocess.run([*words, *self._more_words], check=False)
        self._drawn = ()
        self._search(replace(self._state, selected=row.id, said=""))


@contextmanager
def _own_screen() -> Iterator[None]:
    """Take the terminal for as long as the block runs: each key at once, and none is echoed."""
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        sys.stdout.write(OPEN)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
        sys.stdout.write(CLOSE)
        sys.stdout.flush()


@contextmanager
def _others_screen() -> Iterator[None]:
    """Give the terminal to another program, which ctrl-C is for meanwhile."""
    ours = termios.tcgetattr(sys.stdin)
    lines = termios.tcgetattr(sys.stdin)
    lines[3] |= termios.ECHO | termios.ICANON
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout.write(CLOSE)
    sys.stdout.flush()
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, lines)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, ours)
        signal.signal(signal.SIGINT, handler)
        sys.stdout.write(OPEN + "\x1b[2J")
