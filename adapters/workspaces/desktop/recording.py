"""Recordings of desktops: what happened while a parent waited for its agent, as a small film.

The screen is asked for what has changed, a few times a second at most, and ffmpeg packs it: a
screen on which nothing moves costs nothing. ffmpeg writes into a file without a name, so that
nothing is left of a recording that is cut short, by a kill of this process either.
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from subprocess import DEVNULL
from tempfile import TemporaryFile
from typing import IO, Annotated

import trio

from actors.law.ids import ChatId, UserId, chat_name
from actors.tools.desktop.geometry import ScreenSize
from actors.tools.workspaces import WorkspaceRefusal
from adapters.workspaces.commands.process_groups import (
    Lifeline,
    ProcessGroup,
    open_lifeline,
    spawn,
)
from adapters.workspaces.desktop.connection import DesktopConnection, ScreenGone, ScreenPicture
from adapters.workspaces.desktop.pictures import as_jpeg
from adapters.workspaces.desktop.programs import missing_for_recordings
from adapters.workspaces.local import WorkspaceChat
from runtime.children import Child, Children, open_children
from runtime.clock import now
from runtime.ends import End
from runtime.errors import RuntimeFault
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric
from runtime.threads import ThreadLimits, read

RECORDINGS_MAX = 5  # at once; one more is not made
PICTURES_PER_SECOND = 5
SIZE = ScreenSize(1_280, 720)  # of the film
FILM_BYTES_MAX = 100 * 1024 * 1024  # then the film ends there
THUMBNAIL_BYTES_MAX = 10 * 1024 * 1024  # a larger one is left out with its film
# For a film to be packed to its end, and for ffmpeg to take a picture; then the film is left out.
FINISH_SECONDS = 90.0
REAP_SECONDS = 2.0  # for ffmpeg that was killed to be gone; then it is left to the kernel
# Without a parent that waits; then the recording is dropped. Looked at once a minute.
IDLE_SECONDS, LOOK_SECONDS = 600.0, 60.0
FILMS = ThreadLimits("films", 5)  # read from the disk at once


# Connects to the desktop of a chat, which is started if need be.
DialDesktop = Callable[[WorkspaceChat], Awaitable[trio.SocketStream | WorkspaceRefusal]]


@dataclass(frozen=True, slots=True)
class Film:
    """A film and a picture of its end."""

    mp4: bytes
    jpeg: bytes


@dataclass(frozen=True, slots=True)
class RecordingsStatistics:
    running: Annotated[int, GaugeMetric("Desktops that are being recorded.")]
    finished_count: Annotated[int, CounterMetric("Recordings of desktops that were kept.")]
    dropped_count: Annotated[int, CounterMetric("Recordings of desktops that came to nothing.")]


@dataclass(frozen=True, slots=True)
class _Agent:
    """The chat of an agent, as its desktop is asked for."""

    id: ChatId
    owner_id: UserId | None = None
    is_root: bool = False


@dataclass(eq=False, slots=True)
class _Recording:
    stop: trio.Event = field(default_factory=trio.Event)
    over: trio.Event = field(default_factory=trio.Event)
    touched_at: float = field(default_factory=now)
    film: Film | None = None


class Recordings:
    """The recordings that this process makes, by the chats of the agents."""

    def __init__(self, dial: DialDesktop, children: Children, lifeline: Lifeline) -> None:
        self._dial = dial
        self._children = children
        self._lifeline = lifeline
        self._running: dict[ChatId, _Recording] = {}
        self._finished_count = self._dropped_count = 0

    def begin(self, agent: ChatId) -> None:
        """Record the desktop of an agent, if that is possible. Waits for nothing."""
        known = self._running.get(agent)
        if known is not None and not known.over.is_set():
            known.touched_at = now()
            return
        if missing_for_recordings() is not None or len(self._running) >= RECORDINGS_MAX:
            return
        made = self._running[agent] = _Recording()
        body, ended = partial(self._record, agent, made), partial(self._ended, agent, made)
        try:
            self._children.start(Child(name=f"{agent}", body=body, when_ended=ended))
        except RuntimeFault:  # this process is stopping, or the one before has not ended yet
            del self._running[agent]

    async def finish(self, agent: ChatId) -> Film | None:
        """End a recording and return its film. None: there is none, or it is not there in time."""
        found = self._running.get(agent)
        if found is None:
            return None
        found.stop.set()
        with trio.move_on_after(FINISH_SECONDS):
            await found.over.wait()
        if found.film is not None:
            self._finished_count += 1
        return found.film

    def statistics(self) -> RecordingsStatistics:
        counts = self._finished_count, self._dropped_count
        return RecordingsStatistics(len(self._running), *counts)

    def _ended(self, agent: ChatId, recording: _Recording, name: str, end: End) -> None:
        recording.over.set()
        self._dropped_count += recording.film is None
        if self._running.get(agent) is recording:
            del self._running[agent]

    async def _record(self, agent: ChatId, recording: _Recording) -> None:
        dialled = await self._dial(_Agent(agent))
        if isinstance(dialled, WorkspaceRefusal):
            return
        connection = DesktopConnection(dialled)
        try:
            await connection.begin()
            recording.film = await self._filmed(connection, recording)
        except (ScreenGone, OSError, trio.BrokenResourceError, trio.TooSlowError) as error:
            slow = isinstance(error, trio.TooSlowError)
            why = f"ffmpeg does not go on within {FINISH_SECONDS:g} s" if slow else str(error)
            emit("desktop.unrecorded", "warning", chat=chat_name(agent), why=why)
        finally:
            with trio.move_on_after(1.0, shield=True):
                await connection.aclose()

    async def _filmed(self, connection: DesktopConnection, recording: _Recording) -> Film | None:
        picture = await connection.picture()
        with TemporaryFile() as file:
            group = spawn(
                _arguments(picture.size, file),
                self._lifeline,
                workdir="/",
                environment={},
                stderr=DEVNULL,
                keeps_input=True,
            )
            try:
                last = await _fed(group, connection, picture, recording)
                if last is None:
                    return None
                with trio.fail_after(FINISH_SECONDS):
                    await group.wait()
            finally:
                group.kill()
                with trio.move_on_after(REAP_SECONDS, shield=True):
                    await group.wait()
                _closed(group)
            mp4 = await read(FILMS, partial(_content, file))
        jpeg = await as_jpeg(last, SIZE)
        return Film(mp4, jpeg) if _are_good(mp4, jpeg) else None


async def _fed(
    group: ProcessGroup,
    connection: DesktopConnection,
    picture: ScreenPicture,
    recording: _Recording,
) -> ScreenPicture | None:
    """Feed ffmpeg with pictures until the recording is stopped. Return the last one; None: for too
    long no parent has waited for it."""
    assert group.popen.stdin is not None, "it was begun with a pipe"
    group.release()
    async with trio.lowlevel.FdStream(os.dup(group.popen.stdin.fileno())) as pipe:
        group.popen.stdin.close()
        await _send(pipe, picture)
        while not recording.stop.is_set():
            changed: ScreenPicture | None = picture
            with trio.move_on_after(LOOK_SECONDS):
                changed = await _next_picture(connection, recording.stop)
            if changed is None or changed.size != picture.size:
                break
            if changed is not picture:
                picture = changed
                await trio.sleep(1 / PICTURES_PER_SECOND)
                await _send(pipe, picture)
            if recording.touched_at + IDLE_SECONDS < now():
                return None
        await _send(pipe, picture)  # so that the film lasts as long as the last one did
    return picture


async def _send(pipe: trio.lowlevel.FdStream, picture: ScreenPicture) -> None:
    """Give ffmpeg a picture. trio.TooSlowError: it does not take it."""
    with trio.fail_after(FINISH_SECONDS):
        await pipe.send_all(picture.pixels)


async def _next_picture(connection: DesktopConnection, stop: trio.Event) -> ScreenPicture | None:
    """Wait until the screen has changed; None: until the recording was stopped."""
    changed: ScreenPicture | None = None
    fault: ScreenGone | None = None
    async with trio.open_nursery() as nursery:

        async def until_stopped() -> None:
            await stop.wait()
            nursery.cancel_scope.cancel()

        nursery.start_soon(until_stopped)
        try:
            changed = await connection.next_picture()
        except ScreenGone as gone:  # from here it would come out as one of a group
            fault = gone
        nursery.cancel_scope.cancel()
    if fault is not None:
        raise fault
    return changed


def _arguments(size: ScreenSize, file: IO[bytes]) -> list[str]:
    """Return the program and its arguments. Each picture lasts from when it comes to the next."""
    from imageio_ffmpeg import get_ffmpeg_exe  # type: ignore[import-untyped]

    return [
        get_ffmpeg_exe(),
        *("-nostdin", "-loglevel", "error", "-use_wallclock_as_timestamps", "1"),
        *("-f", "rawvideo", "-pix_fmt", "bgr0", "-s", str(size), "-i", "pipe:0"),
        *("-vf", f"scale={SIZE.width}:{SIZE.height}", "-fps_mode", "vfr"),
        *("-c:v", "libx264", "-preset", "ultrafast", "-crf", "30", "-pix_fmt", "yuv420p"),
        *("-threads", "1", "-fs", str(FILM_BYTES_MAX - 1024 * 1024)),
        *("-f", "mp4", "-y", f"/proc/{os.getpid()}/fd/{file.fileno()}"),
    ]


def _closed(group: ProcessGroup) -> None:
    group.reap()
    for pipe in (group.popen.stdin, group.popen.stdout):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read(FILM_BYTES_MAX + 1)


def _are_good(mp4: bytes, jpeg: bytes) -> bool:
    is_film = mp4[4:8] == b"ftyp" and len(mp4) <= FILM_BYTES_MAX
    return is_film and jpeg[:2] == b"\xff\xd8" and len(jpeg) <= THUMBNAIL_BYTES_MAX


@asynccontextmanager
async def open_recordings(dial: DialDesktop) -> AsyncIterator[Recordings]:
    """Give recordings for the length of the block; at its end those that run are dropped."""
    async with (
        open_lifeline() as lifeline,
        open_children("recordings", capacity=RECORDINGS_MAX) as children,
    ):
        yield Recordings(dial, children, lifeline)
