"""What every test may ask for: one real PostgreSQL per run, and an empty database of its own."""

import gc
import itertools
import os
import re
import signal
import tempfile
import threading
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from psycopg.conninfo import make_conninfo

from adapters.postgres import embedded
from tests.delays import sitecustomize as delays
from tests.folders import a_folder, in_memory, remove_leftovers

FAST = {
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "300",
    "max_wal_size": "256MB",  # a gigabyte of memory for each worker otherwise
}
HERE = Path(__file__).parent
NUMBERS = itertools.count(1)
LONGEST = (  # a file is run by one worker: many short ones are left for the end
    "tests/e2e/test_torture.py",
    "tests/models/test_mutations.py",
    "tests/e2e/",
    "tests/web/",
    "tests/simulation/",
)
RANDOM_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
NO_BROWSER = "no browser: "  # tests/web/browser.py says why
NO_LFS = "no Git LFS: install it by apt-get install git-lfs"
NO_DESKTOP = "no desktop: "  # tests/fakes/screens.py says why
NO_SHELL = "no shell: "  # tests/e2e/test_completion.py says why
NO_TMUX = "no tmux: "  # tests/e2e/terminal/test_tmux.py says why
NO_FREEZER = "no freezer: "  # tests/freezes.py says why
NO_SUITE = "no suite: "  # tests/adapters/tools/mcp/conformance/test_suite.py says why

# On a busy machine any example may take long, to be drawn as well as to be tried. All else stays as
# Hypothesis chooses it, here or in CI.
settings.register_profile(
    "patient",
    parent=settings.default,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("patient")

delays.begin()  # if the environment asks for them

# A shell that puts us into the background has its children ignore ctrl-C, and so would ours.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    delays.seed(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Collect without Python's collector of garbage, and have it leave alone what is there then.

    All tests together are a million objects, which stay until the end. Walked again and again they
    took a third of the time of collecting, and a twelfth of that of short tests.
    """
    gc.disable()
    session.config.args = _begun_elsewhere(session.config)
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def _begun_elsewhere(config):
    """Return what to collect, beginning at another place in each worker.

    In a new clone nothing is compiled. Workers that read the files in one order would all compile
    each of them at the same time.
    """
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if count == 1 or [Path(path).resolve() for path in config.args] != [HERE]:
        return config.args
    left_out = {Path(path).resolve() for path in config.getoption("ignore") or ()}
    found = sorted(HERE.rglob("test_*.py"))  # a path that is named is not ignored
    files = [file for file in found if left_out.isdisjoint([file, *file.parents])]
    parts = list(dict.fromkeys(_part(file) for file in files))
    first = parts.index(_part(files[len(files) * number // count]))
    return parts[first:] + parts[:first]


def _part(file):
    """The folder of a folder in which a file is, or the file itself where it is in none."""
    return str(HERE.joinpath(*file.relative_to(HERE).parts[:2]))


def pytest_collection_modifyitems(items):
    """Refuse names that another process would make up anew: all workers have to find the same.

    What takes longest begins first, so that no worker is left alone with it at the end. All else is
    in the order of the files, wherever this worker began to collect.
    """
    made_up = [item.nodeid for item in items if RANDOM_ID.search(item.nodeid)]
    if made_up:
        raise pytest.UsageError(f"the name of a test has a random id in it: {made_up[0]}")
    items.sort(key=lambda item: (_begins(item.nodeid), item.path))


def _begins(nodeid):
    """The longest files before all others."""
    return next((n for n, path in enumerate(LONGEST) if nodeid.startswith(path)), len(LONGEST))


def pytest_terminal_summary(terminalreporter):
    """Say in a line each which tests did not run for want of something, and what to do.

    And which waits were delayed, if any were.
    """
    found = [*terminalreporter.getreports("skipped"), *terminalreporter.getreports("error")]
    for wanting, whose in (
        (NO_BROWSER, "of the web pages"),
        (NO_DESKTOP, "of desktops"),
        (NO_LFS, "of Git LFS"),
        (NO_SUITE, "by suites of others"),
        (NO_SHELL, "of completion in shells"),
        (NO_TMUX, "of the chat in tmux"),
        (NO_FREEZER, "of freezes"),
    ):
        without = [each for each in found if wanting in each.longreprtext]
        if without:
            why = without[0].longreprtext
            why = why[why.index(wanting) :].splitlines()[0].rstrip("')")
            tests = "1 test" if len(without) == 1 else f"{len(without)} tests"
            terminalreporter.write_line(f"{tests} {whose} did not run: {why}")
    if delays.percent():
        terminalreporter.write_line(delays.said())


@pytest.fixture(scope="session")
def server():
    """The conninfo of a PostgreSQL of this run, as its superuser; gone when the run ends."""
    remove_leftovers()
    with (
        a_folder(in_memory()) as top,
        embedded.using(embedded.ClusterOptions(top / "home", settings=FAST)) as cluster,
    ):
        yield cluster.conninfo


@pytest.fixture
def database(server):
    """The conninfo of a new, empty database; dropped after the test, whoever is still in it.

    Its files are copied as they are, which takes the server a third of what their pages take one by
    one.
    """
    name = f"test_{next(NUMBERS)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 STRATEGY file_copy")
        yield make_conninfo(server, dbname=name)
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture
def short_path():
    """A directory whose path is short enough for sockets in it, whatever the name of the test."""
    with tempfile.TemporaryDirectory(prefix="corner-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
