"""What models mean by their commands."""

import pytest

from actors.tools.commands import ParsedCommand, advice, parse_command, seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30.0),
        ("1m30s", 90.0),
        (" 1.5h ", 5_400.0),
        ("500ms", 0.5),
        (".5s", 0.5),
        ("0", 0.0),
        ("0s", 0.0),
        ("+2s", 2.0),
        ("100us", 0.0001),
        ("100\u00b5s", 0.0001),
        ("30", None),
        ("-5s", None),
        ("5 s", None),
        ("s", None),
        (".s", None),
        ("5d", None),
        ("", None),
        ("1s" * 100, None),
    ],
)
def test_durations(text, seconds):
    assert (
        seconds is None if seconds_of(text) is None else seconds == pytest.approx(seconds_of(text))
    )
    assert (seconds is None) is (seconds_of(text) is None)


@pytest.mark.parametrize(
    ("command", "means"),
    [
        ("make", ParsedCommand("make", False)),
        ("serve &", ParsedCommand("serve", True)),
        ("serve&\n", ParsedCommand("serve", True)),
        ("a & b &", ParsedCommand("a & b", True)),
        ("a & b", ParsedCommand("a & b", False)),
        ("make &&", ParsedCommand("make &&", False)),
        ("make |&", ParsedCommand("make |&", False)),
        ("echo \\&", ParsedCommand("echo \\&", False)),
    ],
)
def test_an_ampersand_at_the_end_means_the_background(command, means):
    assert means == parse_command(command, background=False)


def test_what_is_in_the_background_anyway_is_left_as_it_is():
    assert ParsedCommand("serve &", True) == parse_command("serve &", background=True)


@pytest.mark.parametrize(
    ("command", "is_advised"),
    [
        ("cat a.txt", True),
        ("  cat a.txt", True),
        ("category", False),
        ("rg -l word", True),
        ("grep -rl word .", True),
        ("grep --include-all word", True),
        ("rg word", False),
        ("rg word | wc -l", False),
        ("make", False),
    ],
)
def test_advice(command, is_advised):
    assert is_advised is bool(advice(command))
