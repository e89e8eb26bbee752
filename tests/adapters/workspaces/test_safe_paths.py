"""A path that changes between two looks at it, at every place where it could."""

import os
import shutil

import pytest

from adapters.workspaces.safe_paths import PathDenied, _Walk, open_found, walk_below


@pytest.fixture
def home(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").write_text("secret")
    home = tmp_path / "home"
    (home / "d").mkdir(parents=True)
    (home / "d/file").write_text("mine")
    (home / "link").symlink_to("d")
    return home


def out(path):
    return path.parents[1] / "outside" if path.name != "file" else path.parents[2] / "outside/file"


def becomes_link(path):
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    path.symlink_to(out(path))


def becomes_pipe(path):
    path.unlink()
    os.mkfifo(path)


def becomes_directory(path):
    path.unlink()
    path.mkdir()
    (path / "file").write_text("new")


def becomes_nothing(path):
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


class Changing(_Walk):
    """Its path changes as soon as one component of it has been looked at."""

    def __init__(self, home, path, name, change):
        super().__init__(str(home), str(path), makes=False)
        self.name = name
        self.change = change

    def _look(self, part):
        status = super()._look(part)
        if part == self.name and self.change is not None:
            change, self.change = self.change, None
            change()
        return status


def read(descriptor):
    return os.read(descriptor, 100)


def test_a_file_that_becomes_a_link_is_not_followed(home):
    with walk_below(str(home), f"{home}/d/file") as found:
        becomes_link(home / "d/file")

        with pytest.raises(OSError, match="symbolic links"), open_found(found) as descriptor:
            read(descriptor)


def test_a_file_that_becomes_a_pipe_is_not_waited_for(home):
    with walk_below(str(home), f"{home}/d/file") as found:
        becomes_pipe(home / "d/file")

        with (
            pytest.raises(PathDenied, match="not a file any more"),
            open_found(found) as descriptor,
        ):
            read(descriptor)


def test_a_directory_that_becomes_a_link_is_looked_at_again(home):
    walk = Changing(home, f"{home}/d/file", "d", lambda: becomes_link(home / "d"))

    with pytest.raises(PathDenied, match="outside the workspace"):
        walk.to_the_end()

    walk.close()


def test_a_link_that_becomes_a_directory_is_looked_at_again(home):
    path = home / "link/file"
    walk = Changing(home, path, "link", lambda: becomes_directory(home / "link"))

    found = walk.to_the_end()

    assert str(path) == found.path
    with open_found(found) as descriptor:
        assert b"new" == read(descriptor)
    walk.close()


@pytest.mark.parametrize("name", ["d", "link"])
def test_what_is_gone_again_is_not_there(home, name):
    path = home / name / "file"
    walk = Changing(home, path, name, lambda: becomes_nothing(home / name))

    found = walk.to_the_end()

    assert (None, str(path)) == (found.status, found.path)
    walk.close()


def test_a_directory_that_is_moved_away_is_still_where_we_are(home):
    with walk_below(str(home), f"{home}/d/file") as found:
        (home / "d").rename(home / "moved")
        (home / "d").symlink_to(home.parent / "outside")

        with open_found(found) as descriptor:
            assert b"mine" == read(descriptor)


def test_nothing_stays_open(home):
    before = len(os.listdir("/proc/self/fd"))

    for path in ("d/file", "d/../link/file", "none/x", "d/file/x", "../x"):
        try:
            with walk_below(str(home), f"{home}/{path}"):
                pass
        except PathDenied:
            pass

    assert before == len(os.listdir("/proc/self/fd"))


def test_of_a_deep_path_one_directory_is_held_open(home):
    deep = home.joinpath(*"abcdefgh")
    before = len(os.listdir("/proc/self/fd"))

    with walk_below(str(home), f"{deep}/../h/file", makes=True) as found:
        held = len(os.listdir("/proc/self/fd"))
        os.close(os.open(found.name, os.O_CREAT | os.O_WRONLY, dir_fd=found.directory))

    assert (1, 0) == (held - before, len(os.listdir("/proc/self/fd")) - before)
    assert (deep / "file").is_file()
