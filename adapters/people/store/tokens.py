"""Tokens on PostgreSQL: how programs and browsers show on whose behalf they ask.

A token is `<id of 10 characters>-<secret of 22>`, 131 bits that nobody can guess, so a plain
SHA-256 of the whole is stored and looked for. One that the configuration sets may be any text that
is long enough: nothing reads the id out of it.
"""

import secrets
import string
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from psycopg.errors import UniqueViolation

from actors.law.ids import UserId
from adapters.people.store.user import User, user_of
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row, Statement
from adapters.postgres.queries import SQL

ID_CHARACTERS = 10
SECRET_CHARACTERS = 22
PERSONAL_MAX = 100  # tokens of one user; the next one is refused
SESSIONS_MAX = 50  # of one user; with the next one the oldest ends
LISTED_MAX = 1_000  # tokens in one answer

SESSION_IDLE_SECONDS = 7 * 86_400.0  # without a request; then it ends
SESSION_LIFE_SECONDS = 30 * 86_400.0  # however much it is used; then one logs in again
KEPT_SECONDS = 30 * 86_400.0  # after its end a token is forgotten

_ALPHABET = string.ascii_letters + string.digits


class Kind(StrEnum):
    PERSONAL = "personal"  # made by a user for his programs
    SESSION = "session"  # of a browser that has logged in
    CONFIGURED = "configured"  # the first admin's, as the daemon was told at its start


class NotAdded(StrEnum):
    """Why there is no new token."""

    TAKEN = "a token has this name already; revoke it, or choose another name"
    FULL = "there are enough tokens; revoke one first"


@dataclass(frozen=True, slots=True)
class Good:
    """A token that lets its user in."""

    id: str
    kind: Kind
    scopes: frozenset[str]
    seconds: float | None  # that it is good for, seen from when it was read; None: for ever
    user: User


@dataclass(frozen=True, slots=True)
class Token:
    """What may be shown of a token."""

    id: str
    user: UserId
    username: str
    kind: Kind
    name: str
    scopes: Sequence[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


def new_secret(characters: int = SECRET_CHARACTERS) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(characters))


def hash_of(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


class Tokens:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of_hash(self, hash: bytes) -> Good | None:
        return _good(await self._read((SQL["token_of_hash"], {"hash": hash})))

    async def of_id(self, id: str) -> Good | None:
        return _good(await self._read((SQL["token_of_id"], {"id": id})))

    async def page(self, user: UserId | None, *, expired: bool) -> list[Token]:
        """The personal ones of a user, or of all; with those that have expired, or without."""
        wanted = {"user": user, "expired": expired, "limit": LISTED_MAX}
        return [_token(row) for row in await self._read((SQL["tokens_page"], wanted))]

    async def of_user(self, user: UserId, key: str) -> Token | None:
        """By its id, or by its name if it is a personal one."""
        rows = await self._read((SQL["token_of_user"], {"user": user, "key": key}))
        return _token(rows[0]) if rows else None

    async def add_personal(
        self, user: UserId, name: str, *, scopes: Sequence[str], seconds: float | None
    ) -> str | NotAdded:
        """The token, which nobody can tell again; without `seconds` it is good for ever."""
        id = new_secret(ID_CHARACTERS)
        token = f"{id}-{new_secret()}"
        new = _row(id, user, token, kind=Kind.PERSONAL, seconds=seconds)
        new |= {"name": name or id, "scopes": list(scopes), "personal_max": PERSONAL_MAX}
        try:
            [added] = await self._write((SQL["add_token"], new))
        except UniqueViolation:
            return NotAdded.TAKEN
        return token if added else NotAdded.FULL

    async def add_session(self, user: UserId) -> str:
        id = new_secret(ID_CHARACTERS)
        token = f"{id}-{new_secret()}"
        new = _row(id, user, token, kind=Kind.SESSION, seconds=SESSION_IDLE_SECONDS)
        new |= {"name": "", "scopes": ["all"], "personal_max": PERSONAL_MAX}
        surplus = {"user": user, "sessions_max": SESSIONS_MAX}
        await self._write((SQL["add_token"], new), (SQL["end_surplus_sessions"], surplus))
        return token

    async def revoke(self, user: UserId, id: str) -> bool:
        """Whether there was one to revoke."""
        [revoked] = await self._write((SQL["revoke_token"], {"id": id, "user": user}))
        return bool(revoked)

    async def note_use(self, ids: Collection[str]) -> None:
        bounds = {"life_seconds": SESSION_LIFE_SECONDS, "idle_seconds": SESSION_IDLE_SECONDS}
        await self._read((SQL["note_use"], {"ids": list(ids), **bounds}))

    async def sweep(self) -> None:
        """What is of no use any more goes. May be done again and again."""
        async with self._pool.connection() as connection:
            sweeping = (SQL["sweep_tokens"], {"seconds": KEPT_SECONDS})
            await connection.run([sweeping, (SQL["sweep_invitations"], ())])

    async def _read(self, statement: Statement) -> list[Row]:
        async with self._pool.connection() as connection:
            return await connection.execute(*statement)

    async def _write(self, *statements: Statement) -> list[list[Row]]:
        async with self._pool.connection() as connection:
            return await connection.commit(statements)


def _row(
    id: str, user: UserId, token: str, *, kind: Kind, seconds: float | None
) -> dict[str, object]:
    return {"id": id, "user": user, "hash": hash_of(token), "kind": kind, "seconds": seconds}


def _good(rows: Sequence[Row]) -> Good | None:
    for id, kind, scopes, seconds, *user in rows:
        return Good(id, Kind(kind), frozenset(scopes), seconds, user_of(tuple(user)))
    return None


def _token(row: Row) -> Token:
    id, user, username, kind, *rest = row
    return Token(id, user, username, Kind(kind), *rest)
