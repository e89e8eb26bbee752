"""The compression of large answers for clients that ask for it: gzip, and nothing else.

    compressed(answer, accept_encoding)   only JSON: the door calls it for every answer
    gzipped(answer, accept_encoding)      any answer: files and pages call it where they are made

A page with a secret in it, such as the hidden value of a form, must not be compressed together with
texts that others wrote, because its length would reveal the secret. Streams of events are not
compressed at all.
"""

import gzip
import re
from dataclasses import replace
from functools import partial

from adapters.http.endpoints import HttpResponse
from runtime.threads import ThreadLimits, read

GZIP_BYTES_MIN = 4 * 1024  # a smaller answer goes as it is: it fits into a few packets
INLINE_BYTES_MAX = 32 * 1024  # a larger one is compressed in a thread: it takes milliseconds
LEVEL = 4  # a tenth larger than level 9 makes it, in a quarter of its time
COMPRESSING = ThreadLimits("compressed answers", threads_max=2)

_JSON = re.compile(r"application/(?:[\w.]+\+)?json\b")
_CODING = re.compile(r"\s*([\w*-]+)\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?", re.ASCII)


async def compressed(answer: HttpResponse, accept_encoding: str) -> HttpResponse:
    """Return the answer, compressed if it is large JSON and the client accepts that."""
    return await gzipped(answer, accept_encoding) if is_worth_it(answer) else answer


async def gzipped(answer: HttpResponse, accept_encoding: str) -> HttpResponse:
    """Return the answer, compressed if it is large and the client accepts that."""
    body = answer.body
    if not isinstance(body, bytes) or len(body) < GZIP_BYTES_MIN:
        return answer
    headers = (*answer.headers, ("vary", "accept-encoding"))
    plain = replace(answer, headers=headers)
    if not accepts_gzip(accept_encoding):
        return plain
    work = partial(gzip.compress, body, LEVEL, mtime=0)
    try:
        small = work() if len(body) <= INLINE_BYTES_MAX else await read(COMPRESSING, work)
    except RuntimeError:  # the system has no more threads
        return plain
    return replace(plain, body=small, headers=(*headers, ("content-encoding", "gzip")))


def is_worth_it(answer: HttpResponse) -> bool:
    """Return whether an answer is large, JSON, and not compressed yet. Pure."""
    return (
        isinstance(answer.body, bytes)
        and len(answer.body) >= GZIP_BYTES_MIN
        and _JSON.match(answer.media_type) is not None
        and not any(name == "content-encoding" for name, _ in answer.headers)
    )


def accepts_gzip(accept_encoding: str) -> bool:
    """Read `Accept-Encoding` (RFC 9110, 12.5.3). What cannot be read asks for nothing. Pure."""
    wanted: dict[str, float] = {}
    for word in accept_encoding.lower().split(","):
        if found := _CODING.fullmatch(word):
            wanted[found[1]] = float(found[2] or 1)
    named = [wanted[name] for name in ("gzip", "x-gzip") if name in wanted]
    return max(named, default=wanted.get("*", 0.0)) > 0
