"""The callers of requests: the door asks here for the user behind each of them.

    caller = await callers.let_in(request, row)     a Caller, or None; or a response to send at once

Good tokens are remembered for a short time, by their hash: a request costs no statement for them.
What is revoked is forgotten at once in this process (`forget`), in others as soon as they hear of
it, and after KEPT_SECONDS if they never do.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from math import inf
from uuid import UUID

from actors.law.ids import UserId
from adapters.http.endpoints import (
    ALL,
    READ_CHATS,
    READING,
    Access,
    Caller,
    Endpoint,
    HttpResponse,
    TokenSource,
    with_implied_scopes,
)
from adapters.http.refusals import HttpError, forbidden, foreign_origin, not_found
from adapters.http.requests import HttpRequest
from adapters.people.auth.signing import COOKIE, Signing
from adapters.people.store.tokens import Tokens, hash_of
from adapters.people.store.users import CachedUsers, User, UserStatus
from adapters.settings.caching import Cache, CacheStatistics
from runtime.clock import now, wall

KEPT_SECONDS = 20.0  # that a token is believed without a look, where a hint got lost
KEPT_MAX = 10_000  # tokens; beyond it the oldest is looked for anew

# Where a request may carry its token.
HEADER = "coder-session-token"
PARAMETER = "coder_session_token"
ACCESS_PARAMETER = "access_token"
TICKET_PARAMETER = "ticket"
TOKEN_CHARACTERS_MAX = 512  # a longer one is none of ours, and not worth the work on it

CSRF_HEADER = "x-csrf-token"
CHALLENGE = ("www-authenticate", 'Bearer realm="promptcorner"')
_SAFE = READING | {"OPTIONS", "TRACE"}
_TICKET_SCOPES = frozenset({READ_CHATS})

FORGED = HttpResponse(
    400,
    b"CSRF token missing or wrong: send the value of the cookie csrf_token as X-CSRF-TOKEN, or show"
    b" the session token in a header.\n",
    media_type="text/plain; charset=utf-8",
)


def unauthorized(detail: str) -> HttpError:
    """Refuse a request without a good token."""
    return HttpError(
        401,
        "You are signed out or your session has expired. Please sign in again to continue.",
        detail=detail,
        headers=(CHALLENGE,),
    )


@dataclass(frozen=True, slots=True)
class PresentedToken:
    """The token of a request, where it stood, and whether only its holder can have put it there."""

    token: str
    via: TokenSource
    is_deliberate: bool  # not only what a browser sends by itself


def token_in(request: HttpRequest) -> PresentedToken | None:
    """Return the first token of a request that is not empty, or None without one.

    An Authorization of another scheme is not ours.
    """
    places = (
        (TokenSource.COOKIE, cookie(request.headers.get("cookie", ""), COOKIE)),
        (TokenSource.QUERY, request.parameter(PARAMETER)),
        (TokenSource.HEADER, request.headers.get(HEADER, "").strip()),
        (TokenSource.HEADER, bearer_token(request.headers.get("authorization", ""))),
        (TokenSource.QUERY, request.parameter(ACCESS_PARAMETER)),
    )
    filled = [(via, token) for via, token in places if token]
    if not filled:
        return None
    via, token = filled[0]
    is_deliberate = any(
        token == other for place, other in filled if place is not TokenSource.COOKIE
    )
    return PresentedToken(token, via, is_deliberate)


def cookie(header: str, name: str) -> str:
    """Return the first cookie of a name: browsers put the one of the longest path first."""
    for pair in header.split(";"):
        key, _, value = pair.strip().partition("=")
        if key == name and value:
            return value.strip('"')
    return ""


def bearer_token(authorization: str) -> str:
    """Return the token of an Authorization header, or "" if its scheme is another one."""
    scheme, _, token = authorization.strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


class _KnownToken:
    """A good token, its user, and how long (on the clock of the run) it is good."""

    __slots__ = ("scopes", "token", "until", "user")

    def __init__(
        self, token: str, user: User, scopes: Iterable[str], seconds: float | None = None
    ) -> None:
        self.token = token
        self.user = user
        self.scopes = with_implied_scopes(scopes)
        self.until = inf if seconds is None else now() + seconds

    def caller(self, scopes: frozenset[str], via: TokenSource) -> Caller:
        user = self.user
        return Caller(user.id, user.username, user.is_admin, scopes, self.token, via, self.until)


@dataclass(frozen=True, slots=True)
class IdentifiedUser:
    """A user whom an identity source of a plugin has found behind a request."""

    username: str
    scopes: frozenset[str]


Identify = Callable[[HttpRequest], Awaitable[IdentifiedUser | None]]
"""Asks the identity sources whose a request is. HttpError: they do not answer."""

# Before the id of a user: stands in the place of the id of a token, for a caller without one.
IDENTITY = "identity:"


class Callers:
    """Finds the callers of requests. Fulfils `adapters.http.door.Authenticator`."""

    def __init__(
        self,
        tokens: Tokens,
        signing: Signing,
        known: CachedUsers,
        *,
        used: Callable[[str], None],
        identify: Identify | None = None,
    ) -> None:
        """`used` is told the id of every token that lets a caller in. It must not wait."""
        self._tokens = tokens
        self._signing = signing
        self._users = known
        self._used = used
        self._identify = identify
        self._known: Cache[bytes | str, _KnownToken] = Cache(
            self._look, keep_seconds=KEPT_SECONDS, max_entries=KEPT_MAX
        )

    async def let_in(self, request: HttpRequest, row: Endpoint) -> Caller | HttpResponse | None:
        """Return the caller of a request for this row.

        Where the row is OPEN no request is refused: None is a caller without a good token. A
        response is sent at once. It refuses the request, as `HttpError` does.
        """
        if row.access is Access.OPEN:
            try:
                caller = await self.of(request)
            except HttpError:
                return None
            return caller if isinstance(caller, Caller) else None
        caller = await self.of(request, takes_form=row.takes_form)
        if isinstance(caller, HttpResponse):
            return caller
        if caller is None:
            raise unauthorized("no token was shown: send Coder-Session-Token or a Bearer token")
        if not caller.is_admin and row.access is Access.HIDDEN:
            raise not_found()
        if not caller.is_admin and row.access is Access.ADMIN:
            raise forbidden()
        if not caller.may(row.needed_scope):
            raise forbidden(f"the token lacks the scope for this: {row.scope}")
        return caller

    async def of(
        self, request: HttpRequest, *, takes_form: bool = False
    ) -> Caller | HttpResponse | None:
        """Return the caller of a request, or None if it shows no token.

        FORGED is returned where a page may have made a browser send the request. It is refused with
        401 if its token is not good, and with 403 if a page of another site made a browser send it.
        """
        shown = token_in(request)
        if shown is None:
            return await self._of_ticket(request) or await self._identified(request)
        is_ours = len(shown.token) <= TOKEN_CHARACTERS_MAX
        known = await self._good(hash_of(shown.token)) if is_ours else None
        if known is None:
            raise unauthorized("the token is unknown, expired or revoked")
        if not shown.is_deliberate and request.method not in _SAFE:
            if request.foreign_page is not None:
                raise foreign_origin(request.foreign_page)
            if not takes_form and not self._signing.is_csrf(
                request.headers.get(CSRF_HEADER, ""), known.token
            ):
                return FORGED
        self._used(known.token)
        return known.caller(known.scopes, shown.via)

    async def good_until(self, token: str) -> float | None:
        """Return how long the token of this id lets a caller in, by what is stored now; None if it
        does not."""
        known = await self._look(token)
        return None if known is None else known.until

    def forget(self, user: UserId) -> None:
        """Forget what is remembered of a user: their tokens or their rights have changed."""
        self._known.drop_matching(lambda known: known.user.id == user)

    def forget_all(self) -> None:
        """Forget all tokens: something may have changed of any user."""
        self._known.drop_all()

    def statistics(self) -> CacheStatistics:
        return self._known.statistics()

    async def _of_ticket(self, request: HttpRequest) -> Caller | None:
        ticket = request.parameter(TICKET_PARAMETER)
        if not ticket:
            return None
        path = "/" + "/".join(request.segments)
        token = self._signing.token_of(ticket, path, wall_seconds=wall().timestamp())
        is_reading = request.method in READING
        known = await self._good(token) if token is not None and is_reading else None
        if known is None:
            raise unauthorized("the ticket is too old, or not for this path; ask for another")
        return known.caller(_TICKET_SCOPES, TokenSource.QUERY)

    async def _identified(self, request: HttpRequest) -> Caller | None:
        """Return the caller whom an identity source finds behind a request without a token.

        What a proxy adds to all requests of a browser, it adds to those as well that a page of
        another site makes it send: so these are refused.
        """
        found = None if self._identify is None else await self._identify(request)
        if found is None:
            return None
        if request.foreign_page is not None:
            raise foreign_origin(request.foreign_page)
        user = await self._users.by_name(found.username)
        known = None if user is None else await self._good(f"{IDENTITY}{user.id}")
        if known is None:
            raise unauthorized(f"there is no active user {found.username!r:.100} here")
        return known.caller(with_implied_scopes(found.scopes), TokenSource.IDENTITY)

    async def _good(self, key: bytes | str) -> _KnownToken | None:
        known = await self._known.find(key)
        return known if known is not None and now() < known.until else None

    async def _look(self, key: bytes | str) -> _KnownToken | None:
        if isinstance(key, str) and key.startswith(IDENTITY):
            return await self._look_at_user(key)
        if isinstance(key, bytes):
            good = await self._tokens.of_hash(key)
        else:
            good = await self._tokens.of_id(key)
        if good is None:
            return None
        return _KnownToken(good.token, good, good.scopes, good.seconds)

    async def _look_at_user(self, key: str) -> _KnownToken | None:
        user = await self._users.by_id(UserId(UUID(key.removeprefix(IDENTITY))))
        if user is None or user.is_deleted or user.status is UserStatus.SUSPENDED:
            return None
        return _KnownToken(key, user, [ALL])
