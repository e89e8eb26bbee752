"""Recordings that fail by their screen or packer; tests/e2e/test_desktop.py makes whole ones."""

import os
from subprocess import DEVNULL
from uuid import UUID

import pytest
import trio
import trio.testing

from actors.law.ids import ChatId
from actors.tools.desktop.geometry import ScreenSize
from actors.tools.workspaces import WorkspaceRefusal
from adapters.workspaces.commands.process_groups import open_lifeline, spawn
from adapters.workspaces.desktop import recording
from adapters.workspaces.desktop.connection import DesktopConnection, ScreenGone, ScreenPicture
from tests.patience import PATIENCE_SECONDS

SIZE = ScreenSize(1_000, 1_000)  # far more pixels than fit into a pipe


async def test_the_end_of_a_screen_is_told_as_such():
    ours, theirs = trio.testing.memory_stream_pair()
    await theirs.aclose()

    with trio.fail_after(PATIENCE_SECONDS), pytest.raises(ScreenGone):
        await recording._next_picture(DesktopConnection(ours), trio.Event())


async def test_a_packer_that_takes_no_picture_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(recording, "FINISH_SECONDS", 0.05)
    picture = ScreenPicture(SIZE, bytes(SIZE.width * SIZE.height * 4))
    connection = DesktopConnection(trio.testing.memory_stream_pair()[0])

    async with open_lifeline() as lifeline:
        environment = {"PATH": os.environ["PATH"]}
        group = spawn(
            ["sleep", "600"],
            lifeline,
            workdir="/",
            environment=environment,
            stderr=DEVNULL,
            keeps_input=True,
        )
        try:
            with trio.fail_after(PATIENCE_SECONDS), pytest.raises(trio.TooSlowError):
                await recording._fed(group, connection, picture, recording._Recording())
        finally:
            group.kill()
            await group.wait()
            recording._closed(group)


async def test_one_that_comes_to_nothing_is_counted(monkeypatch):
    monkeypatch.setattr(recording, "missing_for_recordings", lambda: None)

    async def refused(chat):
        return WorkspaceRefusal("there is no desktop")

    agent = ChatId(UUID(int=1))
    async with recording.open_recordings(refused) as recordings:
        recordings.begin(agent)
        film = await recordings.finish(agent)
        found = recordings.statistics()

    assert film is None
    assert (0, 0, 1) == (found.running, found.finished_count, found.dropped_count)
