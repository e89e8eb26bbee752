"""A connection to a screen: pictures of it, and what a pointer and a keyboard do to it.

Nothing is asked of the screen between two calls, so a connection that rests costs nothing.
"""

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import assert_never

import trio

from actors.tools.desktop.geometry import ScreenSize
from actors.tools.desktop.steps import (
    DesktopStep,
    MovePointer,
    Pause,
    PressButton,
    PressKey,
    ReleaseButton,
    ReleaseKey,
)
from adapters.workspaces.desktop.rfb import RfbClient, RfbFault, ScreenChanged, ScreenReady
from adapters.workspaces.disk import Disk
from runtime.threads import Unwanted, check_wanted

READ_BYTES = 1024 * 1024
ANSWER_SECONDS = 10.0  # for the screen to answer; then it counts as gone
# After an action: what programs have to begin with what they were told, and how long nothing may
# change before the picture is taken; in all never longer than the last.
REACTION_SECONDS, QUIET_SECONDS, SETTLE_SECONDS_MAX = 0.04, 0.02, 0.4
RELEASE_SECONDS = 1.0  # to let go of keys and buttons after a failure, cancelled or not
_GONE = (trio.BrokenResourceError, trio.ClosedResourceError, OSError)


class ScreenGone(Exception):
    """The screen does not answer, or says what it should not; in words for models and people."""


@dataclass(frozen=True, slots=True)
class ScreenPicture:
    """A picture of a screen: four bytes a pixel, blue, green, red and nothing."""

    size: ScreenSize
    pixels: bytes


class DesktopConnection:
    """One connection to a screen. Its methods are called by one task at a time."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._client = RfbClient()
        self._is_known = False  # the whole screen, but for what has changed since
        # A picture was given up, and may still come: it would be taken for a later one. Then a
        # connection is of no use any more.
        self.is_behind = False
        self._buttons = 0
        self._keys: dict[int, None] = {}  # that are down, in their order
        self.pointer = (0, 0)  # where we have moved it last

    @property
    def size(self) -> ScreenSize:
        return self._client.size

    async def begin(self) -> None:
        """Wait until the screen can be asked. ScreenGone: it cannot."""
        await self._until(ScreenReady)
        self.pointer = (self.size.width // 2, self.size.height // 2)

    async def picture(self) -> ScreenPicture:
        """Return a picture of the whole screen."""
        with self._asking():
            self._client.request(only_changes=False)
            await self._covered(self.size.width * self.size.height)
        self._is_known = True
        return ScreenPicture(self.size, bytes(self._client.screen))

    async def next_picture(self) -> ScreenPicture:
        """Wait until something has changed, however long that is; return the whole screen."""
        self._client.request(only_changes=True)
        await self._until(ScreenChanged, patient=True)
        return ScreenPicture(self.size, bytes(self._client.screen))

    async def settled_picture(self) -> ScreenPicture:
        """Return a picture when what was done last shows and nothing moves any more, or when that
        takes too long. What it is compared with first comes as changes, which are few; the picture
        itself is asked for whole, since changes of the last moments may not be told yet."""
        ends = trio.current_time() + SETTLE_SECONDS_MAX
        await trio.sleep(REACTION_SECONDS)
        before = await self._pixels()
        while True:
            await trio.sleep(QUIET_SECONDS)
            picture = await self.picture()
            if picture.pixels == before or trio.current_time() >= ends:
                return picture
            before = picture.pixels

    async def perform(self, steps: Sequence[DesktopStep]) -> None:
        """Do these steps. If that fails or is cancelled, no key or button that they pressed stays
        down."""
        buttons, keys = self._buttons, dict(self._keys)
        done = False
        try:
            for step in steps:
                if isinstance(step, Pause):
                    await self._flush()
                    await trio.sleep(step.seconds)
                else:
                    self._do(step)
            await self._flush()
            done = True
        finally:
            if not done:
                with trio.move_on_after(RELEASE_SECONDS, shield=True), suppress(ScreenGone):
                    self._let_go(buttons, keys)
                    await self._flush()

    async def aclose(self) -> None:
        """Leave. The screen lets go of all keys that are down."""
        await trio.aclose_forcefully(self._stream)

    def _do(self, step: DesktopStep) -> None:
        client = self._client
        match step:
            case MovePointer(x, y):
                self.pointer = (x, y)
                client.pointer(x, y, buttons=self._buttons)
            case PressButton(button):
                self._buttons |= 1 << (button - 1)
                client.pointer(*self.pointer, buttons=self._buttons)
            case ReleaseButton(button):
                self._buttons &= ~(1 << (button - 1))
                client.pointer(*self.pointer, buttons=self._buttons)
            case PressKey(keysym):
                self._keys[keysym] = None
                client.key(keysym, is_down=True)
            case ReleaseKey(keysym):
                self._keys.pop(keysym, None)
                client.key(keysym, is_down=False)
            case Pause():
                raise AssertionError("a pause is waited for")
            case _:
                assert_never(step)

    def _let_go(self, buttons: int, keys: dict[int, None]) -> None:
        for keysym in [each for each in reversed(self._keys) if each not in keys]:
            self._do(ReleaseKey(keysym))
        self._buttons &= buttons
        self._client.pointer(*self.pointer, buttons=self._buttons)

    async def _pixels(self) -> bytes:
        """Return the pixels of the screen as it tells of them by now."""
        if not self._is_known:
            return (await self.picture()).pixels
        with self._asking():
            self._client.request_changes_now()
            await self._until(ScreenChanged)
        return bytes(self._client.screen)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Note whether the answer to what is asked in the block was waited for to its end."""
        self.is_behind = True
        yield
        self.is_behind = False

    async def _covered(self, pixels: int) -> None:
        """Wait until so many pixels were told anew."""
        while pixels > 0:
            changed = await self._until(ScreenChanged)
            assert isinstance(changed, ScreenChanged), "it was waited for"
            pixels -= changed.pixels

    async def _until(
        self, kind: type[ScreenReady] | type[ScreenChanged], *, patient: bool = False
    ) -> ScreenReady | ScreenChanged:
        with trio.move_on_after(float("inf") if patient else ANSWER_SECONDS):
            while True:
                await self._flush()
                for event in self._receive(await self._read()):
                    if isinstance(event, kind):
                        return event
        raise ScreenGone(f"the desktop does not answer within {ANSWER_SECONDS:g} s")

    def _receive(self, data: bytes) -> Sequence[ScreenReady | ScreenChanged]:
        try:
            return self._client.receive(data)
        except RfbFault as fault:
            raise ScreenGone(str(fault)) from fault

    async def _read(self) -> bytes:
        try:
            data = bytes(await self._stream.receive_some(READ_BYTES))
        except _GONE as error:
            raise ScreenGone("the desktop has ended") from error
        if not data:
            raise ScreenGone("the desktop has ended")
        return data

    async def _flush(self) -> None:
        if not (sending := self._client.bytes_to_send()):
            return
        try:
            await self._stream.send_all(sending)
        except _GONE as error:
            raise ScreenGone("the desktop has ended") from error


async def dial_screen(directory: str, name: str) -> trio.SocketStream | None:
    """Connect to the screen whose socket lies in a directory. None: none listens there."""
    connected = await Disk(directory, "the workspaces").write(partial(_dialled, directory, name))
    return (
        None if connected is None else trio.SocketStream(trio.socket.from_stdlib_socket(connected))
    )


def _dialled(directory: str, name: str) -> socket.socket | None:
    """Connect by way of the open directory: the whole path may be too long for a socket."""
    try:
        folder = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        made.connect(f"/proc/self/fd/{folder}/{name}")
        check_wanted()
        return made
    except OSError:
        made.close()
        return None
    except Unwanted:
        made.close()
        raise
    finally:
        os.close(folder)
