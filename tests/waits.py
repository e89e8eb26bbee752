"""The rules of flake8-async, on files: `python -m tests.waits --enable=ASYNC FILE...`

The same command as `flake8-async`, in half of the time. That makes one table of positions after
another of each file, one for every rule, because a rule might have mended the file; here no rule
mends anything, so one is enough. And it makes millions of objects without a cycle among them, so
the garbage collector is left out.
"""

import gc
import sys

import flake8_async
from flake8_async.runner import Flake8AsyncRunner_cst
from libcst.metadata import MetadataWrapper


def problems(runner):
    """Do what `Flake8AsyncRunner_cst.run` does, with one table for all rules."""
    module = MetadataWrapper(runner.module, unsafe_skip_copy=True)
    for rule in (*runner.utility_visitors, *runner.visitors):
        module.visit(rule)
    yield from runner.state.problems
    if not runner.options.disable_noqa:
        runner.noqas = rule.noqas


if __name__ == "__main__":
    gc.disable()
    Flake8AsyncRunner_cst.run = problems
    sys.exit(flake8_async.main())
