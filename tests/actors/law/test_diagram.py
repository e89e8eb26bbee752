"""The page on the states of a chat says what the table of the law says."""

import subprocess
import sys
from pathlib import Path

import pytest

from actors.law.diagram.drawing import COMMAND, draw
from actors.law.states import State
from actors.law.table import EVERYWHERE, REQUESTS

ROOT = Path(__file__).parents[3]
STATES = ROOT / "docs/states.md"


def check(page):
    command = [sys.executable, "-m", "actors.law.diagram", str(page), "--check"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_page_is_what_the_table_says():
    assert STATES.read_text(encoding="utf-8") == draw(), f"stale, draw it anew: {COMMAND}"


def test_the_page_has_a_row_for_every_request_and_a_column_for_every_state():
    rows = {line.split("|")[1].strip(): line for line in draw().splitlines() if "|" in line}

    assert {request.__name__ for request in REQUESTS if request not in EVERYWHERE} <= set(rows)
    assert [state.value for state in State] == rows[""].replace(" ", "").strip("|").split("|")


@pytest.mark.slow
def test_a_stale_page_is_told_with_the_command_that_draws_it(tmp_path):
    stale = tmp_path / "states.md"
    stale.write_text(draw().replace("R1", "R0", 1), encoding="utf-8")

    fresh, other, missing = check(STATES), check(stale), check(tmp_path / "none.md")

    assert (0, "") == (fresh.returncode, fresh.stderr)
    assert (1, 1) == (other.returncode, missing.returncode)
    assert f"not what the table of the law says, draw it anew: {COMMAND}" in other.stderr
