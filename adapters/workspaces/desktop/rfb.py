"""The client's side of RFB 3.8 (RFC 6143), by which a screen is seen and operated. Pure.

An `RfbClient` is given the bytes that come and keeps the bytes that have to go. Pixels come raw, or
as copies of what is on the screen already: over a socket of the same machine a raw screen takes a
few milliseconds, and whatever packs pixels takes longer to unpack here than it saves on the way.

The screen is kept as it comes: four bytes a pixel, blue, green, red and one that means nothing.
Bytes that are no RFB, or that no screen of ours would send, raise `RfbFault`, and end the client.
"""

import struct
from collections.abc import Generator
from dataclasses import dataclass

from actors.tools.desktop.geometry import ScreenSize

VERSION = b"RFB 003.008\n"
NO_SECURITY = 1
PIXELS_MAX = 4_096 * 2_160  # of a screen; a larger one is refused
NAME_BYTES_MAX = 4_096  # of a screen's name; likewise
TEXT_BYTES_MAX = 16 * 1024 * 1024  # of a text that was copied there; likewise
REASON_BYTES_MAX = 4_096  # of a refusal of the other side; likewise
PIXEL_BYTES = 4

RAW, COPY, DESKTOP_SIZE, LAST_RECTANGLE = 0, 1, -223, -224
_ENCODINGS = (COPY, RAW, DESKTOP_SIZE, LAST_RECTANGLE)
_PIXEL_FORMAT = struct.pack("!BBBBHHHBBB3x", 32, 24, 0, 1, 255, 255, 255, 16, 8, 0)


class RfbFault(Exception):
    """The other side does not speak as it should; in words for people."""


@dataclass(frozen=True, slots=True)
class ScreenReady:
    """The screen has said how large it is, and can be asked."""

    size: ScreenSize


@dataclass(frozen=True, slots=True)
class ScreenChanged:
    """A change that was told whole. `pixels` counts what it covers, a pixel twice if told twice."""

    pixels: int


RfbEvent = ScreenReady | ScreenChanged
_Parser = Generator[int, memoryview, None]  # yields how many bytes it needs next


class RfbClient:
    """One connection to a screen, without its socket."""

    def __init__(self) -> None:
        self.size = ScreenSize(0, 0)
        self.screen = bytearray()
        self._came = bytearray()
        self._to_send = bytearray()
        self._events: list[RfbEvent] = []
        self._parser = self._conversation()
        self._needed = next(self._parser)

    def receive(self, data: bytes) -> list[RfbEvent]:
        """Take in bytes; return what has happened."""
        self._came += data
        taken = 0
        # A view forbids the bytes to move, so it is given up before they are cut.
        with memoryview(self._came) as came:
            while len(came) - taken >= self._needed:
                with came[taken : taken + self._needed] as piece:
                    taken += self._needed
                    self._needed = self._parser.send(piece)
        del self._came[:taken]
        events, self._events = self._events, []
        return events

    def bytes_to_send(self) -> bytes:
        """Return what has to go, once."""
        sending, self._to_send = bytes(self._to_send), bytearray()
        return sending

    # what is asked of the screen

    def request(self, *, only_changes: bool) -> None:
        """Ask for the screen: for all of it, or for what has changed, as soon as something has."""
        area = (0, 0, self.size.width, self.size.height)
        self._to_send += struct.pack("!BBHHHH", 3, only_changes, *area)

    def request_changes_now(self) -> None:
        """Ask for what has changed, and be answered at once even if nothing has: one pixel is asked
        for anew, and the changes come along with it."""
        self.request(only_changes=True)
        self._to_send += struct.pack("!BBHHHH", 3, False, 0, 0, 1, 1)

    def pointer(self, x: int, y: int, *, buttons: int) -> None:
        """Move the pointer. `buttons` has a bit for each button that is down, the first for 1."""
        self._to_send += struct.pack("!BBHH", 5, buttons, x, y)

    def key(self, keysym: int, *, is_down: bool) -> None:
        self._to_send += struct.pack("!BBxxI", 4, is_down, keysym)

    # what it says

    def _conversation(self) -> _Parser:
        yield from self._greeting()
        while True:
            kind = (yield 1)[0]
            match kind:
                case 0:
                    yield from self._update()
                case 1:
                    (count,) = struct.unpack("!xxxH", (yield 5))
                    yield count * 6
                case 2:
                    pass
                case 3:
                    (size,) = struct.unpack("!xxxI", (yield 7))
                    yield _bounded(size, TEXT_BYTES_MAX, "a text")
                case _:
                    raise RfbFault(f"the screen says a message of kind {kind}, which there is not")

    def _greeting(self) -> _Parser:
        said = bytes((yield len(VERSION)))
        if said[:4] != b"RFB " or said < VERSION:
            raise RfbFault(f"the screen speaks {said[:16]!r}, and not RFB 3.8")
        self._to_send += VERSION
        count = (yield 1)[0]
        if count == 0:
            raise RfbFault(f"the screen refuses us: {(yield from self._reason())}")
        if NO_SECURITY not in bytes((yield count)):
            raise RfbFault("the screen wants a password, and ours has none")
        self._to_send += bytes((NO_SECURITY,))
        (refused,) = struct.unpack("!I", (yield 4))
        if refused:
            raise RfbFault(f"the screen refuses us: {(yield from self._reason())}")
        self._to_send += b"\x01"  # others may watch the same screen
        width, height, name_size = struct.unpack("!HH16xI", (yield 24))
        yield _bounded(name_size, NAME_BYTES_MAX, "a name")
        self._resize(width, height)
        self._to_send += b"\x00\x00\x00\x00" + _PIXEL_FORMAT
        self._to_send += struct.pack(f"!BxH{len(_ENCODINGS)}i", 2, len(_ENCODINGS), *_ENCODINGS)
        self._events.append(ScreenReady(self.size))

    def _reason(self) -> Generator[int, memoryview, str]:
        (size,) = struct.unpack("!I", (yield 4))
        said = bytes((yield _bounded(size, REASON_BYTES_MAX, "a reason")))
        return said.decode(errors="replace")

    def _update(self) -> _Parser:
        (count,) = struct.unpack("!xH", (yield 3))
        pixels = 0
        for _ in range(count):
            x, y, width, height, encoding = struct.unpack("!HHHHi", (yield 12))
            if encoding == LAST_RECTANGLE:
                break
            if encoding == DESKTOP_SIZE:
                self._resize(width, height)
                continue
            if x + width > self.size.width or y + height > self.size.height:
                raise RfbFault(f"the screen tells of pixels beyond its {self.size}")
            if encoding == RAW:
                self._put(x, y, width, height, (yield width * height * PIXEL_BYTES))
            elif encoding == COPY:
                from_x, from_y = struct.unpack("!HH", (yield 4))
                self._copy((from_x, from_y), (x, y), width, height)
            else:
                raise RfbFault(f"the screen sends pixels in the encoding {encoding}, unasked")
            pixels += width * height
        self._events.append(ScreenChanged(pixels))

    def _resize(self, width: int, height: int) -> None:
        if not 0 < width * height <= PIXELS_MAX:
            raise RfbFault(f"the screen is {width}x{height}; it can have 1 to {PIXELS_MAX} pixels")
        self.size = ScreenSize(width, height)
        self.screen = bytearray(width * height * PIXEL_BYTES)

    def _put(self, x: int, y: int, width: int, height: int, pixels: memoryview) -> None:
        row, screen_row = width * PIXEL_BYTES, self.size.width * PIXEL_BYTES
        at = y * screen_row + x * PIXEL_BYTES
        if row == screen_row:
            self.screen[at : at + len(pixels)] = pixels
            return
        for start in range(0, len(pixels), row or 1):
            self.screen[at : at + row] = pixels[start : start + row]
            at += screen_row

    def _copy(
        self, source: tuple[int, int], target: tuple[int, int], width: int, height: int
    ) -> None:
        x, y = source
        if x + width > self.size.width or y + height > self.size.height:
            raise RfbFault(f"the screen copies pixels from beyond its {self.size}")
        row, screen_row = width * PIXEL_BYTES, self.size.width * PIXEL_BYTES
        starts = range(y * screen_row + x * PIXEL_BYTES, (y + height) * screen_row, screen_row)
        rows = [bytes(self.screen[at : at + row]) for at in starts[:height]]
        with memoryview(b"".join(rows)) as pixels:
            self._put(*target, width, height, pixels)


def _bounded(size: int, most: int, what: str) -> int:
    if size > most:
        raise RfbFault(f"the screen sends {what} of {size} bytes, at most {most} are read")
    return size
