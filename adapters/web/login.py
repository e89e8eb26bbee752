"""The page where one logs in: a form, which works without a script.

Who logs in elsewhere's name would make this browser act for another user. So the form carries a
value that belongs to a nonce in a cookie of this browser, and a page of another site is refused.
"""

import re
from collections.abc import Sequence
from html import escape
from secrets import token_urlsafe

from adapters.http.door import LOGIN_PATH
from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse
from adapters.http.refusals import HttpError
from adapters.people.auth.signing import form_cookie
from adapters.people.auth.wiring import Auth
from adapters.people.routes.forms import NOT_OUR_FORM, form_fields, nonce_of
from adapters.people.routes.sessions import (
    LOGINS_PER_MINUTE,
    WRONG_PASSWORD,
    begin_session,
    user_of_password,
)
from adapters.web.pages import HTML, head
from adapters.web.policy import PAGE_HEADERS
from adapters.web.serving.asset_routes import AssetSource
from adapters.web.serving.assets import Assets

BODY_BYTES_MAX = 16 * 1024
ABOUT = "login"  # what the value of the form is for
_OWN_PATH = re.compile(r"/(?![/\\])[\x21-\x7e]{0,2000}")  # a path here, and no other host


class LoginPage:
    """Shows the form and takes it."""

    def __init__(self, source: AssetSource, auth: Auth) -> None:
        self._source = source
        self._auth = auth

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=LOGIN_PATH,
                handle=self.show,
                summary="The page where one logs in",
                tag="pages",
                access=Access.OPEN,
                answers={200: str, 303: None},
            ),
            Endpoint(
                method="POST",
                path=LOGIN_PATH,
                handle=self.log_in,
                summary="Log in with a form: login, password, next",
                tag="pages",
                access=Access.OPEN,
                body_bytes_max=BODY_BYTES_MAX,
                rate_per_minute=LOGINS_PER_MINUTE,
                answers={303: None, 401: str, 403: str, 429: str},
                sets_cookies=True,
            ),
        )

    async def show(self, call: Call) -> HttpResponse:
        wanted = _own_path(call.one("next") or "")
        if call.caller is not None:
            return HttpResponse(303, headers=(("location", wanted), ("cache-control", "no-store")))
        return await self._ask(200, call, wanted)

    async def log_in(self, call: Call) -> HttpResponse:
        form = form_fields(call)
        wanted, name = _own_path(form.get("next", "")), form.get("login", "").strip()
        if not self._auth.signing.is_form_value(form.get("csrf", ""), nonce_of(call), ABOUT):
            return await self._ask(403, call, wanted, name, NOT_OUR_FORM)
        try:
            user = await user_of_password(
                self._auth, name, form.get("password", ""), address=call.address
            )
        except HttpError as refused:
            fault = f"{refused.body.message} {refused.body.detail}."
            return await self._ask(refused.status, call, wanted, name, fault, refused.headers)
        if user is None:
            return await self._ask(401, call, wanted, name, WRONG_PASSWORD)
        session = await begin_session(self._auth, call, user)
        headers = (("location", wanted), ("cache-control", "no-store"), *session.headers)
        return HttpResponse(303, headers=headers)

    async def _ask(
        self,
        status: int,
        call: Call,
        wanted: str,
        name: str = "",
        fault: str = "",
        headers: Sequence[tuple[str, str]] = (),
    ) -> HttpResponse:
        nonce = nonce_of(call) or token_urlsafe(16)
        value = self._auth.signing.form_value(nonce, ABOUT)
        page = login_page(
            await self._source.now(), value=value, wanted=wanted, name=name, fault=fault
        )
        cookies = form_cookie(nonce, origin=call.origin)
        return HttpResponse(status, page, HTML, (*PAGE_HEADERS, *cookies, *headers))


def _own_path(text: str) -> str:
    """Return a path of this daemon, or that of the list of chats if the text is none."""
    return text if _OWN_PATH.fullmatch(text) else "/"


def login_page(
    assets: Assets, *, value: str, wanted: str = "/", name: str = "", fault: str = ""
) -> bytes:
    """Return the page. `value` shows that the form is ours; `fault` is what was wrong before."""
    alert = f'<p class="fault" role="alert">{escape(fault)}</p>' if fault else ""
    return f"""<!doctype html>
<html lang="en">
<head>
{head(assets, "Log in · promptcorner")}
</head>
<body class="alone">
<main class="login">
<h1 class="brand"><i aria-hidden="true"></i>promptcorner</h1>
<form method="post" action="{LOGIN_PATH}">
{alert}
<input type="hidden" name="csrf" value="{escape(value)}">
<input type="hidden" name="next" value="{escape(wanted)}">
<label class="field">Name or email
<input class="input" name="login" value="{escape(name)}" autocomplete="username" required \
autocapitalize="none" spellcheck="false"{"" if name else " autofocus"}></label>
<label class="field">Password
<input class="input" name="password" type="password" autocomplete="current-password" required\
{" autofocus" if name else ""}></label>
<button class="btn main wide">Log in</button>
</form>
<p class="dim">No password yet, or forgotten? Ask an administrator for a one-time link.</p>
</main>
</body>
</html>
""".encode()
