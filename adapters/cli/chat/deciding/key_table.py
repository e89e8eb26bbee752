"""The keys and what they do: the table that is bound, and shown by /help. Pure."""

from dataclasses import dataclass
from enum import Enum, auto


class Action(Enum):
    """An action of a key."""

    SEND = auto()
    NEW_LINE = auto()
    STEER = auto()
    SEND_NOW = auto()
    STOP = auto()
    ESCAPE = auto()
    EDIT_EARLIER = auto()
    LEAVE = auto()
    OPEN = auto()
    QUEUE = auto()
    AGENTS = auto()
    PASTE_IMAGE = auto()
    SUSPEND = auto()
    CLEAR_SCREEN = auto()


@dataclass(frozen=True, slots=True)
class Key:
    """A key as prompt_toolkit names it, as people read it, and its action."""

    keys: tuple[str, ...]
    shown: str
    action: Action
    help: str
    needs_emacs: bool = False  # vi has another use for it


KEYS = (
    Key(("enter",), "Enter", Action.SEND, "send; while the model works: put it into the queue"),
    Key(("escape", "enter"), "Alt-Enter, ctrl-J", Action.NEW_LINE, "a new line"),
    Key(("c-j",), "", Action.NEW_LINE, ""),
    Key(("c-s",), "ctrl-S", Action.STEER, "while it works: the model reads this at its next step"),
    Key(("c-g",), "ctrl-G", Action.SEND_NOW, "while it works: stop it, and send this"),
    Key(("c-c",), "ctrl-C", Action.STOP, "stop the model; else drop the line that is typed"),
    Key(("escape",), "Esc", Action.ESCAPE, "stop the model, close a list", needs_emacs=True),
    Key(("escape", "escape"), "Esc Esc", Action.EDIT_EARLIER, "edit an earlier message", True),
    Key(("c-o",), "ctrl-O", Action.OPEN, "open a call, a result or thoughts whole"),
    Key(("c-t",), "ctrl-T", Action.QUEUE, "the queue: reword, reorder, remove, send now"),
    Key(("c-x", "c-a"), "ctrl-X ctrl-A", Action.AGENTS, "the agents: look into one, speak to it"),
    Key(("c-v",), "ctrl-V", Action.PASTE_IMAGE, "attach the picture on the clipboard", True),
    Key(("c-l",), "ctrl-L", Action.CLEAR_SCREEN, "clear the screen"),
    Key(("c-z",), "ctrl-Z", Action.SUSPEND, "put the terminal into the background"),
    Key(("c-d",), "ctrl-D", Action.LEAVE, "leave, on an empty line; the chat goes on"),
)
OF_THE_EDITOR = (
    ("Up, Down", "earlier messages, of all chats"),
    ("ctrl-R", "search them"),
    ("Tab", "complete a command, a model, a chat, an @file"),
    ("ctrl-X ctrl-E", "write in $EDITOR"),
)


class InterruptMeaning(Enum):
    """The meaning of ctrl-C."""

    STOP_MODEL = auto()
    DROP_TEXT = auto()
    SAY_HOW = auto()


def meaning_of_interrupt(*, works: bool, has_text: bool) -> InterruptMeaning:
    """Return what ctrl-C does: it stops before it drops, and never leaves."""
    if works:
        return InterruptMeaning.STOP_MODEL
    return InterruptMeaning.DROP_TEXT if has_text else InterruptMeaning.SAY_HOW


def keys_text() -> str:
    """Return the keys, a line each."""
    shown = [(key.shown, key.help) for key in KEYS if key.shown] + list(OF_THE_EDITOR)
    width = max(len(name) for name, _ in shown)
    return "\n".join(f"  {name.ljust(width)}  {help}" for name, help in shown)
