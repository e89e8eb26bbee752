"""Logging in and out, and tickets for streams that a browser opens."""

from collections.abc import Sequence
from datetime import UTC, datetime

from adapters.http.endpoints import READ_CHATS, Access, Call, Endpoint, HttpResponse, json_response
from adapters.http.refusals import HttpError, Validation
from adapters.people.auth.callers import CHALLENGE
from adapters.people.auth.cookies import logged_in, logged_out
from adapters.people.auth.opening import Auth
from adapters.people.auth.signing import TICKET_SECONDS
from adapters.people.auth.throttle import slow_down
from adapters.people.routes.whom import BODY_BYTES_MAX, USERS
from adapters.people.store.tokens import ID_CHARACTERS
from adapters.people.store.user import Standing, User
from adapters.people.wire import LoggedIn, Login, LoginMethods, Said, Ticket, TicketWanted
from runtime.clock import wall

LOGINS_PER_MINUTE = 60  # of one address; the throttle counts what fails
JSON = "application/json"
PATH_CHARACTERS_MAX = 512  # that a ticket is for


class Sessions:
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
                body=Login,
                body_bytes_max=BODY_BYTES_MAX,
                rate_per_minute=LOGINS_PER_MINUTE,
                answers={201: LoggedIn},
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
                answers={200: Said},
            ),
            Endpoint(
                method="GET",
                path=f"{USERS}/first",
                handle=self.first,
                summary="Whether there is a user: there always is",
                tag="sessions",
                access=Access.OPEN,
                answers={200: Said},
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
                body=TicketWanted,
                body_bytes_max=BODY_BYTES_MAX,
                answers={201: Ticket},
            ),
        )

    async def login(self, call: Call) -> HttpResponse:
        _check_is_json(call)
        wanted = call.read(Login)
        name = (wanted.username or wanted.email or "").strip()
        slow_down(self._auth.throttle, name, call.address)
        user = await self._whose_password(name, wanted.password)
        if user is None:
            raise HttpError(
                401,
                "Incorrect username, email or password.",
                headers=(CHALLENGE,),
            )
        self._auth.throttle.succeeded(name, call.address)
        return await begin(self._auth, call, user)

    async def logout(self, call: Call) -> HttpResponse:
        """What the configuration sets stays, and is nothing that a browser would have."""
        if await self._auth.tokens.revoke(call.user.id, call.user.token):
            self._auth.changed(call.user.id)
        return json_response(200, Said("Logged out!"), headers=logged_out(origin=call.origin))

    async def first(self, call: Call) -> HttpResponse:
        return json_response(200, Said("The initial user has already been created!"))

    async def methods(self, call: Call) -> HttpResponse:
        return json_response(200, LoginMethods())

    async def ticket(self, call: Call) -> HttpResponse:
        path = call.read(TicketWanted).path
        if not path.startswith("/api/") or "?" in path or len(path) > PATH_CHARACTERS_MAX:
            detail = "must be the path of a stream: /api/…, without a query"
            raise HttpError(400, "Validation failed.", validations=(Validation("path", detail),))
        expires = int(wall().timestamp()) + TICKET_SECONDS
        ticket = self._auth.signing.ticket(call.user.token, path, expires=expires)
        return json_response(201, Ticket(ticket, datetime.fromtimestamp(expires, UTC)))

    async def _whose_password(self, name: str, password: str) -> User | None:
        """One run of argon2, whoever it is: nobody, somebody else, who may not come in."""
        found = await self._auth.users.to_log_in(name) if name.isprintable() else None
        user, hash = found or (None, None)
        if not await self._auth.passwords.matches(hash, password):
            return None
        if user is None or user.status is Standing.SUSPENDED or hash is None:
            return None
        renewed = await self._auth.passwords.renewed(hash, password)
        if renewed is not None:
            await self._auth.users.renew_hash(user.id, was=hash, now=renewed)
        return user


def _check_is_json(call: Call) -> None:
    """A form of any page may say text/plain or nothing; only a script says that it sends JSON, and
    a browser asks us first whether a script of others may."""
    media_type = call.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != JSON:
        detail = f"send Content-Type: {JSON}"
        raise HttpError(415, "A login must be JSON.", detail=detail)


async def begin(auth: Auth, call: Call, user: User) -> HttpResponse:
    """A session of this user, in the browser that asks."""
    token = await auth.tokens.add_session(user.id)
    await auth.tokens.note_use([token[:ID_CHARACTERS]])
    auth.known.forget(user.id)  # he was just seen
    csrf = auth.signing.csrf_of(token[:ID_CHARACTERS])
    cookies = logged_in(token, csrf, origin=call.origin)
    return json_response(201, LoggedIn(token, csrf), headers=cookies)
