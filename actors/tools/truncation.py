"""A result within its share of the model's window: its beginning and its end, and what is missing.

Pure. The model is better served by two thirds of the beginning and a third of the end than by all
of either: a log ends with what went wrong. Exactly at its budget a text is left alone.
"""

BYTES_PER_TOKEN = 3
SHARE = 3  # a result may take a third of the window
BUDGET_MIN = 16 * 1024
BUDGET_UNKNOWN = 64 * 1024  # of a model whose window nobody knows
MARKER_ROOM = 256  # bytes that are kept free for the words about what is missing
TINY = 512  # a budget that has no room for both ends and words between them


def budget(context_limit: int | None) -> int:
    """Bytes that one result may have."""
    if not context_limit or context_limit < 0:
        return BUDGET_UNKNOWN
    return max(BUDGET_MIN, context_limit // SHARE * BYTES_PER_TOKEN)


def truncated(text: str, bytes_max: int) -> str:
    """`text` in at most `bytes_max` bytes of UTF-8; no character is cut in two."""
    data = text.encode("utf-8", "replace")
    if len(data) <= bytes_max:
        return text
    if bytes_max <= TINY:
        return _whole(data[:bytes_max])
    room = bytes_max - MARKER_ROOM
    tail_bytes = room // 3
    head = _whole(data[: room - tail_bytes])
    tail = _whole(data[len(data) - tail_bytes :])
    left = len(data) - len(head.encode()) - len(tail.encode())
    return f"{head}\n\n[… {left} bytes of the output are left out here …]\n\n{tail}"


def _whole(data: bytes) -> str:
    """Without the halves of characters at its ends."""
    return data.decode("utf-8", "ignore")
