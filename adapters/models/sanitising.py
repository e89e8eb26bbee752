"""Text that is written for a model, made plain: what nobody can see must not speak to it. Pure."""

import re

PROMPT_BYTES_MAX = 131_072  # of a prompt when it is clean; a longer one is refused

_RANGES = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x180E, 0x180E),
    (0x200B, 0x200B),
    (0x200D, 0x200F),  # U+200C stays: Persian and Urdu need it
    (0x202A, 0x202E),
    (0x2060, 0x2064),
    (0x2066, 0x206F),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
)
_INVISIBLE = dict.fromkeys(code for low, high in _RANGES for code in range(low, high + 1))
_BLANKS_AT_END = re.compile(r"[^\S\n]+$", re.MULTILINE)
_EMPTY_LINES = re.compile(r"\n{3,}")


def sanitised(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").translate(_INVISIBLE)
    return _EMPTY_LINES.sub("\n\n", _BLANKS_AT_END.sub("", lines)).strip()


def is_too_long(clean: str) -> bool:
    return len(clean.encode()) > PROMPT_BYTES_MAX
