"""Recorded traffic with real providers: one file, one conversation, byte for byte.

The recordings are not part of the project. They are looked for beside it; where there are none,
`recordings()` is empty, and the tests that use them say that they ran none.
"""

import itertools
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "recordings"


@dataclass(frozen=True)
class Exchange:
    method: str
    url: str
    request_headers: dict[str, str]
    request_body: bytes
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def request(self):
        """The recorded request, decoded."""
        return json.loads(self.request_body)

    @property
    def streamed(self):
        kinds = ("text/event-stream", "application/vnd.amazon.eventstream")
        return self.headers.get("content-type", "").startswith(kinds)


@dataclass(frozen=True)
class Recording:
    name: str  # of the file, without its suffix, below the folder of all recordings
    exchanges: tuple[Exchange, ...]

    @property
    def streamed(self):
        return any(exchange.streamed for exchange in self.exchanges)


@cache
def recordings(*tests):
    """All recordings of these tests (names of folders), or all there are."""
    files = sorted(FOLDER.glob("*/**/*.yaml"))
    chosen = [file for file in files if not tests or file.relative_to(FOLDER).parts[0] in tests]
    return tuple(_recording(file) for file in chosen)


def _recording(file):
    loaded = yaml.load(file.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    name = file.relative_to(FOLDER).with_suffix("").as_posix()
    return Recording(name, tuple(_exchange(each) for each in loaded["interactions"]))


def _exchange(each):
    request, response = each["request"], each["response"]
    return Exchange(
        request["method"],
        request["url"],
        _headers(request["headers"]),
        _bytes(request.get("body", "")),
        response["code"],
        _headers(response["headers"]),
        _bytes(response["body"]),
    )


def _headers(lists):
    return {name.lower(): ", ".join(values) for name, values in lists.items()}


def _bytes(body):
    return body if isinstance(body, bytes) else body.encode()


def cuts(body, random, pieces):
    """The body, cut at random places."""
    places = sorted(random.randrange(len(body) + 1) for _ in range(pieces - 1))
    borders = [0, *places, len(body)]
    return [body[a:b] for a, b in itertools.pairwise(borders) if a < b]
