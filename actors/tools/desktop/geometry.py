"""The sizes of desktops, as they are and as models are told. Pure.

A model sees a screenshot that was scaled down, and names pixels of that. A pixel is mapped by its
centre, so that a model that points at the middle of something small hits it.
"""

from dataclasses import dataclass

# What Anthropic's models are shown without being scaled down again at the other end.
LONG_EDGE_MAX = 1_568
PIXELS_MAX = 1_150_000
SMALLER_WIDTHS = (1_280, 1_024)  # tried in this order where the desktop itself is too large


@dataclass(frozen=True, slots=True)
class ScreenSize:
    """A width and a height in pixels."""

    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


NATIVE = ScreenSize(1_920, 1_080)  # of every desktop
FOR_OPENAI = ScreenSize(1_600, 900)


def size_for_anthropic(native: ScreenSize) -> ScreenSize:
    """Return the size that an Anthropic model is told."""
    sizes = [native, *(_narrowed(native, width) for width in SMALLER_WIDTHS)]
    return next((size for size in sizes if _fits(size)), sizes[-1])


def to_native(point: tuple[int, int], told: ScreenSize, native: ScreenSize) -> tuple[int, int]:
    """Return where a pixel that a model names lies on the screen. One outside is moved inside."""
    x, y = point
    return (
        _mapped(x, told.width, native.width),
        _mapped(y, told.height, native.height),
    )


def from_native(point: tuple[int, int], told: ScreenSize, native: ScreenSize) -> tuple[int, int]:
    """Return how a model that was told this size would name a pixel of the screen."""
    return to_native(point, native, told)


def _mapped(at: int, told: int, native: int) -> int:
    # In whole numbers: half a pixel more, times the scale, cut to the pixel below.
    return min(max((2 * at + 1) * native // (2 * told), 0), native - 1)


def _fits(size: ScreenSize) -> bool:
    is_small = size.width * size.height <= PIXELS_MAX
    return is_small and max(size.width, size.height) <= LONG_EDGE_MAX


def _narrowed(native: ScreenSize, width: int) -> ScreenSize:
    return ScreenSize(width, max(1, round(native.height * width / native.width)))
