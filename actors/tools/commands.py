"""Shell commands as models write them: what they mean, and advice to the model. Pure."""

import re
from dataclasses import dataclass

_UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "\u00b5s": 1e-6,  # the micro sign
    "\u03bcs": 1e-6,  # the Greek letter
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
}
_DURATION = re.compile(
    r"\+?(0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)"
)
_PIECE = re.compile(r"([0-9.]+)([a-z\u00b5\u03bc]+)")
DURATION_CHARACTERS_MAX = 64  # of a longer one nothing is made

_BEHIND = re.compile(r"(?<![&|\\>])&\s*\Z")
_SEARCH = re.compile(r"\s*(?:rg|grep)\s(?P<options>[^|;&]*)")
_LISTS_ONLY = re.compile(r"(?:^|\s)-[a-zA-Z]*l")


def seconds_of(duration: str) -> float | None:
    """Return the seconds in a text such as "90s", "1m30s" or "500ms", or None if it is none."""
    text = duration.strip()
    if len(text) > DURATION_CHARACTERS_MAX or not _DURATION.fullmatch(text):
        return None
    return sum((float(number) * _UNITS[unit] for number, unit in _PIECE.findall(text)), 0.0)


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    text: str
    background: bool


def parse_command(command: str, *, background: bool) -> ParsedCommand:
    """Read a command. One that ends with `&` is to run in the background, which we do ourselves."""
    if background or not _BEHIND.search(command):
        return ParsedCommand(command, background)
    return ParsedCommand(_BEHIND.sub("", command).rstrip(), True)


def advice(command: str) -> str:
    """Return what would have served better than this command, or "" if nothing would."""
    if command.lstrip().startswith("cat "):
        return "read_file shows a file with the numbers of its lines, and in pieces"
    search = _SEARCH.match(command)
    if search is None:
        return ""
    options = search["options"]
    if "--include-all" in options or _LISTS_ONLY.search(options):
        return "read_file shows what is in the files that were found"
    return ""
