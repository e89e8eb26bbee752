"""All routes of the web interface."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from adapters.http.endpoints import Call, Endpoint, HttpResponse, Routes, Upgrade
from adapters.people.auth.wiring import Auth
from adapters.web.inner import ApiCaller
from adapters.web.login import LoginPage
from adapters.web.pages import ShellPages
from adapters.web.policy import framed_by
from adapters.web.reading import ReadingPages
from adapters.web.refusal_page import with_refusal_page
from adapters.web.serving.asset_routes import AssetRoutes, AssetSource


def web_rows(
    auth: Auth,
    rows: Sequence[Endpoint],
    *,
    folder: Path | None = None,
    embed_origins: Sequence[str] = (),
) -> Sequence[Endpoint]:
    """Return the rows of the web interface.

    `rows` are the rows of the API. With a `folder` the files of a developer are served. Pages of
    `embed_origins` may show ours in a frame.
    """
    source, api = AssetSource(folder), ApiCaller(rows)
    routes: Sequence[Routes] = (
        AssetRoutes(source),
        LoginPage(source, auth),
        ShellPages(source, api, auth.signing),
        ReadingPages(source, api, auth.signing),
    )
    whole = [with_refusal_page(row, source) for pages in routes for row in pages.endpoints()]
    return [_framed(row, embed_origins) for row in whole] if embed_origins else whole


def _framed(row: Endpoint, origins: Sequence[str]) -> Endpoint:
    async def handle(call: Call) -> HttpResponse | Upgrade:
        answer = await row.handle(call)
        if isinstance(answer, Upgrade):
            return answer
        return replace(answer, headers=framed_by(origins, answer.headers))

    return replace(row, handle=handle)
