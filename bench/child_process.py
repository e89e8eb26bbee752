"""A part of a benchmark in a process of its own: commands go in, lines of JSON come out.

The process ends when its standard input does.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def child_process(module: str, *words: object) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", module, *map(str, words)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def told(process: "subprocess.Popen[str]", command: str = "") -> dict[str, Any]:
    """Send a command, if there is one, and return the next line of the process."""
    assert process.stdin is not None
    assert process.stdout is not None
    if command:
        process.stdin.write(command + "\n")
        process.stdin.flush()
    said: dict[str, Any] = json.loads(process.stdout.readline())
    return said
