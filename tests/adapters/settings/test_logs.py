"""What becomes of an entry: a line of JSON, or a line for people."""

import json
import logging
import sys

import pytest

from adapters.settings import logs
from runtime.log import emit


@pytest.fixture(autouse=True)
def _root_logger():
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_for_a_machine_an_entry_is_a_line_of_json(capsys):
    logs.set_up("json", "info")

    emit("step.finished", "info", chat=42, seconds=0.5)

    entry = json.loads(capsys.readouterr().err)
    assert entry.pop("timestamp").endswith("Z")
    assert {"event": "step.finished", "level": "info", "chat": 42, "seconds": 0.5} == entry


def test_for_people_an_entry_is_a_line_of_words(capsys):
    logs.set_up("text", "info")

    emit("step.finished", "info", chat=42, model="a b", empty="")

    _, _, line = capsys.readouterr().err.partition(" ")
    assert "info step.finished chat=42 model='a b' empty=''\n" == line


def test_an_error_brings_its_traceback(capsys):
    logs.set_up("json", "info")

    try:
        raise KeyError("x")
    except KeyError as error:
        emit("step.crashed", "error", error=error)

    entry = json.loads(capsys.readouterr().err)
    assert "KeyError('x')" == entry["error"]
    assert "KeyError" == entry["exception"][0]["exc_type"]


@pytest.mark.parametrize("form", ["json", "text"])
def test_no_traceback_shows_what_a_function_held(capsys, form):
    logs.set_up(form, "info")

    def say(message):
        raise KeyError

    try:
        say("sec" + "ret")
    except KeyError as error:
        emit("step.crashed", "error", error=error)

    assert "secret" not in capsys.readouterr().err


def test_for_people_a_traceback_stands_below_the_line(capsys):
    logs.set_up("text", "info")

    try:
        raise KeyError("x")
    except KeyError as error:
        emit("step.crashed", "error", error=error)

    first, second, *_, last = capsys.readouterr().err.splitlines()
    assert first.endswith("error step.crashed error=KeyError('x')")
    assert ("Traceback (most recent call last):", "KeyError: 'x'") == (second, last)


def test_below_the_level_nothing_is_said(capsys):
    logs.set_up("text", "warning")

    emit("step.finished", "info")

    assert "" == capsys.readouterr().err


def test_entries_of_libraries_come_out_alike(capsys):
    logs.set_up("json", "info")

    logging.getLogger("somebody").warning("said %s", "this")

    entry = json.loads(capsys.readouterr().err)
    assert ("said this", "warning") == (entry["event"], entry["level"])


def test_automatically_it_is_json_where_no_terminal_is(capsys):
    assert not sys.stderr.isatty()
    logs.set_up("auto", "info")

    emit("step.finished", "info")

    assert "step.finished" == json.loads(capsys.readouterr().err)["event"]
