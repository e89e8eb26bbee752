"""Files and pictures that go with a message, and files that are written."""

import asyncio
import errno
import os
import shutil
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.cli.chat.deciding.mentions import FILE_BYTES_MAX, FILES_MAX, Mention, mentions_in
from promptcorner_client import api
from promptcorner_client.async_client import AsyncClient

CLIPBOARD_SECONDS = 5.0  # a program that reads it and does not end is given up
CLIPBOARDS = (  # whichever is there first; each writes the picture to its output
    ("wl-paste", "--no-newline", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-target", "image/png", "-out"),
    ("pngpaste", "-"),
)
OTHERS_TOLD_MAX = 5  # folders, devices and so on that are named; the rest is counted
PNG = b"\x89PNG\r\n"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that goes with the next message."""

    name: str
    media_type: str
    content: bytes


class CannotAttach(Exception):
    """A file that cannot go with a message; the text says why."""


def read_mentions(text: str, folder: Path) -> tuple[list[Attachment], str]:
    """Return the files that a message names, and a line about what it names that is no file.

    Raise CannotAttach for a file that cannot be sent.
    """
    named = mentions_in(text, folder)
    found = [mention for mention in named if not mention.kind]
    if len(found) > FILES_MAX:
        raise CannotAttach(f"{len(found)} files are named, {FILES_MAX} can go with a message")
    attachments = []
    for mention in found:
        try:
            content = content_of(mention.path)
        except OSError as error:
            raise CannotAttach(f"{mention.path} cannot be attached: {error.strerror}") from None
        if len(content) > FILE_BYTES_MAX:
            most = FILE_BYTES_MAX // 1024 // 1024
            raise CannotAttach(f"{mention.path} is larger than {most} MiB")
        attachments.append(Attachment(mention.path.name, mention.media_type, content))
    return attachments, words_about([mention for mention in named if mention.kind])


def words_about(others: Sequence[Mention]) -> str:
    """Return a line about things that are named like files and stay words; "" without any."""
    if not others:
        return ""
    told = [f"{mention.path} is {mention.kind}" for mention in others[:OTHERS_TOLD_MAX]]
    more = len(others) - len(told)
    return f"not attached: {', '.join(told)}" + (f", and {more} more" if more else "")


def content_of(path: Path) -> bytes:
    """Read a file, a byte beyond the bound at most: it may grow, or become a pipe, meanwhile."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no file")
        return file.read(FILE_BYTES_MAX + 1)


async def parts_with(
    client: AsyncClient, text: str, attachments: Sequence[Attachment]
) -> list[dict[str, Any]]:
    """Upload the files and return the parts of the message."""
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    if attachments:
        organization = (await client.request(api.me())).organization_ids[0]
        for each in attachments:
            upload = api.upload(organization, each.name, each.media_type, each.content)
            sent = await client.request(upload)
            parts.append({"type": "file", "file_id": str(sent.id)})
    return parts


async def clipboard_image(number: int) -> Attachment:
    """Return the picture on the clipboard; raise CannotAttach if there is none."""
    words = next((words for words in CLIPBOARDS if shutil.which(words[0])), None)
    if words is None:
        names = ", ".join(words[0] for words in CLIPBOARDS)
        raise CannotAttach(f"the clipboard is read by one of {names}; none is installed")
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        content, _ = await asyncio.wait_for(process.communicate(), CLIPBOARD_SECONDS)
    except TimeoutError:
        process.kill()
        raise CannotAttach(f"{words[0]} does not answer") from None
    if not content.startswith(PNG):
        raise CannotAttach("there is no picture on the clipboard")
    if len(content) > FILE_BYTES_MAX:
        raise CannotAttach("the picture on the clipboard is too large")
    return Attachment(f"clipboard-{number}.png", "image/png", content)


def write_export(name: str, text: str) -> Path:
    """Write a chat to a new file and return its path; raise CannotAttach if that cannot be done."""
    target = Path(name).expanduser()
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise CannotAttach(f"{target} exists; name another file") from None
    except OSError as error:
        raise CannotAttach(f"{target}: {error.strerror}") from None
    return target
