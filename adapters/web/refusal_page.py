"""A refusal as a page: people who asked for a page are told in words what was not done."""

from dataclasses import replace
from html import escape

from adapters.http.endpoints import Call, Endpoint, HttpResponse, Upgrade
from adapters.http.refusals import HttpError
from adapters.web.pages import HTML, head
from adapters.web.policy import PAGE_HEADERS
from adapters.web.serving.asset_routes import AssetSource
from adapters.web.serving.assets import Assets


def with_refusal_page(row: Endpoint, source: AssetSource) -> Endpoint:
    """Return a row whose handler answers what it refuses with a page."""

    async def handle(call: Call) -> HttpResponse | Upgrade:
        try:
            return await row.handle(call)
        except HttpError as refused:
            html = refusal_page(await source.now(), refused)
            return HttpResponse(refused.status, html, HTML, (*PAGE_HEADERS, *refused.headers))

    return replace(row, handle=handle) if row.is_page else row


def refusal_page(assets: Assets, refused: HttpError) -> bytes:
    """Return the page of a refusal."""
    words = "".join(
        f"<p>{escape(text)}</p>"
        for text in (
            refused.body.detail,
            *(f"{each.field}: {each.detail}" for each in refused.body.validations),
        )
        if text
    )
    return f"""<!doctype html>
<html lang="en">
<head>
{head(assets, "promptcorner")}
</head>
<body class="alone">
<main class="login">
<h1>{escape(refused.body.message)}</h1>
{words}
<p><a href="/">To the chats</a></p>
</main>
</body>
</html>
""".encode()
