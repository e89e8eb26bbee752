"""Pictures of a screen, scaled and packed in threads.

Pillow does it, which belongs to the extra `desktop`; so it is imported where it is needed, and
desktops are refused before that where it is missing.
"""

from functools import partial
from io import BytesIO

from actors.tools.desktop.geometry import ScreenSize
from adapters.workspaces.desktop.connection import ScreenPicture
from runtime.threads import ThreadLimits, read

# Pictures that are packed at once; more wait. One takes some thirty milliseconds.
PACKING = ThreadLimits("screen_pictures", 4)
PNG_LEVEL = 1  # of ten: the others take much longer and save little
JPEG_QUALITY = 80


async def as_png(picture: ScreenPicture, size: ScreenSize) -> bytes:
    """Return a picture as PNG in this size."""
    return await read(PACKING, partial(_png, picture, size))


async def as_jpeg(picture: ScreenPicture, size: ScreenSize) -> bytes:
    """Return a picture as JPEG in this size."""
    return await read(PACKING, partial(_jpeg, picture, size))


def _png(picture: ScreenPicture, size: ScreenSize) -> bytes:
    packed = BytesIO()
    _scaled(picture, size).save(packed, "PNG", compress_level=PNG_LEVEL)
    return packed.getvalue()


def _jpeg(picture: ScreenPicture, size: ScreenSize) -> bytes:
    packed = BytesIO()
    _scaled(picture, size).save(packed, "JPEG", quality=JPEG_QUALITY)
    return packed.getvalue()


def _scaled(picture: ScreenPicture, size: ScreenSize):  # type: ignore[no-untyped-def]
    from PIL import Image

    native = (picture.size.width, picture.size.height)
    image = Image.frombuffer("RGB", native, picture.pixels, "raw", "BGRX", 0, 1)
    wanted = (size.width, size.height)
    # Each pixel is the mean of those that it covers: small letters stay readable.
    return image if native == wanted else image.resize(wanted, Image.Resampling.BOX)
