"""The nets under the law, cast over copies of it: `python nets.py <copy>:<net>,<net>...`

Runs in the folder that holds `tests`; each copy is a folder with an `actors` package. Prints
`<copy> <net> red` or `green`. Everything that takes long to import is imported once, before the
process forks for each copy; nothing of `actors` or `tests` is imported before.
"""

import contextlib
import io
import os
import sys
import traceback
from pathlib import Path

import hypothesis.extra  # warm
import hypothesis.stateful  # noqa: F401  # warm
import pytest

TESTS = Path("tests/actors/law")
CHATS = range(800)  # played by the model; most mistakes are seen within the first fifty
AT_ONCE = 2
OPTIONS = (
    *("-x", "-q", "--no-header", "--tb=no", "--noconftest", "-p", "no:cacheprovider"),
    "--import-mode=importlib",
)


def _tests_are_red(net):
    matrix = TESTS / "test_matrix.py"
    others = sorted({*TESTS.glob("test_transitions_*.py"), TESTS / "store/test_ports.py"})
    files = [matrix] if net == "matrix" else others
    code = pytest.main([*OPTIONS, "--rootdir=.", "-c", "/dev/null", *map(str, files)])
    assert code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED), code
    return code == pytest.ExitCode.TESTS_FAILED


def _model_is_red():
    from tests.models import test_law

    try:
        for seed in CHATS:
            test_law.play(seed)
    except Exception:  # noqa: BLE001  # whatever went wrong, the law is not what it was
        return True
    return False


def _cast(copy, nets):
    sys.path[:0] = [copy, os.getcwd()]
    for net in nets:
        with contextlib.redirect_stdout(io.StringIO()):
            red = _model_is_red() if net == "model" else _tests_are_red(net)
        print(f"{copy} {net} {'red' if red else 'green'}", flush=True)


def main():
    running = 0
    for job in sys.argv[1:]:
        if running == AT_ONCE:
            os.wait()
            running -= 1
        running += 1
        if os.fork() == 0:
            copy, _, nets = job.rpartition(":")
            try:
                _cast(copy, nets.split(","))
            except Exception:  # noqa: BLE001  # else nobody would see it
                traceback.print_exc()
            finally:
                os._exit(0)
    for _ in range(running):
        os.wait()


if __name__ == "__main__":
    main()
