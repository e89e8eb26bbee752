"""A list of actions of OpenAI's tool as steps. Pure.

A call holds as many actions as the model wants to do before it sees the screen again. One that
cannot be done refuses the whole list, before anything is done.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from types import MappingProxyType

from actors.tools.desktop.geometry import ScreenSize, to_native
from actors.tools.desktop.keys import (
    ALT,
    ARROW_LEFT,
    ARROW_RIGHT,
    keysyms_of_names,
    keysyms_of_text,
)
from actors.tools.desktop.steps import (
    LEFT,
    MIDDLE,
    RIGHT,
    SCROLL_BUTTONS,
    ActionRefused,
    DesktopStep,
    MovePointer,
    Pause,
    clicks,
    dragged,
    held,
    pressed,
)

ACTIONS_MAX = 64  # in one call; a longer list is refused
PATH_MAX = 1_000  # points of a drag; likewise
PIXELS_PER_CLICK = 100  # of the wheel
SCROLLED_MAX = 100  # clicks of the wheel at once; more are refused
WAIT_SECONDS = 1.0

_BUTTONS = {"left": LEFT, "right": RIGHT, "middle": MIDDLE, "wheel": MIDDLE}
_KEYS_FOR_BUTTONS = {"back": (ALT, ARROW_LEFT), "forward": (ALT, ARROW_RIGHT)}


@dataclass(frozen=True, slots=True)
class PathPoint:
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class ListedAction:
    """One action of a list. Points are pixels of the size that the model was told."""

    type: str
    x: int | None = None
    y: int | None = None
    button: str | None = None
    keys: tuple[str, ...] | None = None  # held around the action, or pressed by it
    path: tuple[PathPoint, ...] | None = None
    scroll_x: int | None = None
    scroll_y: int | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class _Screen:
    """The size that the model was told, and that of the screen."""

    told: ScreenSize
    native: ScreenSize

    def point(self, action: ListedAction) -> tuple[int, int]:
        if action.x is None or action.y is None:
            raise ActionRefused(f"x and y are missing; {action.type} needs them")
        return to_native((action.x, action.y), self.told, self.native)


Steps = Sequence[DesktopStep]


def steps_of_list(
    actions: Sequence[ListedAction], told: ScreenSize, native: ScreenSize
) -> tuple[DesktopStep, ...]:
    """Return the steps of all actions of a call. ActionRefused: one cannot be done, and why."""
    if len(actions) > ACTIONS_MAX:
        raise ActionRefused(f"{len(actions)} actions are too many, at most {ACTIONS_MAX} at once")
    screen = _Screen(told, native)
    return tuple(step for action in actions for step in _steps(action, screen))


def _steps(action: ListedAction, screen: _Screen) -> Steps:
    make = LISTED_ACTIONS.get(action.type)
    if make is None:
        known = ", ".join(LISTED_ACTIONS)
        raise ActionRefused(f"there is no action {action.type[:40]!r}; there are {known}")
    steps = make(action, screen)
    if action.keys and action.type != "keypress":
        return tuple(held(keysyms_of_names(action.keys), steps))
    return steps


def _nothing(action: ListedAction, screen: _Screen) -> Steps:
    return ()


def _move(action: ListedAction, screen: _Screen) -> Steps:
    return (MovePointer(*screen.point(action)),)


def _click(action: ListedAction, screen: _Screen) -> Steps:
    button = (action.button or "left").lower()
    if button in _KEYS_FOR_BUTTONS:
        return tuple(pressed(_KEYS_FOR_BUTTONS[button]))
    if button not in _BUTTONS:
        known = ", ".join((*_BUTTONS, *_KEYS_FOR_BUTTONS))
        raise ActionRefused(f"button is {button[:20]!r}; it can be {known}")
    return (MovePointer(*screen.point(action)), *clicks(_BUTTONS[button]))


def _double_click(action: ListedAction, screen: _Screen) -> Steps:
    if action.button and action.button.lower() != "left":
        raise ActionRefused("only the left button can be clicked twice; click others one by one")
    return (MovePointer(*screen.point(action)), *clicks(LEFT, 2))


def _drag(action: ListedAction, screen: _Screen) -> Steps:
    path = action.path or ()
    if not 2 <= len(path) <= PATH_MAX:
        raise ActionRefused(f"path has {len(path)} points; a drag needs 2 to {PATH_MAX}")
    points = [to_native((point.x, point.y), screen.told, screen.native) for point in path]
    return tuple(dragged(points))


def _keypress(action: ListedAction, screen: _Screen) -> Steps:
    return tuple(pressed(keysyms_of_names(action.keys or ())))


def _type(action: ListedAction, screen: _Screen) -> Steps:
    if not action.text:
        raise ActionRefused("text is missing; type needs it")
    return tuple(step for key in keysyms_of_text(action.text) for step in pressed((key,)))


def _scroll(action: ListedAction, screen: _Screen) -> Steps:
    down = _turned(action.scroll_y or 0, forth="down", back="up")
    across = _turned(action.scroll_x or 0, forth="right", back="left")
    return (MovePointer(*screen.point(action)), *down, *across)


def _turned(pixels: int, *, forth: str, back: str) -> Steps:
    times = ceil(abs(pixels) / PIXELS_PER_CLICK)
    if times > SCROLLED_MAX:
        most = SCROLLED_MAX * PIXELS_PER_CLICK
        raise ActionRefused(f"{abs(pixels)} pixels are too far, at most {most} at once")
    return tuple(clicks(SCROLL_BUTTONS[forth if pixels > 0 else back], times))


def _wait(action: ListedAction, screen: _Screen) -> Steps:
    return (Pause(WAIT_SECONDS),)


LISTED_ACTIONS: Mapping[str, Callable[[ListedAction, _Screen], Steps]] = MappingProxyType(
    {
        "screenshot": _nothing,  # of the whole call there is one, at its end
        "move": _move,
        "click": _click,
        "double_click": _double_click,
        "drag": _drag,
        "keypress": _keypress,
        "type": _type,
        "scroll": _scroll,
        "wait": _wait,
    }
)
