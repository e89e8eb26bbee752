"""Repositories are found where calls have touched the disk, and nowhere else."""

import os

import pytest

from adapters.workspaces.git import roots as module
from adapters.workspaces.git.roots import REPOSITORIES_MAX, TouchedPath, is_root, roots_of


@pytest.fixture
def home(tmp_path):
    home = tmp_path.resolve() / "home"
    for name in ("one/.git", "one/deep/er", "two/.git", "plain/inner/.git", "plain/none"):
        (home / name).mkdir(parents=True)
    (home / "one/sub").mkdir()
    (home / "one/sub/.git").write_text("gitdir: ../.git/modules/sub\n")
    return str(home)


def found(home, *paths, workdirs=()):
    touched = [TouchedPath(path) for path in paths]
    touched += [TouchedPath(path, is_workdir=True) for path in workdirs]
    return [os.path.relpath(root, home) for root in roots_of(home, touched)]


def test_a_file_belongs_to_the_nearest_repository(home):
    assert found(home, f"{home}/one/deep/er/file") == ["one"]
    assert found(home, f"{home}/one/sub/file", f"{home}/one/x") == ["one/sub", "one"]
    assert found(home, f"{home}/one/not/there/yet/file") == ["one"]
    assert found(home, f"{home}/one/.git/config") == ["one"]
    assert found(home, f"{home}/plain/file", f"{home}/file") == []


def test_a_command_may_have_made_what_lies_below(home):
    assert found(home, workdirs=[""]) == ["one", "two"]
    assert found(home, workdirs=["plain"]) == ["plain/inner"]
    assert found(home, workdirs=["one/deep"]) == ["one"]
    assert found(home, workdirs=["nowhere", "plain/none"]) == []


def test_nothing_outside_of_the_workspace_counts(home, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "other/.git").mkdir(parents=True)
    os.symlink(tmp_path / "other", f"{home}/leads-out")
    os.symlink(f"{home}/two", f"{home}/leads-in")
    outside = ("/etc/passwd", f"{tmp_path}/other/x", f"{home}/../other/x", f"{home}/leads-out/x")
    assert found(home, *outside, f"{home}/plain/none/x") == []
    assert found(home, workdirs=["..", "leads-out", str(tmp_path)]) == []
    assert found(home, f"{home}/leads-in/x") == ["two"]


def test_odd_paths_are_only_paths(home):
    assert found(home, "", "\0", f"{home}/one/\nx", "a" * 5000) == ["one"]
    os.makedirs(f"{home}/new\nline/.git")
    assert found(home, f"{home}/new\nline/x", workdirs=[""]) == ["one", "two"]


def test_a_repository_whose_name_is_no_text_is_left_out(home):
    os.makedirs(f"{home}/no-text-\udcff/.git")
    os.symlink(f"{home}/no-text-\udcff", f"{home}/link")
    assert found(home, f"{home}/link/x", workdirs=["", "link"]) == ["one", "two"]


def test_there_are_no_more_than_are_shown(home):
    names = [f"many/{number:03}" for number in range(REPOSITORIES_MAX + 5)]
    for name in names:
        os.makedirs(f"{home}/{name}/.git")
    assert found(home, *(f"{home}/{name}/x" for name in names)) == names[:REPOSITORIES_MAX]


def test_a_directory_with_many_entries_is_not_read_to_its_end(home, monkeypatch):
    monkeypatch.setattr(module, "BELOW_MAX", 1)
    assert len(found(home, workdirs=[""])) <= 1


def test_a_root_that_was_a_root(home):
    assert is_root(f"{home}/one")
    assert is_root(f"{home}/one/sub")
    assert not is_root(f"{home}/plain")
