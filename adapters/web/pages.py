"""The shell: one page for every address of the web interface, with the data that it shows first.

The data are answers of the API, by their paths, asked for in the caller's name: what the page may
know, and in which form, is decided in one place. An answer that is refused is left out; the page
then asks for it itself, and shows why it was refused.
"""

from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import quote

import msgspec

from adapters.http.compression import gzipped
from adapters.http.endpoints import Call, Endpoint, HttpResponse
from adapters.http.refusals import HttpError
from adapters.people.auth.signing import Signing, csrf_cookie
from adapters.web.inner import ApiCaller
from adapters.web.policy import PAGE_HEADERS
from adapters.web.serving.asset_routes import AssetSource
from adapters.web.serving.assets import STYLES, Assets

HTML = "text/html; charset=utf-8"
CHATS = "/api/experimental/chats"
MESSAGES = 30  # the newest ones of a chat, in its shell
LISTED = "source%3Acreated_by_me%2Cshared_with_me"  # as the list of the page asks: mine and shared
LIST_PAGE = 50  # chats in the list at first

ALWAYS = ("/api/v2/users/me", f"{CHATS}/model-configs", f"{CHATS}?q={LISTED}&limit={LIST_PAGE}")

PATHS = {
    "/": "The web interface: the list of chats",
    "/new": "The web interface: a new chat",
    "/search": "The web interface: a search",
    "/c/{chat}": "The web interface: a chat",
    "/settings": "The web interface: settings of a user",
    "/settings/{page}": "The web interface: settings of a user",
    "/admin": "The web interface: settings of the deployment",
    "/admin/{page}": "The web interface: settings of the deployment",
}


class ShellPages:
    """Serves the shell, with the data that the API has for it."""

    def __init__(self, source: AssetSource, api: ApiCaller, signing: Signing) -> None:
        self._source = source
        self._api = api
        self._signing = signing

    def endpoints(self) -> Sequence[Endpoint]:
        return tuple(
            Endpoint(
                method="GET",
                path=path,
                handle=self.show,
                summary=summary,
                tag="pages",
                scope="",
                answers={200: str},
                is_page=True,
                takes_rest=path.endswith("{page}"),
            )
            for path, summary in PATHS.items()
        )

    async def show(self, call: Call) -> HttpResponse:
        chat = call.path.get("chat", "")
        data = {path: await self._ask(call, path) for path in _paths(chat)}
        known = {path: msgspec.Raw(body) for path, body in data.items() if body is not None}
        page = shell(await self._source.now(), known, chat if f"{CHATS}/{chat}" in known else "")
        # A browser may have lost this cookie alone; then the page could change nothing.
        csrf = self._signing.csrf_of(call.user.token)
        headers = (*PAGE_HEADERS, *csrf_cookie(csrf, origin=call.origin))
        # The page has no secret in it, so it may be compressed: the cookie's value is in a header.
        answer = HttpResponse(200, page, HTML, headers)
        return await gzipped(answer, call.headers.get("accept-encoding", ""))

    async def _ask(self, call: Call, path: str) -> bytes | None:
        """Return the JSON that the API answers to this caller, or None if it is refused."""
        try:
            return await self._api.get(call, path)
        except HttpError:
            return None


def _paths(chat: str) -> Sequence[str]:
    """Return the paths of the API whose answers the shell carries. Several chats: none of them."""
    if not chat or "+" in chat:
        return ALWAYS
    newest = f"{CHATS}/{chat}/messages?limit={MESSAGES}&results=cut&costs=true"
    return (*ALWAYS, f"{CHATS}/{chat}", newest)


def shell(assets: Assets, data: Mapping[str, msgspec.Raw], chat: str = "") -> bytes:
    """Return the page. `<` is escaped in its data, so that no text of a user ends their element.

    Without a script, or with one that does not run in an old browser, it leads to the page of
    `chat` that needs none.
    """
    plain = f"/c/{quote(chat)}/read" if chat else ""
    instead = f'<meta http-equiv="refresh" content="0; url={plain}">' if chat else ""
    link = f'<a href="{plain}">Read this chat without a script</a>' if chat else ""
    text = msgspec.json.encode({"digest": assets.digest, "answers": data})
    return f"""<!doctype html>
<html lang="en">
<head>
{head(assets, "promptcorner")}
{_preloads(assets)}
<script src="{assets.url("early.js")}"></script>
<script type="module" src="{assets.url(assets.entry)}"></script>
<noscript>{instead}</noscript>
</head>
<body>
<noscript><p>This page needs JavaScript. A chat can be read without it: add /read to its address.\
</p></noscript>
<div id="app"><p class="late">The page does not begin in this browser. {link}</p></div>
<script type="application/json" id="shell">{text.decode().replace("<", chr(92) + "u003c")}</script>
</body>
</html>
""".encode()


def head(assets: Assets, title: str) -> str:
    """Return what stands in the head of every page of ours."""
    return f"""<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<link rel="icon" href="{assets.url("icons/off.svg")}" type="image/svg+xml">
<link rel="apple-touch-icon" href="{assets.url("icons/app-180.png")}">
<link rel="manifest" href="{assets.url("manifest.webmanifest")}">
<link rel="stylesheet" href="{assets.url(STYLES)}">"""


def _preloads(assets: Assets) -> str:
    first = [f'<link rel="modulepreload" href="{assets.url(n)}">' for n in assets.preloaded]
    after = [
        f'<link rel="modulepreload" fetchpriority="low" href="{assets.url(n)}">'
        for n in assets.fetched_after
    ]
    return "\n".join([*first, *after])
