"""What is written into the catalogue, checked field by field. Pure."""

import re
from collections.abc import Iterable, Iterator

from adapters.http.refusals import HttpError, Validation
from adapters.models.providers.dial import split_url

NAME_CHARACTERS_MAX = 128
TEXT_CHARACTERS_MAX = 2_048  # of what is shown: names for people, icons, addresses
KEY_BYTES_MAX = 10_240
KEYS_MAX = 32  # of one provider; more are refused

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_NO_URL = re.compile(r"[\x00-\x20\x7f]")

Faults = Iterator[tuple[str, str]]


def refuse_if(faults: Iterable[tuple[str, str]], message: str) -> None:
    """400 with all that is wrong."""
    found = tuple(Validation(field, fact) for field, fact in faults)
    if found:
        first = found[0]
        detail = f"{first.field}: {first.detail}" if first.field else first.detail
        raise HttpError(400, message, detail=detail, validations=found)


def name_faults(name: str) -> Faults:
    if len(name) > NAME_CHARACTERS_MAX:
        yield "name", f"has {len(name)} characters, may have {NAME_CHARACTERS_MAX}"
    elif not NAME.fullmatch(name):
        yield "name", "must be lowercase letters and digits, in words joined by single hyphens"


def text_faults(field: str, text: str | None) -> Faults:
    if text and len(text) > TEXT_CHARACTERS_MAX:
        yield field, f"has {len(text)} characters, may have {TEXT_CHARACTERS_MAX}"
    if text and "\0" in text:
        yield field, "has a zero byte in it"


def url_faults(url: str) -> Faults:
    yield from text_faults("base_url", url)
    try:
        split_url(url)
        is_url = not _NO_URL.search(url)
    except ValueError:
        is_url = False
    if not is_url:
        yield "base_url", "must be an absolute http or https URL"


def key_faults(field: str, key: str) -> Faults:
    """Never says anything of the key."""
    size = len(key.encode())
    if not key:
        yield field, "must not be empty"
    elif key != key.strip():
        yield field, "has blanks around it"
    elif size > KEY_BYTES_MAX:
        yield field, f"has {size} bytes, may have {KEY_BYTES_MAX}"
    elif not key.isprintable():
        yield field, "has characters in it that no key has"


def masked(key: str) -> str:
    """As much of a key as lets its owner know it again."""
    shown = 4 if len(key) >= 20 else 2 if len(key) >= 10 else 1 if len(key) >= 5 else 0
    return f"{key[:shown]}...{key[-shown:]}" if shown else "..."
