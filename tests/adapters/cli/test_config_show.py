"""`promptcorner config show`."""

import json

import pytest

from adapters.cli.main import main
from adapters.settings import SETTINGS


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    """Nothing is set but what a test sets."""
    for row in SETTINGS:
        for name in row.variables:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PROMPTCORNER_CONFIG", "/dev/null")


def test_every_setting_is_shown_with_who_set_it(capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    assert 0 == main(["config", "show", "--origin", "--root-chats", "12"])

    shown = capsys.readouterr().out
    head, *lines = shown.splitlines()
    assert ["SETTING", "VALUE", "ORIGIN"] == head.split()
    assert [row.name for row in SETTINGS] == [line.split()[0] for line in lines]
    assert ["root_chats", "12", "--root-chats"] in [line.split() for line in lines]
    assert ["openai_api_key", "(set)", "OPENAI_API_KEY"] in [line.split() for line in lines]
    assert "sk-secret" not in shown


def test_programs_are_shown_json(capsys):
    assert 0 == main(["config", "show", "--json", "--log", "json"])

    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert {"name": "log", "value": "json", "origin": "--log"} == rows["log"]


def test_what_the_daemon_would_refuse_is_refused(capsys):
    assert 1 == main(["config", "show", "--pool-size", "0"])

    assert "promptcorner: config: --pool-size=0, must be 1..64\n" == capsys.readouterr().err


def test_names_that_others_chose_break_no_line():
    from adapters.cli.command_line import table

    assert "A   B\nx?  ?[31my\n" == table(("a", "b"), [("x\n", "\x1b[31my")])
