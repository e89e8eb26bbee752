"""Tokens on PostgreSQL: programs and browsers show with them on whose behalf they ask.

A token is `<id of 10 characters>-<secret of 22>`, 131 bits that cannot be guessed, so a plain
SHA-256 of the whole is stored and looked up. A token that the configuration sets may be any text
that is long enough: no code reads the id out of it.
"""

import secrets
import string
from collections.abc import Collection, Sequence
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

import trio
from psycopg.errors import UniqueViolation

from actors.law.ids import UserId
from actors.upkeep.age_rules import AgeRule
from adapters.people.store.users import User
from adapters.postgres.driver.faults import DatabaseFault
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row, Statement
from adapters.postgres.queries import SQL, Record
from runtime.log import emit

ID_CHARACTERS = 10
SECRET_CHARACTERS = 22
PERSONAL_MAX = 100  # tokens of one user; the next one is refused
SESSIONS_MAX = 50  # of one user; with the next one the oldest ends
LISTED_MAX = 1_000  # tokens in one answer

SESSION_IDLE_SECONDS = 7 * 86_400.0  # without a request; then it ends
SESSION_LIFE_SECONDS = 30 * 86_400.0  # however much it is used; then the user logs in again
KEEP_ENDED_SECONDS = 30 * 86_400.0  # after its end a token is forgotten

NOTE_SECONDS = 60.0  # between two notes; the last use that is shown may be so old
NOTED_MAX = 10_000  # tokens at once; further ones are noted at their next use
LAST_SECONDS = 2.0  # for the last note, when the daemon stops; then it is not taken

TOKEN_RULE = AgeRule(
    name="tokens",
    help="tokens and sessions that ended 30 days ago",
    delete=SQL["sweep_tokens"],
    count=SQL["count_old_tokens"],
    seconds=KEEP_ENDED_SECONDS,
)
LINK_RULE = AgeRule(
    name="links",
    help="one-time links that have ended",
    delete=SQL["sweep_invitations"],
    count=SQL["count_old_invitations"],
)

_ALPHABET = string.ascii_letters + string.digits


class TokenKind(StrEnum):
    """The purpose of a token."""

    PERSONAL = "personal"  # made by a user for their programs
    SESSION = "session"  # of a browser that has logged in
    CONFIGURED = "configured"  # the first admin's, as the daemon was told at its start


class TokenRefusal(StrEnum):
    """Why there is no new token."""

    TAKEN = "a token has this name already; revoke it, or choose another name"
    FULL = "there are enough tokens; revoke one first"


class GoodToken(User, frozen=True):
    """A user, and a token that lets them in."""

    token: str  # its id
    kind: TokenKind
    scopes: frozenset[str]
    seconds: float | None  # that it is good for, seen from when it was read; None: for ever


class ListedToken(Record, frozen=True):
    """A token without its secret."""

    id: str
    user_id: UserId
    username: str
    kind: TokenKind
    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


def new_secret(characters: int = SECRET_CHARACTERS) -> str:
    """Make a random text of letters and digits."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(characters))


def hash_of(secret: str) -> bytes:
    """Return what is stored of a secret."""
    return sha256(secret.encode()).digest()


class Tokens:
    """Reads and changes tokens."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of_hash(self, hash: bytes) -> GoodToken | None:
        return _good_token(await self._read((SQL["token_of_hash"], {"hash": hash})))

    async def of_id(self, id: str) -> GoodToken | None:
        return _good_token(await self._read((SQL["token_of_id"], {"id": id})))

    async def page(
        self, user: UserId | None, *, kind: TokenKind = TokenKind.PERSONAL, expired: bool = False
    ) -> list[ListedToken]:
        """Return the tokens of a user, or of all, with or without expired ones."""
        wanted = {"user": user, "kind": kind, "expired": expired, "limit": LISTED_MAX}
        return [ListedToken.of(row) for row in await self._read((SQL["tokens_page"], wanted))]

    async def of_user(self, user: UserId, key: str) -> ListedToken | None:
        """Return a token by its id, or by its name if it is a personal one."""
        rows = await self._read((SQL["token_of_user"], {"user": user, "key": key}))
        return ListedToken.of(rows[0]) if rows else None

    async def add_personal(
        self, user: UserId, name: str, *, scopes: Sequence[str], seconds: float | None
    ) -> str | TokenRefusal:
        """Add a token and return it; it cannot be read again. Without `seconds` it never ends."""
        id = new_secret(ID_CHARACTERS)
        token = f"{id}-{new_secret()}"
        new = _new_row(id, user, token, kind=TokenKind.PERSONAL, seconds=seconds)
        new |= {"name": name or id, "scopes": list(scopes), "personal_max": PERSONAL_MAX}
        try:
            [added] = await self._write((SQL["add_token"], new))
        except UniqueViolation:
            return TokenRefusal.TAKEN
        return token if added else TokenRefusal.FULL

    async def add_session(self, user: UserId) -> str:
        """Add the token of a session and return it."""
        id = new_secret(ID_CHARACTERS)
        token = f"{id}-{new_secret()}"
        new = _new_row(id, user, token, kind=TokenKind.SESSION, seconds=SESSION_IDLE_SECONDS)
        new |= {"name": "", "scopes": ["all"], "personal_max": PERSONAL_MAX}
        surplus = {"user": user, "sessions_max": SESSIONS_MAX}
        await self._write((SQL["add_token"], new), (SQL["end_surplus_sessions"], surplus))
        return token

    async def revoke(self, user: UserId, id: str) -> bool:
        """Revoke a token. Return whether there was one to revoke."""
        [revoked] = await self._write((SQL["revoke_token"], {"id": id, "user": user}))
        return bool(revoked)

    async def expire(self, user: UserId, id: str) -> bool:
        """Let a token end now, and return whether there was one. It is still listed as expired."""
        [expired] = await self._write((SQL["expire_token"], {"id": id, "user": user}))
        return bool(expired)

    async def note_use(self, ids: Collection[str]) -> None:
        """Note that these tokens were used."""
        bounds = {"life_seconds": SESSION_LIFE_SECONDS, "idle_seconds": SESSION_IDLE_SECONDS}
        await self._read((SQL["note_use"], {"ids": list(ids), **bounds}))

    async def _read(self, statement: Statement) -> list[Row]:
        async with self._pool.connection() as connection:
            return await connection.execute(*statement)

    async def _write(self, *statements: Statement) -> list[list[Row]]:
        async with self._pool.connection() as connection:
            return await connection.commit(statements)


def _new_row(
    id: str, user: UserId, token: str, *, kind: TokenKind, seconds: float | None
) -> dict[str, object]:
    return {"id": id, "user": user, "hash": hash_of(token), "kind": kind, "seconds": seconds}


def _good_token(rows: Sequence[Row]) -> GoodToken | None:
    return GoodToken.of(rows[0]) if rows else None


class TokenUseNotes:
    """Notes now and then which tokens were used, never on the way of a request.

    `run` it in a nursery, and call `note` from anywhere.
    """

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._used: set[str] = set()

    def note(self, token: str) -> None:
        """Remember that a token was used."""
        if len(self._used) < NOTED_MAX:
            self._used.add(token)

    async def run(self) -> None:
        """Write notes until cancelled."""
        while True:
            await trio.sleep(NOTE_SECONDS)
            await self.write()

    async def write(self) -> None:
        """Write what is not noted yet. What cannot be written is noted at its next use."""
        used, self._used = self._used, set()
        if not used:
            return
        try:
            await self._tokens.note_use(used)
        except DatabaseFault as fault:
            emit("usage.missed", "debug", tokens=len(used), why=str(fault))
