"""Lists of actions, as OpenAI's models send them."""

import pytest

from actors.tools.desktop.batches import LISTED_ACTIONS, ListedAction, PathPoint, steps_of_list
from actors.tools.desktop.geometry import FOR_OPENAI, NATIVE, ScreenSize
from actors.tools.desktop.steps import (
    LEFT,
    MIDDLE,
    RIGHT,
    ActionRefused,
    MovePointer,
    Pause,
    PressButton,
    PressKey,
    ReleaseButton,
    ReleaseKey,
)

SIZE = ScreenSize(100, 100)
AT = MovePointer(10, 20)
CTRL, ALT = 0xFFE3, 0xFFE9
BETWEEN = Pause(0.02)


def steps(*actions, told=SIZE, native=SIZE):
    return list(steps_of_list(actions, told, native))


def click(button, times=1):
    once = [PressButton(button), ReleaseButton(button)]
    return [step for number in range(times) for step in ([BETWEEN] if number else []) + once]


def at(type, **fields):
    return ListedAction(type, x=10, y=20, **fields)


@pytest.mark.parametrize(
    ("action", "done"),
    [
        (ListedAction("screenshot"), []),
        (at("move"), [AT]),
        (at("click", button="left"), [AT, *click(LEFT)]),
        (at("click", button="right"), [AT, *click(RIGHT)]),
        (at("click", button="wheel"), [AT, *click(MIDDLE)]),
        (
            at("click", button="back"),
            [PressKey(ALT), PressKey(0xFF51), ReleaseKey(0xFF51), ReleaseKey(ALT)],
        ),
        (
            at("click", button="forward"),
            [PressKey(ALT), PressKey(0xFF53), ReleaseKey(0xFF53), ReleaseKey(ALT)],
        ),
        (
            at("click", button="left", keys=("CTRL",)),
            [PressKey(CTRL), AT, *click(LEFT), ReleaseKey(CTRL)],
        ),
        (at("double_click"), [AT, *click(LEFT, 2)]),
        (
            ListedAction("drag", path=(PathPoint(10, 20), PathPoint(30, 40))),
            [AT, PressButton(LEFT), Pause(0.01), MovePointer(30, 40), ReleaseButton(LEFT)],
        ),
        (
            ListedAction("keypress", keys=("CTRL", "L")),
            [PressKey(CTRL), PressKey(108), ReleaseKey(108), ReleaseKey(CTRL)],
        ),
        (ListedAction("type", text="a"), [PressKey(97), ReleaseKey(97)]),
        (ListedAction("wait"), [Pause(1.0)]),
        (at("scroll", scroll_y=100), [AT, *click(5)]),
        (at("scroll", scroll_y=101), [AT, *click(5, 2)]),
        (at("scroll", scroll_y=-1, scroll_x=200), [AT, *click(4), *click(7, 2)]),
        (at("scroll", scroll_x=-100), [AT, *click(6)]),
        (at("scroll"), [AT]),
    ],
)
def test_an_action_is_done_in_these_steps(action, done):
    assert done == steps(action)


def test_actions_of_a_call_are_done_one_after_the_other_at_the_pixels_of_the_screen():
    done = steps(
        ListedAction("move", x=800, y=450), ListedAction("wait"), told=FOR_OPENAI, native=NATIVE
    )

    assert [MovePointer(960, 540), Pause(1.0)] == done


@pytest.mark.parametrize(
    ("action", "why"),
    [
        (ListedAction("fly"), "there is no action 'fly'; there are screenshot, move"),
        (ListedAction("click"), "x and y are missing; click needs them"),
        (at("click", button="third"), "it can be left, right, middle, wheel, back, forward"),
        (at("double_click", button="right"), "only the left button"),
        (ListedAction("drag", path=(PathPoint(1, 1),)), "path has 1 points; a drag needs 2"),
        (ListedAction("keypress"), "no key is named"),
        (ListedAction("type"), "text is missing"),
        (at("scroll", scroll_y=10_001), "at most 10000 at once"),
    ],
)
def test_one_action_that_cannot_be_done_refuses_the_whole_call(action, why):
    with pytest.raises(ActionRefused, match=why):
        steps(at("move"), action)


def test_a_call_has_a_bounded_number_of_actions():
    with pytest.raises(ActionRefused, match="65 actions are too many, at most 64"):
        steps(*[ListedAction("wait")] * 65)


def test_the_table_has_every_action_that_the_provider_has():
    assert set(LISTED_ACTIONS) == {
        "screenshot", "move", "click", "double_click", "drag", "keypress", "type", "scroll", "wait"
    }  # fmt: skip
