"""One action of Anthropic's tool as steps. Pure.

`ACTIONS` is the table: what each action needs, and what it does to the screen. `screenshot`,
`cursor_position` and `wait` do nothing to it; they are asked of the one who sees the screen.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from actors.tools.desktop.geometry import ScreenSize, to_native
from actors.tools.desktop.keys import keysyms_of, keysyms_of_text
from actors.tools.desktop.steps import (
    LEFT,
    MIDDLE,
    RIGHT,
    SCROLL_BUTTONS,
    ActionRefused,
    DesktopStep,
    MovePointer,
    Pause,
    PressButton,
    PressKey,
    ReleaseButton,
    ReleaseKey,
    clicks,
    dragged,
    held,
    pressed,
)

HELD_MS = 1_000  # a key, where the model does not say how long
SCROLLED = 3  # clicks of the wheel, likewise
SCROLLED_MAX = 100  # clicks of the wheel at once; more are refused
HELD_MS_MAX = 60_000  # a key, and a pause; a longer one is refused
WAITED_MS = 1_000  # where the model does not say how long


@dataclass(frozen=True, slots=True)
class DesktopAction:
    """An action as a model asks for it. Points are pixels of the size that it was told."""

    action: str
    coordinate: tuple[int, int] | None = None
    start_coordinate: tuple[int, int] | None = None
    text: str | None = None
    duration: float | None = None  # in milliseconds
    scroll_amount: int | None = None
    scroll_direction: str | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """An action whose points lie on the screen itself."""

    action: DesktopAction
    point: tuple[int, int] | None
    start: tuple[int, int] | None


Steps = Iterable[DesktopStep]
StepsOf = Callable[[_Asked], Steps]


def steps_of(
    action: DesktopAction, told: ScreenSize, native: ScreenSize
) -> tuple[DesktopStep, ...]:
    """Return the steps of an action. ActionRefused: it cannot be done, and why."""
    make = ACTIONS.get(action.action)
    if make is None:
        known = ", ".join(ACTIONS)
        raise ActionRefused(f"there is no action {action.action[:40]!r}; there are {known}")
    point, start = (
        None if at is None else to_native(at, told, native)
        for at in (action.coordinate, action.start_coordinate)
    )
    return tuple(make(_Asked(action, point, start)))


def pause_of(action: DesktopAction) -> Pause:
    """Return the pause that the action `wait` asks for."""
    return Pause(_milliseconds(action, default=WAITED_MS) / 1_000)


def _nothing(asked: _Asked) -> Steps:
    return ()


def _move(asked: _Asked) -> Steps:
    return (MovePointer(*_point(asked)),)


def _click(button: int, times: int = 1) -> StepsOf:
    def steps(asked: _Asked) -> Steps:
        """Click while the keys that `text` names are held. Without a point: where the pointer is,
        as Anthropic's own tool does."""
        at = () if asked.point is None else (MovePointer(*asked.point),)
        keys = keysyms_of(asked.action.text) if asked.action.text else ()
        return (*at, *held(keys, tuple(clicks(button, times))))

    return steps


def _drag(asked: _Asked) -> Steps:
    if asked.start is None:
        raise ActionRefused("start_coordinate is missing; say where the drag begins, as [x, y]")
    return dragged((asked.start, _point(asked)))


def _button(step: type[PressButton] | type[ReleaseButton]) -> StepsOf:
    def steps(asked: _Asked) -> Steps:
        at = () if asked.point is None else (MovePointer(*asked.point),)
        return (*at, step(LEFT))

    return steps


def _scroll(asked: _Asked) -> Steps:
    action = asked.action
    direction = action.scroll_direction or "down"
    amount = SCROLLED if action.scroll_amount is None else action.scroll_amount
    if direction not in SCROLL_BUTTONS:
        known = ", ".join(SCROLL_BUTTONS)
        raise ActionRefused(f"scroll_direction is {direction[:20]!r}; it can be {known}")
    if not 0 <= amount <= SCROLLED_MAX:
        raise ActionRefused(f"scroll_amount is {amount}; it can be 0 to {SCROLLED_MAX}")
    turned = tuple(clicks(SCROLL_BUTTONS[direction], amount))
    keys = keysyms_of(action.text) if action.text else ()
    return (MovePointer(*_point(asked)), *held(keys, turned))


def _key(asked: _Asked) -> Steps:
    """Press combinations one after the other: models write `Down Down Return`, too."""
    text = _text(asked)
    combinations = text.split() or ["space"]
    return [step for each in combinations for step in pressed(keysyms_of(each))]


def _key_down(asked: _Asked) -> Steps:
    return map(PressKey, keysyms_of(_text(asked)))


def _key_up(asked: _Asked) -> Steps:
    return map(ReleaseKey, reversed(keysyms_of(_text(asked))))


def _hold_key(asked: _Asked) -> Steps:
    pause = Pause(_milliseconds(asked.action, default=HELD_MS) / 1_000)
    return held(keysyms_of(_text(asked)), (pause,))


def _type(asked: _Asked) -> Steps:
    return [step for key in keysyms_of_text(_text(asked)) for step in pressed((key,))]


def _point(asked: _Asked) -> tuple[int, int]:
    if asked.point is None:
        raise ActionRefused(f"coordinate is missing; {asked.action.action} needs it, as [x, y]")
    return asked.point


def _text(asked: _Asked) -> str:
    if not asked.action.text:
        raise ActionRefused(f"text is missing; {asked.action.action} needs it")
    return asked.action.text


def _milliseconds(action: DesktopAction, *, default: int) -> float:
    wanted = default if action.duration is None else action.duration
    if not 0 <= wanted <= HELD_MS_MAX:
        raise ActionRefused(
            f"duration is {wanted / 1_000:g} s; it can be 0 to {HELD_MS_MAX // 1_000} s"
        )
    return wanted


WAIT, SCREENSHOT, CURSOR_POSITION = "wait", "screenshot", "cursor_position"
ACTIONS: Mapping[str, StepsOf] = MappingProxyType(
    {
        SCREENSHOT: _nothing,
        CURSOR_POSITION: _nothing,
        WAIT: _nothing,
        "mouse_move": _move,
        "left_click": _click(LEFT),
        "right_click": _click(RIGHT),
        "middle_click": _click(MIDDLE),
        "double_click": _click(LEFT, 2),
        "triple_click": _click(LEFT, 3),
        "left_click_drag": _drag,
        "left_mouse_down": _button(PressButton),
        "left_mouse_up": _button(ReleaseButton),
        "scroll": _scroll,
        "key": _key,
        "key_down": _key_down,
        "key_up": _key_up,
        "hold_key": _hold_key,
        "type": _type,
    }
)
