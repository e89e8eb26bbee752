"""The words of commands: each teaches by examples, and what it teaches is understood."""

import importlib.metadata
import re
import shlex
from pathlib import Path

import pytest

from adapters.cli.command_line import WIDTH
from adapters.cli.main import COMMANDS, main
from adapters.settings import SETTINGS
from tests.adapters.cli.commands import all_commands, examples, is_understood

ROOT = Path(__file__).parents[3]
DOCUMENTS = ["README.md", "docs/deploy/README.md", "docs/configuration.md"]
EVERY = [
    pytest.param(words, one, id=" ".join(words[1:]) or "promptcorner")
    for words, one in all_commands()
]


@pytest.mark.parametrize(("words", "one"), EVERY)
def test_help_of_every_command_has_examples_of_it(words, one):
    text = one.format_help()

    begin = list(words[1:])
    assert any(example[: len(begin)] == begin for example in examples(text)), text


@pytest.mark.parametrize(("words", "one"), EVERY)
def test_every_example_is_understood(words, one):
    refused = [shlex.join(each) for each in examples(one.format_help()) if not is_understood(each)]

    assert [] == refused


@pytest.mark.parametrize(("words", "one"), EVERY)
def test_help_fits_into_a_window_and_says_what_each_flag_does(words, one):
    lines = one.format_help().splitlines()

    assert [] == [line for line in lines if len(line) > WIDTH]
    silent = [action.option_strings for action in one._actions if not action.help]
    assert [] == [flags for flags in silent if flags not in (["--email"], [])]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_the_documents_tell_one_to_type_is_understood(name):
    fenced = re.findall(r"```(\w*)\n(.*?)\n```", (ROOT / name).read_text(), re.DOTALL)
    found = [words for _, block in fenced for words in examples(block)]

    assert found
    assert [] == [shlex.join(words) for words in found if not is_understood(words)]


def test_every_command_is_in_the_list(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])

    listed = capsys.readouterr().out
    assert {each.name for each in COMMANDS} == set(re.findall(r"^    ([a-z-]+)\b", listed, re.M))


@pytest.mark.parametrize("command", ["serve", "doctor", "config show"])
def test_help_names_every_setting_with_its_variables(command, capsys):
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])

    shown = capsys.readouterr().out
    assert [] == [row.name for row in SETTINGS if not set(row.variables) <= set(_words(shown))]
    assert [] == [row.flag for row in SETTINGS if (row.flag in _words(shown)) is row.secret]


def _words(text):
    return re.findall(r"[\w-]+", text)


def test_no_flag_may_be_shortened(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--log-lev", "debug"])

    assert 2 == ended.value.code


def test_version_is_that_of_the_distribution(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])

    version = importlib.metadata.version("promptcorner")
    assert f"promptcorner {version}\n" == capsys.readouterr().out
