"""Texts of others, without what would do something to a terminal. Pure.

Models, tools, files and other users choose their words as they like. A terminal obeys control
characters; it shows a direction that is turned around, or an invisible character, as something
that is not there; and it cannot take half a surrogate at all. Each of those becomes a question
mark. Joiners stay, of which emoji and some scripts are made.
"""

import re

# C0 and C1 but tab and line feed; invisible formats; directions; line and paragraph separators;
# tags; halves of surrogates.
_REST = (
    r"\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f"
)
_CONTROL = re.compile(rf"[\x00-\x08\x0b-\x1f{_REST}]")
_CONTROL_BUT_ESC = re.compile(rf"[\x00-\x08\x0b-\x1a\x1c-\x1f{_REST}]")
_SEQUENCE = re.compile(
    r"""\x1b(?:\[(?P<csi>[0-?]*[ -/]*[@-~])    # with parameters
    |\][^\x07\x1b]*(?:\x07|\x1b\\)?           # titles, links, notifications
    |[PX^_][^\x1b]*(?:\x1b\\)?                # texts for the terminal
    |.?)""",
    re.DOTALL | re.VERBOSE,
)
_COLOURS = re.compile(r"[0-9;:]*m")


def harmless(text: str) -> str:
    """Return a text with its lines and tabs, and nothing else that a terminal would obey."""
    return _CONTROL.sub("?", text.replace("\t", "    "))


def one_line(text: str) -> str:
    """Return a harmless text on one line."""
    return harmless(text.replace("\n", "?"))


def coloured(text: str) -> str:
    """Return the output of a command with its colours, and with nothing else that it controls."""
    kept = _SEQUENCE.sub(_only_colours, text.replace("\r\n", "\n"))
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in kept.split("\n"))
    return _CONTROL_BUT_ESC.sub("", "\n".join(lines).replace("\t", "    "))


def _only_colours(found: re.Match[str]) -> str:
    csi = found["csi"] or ""
    return f"\x1b[{csi}" if _COLOURS.fullmatch(csi) else ""
