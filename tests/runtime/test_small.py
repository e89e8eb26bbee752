"""Time, backoff, logging, and the refusal to run without assertions."""

import logging
import subprocess
import sys
from datetime import UTC, timedelta
from pathlib import Path

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from runtime.backoff import delay_seconds
from runtime.clock import now, wall
from runtime.errors import require_assertions
from runtime.log import LOGGER_NAME, bind, emit

ROOT = Path(__file__).parents[2]


async def test_now_is_the_clock_of_the_run(autojump_clock):
    """T1: virtual here, so an hour takes no time."""
    before = now()

    await trio.sleep(3600)

    assert now() - before == 3600


def test_now_outside_a_run_means_nothing():
    """T1: so it is refused rather than taken from another clock."""
    with pytest.raises(RuntimeError):
        now()


def test_wall_is_aware():
    """T1: and in UTC."""
    assert wall().tzinfo == UTC
    assert timedelta(0) <= wall() - wall() + timedelta(seconds=1)


def test_a_backoff_doubles_up_to_its_cap():
    """T2: and stays there, however often it was tried."""
    delays = [delay_seconds(n, first_seconds=1, cap_seconds=60) for n in (1, 2, 3, 6, 7, 8, 10**9)]

    assert delays == [1, 2, 4, 32, 60, 60, 60]


@given(
    attempt=st.integers(1, 10**6),
    first=st.floats(0, 1e6),
    cap=st.floats(0, 1e6),
    spread=st.floats(0, 1),
    chance=st.floats(0, 1),
)
def test_chance_only_shortens_a_backoff(attempt, first, cap, spread, chance):
    """T2: by at most its spread, never below nothing."""
    full = delay_seconds(attempt, first_seconds=first, cap_seconds=cap)
    spread_out = delay_seconds(
        attempt, first_seconds=first, cap_seconds=cap, spread=spread, chance=chance
    )

    assert 0 <= full <= cap
    assert full * (1 - spread) <= spread_out <= full


def test_attempts_are_counted_from_one():
    """T2: the wait before the zeroth try is a bug of the caller's."""
    with pytest.raises(AssertionError):
        delay_seconds(0, first_seconds=1, cap_seconds=60)


def test_an_entry_is_a_name_a_level_and_fields(caplog):
    """T5: the fields ride on the record; an error becomes its traceback."""
    caplog.set_level(logging.DEBUG, logger=LOGGER_NAME)
    log = bind(chat=42, turn=7).bind(turn=8)
    error = ValueError("x")

    log.emit("step.finished", "info", parts=214)
    emit("step.failed", "error", error=error)

    finished, failed = caplog.records
    assert (finished.getMessage(), finished.levelno) == ("step.finished", logging.INFO)
    assert finished.fields == {"chat": 42, "turn": 8, "parts": 214}
    assert ("step.failed", {"error": error}) == (failed.getMessage(), failed.fields)
    assert error is failed.exc_info[1]
    assert finished.exc_info is None


def test_an_entry_below_the_level_is_not_made(caplog):
    """T5: nobody listens, nothing is written."""
    caplog.set_level(logging.INFO, logger=LOGGER_NAME)

    emit("step.began", "debug", step=1)

    assert caplog.records == []


def test_the_kernel_installs_no_handler():
    """T5: what becomes of entries is decided elsewhere."""
    assert logging.getLogger(LOGGER_NAME).handlers == []
    assert logging.getLogger(LOGGER_NAME).propagate


def test_assertions_are_on_here():
    """T6: nothing to refuse."""
    require_assertions()


@pytest.mark.slow
def test_python_without_assertions_is_refused():
    """T6: and says what to do."""
    program = "from runtime.errors import require_assertions; require_assertions()"

    run = subprocess.run(
        [sys.executable, "-O", "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert run.returncode != 0
    assert "python -O: assertions are off; start without -O" in run.stderr
