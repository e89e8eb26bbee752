"""The quick way to the rules of flake8-async finds what flake8-async itself finds."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FAULTY = """
import contextlib

import trio


async def waits():
    try:
        await trio.sleep(1)
    finally:
        await trio.sleep(1)
    with trio.move_on_after(1):
        pass
    try:
        await trio.sleep(1)
    except trio.Cancelled:
        pass
    with trio.fail_after(1):
        yield
    with trio.move_on_after(1):  # noqa: ASYNC100
        pass
    trio.sleep(1)


async def does_not():
    return 1
"""


def found(module, file):
    words = [sys.executable, "-m", module, "--enable=ASYNC", "--disable=ASYNC900", str(file)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "" == done.stderr
    return done.returncode, done.stdout


def test_it_finds_the_same(tmp_path):
    file = tmp_path / "faulty.py"
    file.write_text(FAULTY)

    code, said = found("tests.waits", file)

    assert (code, said) == found("flake8_async", file)
    rules = {line.split()[1] for line in said.splitlines()}
    assert {"ASYNC100", "ASYNC101", "ASYNC102", "ASYNC103", "ASYNC105", "ASYNC124"} <= rules
    assert 1 == said.count("ASYNC100")
