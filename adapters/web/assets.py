"""The files that the browser runs: read once, named by a digest of all of them, kept in memory.

    assets = load_assets(None)
    assets.url("app.js")        "/web/0123456789ab/app.js"

The digest stands in the path, and files name each other by relative paths: a browser keeps what it
has for a year, and a new version has a new path. Style sheets are joined to one file, in the order
of STYLE_ORDER and then of their names. With a folder of a developer the files are read each time,
the digest is `dev`, and nothing is kept.
"""

import gzip
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from posixpath import dirname, join, normpath

import msgspec

from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, json_response
from adapters.http.refusals import not_found
from adapters.web.policy import PAGE_HEADERS

FOLDER = Path(__file__).parent / "assets"
DEVELOPER = "dev"  # the digest of files that may change while we run
DIGEST_CHARACTERS = 12
YEAR_SECONDS = 31_536_000
GZIP_BYTES_MIN = 512  # a smaller file is not worth it

ENTRY = "app.js"
STYLES = "all.css"  # made of the sheets in css/
GALLERY = "gallery"  # a page with all cards in all states, for developers only
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


@dataclass(frozen=True, slots=True)
class Asset:
    """One file, as it is and compressed."""

    body: bytes
    compressed: bytes | None  # None: it would not be smaller
    media_type: str
    etag: str


class Assets:
    """All files of one version."""

    def __init__(self, files: Mapping[str, bytes], digest: str = "") -> None:
        self._files = {name: _asset(name, body) for name, body in files.items()}
        self.digest = digest or _digest(files)
        self.preloaded = import_graph(files, ENTRY)

    def url(self, name: str) -> str:
        """Return the path of a file for a browser."""
        return f"/web/{self.digest}/{name}"

    def find(self, name: str) -> Asset | None:
        return self._files.get(name)

    def names(self) -> Sequence[str]:
        return sorted(self._files)


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
    return Assets(files, DEVELOPER if folder else "")


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


def _asset(name: str, body: bytes) -> Asset:
    small = gzip.compress(body, mtime=0) if len(body) >= GZIP_BYTES_MIN else body
    return Asset(
        body,
        small if len(small) < len(body) else None,
        TYPES[Path(name).suffix],
        f'"{sha256(body).hexdigest()[:DIGEST_CHARACTERS]}"',
    )


class AssetSource:
    """Gives the files of now: with a folder of a developer they are read anew for each page."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._assets = load_assets(folder)

    @property
    def assets(self) -> Assets:
        if self._folder is not None:
            self._assets = load_assets(self._folder)
        return self._assets


class PageVersion(msgspec.Struct, frozen=True):
    """The version of the page that this daemon serves."""

    digest: str


class AssetRoutes:
    """Serves the files."""

    def __init__(self, source: AssetSource) -> None:
        self._source = source

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path="/web/{digest}/{asset}",
                handle=self.serve,
                summary="A file of the web interface; it never changes under this path",
                tag="pages",
                access=Access.OPEN,
                rate_per_minute=0,
                answers={200: bytes, 304: None},
                takes_rest=True,
            ),
            Endpoint(
                method="GET",
                path="/web/version",
                handle=self.version,
                summary="The version of the web interface that is served now",
                tag="pages",
                access=Access.OPEN,
                answers={200: PageVersion},
            ),
        )

    async def version(self, call: Call) -> HttpResponse:
        digest = self._source.assets.digest
        return json_response(200, PageVersion(digest), (("cache-control", "no-store"),))

    async def serve(self, call: Call) -> HttpResponse:
        assets = self._source.assets
        found = assets.find(call.path["asset"])
        if call.path["digest"] == assets.digest == DEVELOPER and call.path["asset"] == GALLERY:
            return HttpResponse(200, gallery_page(assets), TYPES[".html"], PAGE_HEADERS)
        if found is None or call.path["digest"] != assets.digest:
            raise not_found()
        headers = [
            ("etag", found.etag),
            ("vary", "accept-encoding"),
            ("cache-control", _caching(assets.digest)),
        ]
        if call.headers.get("if-none-match") == found.etag:
            return HttpResponse(304, headers=headers)
        if found.compressed is None or "gzip" not in call.headers.get("accept-encoding", ""):
            return HttpResponse(200, found.body, found.media_type, headers)
        headers.append(("content-encoding", "gzip"))
        return HttpResponse(200, found.compressed, found.media_type, headers)


def gallery_page(assets: Assets) -> bytes:
    """Return the page on which a developer looks at every card in every state."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Cards</title>
<link rel="stylesheet" href="{assets.url(STYLES)}">
<script type="module" src="{assets.url("gallery/gallery.js")}"></script>
</head>
<body>
<div id="app"></div>
</body>
</html>
""".encode()


def _caching(digest: str) -> str:
    if digest == DEVELOPER:
        return "no-cache"
    return f"public, max-age={YEAR_SECONDS}, immutable"
