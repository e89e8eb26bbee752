"""Passwords: routes to set one, and one-time links with the page to set one.

The pages work without a web interface. They hold no script and load nothing; a browser is told to
allow neither, and to tell no site where it came from, since the address is the secret.
"""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from secrets import token_urlsafe
from string import Template

from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, json_response, no_content
from adapters.http.refusals import HttpError, Validation
from adapters.people.auth.passwords import CHARACTERS_MAX, CHARACTERS_MIN, fault_of, slow_down
from adapters.people.auth.signing import form_cookie
from adapters.people.auth.wiring import LINK_PATH, Auth
from adapters.people.routes import checks
from adapters.people.routes.checks import BODY_BYTES_MAX, USERS, user_of_path
from adapters.people.routes.forms import NOT_OUR_FORM, form_fields, nonce_of
from adapters.people.routes.schemas import NewPassword, OneTimeLink
from adapters.people.routes.sessions import begin_session
from adapters.people.store.users import User

LOOKS_PER_MINUTE = 30  # of one address
HTML = "text/html; charset=utf-8"


class InvitationPages:
    """The page of a one-time link. A user who sets their password there is logged in."""

    def __init__(self, auth: Auth) -> None:
        self._auth = auth

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=f"{LINK_PATH}/{{code}}",
                handle=self.show,
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
                handle=self.set_first_password,
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

    async def show(self, call: Call) -> HttpResponse:
        user = await self._auth.invitations.user_of(call.path["code"])
        return _page(404, expired_page()) if user is None else self._ask(200, call, user)

    async def set_first_password(self, call: Call) -> HttpResponse:
        code, form = call.path["code"], form_fields(call)
        user = await self._auth.invitations.user_of(code)
        if user is None:
            return _page(404, expired_page())
        if not self._auth.signing.is_form_value(form.get("csrf", ""), nonce_of(call), code):
            return self._ask(403, call, user, NOT_OUR_FORM)
        password = form.get("password", "")
        fault = fault_of(password, user.username, user.email)
        if fault is None and password != form.get("again"):
            fault = "is not the same both times"
        if fault is not None:
            return self._ask(400, call, user, f"The password {fault}.")
        hashed = await self._auth.passwords.hashed(password)
        user = await self._auth.invitations.use(code, hashed)
        if user is None:  # another request was faster
            return _page(404, expired_page())
        self._auth.changed(user.id)
        session = await begin_session(self._auth, call, user)
        return _page(200, welcome_page(user.username), session.headers)

    def _ask(self, status: int, call: Call, user: User, fault: str = "") -> HttpResponse:
        """Return the page with a form that only this browser can send, and only from there."""
        nonce = nonce_of(call) or token_urlsafe(16)
        value = self._auth.signing.form_value(nonce, call.path["code"])
        cookies = form_cookie(nonce, origin=call.origin)
        return _page(status, password_page(user.username, value, fault), cookies)


def _page(status: int, html: str, headers: Sequence[tuple[str, str]] = ()) -> HttpResponse:
    return HttpResponse(status, html.encode(), HTML, (*HEADERS, *headers))


_STYLE = """
:root { color-scheme: light dark; font: 14px/1.5 Inter, system-ui, sans-serif }
* { box-sizing: border-box }
body { display: grid; place-items: center; min-height: 100vh; margin: 0; padding: 16px;
  background: light-dark(#f6f6f8, #0e0f12); color: light-dark(#1a1b20, #e9eaee) }
main { width: min(360px, 100%); padding: 28px; border: 1px solid light-dark(#e4e4e9, #272a31);
  border-radius: 12px; background: light-dark(#fff, #1b1d22) }
h1 { margin: 0 0 20px; font-size: 16px }
p { margin: 0 0 14px }
label { display: block; margin-bottom: 14px; font-weight: 500 }
input, button, .main { width: 100%; height: 34px; padding: 0 10px;
  border-radius: 6px; font: inherit }
input { display: block; margin-top: 5px; border: 1px solid light-dark(#c9c9d2, #3c404a);
  background: light-dark(#fff, #141519); color: inherit }
button, .main { display: grid; place-items: center; border: 0; cursor: pointer; font-weight: 500;
  background: light-dark(#2b57d6, #8eacff); color: light-dark(#fff, #0d1224);
  text-decoration: none }
:focus-visible { outline: 2px solid light-dark(#2b57d6, #8eacff); outline-offset: 1px }
[role=alert] { padding: 8px 10px; border-radius: 6px;
  background: light-dark(#fdecea, #301715); color: light-dark(#b92a22, #ff8d82) }
"""
_STYLE_HASH = b64encode(sha256(_STYLE.encode()).digest()).decode()

HEADERS = (
    (
        "content-security-policy",
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self';"
        " base-uri 'none'; frame-ancestors 'none'",
    ),
    ("referrer-policy", "same-origin"),  # under no-referrer a form of ours would say Origin: null
    ("cache-control", "no-store"),
    ("x-robots-tag", "noindex"),
)

_PAGE = Template(
    f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title · promptcorner</title>
<style>{_STYLE}</style>
<main>
<h1>$title</h1>
$body
</main>
</html>
"""
)

_FIELD = (
    f'type="password" required minlength="{CHARACTERS_MIN}" maxlength="{CHARACTERS_MAX}"'
    ' autocomplete="new-password"'
)


def password_page(username: str, value: str, fault: str = "") -> str:
    """Return the page that asks for a password twice. `fault` is what was wrong with the last one;
    `value` shows that the form is ours."""
    alert = f'<p role="alert">{escape(fault)}</p>\n' if fault else ""
    form = (
        '<form method="post">\n'
        f'<input type="hidden" name="username" value="{escape(username)}"'
        ' autocomplete="username">\n'
        f'<input type="hidden" name="csrf" value="{escape(value)}">\n'
        f'<label>Password, {CHARACTERS_MIN} characters or more<input name="password" {_FIELD}'
        " autofocus></label>\n"
        f'<label>The same again<input name="again" {_FIELD}></label>\n'
        "<button>Set the password and log in</button>\n"
        "</form>"
    )
    return _PAGE.substitute(title=f"Welcome, {escape(username)}", body=alert + form)


def welcome_page(username: str) -> str:
    """Return the page after the password was set."""
    return _PAGE.substitute(
        title="Your password is set",
        body=f"<p>This browser is logged in as {escape(username)}.</p>\n"
        '<a class="main" href="/">To the chats</a>',
    )


def expired_page() -> str:
    """Return the page of a link that is not good any more."""
    return _PAGE.substitute(
        title="This link does not work any more",
        body="<p>A link works once, and for a day. Ask for a new one where you got it.</p>",
    )


class Credentials:
    """Routes that set a password and make links to set one."""

    def __init__(self, auth: Auth) -> None:
        self._auth = auth

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="PUT",
                path=f"{USERS}/{{user}}/password",
                handle=self.set_password,
                summary="Set a password, one's own with the old one; other sessions end",
                tag="users",
                scope="users",
                body=NewPassword,
                body_bytes_max=BODY_BYTES_MAX,
                answers={204: None},
            ),
            Endpoint(
                method="POST",
                path=f"{USERS}/{{user}}/one-time-link",
                handle=self.make_link,
                summary="Make a link with which a user sets their password, once",
                tag="users",
                access=Access.ADMIN,
                scope="users",
                answers={201: OneTimeLink},
            ),
        )

    async def set_password(self, call: Call) -> HttpResponse:
        user = await user_of_path(self._auth, call)
        new = call.read(NewPassword)
        checks.refuse_if(checks.password_faults(new.password, user.username, user.email))
        if user.id == call.user.id:
            await self._refuse_another(call, user, new.old_password or "")
        hashed = await self._auth.passwords.hashed(new.password)
        await self._auth.users.set_password(user.id, hashed, keep_token=call.user.token)
        self._auth.changed(user.id)
        return no_content()

    async def make_link(self, call: Call) -> HttpResponse:
        user = await user_of_path(self._auth, call)
        link_begin = call.link(LINK_PATH)
        link = await self._auth.invitations.add(user.id)
        return json_response(201, OneTimeLink(f"{link_begin}/{link.code}", link.expires_at))

    async def _refuse_another(self, call: Call, user: User, password: str) -> None:
        """Refuse a person who found a browser logged in and does not know the password."""
        slow_down(self._auth.throttle, user.username, call.address)
        hash = await self._auth.users.password_of(user.id)
        if hash is not None and not await self._auth.passwords.matches(hash, password):
            wrong = Validation("old_password", "is not the password")
            raise HttpError(400, "Old password is incorrect.", validations=(wrong,))
        self._auth.throttle.succeeded(user.username, call.address)
