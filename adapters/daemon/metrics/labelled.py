"""The page of figures of one process among several: every sample says which. Pure."""


def of_process(number: int | None, page: bytes) -> bytes:
    """None: it is the only one, and the page is as it was."""
    if number is None:
        return page
    label = b'process="%d"' % number
    return b"\n".join([_labelled(line, label) for line in page.split(b"\n")])


def _labelled(line: bytes, label: bytes) -> bytes:
    if not line or line.startswith(b"#"):
        return line
    name, brace, rest = line.partition(b"{")
    if brace:
        comma = b"" if rest.startswith(b"}") else b","
        return b"".join((name, b"{", label, comma, rest))
    name, _, value = line.partition(b" ")
    return b"".join((name, b"{", label, b"} ", value))
