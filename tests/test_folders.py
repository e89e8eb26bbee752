"""Folders that a killed run has left are removed by the next one, and no others."""

import subprocess
import sys

import pytest

from tests import folders as place
from tests.e2e.processes import belonging_to
from tests.folders import PREFIX, a_folder, remove_leftovers
from tests.patience import PATIENCE_SECONDS
from tests.test_stress import until

KILLED = """
import sys, tempfile, time
tempfile.tempdir = sys.argv[1]
from tests.e2e.processes import belonging_to
from tests.folders import a_folder
with a_folder() as folder:
    (folder / "home").mkdir()
    (folder / "home/file").write_text("x")
    print(folder, flush=True)
    time.sleep(1000)
"""


def folders(where):
    return [path.name for path in where.iterdir()]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="who works in a folder is read in /proc")
def test_what_a_killed_run_has_left_is_removed_when_nobody_works_in_it(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, tmp_path], stdout=subprocess.PIPE, text=True
    ) as run:
        folder = run.stdout.readline().strip()
        remove_leftovers(tmp_path)
        while_it_runs = folders(tmp_path)
        run.kill()
        run.wait(PATIENCE_SECONDS)
    with subprocess.Popen(["sleep", "1000"], cwd=folder) as server:
        until(lambda: belonging_to(folder))
        remove_leftovers(tmp_path)
        while_it_is_worked_in = folders(tmp_path)
        server.kill()
    remove_leftovers(tmp_path)

    assert [1, 1] == [len(while_it_runs), len(while_it_is_worked_in)]
    assert [] == folders(tmp_path)


def test_a_folder_that_is_just_being_made_stays(tmp_path):
    (tmp_path / f"{PREFIX}abc").mkdir(mode=0o700)

    remove_leftovers(tmp_path)

    assert [f"{PREFIX}abc"] == folders(tmp_path)


def test_a_folder_is_removed_when_its_test_ends():
    with a_folder() as folder:
        (folder / "home").mkdir()

    assert not folder.exists()


@pytest.fixture
def memory(monkeypatch, tmp_path):
    """A place that stands for the one in memory, with any room."""
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(place, "MEMORY", str(tmp_path))
    monkeypatch.setattr(place, "MEMORY_BYTES_MIN", 1)
    return tmp_path


def in_memory():
    return place.in_memory.__wrapped__()


def test_a_place_in_memory_is_taken_if_there_is_room(memory, monkeypatch):
    room = in_memory()
    monkeypatch.setattr(place, "MEMORY_BYTES_MIN", 1 << 80)

    assert (str(memory), None) == (room, in_memory())


def test_a_place_that_is_named_or_not_there_is_none_in_memory(memory, monkeypatch):
    monkeypatch.setenv("TMPDIR", "/tmp")
    named = in_memory()
    monkeypatch.delenv("TMPDIR")
    monkeypatch.setattr(place, "MEMORY", str(memory / "nowhere"))

    assert (None, None) == (named, in_memory())
