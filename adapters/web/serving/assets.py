"""The files that the browser runs: read once, named by a digest of all of them, kept in memory.

    assets = load_assets(None)
    assets.url("app.js")        "/web/0123456789ab/app.js"

The digest stands in the path, and files name each other by relative paths: a browser keeps what it
has for a year, and a new version has a new path. Style sheets are joined to one file, in the order
of STYLE_ORDER and then of their names, and modules to few (`joining`). With a folder of a developer
the files are read each time and served as they are, the digest is `dev`, and nothing is kept.
"""

import gzip
import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from posixpath import dirname, join, normpath

from adapters.web.serving.joining import FOLDER as JOINED_FOLDER
from adapters.web.serving.joining import UnjoinableModule, join_modules
from runtime.log import emit

FOLDER = Path(__file__).parents[1] / "assets"
DEVELOPER = "dev"  # the digest of files that may change while we run
DIGEST_CHARACTERS = 12
GZIP_BYTES_MIN = 512  # a smaller file is not worth it

ENTRY = "app.js"
# Modules that a page imports later: after its first picture, where there is room for the side
# panel, and while it has nothing to do. Each becomes one file with all that it needs.
STAGES = ("after_paint.js", "panel/panel.js", "in_advance.js")
STYLES = "all.css"  # made of the sheets in css/
STYLE_ORDER = ("css/tokens.css", "css/base.css")

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}

# `import … from "…"`, `export … from "…"` and `import "…"` of a module: not `import("…")`.
_IMPORT = re.compile(
    r"""^(?:import|export)\b[^"'();]*?(?:\bfrom\s*|\s*)["'](\.{1,2}/[^"']+)["']""", re.MULTILINE
)


_STYLE_COMMENTS = re.compile(rb"/\*(?:[^*]|\*(?!/))*\*/\s*|(?<=\n)[ \t]+")


class Asset:
    """One file, as it is and compressed."""

    def __init__(self, name: str, body: bytes) -> None:
        self.body = body
        self.media_type = TYPES[Path(name).suffix]

    @cached_property
    def compressed(self) -> bytes | None:
        """The body in less bytes; None if they would not be less."""
        small = gzip.compress(self.body, mtime=0) if len(self.body) >= GZIP_BYTES_MIN else b""
        return small if 0 < len(small) < len(self.body) else None

    @cached_property
    def etag(self) -> str:
        return f'"{sha256(self.body).hexdigest()[:DIGEST_CHARACTERS]}"'


class Assets:
    """All files of one version.

    `entry` is the module that a page runs. `preloaded` are the modules that it needs for its first
    picture, `fetched_after` those that it needs right after that.
    """

    def __init__(self, files: Mapping[str, bytes], entry: str = ENTRY, digest: str = "") -> None:
        self._files = {name: Asset(name, body) for name, body in files.items()}
        self.digest = digest or _digest(files)
        self.entry = entry
        self.preloaded = import_graph(files, entry)
        after = import_graph(files, join(dirname(entry), STAGES[0]))
        self.fetched_after = [name for name in after if name not in self.preloaded]

    def url(self, name: str) -> str:
        """Return the path of a file for a browser."""
        return f"/web/{self.digest}/{name}"

    def find(self, name: str) -> Asset | None:
        return self._files.get(name)

    def names(self) -> Sequence[str]:
        return sorted(self._files)


@cache
def own_assets() -> Assets:
    """Read our own files, once in a process. It takes less than half a second."""
    return load_assets(None)


def load_assets(folder: Path | None) -> Assets:
    """Read all files: those of a developer, or our own."""
    top = folder or FOLDER
    files = {
        path.relative_to(top).as_posix(): path.read_bytes()
        for path in sorted(top.rglob("*"))
        if path.suffix in TYPES and path.is_file()
    }
    sheets = [name for name in files if name.startswith("css/") and name.endswith(".css")]
    first = [name for name in STYLE_ORDER if name in files]
    ordered = [*first, *(name for name in sheets if name not in first)]
    files[STYLES] = b"\n".join(files[name] for name in ordered)
    if folder is not None:
        return Assets(files, digest=DEVELOPER)
    files[STYLES] = _STYLE_COMMENTS.sub(b"", files[STYLES])
    try:
        files |= join_modules(files, ENTRY, STAGES)
    except UnjoinableModule as fault:  # slower, but the same page
        emit("web.not_joined", "warning", error=fault)
        return Assets(files)
    return Assets(files, f"{JOINED_FOLDER}/{ENTRY}")


def import_graph(files: Mapping[str, bytes], entry: str) -> Sequence[str]:
    """Return the modules that a module needs before it runs, itself included: the entry first."""
    found: list[str] = []
    waiting = [entry]
    while waiting:
        name = waiting.pop(0)
        if name in found or name not in files:
            continue
        found.append(name)
        waiting += imports_of(name, files[name].decode())
    return found


def imports_of(name: str, source: str) -> Sequence[str]:
    """Return the modules that a module imports before it runs, as paths from the top."""
    return [normpath(join(dirname(name), path)) for path in _IMPORT.findall(source)]


def _digest(files: Mapping[str, bytes]) -> str:
    whole = sha256()
    for name, body in sorted(files.items()):
        whole.update(f"{name}\n{len(body)}\n".encode() + body)
    return whole.hexdigest()[:DIGEST_CHARACTERS]
