"""The steps in which a screen is operated, one thing at a time. Pure data.

Points are pixels of the screen itself. A key is the number by which X knows it, its *keysym*.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LEFT, MIDDLE, RIGHT = 1, 2, 3
SCROLL_BUTTONS = {"up": 4, "down": 5, "left": 6, "right": 7}
# Between the clicks of a double one. Programs take two at the very same time for one.
BETWEEN_CLICKS_SECONDS = 0.02
BETWEEN_MOVES_SECONDS = 0.01  # of a drag, so that it is seen to move


@dataclass(frozen=True, slots=True)
class MovePointer:
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class PressButton:
    button: int


@dataclass(frozen=True, slots=True)
class ReleaseButton:
    button: int


@dataclass(frozen=True, slots=True)
class PressKey:
    keysym: int


@dataclass(frozen=True, slots=True)
class ReleaseKey:
    keysym: int


@dataclass(frozen=True, slots=True)
class Pause:
    """Some time in which nothing is done."""

    seconds: float


DesktopStep = MovePointer | PressButton | ReleaseButton | PressKey | ReleaseKey | Pause


class ActionRefused(Exception):
    """An action that cannot be done; the words are for the model."""


def clicks(button: int, times: int = 1) -> Iterator[DesktopStep]:
    for number in range(times):
        if number:
            yield Pause(BETWEEN_CLICKS_SECONDS)
        yield PressButton(button)
        yield ReleaseButton(button)


def dragged(path: Sequence[tuple[int, int]]) -> Iterator[DesktopStep]:
    """Yield the steps that drag from the first point over the others."""
    first, *others = path
    yield MovePointer(*first)
    yield PressButton(LEFT)
    for point in others:
        yield Pause(BETWEEN_MOVES_SECONDS)
        yield MovePointer(*point)
    yield ReleaseButton(LEFT)


def pressed(keysyms: Sequence[int]) -> Iterator[DesktopStep]:
    """Yield the steps that press keys together: down in their order, up in the other one."""
    yield from held(keysyms, ())


def held(keysyms: Sequence[int], steps: Sequence[DesktopStep]) -> Iterator[DesktopStep]:
    """Yield steps while these keys are held down."""
    yield from map(PressKey, keysyms)
    yield from steps
    yield from map(ReleaseKey, reversed(keysyms))
