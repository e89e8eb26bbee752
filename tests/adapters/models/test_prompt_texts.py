"""Text that is written for a model, made plain."""

import pytest

from adapters.models.prompt_texts import is_too_long, visible_text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("", ""),
        ("as it is", "as it is"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a  \nb\t\n\nc", "a\nb\n\nc"),
        ("a\n\n\n\nb", "a\n\nb"),
        ("a\n \n\t\n \nb", "a\n\nb"),
        ("  a  \n", "a"),
        ("\u200b\ufeff", ""),
        ("a\u202eb\u2066c\u00add", "abcd"),
        ("a\u200cb", "a\u200cb"),
        ("👩\u200d💻", "👩💻"),
        ("  indented\n    more", "indented\n    more"),
    ],
)
def test_what_nobody_can_see_is_taken_out(text, clean):
    assert clean == visible_text(text)


def test_every_code_point_of_the_list_is_taken_out_and_no_neighbour():
    ranges = [
        (0xAD, 0xAD),
        (0x34F, 0x34F),
        (0x61C, 0x61C),
        (0x180E, 0x180E),
        (0x200B, 0x200B),
        (0x200D, 0x200F),
        (0x202A, 0x202E),
        (0x2060, 0x2064),
        (0x2066, 0x206F),
        (0xFEFF, 0xFEFF),
        (0xFFF9, 0xFFFB),
    ]
    gone = {code for low, high in ranges for code in range(low, high + 1)}
    near = {code + step for code in gone for step in (-1, 1)} - gone - {0x2029, 0x200A, 0x202F}

    assert set() == {code for code in gone if visible_text(f"a{chr(code)}b") != "ab"}
    assert set() == {code for code in near if visible_text(f"a{chr(code)}b") == "ab"}


def test_once_clean_it_stays_as_it_is():
    text = "\u200b a \r\n\r\n\r\n \u2066\n b "

    assert visible_text(text) == visible_text(visible_text(text))


def test_length_is_counted_in_bytes():
    assert not is_too_long("x" * 131_072)
    assert is_too_long("ä" * 65_537)
