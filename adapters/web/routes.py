"""All routes of the web interface."""

from collections.abc import Sequence
from pathlib import Path

from adapters.http.endpoints import Endpoint, Routes
from adapters.people.auth.wiring import Auth
from adapters.web.inner import ApiCaller
from adapters.web.login import LoginPage
from adapters.web.pages import ShellPages
from adapters.web.reading import ReadingPages
from adapters.web.refusal_page import with_refusal_page
from adapters.web.serving.asset_routes import AssetRoutes, AssetSource


def web_rows(
    auth: Auth, rows: Sequence[Endpoint], *, folder: Path | None = None
) -> Sequence[Endpoint]:
    """Return the rows of the web interface.

    `rows` are the rows of the API. With a `folder` the files of a developer are served.
    """
    source, api = AssetSource(folder), ApiCaller(rows)
    routes: Sequence[Routes] = (
        AssetRoutes(source),
        LoginPage(source, auth),
        ShellPages(source, api, auth.signing),
        ReadingPages(source, api, auth.signing),
    )
    return [with_refusal_page(row, source) for pages in routes for row in pages.endpoints()]
