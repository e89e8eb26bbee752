"""Names of keys as two vendors' models write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.desktop.keys import keysyms_of, keysyms_of_names, keysyms_of_text
from actors.tools.desktop.steps import ActionRefused

CTRL, SHIFT, ALT, SUPER, META = 0xFFE3, 0xFFE1, 0xFFE9, 0xFFEB, 0xFFE7


@pytest.mark.parametrize(
    ("written", "keys"),
    [
        ("Return", (0xFF0D,)),
        ("ctrl+c", (CTRL, ord("c"))),
        ("Ctrl+C", (CTRL, ord("c"))),
        ("ctrl+shift+t", (CTRL, SHIFT, ord("T"))),
        ("alt+Tab", (ALT, 0xFF09)),
        ("super", (SUPER,)),
        ("Page_Down", (0xFF56,)),
        ("KP_0", (0xFFB0,)),
        ("F35", (0xFFE0,)),
        ("A", (ord("A"),)),
        ("+", (ord("+"),)),
        ("ctrl++", (CTRL, ord("+"))),
        ("ctrl+plus", (CTRL, ord("+"))),
        ("ctrl+minus", (CTRL, ord("-"))),
        ("€", (0x010020AC,)),
        ("ö", (0xF6,)),
        ("ctrl+ß", (CTRL, 0xDF)),
    ],
)
def test_a_combination_of_anthropics_models(written, keys):
    assert keys == keysyms_of(written)


@pytest.mark.parametrize(
    ("names", "keys"),
    [
        (["CTRL", "A"], (CTRL, ord("a"))),
        (["CTRL", "SHIFT", "a"], (CTRL, SHIFT, ord("A"))),
        (["META", "L"], (META, ord("l"))),
        (["CMD", "SPACE"], (SUPER, 0x20)),
        (["ENTER"], (0xFF0D,)),
        (["ESC"], (0xFF1B,)),
        (["ARROWLEFT"], (0xFF51,)),
        (["ArrowDown"], (0xFF54,)),
        (["BACKSPACE"], (0xFF08,)),
        (["DELETE"], (0xFFFF,)),
        (["PAGEUP"], (0xFF55,)),
        (["/"], (ord("/"),)),
        (["F5"], (0xFFC2,)),
    ],
)
def test_a_combination_of_openais_models(names, keys):
    assert keys == keysyms_of_names(names)


@pytest.mark.parametrize(
    ("names", "why"),
    [
        ([], "no key is named"),
        (["HYPERDRIVE"], "there is no key 'HYPERDRIVE'"),
        (list("abcdefghi"), "9 keys at once are too many, at most 8"),
        (["F36"], "there is no key"),
    ],
)
def test_what_is_no_combination_is_refused(names, why):
    with pytest.raises(ActionRefused, match=why):
        keysyms_of_names(names)


def test_lines_end_with_return_however_they_are_written():
    assert (0x61, 0xFF0D, 0x62, 0xFF09) == keysyms_of_text("a\r\nb\t")


@given(st.text(max_size=20))
def test_any_text_is_keys_or_is_refused(text):
    try:
        keys = keysyms_of_text(text)
    except ActionRefused:
        return
    assert all(0 < key < 2**29 for key in keys)


@given(st.text(max_size=30))
def test_any_name_is_keys_or_is_refused(text):
    try:
        keys = keysyms_of(text)
    except ActionRefused:
        return
    assert keys
