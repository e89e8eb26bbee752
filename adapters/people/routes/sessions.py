"""Sessions: logging in and out, and tickets for streams that a browser opens."""

from collections.abc import Sequence
from datetime import UTC, datetime

from adapters.http.endpoints import READ_CHATS, Access, Call, Endpoint, HttpResponse, json_response
from adapters.http.refusals import HttpError, Validation
from adapters.people.auth.callers import CHALLENGE
from adapters.people.auth.passwords import slow_down
from adapters.people.auth.signing import TICKET_SECONDS, ended_cookies, session_cookies
from adapters.people.auth.wiring import Auth
from adapters.people.routes.checks import BODY_BYTES_MAX, USERS
from adapters.people.routes.schemas import (
    LoginAnswer,
    LoginMethods,
    LoginRequest,
    MessageAnswer,
    Ticket,
    TicketRequest,
)
from adapters.people.store.tokens import ID_CHARACTERS
from adapters.people.store.users import User, UserStatus
from runtime.clock import wall

LOGINS_PER_MINUTE = 60  # of one address; the throttle counts what fails
WRONG_PASSWORD = "Incorrect username, email or password."
JSON = "application/json"
PATH_CHARACTERS_MAX = 512  # that a ticket is for


class SessionRoutes:
    """Routes that begin and end sessions."""

    def __init__(self, auth: Auth) -> None:
        self._auth = auth

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="POST",
                path=f"{USERS}/login",
                handle=self.login,
                summary="Log in with a password; the answer sets the cookies of a session",
                tag="sessions",
                access=Access.OPEN,
                body=LoginRequest,
                body_bytes_max=BODY_BYTES_MAX,
                rate_per_minute=LOGINS_PER_MINUTE,
                answers={201: LoginAnswer},
                refusals=(401, 415),
                sets_cookies=True,
            ),
            Endpoint(
                method="POST",
                path=f"{USERS}/logout",
                handle=self.logout,
                summary="Revoke the token that was shown",
                tag="sessions",
                scope="",
                answers={200: MessageAnswer},
            ),
            Endpoint(
                method="GET",
                path=f"{USERS}/first",
                handle=self.first,
                summary="Whether there is a user: there always is one",
                tag="sessions",
                access=Access.OPEN,
                answers={200: MessageAnswer},
            ),
            Endpoint(
                method="GET",
                path=f"{USERS}/authmethods",
                handle=self.methods,
                summary="How one logs in",
                tag="sessions",
                access=Access.OPEN,
                answers={200: LoginMethods},
            ),
            Endpoint(
                method="POST",
                path=f"{USERS}/me/stream-ticket",
                handle=self.ticket,
                summary=f"For one stream, opened within {TICKET_SECONDS} s with ?ticket=…",
                tag="sessions",
                scope=READ_CHATS,
                body=TicketRequest,
                body_bytes_max=BODY_BYTES_MAX,
                answers={201: Ticket},
            ),
        )

    async def login(self, call: Call) -> HttpResponse:
        _check_is_json(call)
        wanted = call.read(LoginRequest)
        name = (wanted.username or wanted.email or "").strip()
        user = await user_of_password(self._auth, name, wanted.password, address=call.address)
        if user is None:
            raise HttpError(401, WRONG_PASSWORD, headers=(CHALLENGE,))
        return await begin_session(self._auth, call, user)

    async def logout(self, call: Call) -> HttpResponse:
        """Revoke the token. One of the configuration stays; no browser would have it."""
        if await self._auth.tokens.revoke(call.user.id, call.user.token):
            self._auth.changed(call.user.id)
        return json_response(
            200, MessageAnswer("Logged out!"), headers=ended_cookies(origin=call.origin)
        )

    async def first(self, call: Call) -> HttpResponse:
        return json_response(200, MessageAnswer("The initial user has already been created!"))

    async def methods(self, call: Call) -> HttpResponse:
        return json_response(200, LoginMethods())

    async def ticket(self, call: Call) -> HttpResponse:
        path = call.read(TicketRequest).path
        if not path.startswith("/api/") or "?" in path or len(path) > PATH_CHARACTERS_MAX:
            detail = "must be the path of a stream: /api/…, without a query"
            raise HttpError(400, "Validation failed.", validations=(Validation("path", detail),))
        expires = int(wall().timestamp()) + TICKET_SECONDS
        ticket = self._auth.signing.ticket(call.user.token, path, expires=expires)
        return json_response(201, Ticket(ticket, datetime.fromtimestamp(expires, UTC)))


def _check_is_json(call: Call) -> None:
    """Refuse a login that does not declare JSON.

    A form of any page can send text/plain. Only a script declares JSON, and a browser asks us first
    whether a script of another site may.
    """
    media_type = call.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != JSON:
        detail = f"send Content-Type: {JSON}"
        raise HttpError(415, "A login must be JSON.", detail=detail)


async def user_of_password(auth: Auth, name: str, password: str, *, address: str) -> User | None:
    """Return the user whose password this is, or None; 429 if it failed too often before.

    argon2 runs once, whether or not there is a user: the time tells nothing.
    """
    slow_down(auth.throttle, name, address)
    found = await auth.users.to_log_in(name) if name.isprintable() else None
    hash = None if found is None else found.password_hash
    if not await auth.passwords.matches(hash, password):
        return None
    if found is None or found.status is UserStatus.SUSPENDED or hash is None:
        return None
    renewed = await auth.passwords.renewed(hash, password)
    if renewed is not None:
        await auth.users.renew_hash(found.id, was=hash, now=renewed)
    auth.throttle.succeeded(name, address)
    return found


async def begin_session(auth: Auth, call: Call, user: User) -> HttpResponse:
    """Begin a session of this user in the browser that sent the request."""
    token = await auth.tokens.add_session(user.id)
    await auth.tokens.note_use([token[:ID_CHARACTERS]])
    auth.cached_users.forget(user.id)  # their last visit has changed
    csrf = auth.signing.csrf_of(token[:ID_CHARACTERS])
    cookies = session_cookies(token, csrf, origin=call.origin)
    return json_response(201, LoginAnswer(token, csrf), headers=cookies)
