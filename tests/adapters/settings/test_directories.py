"""Directories for data: who may pass through those that are made."""

import os
import stat

import pytest

from adapters.settings.directories import make_directory

IS_ROOT = os.geteuid() == 0


@pytest.fixture(params=[0o022, 0o077])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_made_is_its_owners_and_others_pass_through_if_that_is_root(tmp_path, umask):
    made = tmp_path / "around" / "it" / "data"

    make_directory(made)

    assert (0o711 if IS_ROOT else 0o700) == mode_of(made)
    around = {mode_of(made.parent), mode_of(made.parent.parent)}
    assert {0o777 & ~umask | (0o011 if IS_ROOT else 0)} == around


def test_what_is_there_stays_as_it_is(tmp_path, umask):
    there = tmp_path / "there"
    there.mkdir()
    there.chmod(0o750)

    make_directory(there)
    make_directory(there / "data")

    assert 0o750 == mode_of(there)


def test_a_file_in_the_way_is_told(tmp_path):
    (tmp_path / "file").touch()

    for path in (tmp_path / "file", tmp_path / "file" / "data"):
        with pytest.raises(FileExistsError, match=str(tmp_path / "file")):
            make_directory(path)
