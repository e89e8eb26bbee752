"""The table of actions: what each needs, and what it does to the screen."""

import pytest

from actors.tools.desktop.actions import ACTIONS, DesktopAction, pause_of, steps_of
from actors.tools.desktop.geometry import ScreenSize
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

SIZE = ScreenSize(100, 100)  # as told, and as it is
DOUBLE = ScreenSize(200, 200)
AT = MovePointer(10, 20)
CTRL, SHIFT, RETURN = 0xFFE3, 0xFFE1, 0xFF0D


def steps(action, *, native=SIZE, **fields):
    return list(steps_of(DesktopAction(action, **fields), SIZE, native))


def click(button):
    return [PressButton(button), ReleaseButton(button)]


def key(keysym):
    return [PressKey(keysym), ReleaseKey(keysym)]


def refused(action, **fields):
    with pytest.raises(ActionRefused) as why:
        steps(action, **fields)
    return str(why.value)


AROUND = Pause(0.02)


@pytest.mark.parametrize(
    ("action", "fields", "done"),
    [
        ("screenshot", {}, []),
        ("cursor_position", {}, []),
        ("wait", {"duration": 5000}, []),
        ("mouse_move", {"coordinate": (10, 20)}, [AT]),
        ("left_click", {"coordinate": (10, 20)}, [AT, *click(LEFT)]),
        ("left_click", {}, click(LEFT)),
        (
            "left_click",
            {"coordinate": (10, 20), "text": "ctrl"},
            [AT, PressKey(CTRL), *click(LEFT), ReleaseKey(CTRL)],
        ),
        ("right_click", {"coordinate": (10, 20)}, [AT, *click(RIGHT)]),
        ("middle_click", {"coordinate": (10, 20)}, [AT, *click(MIDDLE)]),
        ("double_click", {"coordinate": (10, 20)}, [AT, *click(LEFT), AROUND, *click(LEFT)]),
        (
            "triple_click",
            {"coordinate": (10, 20)},
            [AT, *click(LEFT), AROUND, *click(LEFT), AROUND, *click(LEFT)],
        ),
        (
            "left_click_drag",
            {"start_coordinate": (1, 2), "coordinate": (10, 20)},
            [MovePointer(1, 2), PressButton(LEFT), Pause(0.01), AT, ReleaseButton(LEFT)],
        ),
        ("left_mouse_down", {}, [PressButton(LEFT)]),
        ("left_mouse_up", {"coordinate": (10, 20)}, [AT, ReleaseButton(LEFT)]),
        (
            "scroll",
            {"coordinate": (10, 20)},
            [AT, *click(5), AROUND, *click(5), AROUND, *click(5)],
        ),
        (
            "scroll",
            {"coordinate": (10, 20), "scroll_direction": "left", "scroll_amount": 1},
            [AT, *click(6)],
        ),
        ("key", {"text": "Return"}, key(RETURN)),
        (
            "key",
            {"text": "ctrl+s"},
            [PressKey(CTRL), PressKey(ord("s")), ReleaseKey(ord("s")), ReleaseKey(CTRL)],
        ),
        ("key", {"text": "Return a"}, [*key(RETURN), *key(ord("a"))]),
        ("key_down", {"text": "shift"}, [PressKey(SHIFT)]),
        ("key_up", {"text": "shift"}, [ReleaseKey(SHIFT)]),
        ("hold_key", {"text": "a"}, [PressKey(97), Pause(1.0), ReleaseKey(97)]),
        ("hold_key", {"text": "a", "duration": 250}, [PressKey(97), Pause(0.25), ReleaseKey(97)]),
        ("type", {"text": "é\n"}, [*key(0xE9), *key(RETURN)]),
    ],
)
def test_an_action_is_done_in_these_steps(action, fields, done):
    assert done == steps(action, **fields)


def test_points_are_those_of_the_screen():
    assert [MovePointer(21, 41)] == steps("mouse_move", coordinate=(10, 20), native=DOUBLE)


@pytest.mark.parametrize(
    ("action", "fields", "why"),
    [
        ("dance", {}, "there is no action 'dance'; there are screenshot,"),
        ("mouse_move", {}, "coordinate is missing; mouse_move needs it"),
        ("left_click_drag", {"coordinate": (1, 1)}, "start_coordinate is missing"),
        ("scroll", {}, "coordinate is missing"),
        ("scroll", {"coordinate": (1, 1), "scroll_direction": "in"}, "it can be up, down, left"),
        ("scroll", {"coordinate": (1, 1), "scroll_amount": 101}, "it can be 0 to 100"),
        ("scroll", {"coordinate": (1, 1), "scroll_amount": -1}, "it can be 0 to 100"),
        ("key", {}, "text is missing; key needs it"),
        ("key", {"text": "any"}, "there is no key 'any'"),
        ("type", {"text": ""}, "text is missing"),
        ("type", {"text": "a" * 10_001}, "at most 10000 are typed at once"),
        ("type", {"text": "\x1b[2J"}, "U+001B cannot be typed"),
        ("hold_key", {"text": "a", "duration": 60_001}, "it can be 0 to 60 s"),
        ("hold_key", {"text": "a", "duration": -1}, "it can be 0 to 60 s"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_field_and_the_limit(action, fields, why):
    assert why in refused(action, **fields)


def test_a_wait_is_a_second_where_the_model_does_not_say():
    assert Pause(1.0) == pause_of(DesktopAction("wait"))
    assert Pause(0.5) == pause_of(DesktopAction("wait", duration=500))
    with pytest.raises(ActionRefused, match="it can be 0 to 60 s"):
        pause_of(DesktopAction("wait", duration=float("inf")))


def test_every_action_of_the_table_leaves_nothing_down_that_it_pressed_itself():
    everything = {"coordinate": (1, 1), "start_coordinate": (2, 2), "text": "a"}
    stays = {"left_mouse_down", "left_mouse_up", "key_down", "key_up"}
    for action in ACTIONS.keys() - stays:
        down = set()
        for step in steps(action, **everything):
            match step:
                case PressButton(each) | PressKey(each):
                    down.add(each)
                case ReleaseButton(each) | ReleaseKey(each):
                    down.remove(each)
        assert not down, action
