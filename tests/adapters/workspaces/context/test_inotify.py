"""What the system tells of directories that change: inotify, as Linux has it."""

from pathlib import Path

import pytest
import trio

from adapters.workspaces.context.inotify import Notice, NoticesLost, open_notices
from tests.patience import PATIENCE_SECONDS

QUEUE_MAX = Path("/proc/sys/fs/inotify/max_queued_events")


@pytest.fixture
def notices():
    with open_notices() as notices:
        yield notices


async def test_what_becomes_of_a_file_is_told_by_its_name(notices, tmp_path):
    place = notices.listen(str(tmp_path))

    (tmp_path / "a").write_text("x")
    with trio.fail_after(PATIENCE_SECONDS):
        told = await notices.next()

    assert {Notice(place, "a")} == set(told)


def test_a_directory_has_one_number_however_often_it_is_listened_to(notices, tmp_path):
    (tmp_path / "d").mkdir()

    first, again, other = (notices.listen(f"{tmp_path}{path}") for path in ("", "/.", "/d"))

    assert first == again
    assert first != other


def test_what_is_no_directory_is_not_listened_to(notices, tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path)

    assert [None] * 3 == [notices.listen(f"{tmp_path}/{name}") for name in ("gone", "file", "link")]


def test_of_a_directory_that_is_gone_a_last_word_is_told(notices, tmp_path):
    (tmp_path / "d").mkdir()
    place = notices.listen(f"{tmp_path}/d")

    (tmp_path / "d").rmdir()

    assert Notice(place, "", is_last=True) == notices.pending()[-1]
    assert [] == notices.pending()


def test_what_is_ignored_is_told_of_no_more(notices, tmp_path):
    place = notices.listen(str(tmp_path))

    notices.ignore(place)
    (tmp_path / "a").write_text("x")

    assert [Notice(place, "", is_last=True)] == notices.pending()


def test_more_than_the_system_keeps_is_told_as_missed(notices, tmp_path):
    notices.listen(str(tmp_path))
    with (tmp_path / "a").open("wb", 0) as one, (tmp_path / "b").open("wb", 0) as other:
        for _ in range(int(QUEUE_MAX.read_text()) // 2 + 1):  # two that are alike would be one
            one.write(b"x")
            other.write(b"x")

    told = []
    while heard := notices.pending():
        told += heard

    assert NoticesLost() == told[-1]
