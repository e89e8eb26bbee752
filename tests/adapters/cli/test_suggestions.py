"""A word that no command knows is named, with the one that was perhaps meant, and nothing more."""

import pytest

from adapters.cli.main import main, parser
from adapters.cli.suggestions import unknown_word
from tests.adapters.cli.commands import all_commands


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            "serve --listn 0.0.0.0:7390",
            "promptcorner serve: unknown option --listn; did you mean --listen?",
        ),
        (
            "serve --listn=0.0.0.0:7390",
            "promptcorner serve: unknown option --listn; did you mean --listen?",
        ),
        ("sevre", "promptcorner: unknown command sevre; did you mean serve?"),
        ("providers ad x", "promptcorner providers: unknown command ad; did you mean add?"),
        (
            "providers add x --typ y",
            "promptcorner providers add: unknown option --typ; did you mean --type?",
        ),
        ("doctor --zzz", "promptcorner doctor: unknown option --zzz"),
        ("chat -x", "promptcorner chat: unknown option -x"),
    ],
)
def test_the_nearest_word_is_offered(words, says, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words.split())

    out, err = capsys.readouterr()
    assert (2, "", says) == (ended.value.code, out, err.splitlines()[0])
    assert 2 == len(err.splitlines())


@pytest.mark.parametrize(
    "words",
    [
        ["chat", "-m", "--listn"],
        ["chat", "-m--listn"],
        ["chat", "--message=--listn"],
        ["chat", "--", "--listn"],
        ["tokens", "create", "-1"],
    ],
)
def test_what_stands_behind_a_flag_is_no_flag(words):
    assert unknown_word(parser(), words) is None


def test_every_command_with_a_letter_too_many_is_understood():
    for path, _ in all_commands():
        words = list(path[1:])
        if words:
            found = unknown_word(parser(), [*words[:-1], f"{words[-1]}x"])
            assert words[-1] == found.nearest
