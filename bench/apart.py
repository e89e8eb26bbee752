"""A part of a benchmark in a process of its own, spoken with over its pipes: commands in, JSON out.
It ends when its standard input does.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def apart(module: str, *words: object) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", module, *map(str, words)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def told(process: "subprocess.Popen[str]", command: str = "") -> dict[str, Any]:
    """What it says next, or to this command."""
    assert process.stdin is not None
    assert process.stdout is not None
    if command:
        process.stdin.write(command + "\n")
        process.stdin.flush()
    said: dict[str, Any] = json.loads(process.stdout.readline())
    return said
