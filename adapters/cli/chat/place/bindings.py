"""The keys of the window: those of `deciding.key_table`, of lists, and of what is asked."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from prompt_toolkit.filters import Condition, emacs_mode, is_searching, vi_navigation_mode
from prompt_toolkit.filters.base import Filter
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent, merge_key_bindings

from adapters.cli.chat.deciding.key_table import KEYS, Action
from adapters.cli.chat.place.commands import DeskCommands

if TYPE_CHECKING:
    from adapters.cli.chat.place.window import ChatWindow

PAGE_ROWS = 10
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
LIST_KEYS = {  # the keys of a list that do more than choose, and what a list calls them
    ("escape", "up"): "up",
    ("escape", "down"): "down",
    ("c-k",): "remove",
    ("c-g",): "promote",
}


def bind(window: "ChatWindow", commands: DeskCommands) -> None:
    """Give a window its keys."""
    keys = WindowKeys(window, commands)
    bound = [keys.of_the_table(), keys.of_asks(), keys.of_lists()]
    window.app.key_bindings = merge_key_bindings(bound)


class WindowKeys:
    """Binds keys to what a window and its desk do."""

    def __init__(self, window: "ChatWindow", commands: DeskCommands) -> None:
        self._window = window
        self._commands = commands
        self._is_typing = Condition(lambda: window.picking is None) & ~is_searching
        self._is_picking = Condition(lambda: window.picking is not None)

    def of_the_table(self) -> KeyBindings:
        """Return the keys that are there while the user types."""
        bindings = KeyBindings()
        actions = self._actions()
        for key in KEYS:
            when: Filter = self._is_typing
            if key.needs_emacs:
                when = when & emacs_mode
            if key.action in (Action.STEER, Action.SEND_NOW):
                when = when & Condition(self._has_line_at_work)
            if key.action is Action.LEAVE:
                when = when & Condition(lambda: not self._window.buffer.text)
            is_eager = key.action is Action.STOP
            bindings.add(*key.keys, filter=when, eager=is_eager)(actions[key.action])
        # Those of prompt_toolkit take what was written for sent: there is nothing that sends it.
        bindings.add("c-x", "c-e", filter=self._is_typing)(self._edit_outside)
        bindings.add("v", filter=self._is_typing & vi_navigation_mode)(self._edit_outside)
        return bindings

    def _actions(self) -> dict[Action, Callable[[KeyPressEvent], None]]:
        window, commands = self._window, self._commands
        return {
            Action.SEND: lambda event: self._enter(),
            Action.NEW_LINE: lambda event: window.buffer.insert_text("\n"),
            Action.STEER: lambda event: window.submit(busy="steer"),
            Action.SEND_NOW: lambda event: window.submit(busy="interrupt"),
            Action.STOP: lambda event: self._interrupt(),
            Action.ESCAPE: lambda event: self._escape(),
            Action.EDIT_EARLIER: lambda event: self._edit_earlier(),
            Action.LEAVE: lambda event: window.leave(),
            Action.OPEN: lambda event: self._spawn(commands.do_open()),
            Action.QUEUE: lambda event: self._spawn(commands.do_queue()),
            Action.AGENTS: lambda event: self._spawn(commands.do_agents()),
            Action.PASTE_IMAGE: lambda event: self._spawn(commands.do_image()),
            Action.SUSPEND: lambda event: window.app.suspend_to_background(),
            Action.CLEAR_SCREEN: lambda event: window.app.renderer.clear(),
        }

    def of_asks(self) -> KeyBindings:
        """Return the keys that answer what is asked, while the line is empty."""
        bindings = KeyBindings()
        for letter in LETTERS:
            bindings.add(letter, filter=self._is_typing & Condition(self._answers(letter)))(
                self._answer
            )
        return bindings

    def _answers(self, letter: str) -> Callable[[], bool]:
        def answers() -> bool:
            asked = self._window.asked
            is_open = self._window.gate.opens(asked) and not self._window.buffer.text
            return asked is not None and is_open and letter in {**asked.keys, **asked.prefixes}

        return answers

    def _answer(self, event: KeyPressEvent) -> None:
        asked, letter = self._window.asked, event.data
        if asked is None:
            return
        if (prefix := asked.prefixes.get(letter)) is not None:
            self._window.buffer.insert_text(prefix)
        else:
            self._window.answer(asked.keys[letter], asked=asked)

    def of_lists(self) -> KeyBindings:
        """Return the keys of a list that is chosen from."""
        bindings, window = KeyBindings(), self._window
        steps = {"up": -1, "c-p": -1, "down": 1, "c-n": 1}
        for name, by in {**steps, "pageup": -PAGE_ROWS, "pagedown": PAGE_ROWS}.items():
            bindings.add(name, filter=self._is_picking, eager=True)(self._moving(by))
        bindings.add("enter", filter=self._is_picking)(lambda event: window.finish_pick("enter"))
        for name in ("escape", "c-c", "c-d"):
            bindings.add(name, filter=self._is_picking)(lambda event: window.finish_pick(""))
        for keys, name in LIST_KEYS.items():
            when = self._is_picking & Condition(self._list_has(name))
            bindings.add(*keys, filter=when)(self._finishing(name))
        return bindings

    def _list_has(self, name: str) -> Callable[[], bool]:
        return lambda: self._window.picking is not None and name in self._window.picking.keys

    def _finishing(self, name: str) -> Callable[[KeyPressEvent], None]:
        return lambda event: self._window.finish_pick(name)

    def _moving(self, by: int) -> Callable[[KeyPressEvent], None]:
        def move(event: KeyPressEvent) -> None:
            if self._window.picking is not None:
                self._window.picking = self._window.picking.moved(by)

        return move

    def _enter(self) -> None:
        """Take the completion that is chosen, go on after a backslash, or send the line."""
        buffer = self._window.buffer
        state = buffer.complete_state
        if state is not None and state.current_completion is not None:
            buffer.complete_state = None
        elif buffer.document.current_line_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            self._window.submit()

    def _interrupt(self) -> None:
        window = self._window
        if window.desk is not None and window.desk.interrupt(window.buffer.text):
            window.buffer.reset()

    def _escape(self) -> None:
        """Close what is proposed, give up a message that is reworded, or stop the model."""
        window, desk = self._window, self._window.desk
        if desk is None:
            return
        if window.buffer.complete_state is not None:
            window.buffer.cancel_completion()
        elif desk.rewording is not None:
            desk.rewording = None
            window.buffer.reset()
        elif desk.live.works:
            self._spawn(desk.live.interrupt())

    def _edit_earlier(self) -> None:
        desk = self._window.desk
        if desk is None:
            return
        if desk.live.works:
            self._spawn(desk.live.interrupt())
        else:
            self._spawn(desk.edit_earlier())

    def _edit_outside(self, event: KeyPressEvent) -> None:
        self._spawn(self._window.edit_outside())

    def _has_line_at_work(self) -> bool:
        desk = self._window.desk
        return desk is not None and desk.live.works and bool(self._window.buffer.text.strip())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        desk = self._window.desk
        assert desk is not None, "a window takes keys once it has a desk"
        desk.live.spawn(desk.guarded(work))
