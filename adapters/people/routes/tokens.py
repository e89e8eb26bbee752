"""Personal tokens, for programs that ask on behalf of a user."""

from collections.abc import Sequence

from adapters.http.endpoints import (
    ALL,
    SCOPES,
    Call,
    Endpoint,
    HttpResponse,
    Parameter,
    json_response,
    no_content,
)
from adapters.http.refusals import HttpError, Validation, forbidden, not_found
from adapters.people.auth.wiring import Auth
from adapters.people.routes import checks
from adapters.people.routes.checks import BODY_BYTES_MAX, USERS, user_of_path
from adapters.people.routes.schemas import (
    NewKey,
    NewToken,
    ShownSession,
    ShownToken,
    TokenBounds,
    present_session,
    present_token,
)
from adapters.people.store.tokens import ListedToken, TokenKind, TokenRefusal

KEYS = f"{USERS}/{{user}}/keys"
TOKENS = f"{KEYS}/tokens"

LIFETIME_SECONDS = 30 * 86_400  # of a token, if its user does not say
LIFETIME_SECONDS_MAX = 10 * 365 * 86_400  # more is refused
TOKEN_NAME_CHARACTERS_MAX = 64
NANOSECONDS = 1_000_000_000


class PersonalTokens:
    """Routes that make, list and revoke personal tokens."""

    def __init__(self, auth: Auth) -> None:
        self._auth = auth

    def endpoints(self) -> Sequence[Endpoint]:
        return (*self._reads(), *self._changes())

    def _changes(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="POST",
                path=TOKENS,
                handle=self.create,
                summary="A token for a program; this answer is the only one that has it",
                tag="tokens",
                scope="users",
                body=NewToken,
                body_bytes_max=BODY_BYTES_MAX,
                answers={201: NewKey},
                refusals=(409,),
            ),
            Endpoint(
                method="DELETE",
                path=f"{KEYS}/{{key}}",
                handle=self.revoke,
                summary="Revoke a token or end a session: it is refused from now on",
                tag="tokens",
                scope="users",
                answers={204: None},
                refusals=(409,),
            ),
            Endpoint(
                method="PUT",
                path=f"{KEYS}/{{key}}/expire",
                handle=self.expire,
                summary="Let a token or a session end now; it is still listed, as one that ended",
                tag="tokens",
                scope="users",
                answers={204: None},
                refusals=(409,),
            ),
        )

    def _reads(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=TOKENS,
                handle=self.list,
                summary="Tokens, without their secrets, the newest first",
                tag="tokens",
                scope="users",
                answers={200: list[ShownToken]},
                parameters=(
                    Parameter(name="include_all", type=bool, help="for owners: those of all users"),
                    Parameter(name="include_expired", type=bool),
                ),
            ),
            Endpoint(
                method="GET",
                path=f"{TOKENS}/tokenconfig",
                handle=self.bounds,
                summary="How long a token may be good for",
                tag="tokens",
                scope="users",
                answers={200: TokenBounds},
            ),
            Endpoint(
                method="GET",
                path=f"{TOKENS}/{{key}}",
                handle=self.read,
                summary="A token by its name or id",
                tag="tokens",
                scope="users",
                answers={200: ShownToken},
            ),
            Endpoint(
                method="GET",
                path=f"{KEYS}/{{key}}",
                handle=self.read,
                summary="A token by its id or name",
                tag="tokens",
                scope="users",
                answers={200: ShownToken},
            ),
        )

    async def create(self, call: Call) -> HttpResponse:
        user = await user_of_path(self._auth, call)
        new = call.read(NewToken)
        name, scopes, seconds = new.token_name or "", _scopes(new), _seconds(new)
        checks.refuse_if(_name_faults(name))
        if not all(call.user.may(scope) for scope in scopes):
            raise forbidden("a token makes no token that may do more than itself")
        token = await self._auth.tokens.add_personal(user.id, name, scopes=scopes, seconds=seconds)
        if isinstance(token, TokenRefusal):
            raise HttpError(409, "The token was not made.", detail=token.value)
        return json_response(201, NewKey(token))

    async def list(self, call: Call) -> HttpResponse:
        user = await user_of_path(self._auth, call)
        of_all = call.user.is_admin and call.one("include_all") == "true"
        expired = call.one("include_expired") == "true"
        found = await self._auth.tokens.page(None if of_all else user.id, expired=expired)
        return json_response(200, [present_token(token) for token in found])

    async def bounds(self, call: Call) -> HttpResponse:
        await user_of_path(self._auth, call)
        return json_response(200, TokenBounds(LIFETIME_SECONDS_MAX * NANOSECONDS))

    async def read(self, call: Call) -> HttpResponse:
        return json_response(200, present_token(await self._token(call)))

    async def revoke(self, call: Call) -> HttpResponse:
        token = await self._token(call)
        has_ended = await self._auth.tokens.revoke(token.user_id, token.id)
        return self._answer(token, has_ended=has_ended)

    async def expire(self, call: Call) -> HttpResponse:
        token = await self._token(call)
        has_ended = await self._auth.tokens.expire(token.user_id, token.id)
        return self._answer(token, has_ended=has_ended)

    def _answer(self, token: ListedToken, *, has_ended: bool) -> HttpResponse:
        if not has_ended:
            detail = "it stands in the configuration of the server; change it there"
            raise HttpError(409, "The token cannot be revoked.", detail=detail)
        self._auth.changed(token.user_id)
        return no_content()

    async def _token(self, call: Call) -> ListedToken:
        user = await user_of_path(self._auth, call)
        token = await self._auth.tokens.of_user(user.id, call.path["key"])
        if token is None:
            raise not_found()
        return token


class BrowserSessions:
    """Routes that list sessions. The route that revokes a token also ends a session."""

    def __init__(self, auth: Auth) -> None:
        self._auth = auth

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=f"{KEYS}/sessions",
                handle=self.sessions,
                summary="Browsers in which a user is logged in, the newest first",
                tag="tokens",
                scope="users",
                answers={200: list[ShownSession]},
            ),
        )

    async def sessions(self, call: Call) -> HttpResponse:
        user = await user_of_path(self._auth, call)
        found = await self._auth.tokens.page(user.id, kind=TokenKind.SESSION)
        shown = [present_session(each, current=call.user.token) for each in found]
        return json_response(200, shown)


def _scopes(new: NewToken) -> Sequence[str]:
    scopes = list(new.scopes or ([new.scope] if new.scope else [ALL]))
    for scope in scopes:
        if scope not in SCOPES:
            detail = f"must be of: {', '.join(SCOPES)}"
            raise HttpError(400, "Validation failed.", validations=(Validation("scopes", detail),))
    return sorted(set(scopes))


def _seconds(new: NewToken) -> float:
    if not new.lifetime:
        return LIFETIME_SECONDS
    seconds = new.lifetime / NANOSECONDS
    if not 1 <= seconds <= LIFETIME_SECONDS_MAX:
        detail = f"must be {NANOSECONDS}..{LIFETIME_SECONDS_MAX * NANOSECONDS} nanoseconds"
        raise HttpError(400, "Validation failed.", validations=(Validation("lifetime", detail),))
    return seconds


def _name_faults(name: str) -> Sequence[Validation]:
    if len(name) <= TOKEN_NAME_CHARACTERS_MAX and name.isprintable():
        return ()
    detail = f"must have at most {TOKEN_NAME_CHARACTERS_MAX} visible characters"
    return (Validation("token_name", detail),)
