"""`promptcorner fake-provider`: a process that says where it listens, and stops when it is told."""

import json
import signal
import subprocess
import sys

import httpx2
import pytest

from adapters.cli import main
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow
COMMAND = (sys.executable, "-m", "promptcorner", "fake-provider")


def run(*flags):
    """A running model and where it is."""
    arguments = [*COMMAND, "--listen", "127.0.0.1:0", *flags]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    return process, line


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_is_and_stops_when_told(stop):
    process, line = run("--text", "Good evening", "--seed", "7")
    try:
        url = line.split()[3]
        document = {"model": "m", "input": "hello"}
        answer = httpx2.post(
            f"{url}/v1/responses", json=document, trust_env=False, timeout=PATIENCE_SECONDS
        )
    finally:
        process.send_signal(stop)
        code = process.wait(PATIENCE_SECONDS)
        process.stdout.close()

    assert line.startswith("fake-provider: listening at http://127.0.0.1:")
    assert line.endswith("(seed 7)\n")
    assert "Good evening" == answer.json()["output"][0]["content"][0]["text"]
    assert 0 == code


def test_a_script_is_read_from_a_file(tmp_path):
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"faults": "529"}, {"text": "now"}]))
    process, line = run("--script", str(script))
    try:
        url = line.split()[3]
        document = {"model": "m", "input": "hello"}
        answers = [
            httpx2.post(
                f"{url}/v1/responses", json=document, trust_env=False, timeout=PATIENCE_SECONDS
            )
            for _ in range(2)
        ]
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)
        process.stdout.close()

    assert [529, 200] == [answer.status_code for answer in answers]


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (["--deltas", "x"], "--deltas: is 'x', must be 0..100000"),
        (["--first-token-ms", "-1"], "--first-token-ms: is '-1', must be 0..3.6e+06"),
        (["--faults", "42"], "--faults: has '42', must be like 529, 429:30@1-3, reset:5@10%"),
        (["--listen", "here"], "--listen=here, must be HOST:PORT with a port of 0..65535"),
        (["--script", "/nowhere"], "--script /nowhere: No such file or directory"),
    ],
)
def test_a_wrong_flag_is_refused_in_one_line(flags, why, capsys):
    code = main.main(["fake-provider", *flags])

    assert (1, f"promptcorner: fake-provider: {why}\n") == (code, capsys.readouterr().err)


def test_the_help_names_every_fault(capsys):
    with pytest.raises(SystemExit):
        main.main(["fake-provider", "--help"])

    said = capsys.readouterr().out
    kinds = "overflow refusal filter length pause reset hangup truncate silence garbage error"
    assert [] == [kind for kind in kinds.split() if f" {kind} " not in said]
