"""The routes of the files that the browser runs."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, json_response
from adapters.http.refusals import not_found
from adapters.web.policy import PAGE_HEADERS
from adapters.web.serving.assets import DEVELOPER, STYLES, TYPES, Assets, load_assets, own_assets
from runtime.threads import ThreadLimits, read

YEAR_SECONDS = 31_536_000
WORKER = "inbox/worker.js"
GALLERY = "gallery"  # a page with all cards in all states, for developers only
READING = ThreadLimits("files of the page", threads_max=1)


class AssetSource:
    """Gives the files of now: with a folder of a developer they are read anew for each page."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._own: Assets | None = None
        self._read: tuple[object, Assets] | None = None  # of a developer, and when they changed

    async def now(self) -> Assets:
        """Return the files. They are read in a thread, so that no other request waits for that."""
        folder = self._folder
        if folder is not None:
            return await read(READING, lambda: self._developed(folder))
        if self._own is None:
            self._own = await read(READING, own_assets)
        return self._own

    def _developed(self, folder: Path) -> Assets:
        """Return the files of a developer, read anew if one of them has changed."""
        state = [(path, path.stat().st_mtime_ns) for path in sorted(folder.rglob("*"))]
        if self._read is None or self._read[0] != state:
            self._read = state, load_assets(folder)
        return self._read[1]


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
                path="/web/worker.js",
                handle=self.worker,
                summary="The worker that shows what is pushed; it may change under this path",
                tag="pages",
                access=Access.OPEN,
                answers={200: bytes},
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
        digest = (await self._source.now()).digest
        return json_response(200, PageVersion(digest), (("cache-control", "no-store"),))

    async def worker(self, call: Call) -> HttpResponse:
        """Serve the worker at an address that stays, which is what a browser knows it by."""
        found = (await self._source.now()).find(WORKER)
        if found is None:
            raise not_found()
        headers = [*PAGE_HEADERS, ("cache-control", "no-cache")]
        return HttpResponse(200, found.body, found.media_type, tuple(dict(headers).items()))

    async def serve(self, call: Call) -> HttpResponse:
        assets = await self._source.now()
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
