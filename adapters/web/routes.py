"""All routes of the web interface."""

from collections.abc import Sequence
from pathlib import Path

from adapters.http.endpoints import Endpoint, Routes
from adapters.people.auth.wiring import Auth
from adapters.web.assets import AssetRoutes, AssetSource
from adapters.web.login import LoginPage
from adapters.web.pages import ShellPages


def web_routes(
    auth: Auth, rows: Sequence[Endpoint], *, folder: Path | None = None
) -> Sequence[Routes]:
    """Return the routes of the web interface.

    `rows` are the rows of the API. With a `folder` the files of a developer are served.
    """
    source = AssetSource(folder)
    return (AssetRoutes(source), LoginPage(source, auth), ShellPages(source, rows))
