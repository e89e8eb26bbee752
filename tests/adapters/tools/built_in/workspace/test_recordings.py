"""Films of real desktops: made while something waits, finished, dropped, and leaving nothing."""

import io
import os
import re
import subprocess
from pathlib import Path
from uuid import UUID, uuid4

import pytest
import trio
from PIL import Image

from actors.law.ids import ChatId
from adapters.workspaces.desktop import recording as recordings
from adapters.workspaces.desktop.recording import RECORDINGS_MAX
from tests.adapters.tools.built_in.workspace.conftest import a_daemon
from tests.fakes.screens import needs_desktop
from tests.patience import PATIENCE_SECONDS

pytestmark = [pytest.mark.slow, needs_desktop]

PICTURE_BYTES = 1920 * 1080 * 4


@pytest.fixture
async def daemon(store, tmp_path):
    async with a_daemon(store, tmp_path, has_screens=True) as daemon:
        yield daemon


@pytest.fixture
async def child(daemon):
    parent = await daemon.chat()
    home = await daemon.home(parent)
    return await daemon.chat(
        parent=parent, mode="computer_use", workspace_id=UUID(home.parent.name)
    )


async def moved(daemon, chat, *, times):
    """Move the pointer, and wait each time until ffmpeg has been given a picture of that."""
    for at in range(times):
        before = packed_bytes()
        await daemon.call(chat, "computer", action="mouse_move", coordinate=[100 + 50 * at, 300])
        await until(lambda before=before: packed_bytes() >= before + PICTURE_BYTES)


def packed_bytes():
    """Return how many bytes ffmpeg has read."""
    [packer] = packers()
    [count] = re.findall(r"^rchar: (\d+)", packer.with_name("io").read_text(), re.MULTILINE)
    return int(count)


async def until(check):
    with trio.fail_after(PATIENCE_SECONDS):
        while not check():
            await trio.sleep(0.02)


def pictures_of(film, tmp_path):
    """The pictures of a film, as ffmpeg reads them back."""
    from imageio_ffmpeg import get_ffmpeg_exe

    path = tmp_path / "film.mp4"
    path.write_bytes(film.mp4)
    words = [get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"]
    read = subprocess.run(words, capture_output=True, check=True, timeout=PATIENCE_SECONDS)
    size = 1280 * 720 * 3
    assert 0 == len(read.stdout) % size
    return [read.stdout[at : at + size] for at in range(0, len(read.stdout), size)]


def packers():
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        found += [path] if f"/proc/{os.getpid()}/fd/".encode() in words else []
    return found


async def test_a_film_shows_what_has_moved_and_its_end_is_the_thumbnail(daemon, child, tmp_path):
    films = daemon.desktops.recordings
    await daemon.call(child, "computer", action="screenshot")

    films.begin(child.id)
    films.begin(child.id)  # a second wait changes nothing
    await until(packers)
    await moved(daemon, child, times=4)
    running = films.statistics().running
    film = await films.finish(child.id)

    pictures = pictures_of(film, tmp_path)
    assert len(set(pictures)) >= 3
    assert (1280, 720) == Image.open(io.BytesIO(film.jpeg)).size
    assert (1, 0, 1) == (running, films.statistics().running, films.statistics().finished_count)
    await until(lambda: not packers())
    assert await films.finish(child.id) is None


async def test_what_nobody_waits_for_any_more_is_dropped(daemon, child, monkeypatch):
    monkeypatch.setattr(recordings, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(recordings, "IDLE_SECONDS", 0.0)
    films = daemon.desktops.recordings

    films.begin(child.id)
    await until(lambda: films.statistics().dropped_count)

    assert 0 == films.statistics().running
    assert [] == packers()


async def test_a_desktop_that_ends_takes_its_film_with_it(daemon, child):
    films = daemon.desktops.recordings
    await daemon.call(child, "computer", action="screenshot")
    films.begin(child.id)
    await until(packers)

    await daemon.lifecycle.stop((await daemon.workspaces.registry.of(child.id)).id)

    await until(lambda: not films.statistics().running)
    assert await films.finish(child.id) is None
    await until(lambda: not packers())


async def test_there_are_only_so_many_films_at_once_and_none_without_a_workspace(daemon):
    films = daemon.desktops.recordings
    for _ in range(RECORDINGS_MAX + 1):
        films.begin(ChatId(uuid4()))

    assert RECORDINGS_MAX == films.statistics().running
    await until(lambda: not films.statistics().running)
    assert RECORDINGS_MAX == films.statistics().dropped_count


async def test_without_its_program_nothing_is_recorded_and_nothing_fails(
    daemon, child, monkeypatch
):
    monkeypatch.setattr(recordings, "missing_for_recordings", lambda: "no ffmpeg")

    daemon.desktops.recordings.begin(child.id)

    assert await daemon.desktops.recordings.finish(child.id) is None
