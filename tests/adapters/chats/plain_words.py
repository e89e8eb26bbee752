"""What must not be in words for clients: Python's notation of what a library has read."""

import re

SIZE_MAX = 4_000

_PYTHON = re.compile(
    r"""bytearray\(|\bb['"]|\bb\\"|<class|<[A-Z]\w+[. :]|\w(?:Error|Exception)\b|0x|\[Errno"""
)


def assert_plain(text):
    assert len(text) <= SIZE_MAX, f"{len(text)} characters: {text[:200]}"
    found = _PYTHON.search(text)
    assert found is None, text[max(0, found.start() - 100) : found.end() + 100]
