"""One-time links: a page to set a password, which logs in who does."""

import re
from collections.abc import Sequence
from secrets import token_urlsafe
from urllib.parse import parse_qsl

from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse
from adapters.people.auth.callers import cookie
from adapters.people.auth.cookies import FORM_COOKIE, form_shown
from adapters.people.auth.opening import LINK_PATH, Auth
from adapters.people.auth.pages import HEADERS, asking, gone, welcome
from adapters.people.auth.passwords import fault_of
from adapters.people.routes.sessions import begin
from adapters.people.routes.whom import BODY_BYTES_MAX
from adapters.people.store.user import User

LOOKS_PER_MINUTE = 30  # of one address
HTML = "text/html; charset=utf-8"
_NONCE = re.compile(r"[\w-]{16,64}", re.ASCII)
FIELDS_MAX = 10  # of the form; what is over is not looked at

NOT_OUR_FORM = "This form was not sent by the page in this browser, or an hour ago. Send it again."


class Joining:
    def __init__(self, auth: Auth) -> None:
        self._auth = auth

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=f"{LINK_PATH}/{{code}}",
                handle=self.look,
                summary="The page of a one-time link; looking does not use it up",
                tag="sessions",
                access=Access.OPEN,
                rate_per_minute=LOOKS_PER_MINUTE,
                answers={200: str},
                refusals=(404,),
            ),
            Endpoint(
                method="POST",
                path=f"{LINK_PATH}/{{code}}",
                handle=self.take,
                summary="Use a one-time link: set the password (a form: password, again), log in",
                tag="sessions",
                access=Access.OPEN,
                body_bytes_max=BODY_BYTES_MAX,
                rate_per_minute=LOOKS_PER_MINUTE,
                answers={200: str},
                refusals=(404,),
                sets_cookies=True,
            ),
        )

    async def look(self, call: Call) -> HttpResponse:
        user = await self._auth.invitations.whom(call.path["code"])
        return _page(404, gone()) if user is None else self._ask(200, call, user)

    async def take(self, call: Call) -> HttpResponse:
        code, form = call.path["code"], _form(call.body)
        user = await self._auth.invitations.whom(code)
        if user is None:
            return _page(404, gone())
        if not self._auth.signing.is_form_value(form.get("csrf", ""), _nonce(call), code):
            return self._ask(403, call, user, NOT_OUR_FORM)
        password = form.get("password", "")
        fault = fault_of(password, user.username, user.email)
        if fault is None and password != form.get("again"):
            fault = "is not the same both times"
        if fault is not None:
            return self._ask(400, call, user, f"The password {fault}.")
        hashed = await self._auth.passwords.hashed(password)
        user = await self._auth.invitations.take(code, hashed)
        if user is None:  # somebody was faster
            return _page(404, gone())
        self._auth.changed(user.id)
        session = await begin(self._auth, call, user)
        return _page(200, welcome(user.username), session.headers)

    def _ask(self, status: int, call: Call, user: User, fault: str = "") -> HttpResponse:
        """The page with a form that this browser alone can send, and only from there."""
        nonce = _nonce(call) or token_urlsafe(16)
        value = self._auth.signing.form_value(nonce, call.path["code"])
        cookies = form_shown(nonce, origin=call.origin)
        return _page(status, asking(user.username, value, fault), cookies)


def _nonce(call: Call) -> str:
    """That this browser was given with a form, here or in another window; "" if it was not."""
    nonce = cookie(call.headers.get("cookie", ""), FORM_COOKIE)
    return nonce if _NONCE.fullmatch(nonce) else ""


def _form(body: bytes) -> dict[str, str]:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return {}
    return dict(parse_qsl(text, keep_blank_values=True)[:FIELDS_MAX])


def _page(status: int, html: str, headers: Sequence[tuple[str, str]] = ()) -> HttpResponse:
    return HttpResponse(status, html.encode(), HTML, (*HEADERS, *headers))
