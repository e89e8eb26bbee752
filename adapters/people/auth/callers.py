"""Who asks: the door's question about every request.

    caller = await callers.let_in(head, row)     a Caller, or nobody; or an Answer to give at once

Good tokens are remembered for a short time, by their hash: a request costs no statement for them.
What is revoked is forgotten at once in this process (`forget`), in others as soon as they hear of
it, and with KEPT_SECONDS if they never do.
"""

from collections.abc import Callable
from math import inf

from actors.law.ids import UserId
from adapters.http.endpoints import Access, Caller, Endpoint, Head, HttpResponse, Via
from adapters.http.refusals import HttpError, forbidden, foreign_origin, not_found
from adapters.http.scopes import READ_CHATS, READING, covers, granted
from adapters.people.auth.shown import TICKET_PARAMETER, TOKEN_CHARACTERS_MAX, shown_by
from adapters.people.auth.signing import Signing
from adapters.people.store.tokens import Good, Tokens, hash_of
from adapters.settings.caching import Cache, CacheStatistics
from runtime.clock import now, wall

KEPT_SECONDS = 20.0  # that a token is believed without a look, where a hint got lost
KEPT_MAX = 10_000  # tokens; beyond it the oldest is looked for anew

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
    """Nobody, as far as we can tell."""
    return HttpError(
        401,
        "You are signed out or your session has expired. Please sign in again to continue.",
        detail=detail,
        headers=(CHALLENGE,),
    )


class _Known:
    """A good token, until when (on the run's clock) it is, and who shows it."""

    __slots__ = ("scopes", "token", "until", "user")

    def __init__(self, good: Good) -> None:
        self.token = good.id
        self.user = good.user
        self.scopes = granted(good.scopes)
        self.until = inf if good.seconds is None else now() + good.seconds

    def caller(self, scopes: frozenset[str], via: Via) -> Caller:
        user = self.user
        return Caller(user.id, user.username, user.is_admin, scopes, self.token, via)


class Callers:
    def __init__(self, tokens: Tokens, signing: Signing, *, used: Callable[[str], None]) -> None:
        """`used` is told the id of every token that lets somebody in; it must not wait."""
        self._tokens = tokens
        self._signing = signing
        self._used = used
        self._known: Cache[bytes | str, _Known] = Cache(
            self._look, keep_seconds=KEPT_SECONDS, most=KEPT_MAX
        )

    async def let_in(self, head: Head, row: Endpoint) -> Caller | HttpResponse | None:
        """Return the caller of a request for this row; None if a row that is OPEN was asked for
        without a good token. A response is sent at once: it refuses them, as `HttpError` does.
        """
        if row.access is Access.OPEN:
            return await self._if_good(head)
        caller = await self.of(head)
        if isinstance(caller, HttpResponse):
            return caller
        if caller is None:
            raise unauthorized("no token was shown: send Coder-Session-Token or a Bearer token")
        if not caller.is_admin and row.access is Access.HIDDEN:
            raise not_found()
        if not caller.is_admin and row.access is Access.ADMIN:
            raise forbidden()
        if not covers(caller, row):
            raise forbidden(f"the token lacks the scope for this: {row.scope}")
        return caller

    async def of(self, head: Head) -> Caller | HttpResponse | None:
        """Who asks. None: nothing was shown. FORGED: a browser may have been made to ask.
        Refused with 401: what was shown is not good; with 403: a browser was made to ask."""
        shown = shown_by(head)
        if shown is None:
            return await self._of_ticket(head)
        is_ours = len(shown.token) <= TOKEN_CHARACTERS_MAX
        known = await self._good(hash_of(shown.token)) if is_ours else None
        if known is None:
            raise unauthorized("the token is unknown, expired or revoked")
        if not shown.is_meant and head.method not in _SAFE:
            if head.foreign_page is not None:
                raise foreign_origin(head.foreign_page)
            if not self._signing.is_csrf(head.headers.get(CSRF_HEADER, ""), known.token):
                return FORGED
        self._used(known.token)
        return known.caller(known.scopes, shown.via)

    async def is_good(self, token: str) -> bool:
        """Whether the token of this id lets anybody in."""
        return await self._good(token) is not None

    def forget(self, user: UserId) -> None:
        """Something of this user has changed: his tokens, or what he may do."""
        self._known.drop_those(lambda known: known.user.id == user)

    def forget_all(self) -> None:
        self._known.drop_all()

    def statistics(self) -> CacheStatistics:
        return self._known.statistics()

    async def _if_good(self, head: Head) -> Caller | None:
        try:
            caller = await self.of(head)
        except HttpError:
            return None
        return caller if isinstance(caller, Caller) else None

    async def _of_ticket(self, head: Head) -> Caller | None:
        ticket = head.parameter(TICKET_PARAMETER)
        if not ticket:
            return None
        token = self._signing.token_of(ticket, head.path, wall_seconds=wall().timestamp())
        is_reading = head.method in READING
        known = await self._good(token) if token is not None and is_reading else None
        if known is None:
            raise unauthorized("the ticket is too old, or not for this path; ask for another")
        return known.caller(_TICKET_SCOPES, Via.QUERY)

    async def _good(self, key: bytes | str) -> _Known | None:
        known = await self._known.find(key)
        return known if known is not None and now() < known.until else None

    async def _look(self, key: bytes | str) -> _Known | None:
        if isinstance(key, bytes):
            good = await self._tokens.of_hash(key)
        else:
            good = await self._tokens.of_id(key)
        return None if good is None else _Known(good)
