"""Whole runs of `promptcorner bench`, tiny ones: a daemon of its own, one that runs, a kill."""

import json
import signal
import subprocess

import pytest

from tests.e2e.daemons import a_daemon, command, environment, run
from tests.e2e.processes import belonging_to, eventually

pytestmark = pytest.mark.slow

TOKEN = "a-token-of-the-first-admin-for-these-tests"
TINY = (
    *("--chats=3", "--turns=2", "--deltas=10", "--delta-ms=2"),
    *("--spread=0.1", "--think=0", "--interrupts=1"),
)


def test_a_run_starts_and_ends_its_own_daemon_and_writes_its_results(home):
    home.mkdir(mode=0o755)

    code, out, err = run("bench", *TINY, "--out", home / "results", TMPDIR=str(home))

    assert (0, "") == (code, err), out + err
    assert "no failures" in out
    told = json.loads((home / "results" / "load.json").read_text())
    [row] = told["rows"]
    assert {"initial", "follow_up", "interrupt"} == set(row["phases"])
    assert 30 == row["floor"]["deltas"] == row["phases"]["follow_up"]["deltas"]
    assert {} == row["failures"]
    assert {"request", "first_words", "deltas", "turn", "send"} <= set(
        row["phases"]["follow_up"]["times"]
    )
    assert {"admit", "commit", "start", "prepare", "all"} == set(
        row["phases"]["follow_up"]["stages"]
    )
    assert 0 < row["phases"]["initial"]["cpu"]["postgresql"] + row["memory"]["pss"]
    assert ["load.json", "load.md", "load.svg"] == sorted(
        each.name for each in (home / "results").iterdir()
    )
    assert ["results"] == [each.name for each in home.iterdir()], "its directory is removed"

    compared = ("--compare", home / "results" / "load.json")
    _, out, _ = run("bench", *TINY, *compared, TMPDIR=str(home))
    assert "follow_up.first_words.p50_ms" in out


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_ended_leaves_nothing(home, number):
    home.mkdir(mode=0o755)
    words, how = command("bench", *TINY, "--deltas=10000")
    process = subprocess.Popen(
        words, env=environment(TMPDIR=str(home)), stderr=subprocess.DEVNULL, **how
    )
    eventually(lambda: list(home.glob("*/data/listening/*")), "its daemon runs")

    process.send_signal(number)

    process.wait()
    eventually(lambda: not belonging_to(home), "all of its processes are gone")
    eventually(lambda: not list(home.iterdir()), "its directory is removed")


def test_a_daemon_that_runs_is_loaded_with_our_provider_or_its_own_model(home):
    with a_daemon(home, PROMPTCORNER_ADMIN_TOKEN=TOKEN) as daemon:
        where = ("--url", "http://" + daemon.wait_ready()["listen"], "--json")

        code, out, err = run(
            "bench", *TINY, *where, "--provider=127.0.0.1:0", PROMPTCORNER_TOKEN=TOKEN
        )

        assert (0, "") == (code, err), out + err
        told = json.loads(out)
        [row] = told["rows"]
        assert {} == row["failures"]
        assert 3 == row["phases"]["follow_up"]["times"]["request"]["count"]
        assert row["phases"]["initial"]["cpu"]["postgresql"] is None
        assert row["phases"]["initial"]["cpu"]["daemon"] > 0

        # Its provider is gone with the run: the daemon's own model is asked now.
        code, out, err = run("bench", *TINY, *where, PROMPTCORNER_TOKEN=TOKEN)
        assert (0, "") == (code, err), out + err
        [row] = json.loads(out)["rows"]
        assert row["floor"] is None
        assert "request" not in row["phases"]["follow_up"]["times"]
        assert 3 == row["phases"]["follow_up"]["times"]["first_words"]["count"]

        code, _, err = run("bench", *TINY, *where, PROMPTCORNER_TOKEN="wrong-one")
        assert 1 == code
        assert "401" in err
        assert 0 == daemon.stop()


def test_what_failed_is_told_by_stage(home):
    with a_daemon(home, PROMPTCORNER_ADMIN_TOKEN=TOKEN) as daemon:
        where = ("--url", "http://" + daemon.wait_ready()["listen"])
        prompt = ("--prompt", "[[fault: 401]] fail")

        code, out, err = run("bench", *TINY, *where, *prompt, PROMPTCORNER_TOKEN=TOKEN)

        assert (1, "") == (code, err), err
        assert "3 times status_error: " in out
        assert 0 == daemon.stop()
