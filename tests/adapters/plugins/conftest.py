"""Distributions with plugins, as pip would leave them, and logs of what became of them."""

import importlib
import itertools
import logging
import sys
import textwrap

import pytest

from runtime.log import LOGGER_NAME

HEAD = """
import time
import trio
from promptcorner import ext

PROMPTCORNER_API = 1

"""
_numbers = itertools.count()


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a distribution: `install("name", code, tools="one, two", providers="three")`. Its
    entry points name objects of its one module. Returns its name."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    modules = []

    def make(name, code, *, head=HEAD, version="1.2.3", **groups):
        module = f"plugin_of_a_test_{next(_numbers)}"
        modules.append(module)
        (tmp_path / f"{module}.py").write_text(head + textwrap.dedent(code))
        info = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        lines = []
        for group, objects in groups.items():
            lines.append(f"[promptcorner.{group}]")
            lines += [f"{each} = {module}:{each}" for each in objects.split(", ")]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        importlib.invalidate_caches()
        return name

    yield make
    for module in modules:
        sys.modules.pop(module, None)


class Entries(logging.Handler):
    """The entries of the log, by event."""

    def __init__(self):
        super().__init__()
        self.all = []

    def emit(self, record):
        self.all.append((record.getMessage(), record.fields))

    def of(self, event):
        return [fields for name, fields in self.all if name == event]


@pytest.fixture
def entries():
    log, handler = logging.getLogger(LOGGER_NAME), Entries()
    level = log.level
    log.setLevel(logging.DEBUG)
    log.addHandler(handler)
    yield handler
    log.removeHandler(handler)
    log.setLevel(level)


@pytest.fixture
def bounds(monkeypatch):
    """Shorten the bounds of the loops of plugins: `bounds(CALLS_MAX=1)`."""

    def change(**values):
        for name, value in values.items():
            monkeypatch.setattr(f"adapters.plugins.loop.{name}", value)

    return change
