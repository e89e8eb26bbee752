"""JSON that is kept as text: checks, parsing, and the private notes of providers. Pure.

The checks are strict, as the store and the providers are: NaN and Infinity are not JSON, nor is
what nests deeper, or has longer numbers, than we are willing to read.

A provider notes things on a part for its own later use. Each family of providers has a key of its
own in that metadata, so that none reads the notes of another, and a chat that comes back to a
provider finds them again.
"""

import json
import re
from typing import Any, NoReturn

from actors.law.parts.message import JsonText

# How deep JSON may nest. It is the same for every Python: from 3.13 on Python and msgspec read as
# deep as the stack of a thread goes, tens of thousands, of which PostgreSQL refuses to store more
# than ten thousand. What is deeper is no JSON to us, and is refused with a word.
NESTING_MAX = 500
_BETWEEN_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[^\[\]{}"]+', re.DOTALL)
_INNERMOST = re.compile(r"\[\]|\{\}")

# Escapes are read in pairs, so that `\\ud83d` is no surrogate; whole pairs of surrogates stay.
_ESCAPES = re.compile(
    r"\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}"
    r"|\\u(?P<lone>[dD][89a-fA-F][\da-fA-F]{2})|\\."
)


def parsed(text: str | None) -> Any:
    """Return the value, or raise ValueError."""
    if text is None:
        raise ValueError("nothing is not JSON")
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if nests_too_deep(text):
        raise ValueError("nested too deep")
    return value


def nests_too_deep(text: str) -> bool:
    """Return whether JSON nests deeper than NESTING_MAX. Of what is no JSON nothing is said."""
    if text.count("[") + text.count("{") <= NESTING_MAX:
        return False
    left = _BETWEEN_BRACKETS.sub("", text)
    for _ in range(NESTING_MAX):
        left, count = _INNERMOST.subn("", left)
        if not count:
            return False
    return bool(left)


def is_json(text: str | None) -> bool:
    try:
        parsed(text)
    except ValueError:
        return False
    return True


def is_object(text: str | None) -> bool:
    try:
        return isinstance(parsed(text), dict)
    except ValueError:
        return False


def well_formed(text: str) -> str:
    """Return the text with each surrogate that lacks its partner, written out or escaped, replaced
    by U+FFFD: such a surrogate is no text."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if "\\ud" in text or "\\uD" in text:
        text = _ESCAPES.sub(_with_partner, text)
    return text


def _with_partner(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape["lone"] else escape[0]


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refused)


ANTHROPIC = "anthropic"  # signature, redacted_data, citations, web_search, web_fetch


def notes_of(metadata: JsonText | None, family: str) -> dict[str, object]:
    """Return the notes of this family; empty if there are none, or none that can be read."""
    if not metadata:
        return {}
    try:
        found = parsed(metadata)
    except ValueError:
        return {}
    ours = found.get(family) if isinstance(found, dict) else None
    return ours if isinstance(ours, dict) else {}
