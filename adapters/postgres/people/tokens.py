"""Tokens: how programs and browsers show on whose behalf they ask.

A token is `<id of 10 characters>-<secret of 22>`, 131 bits that nobody can guess, so that a plain
SHA-256 of the whole is stored and looked for. One that the configuration sets may be any text that
is long enough: nothing reads the id out of it.
"""

import secrets
import string
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from adapters.postgres.driver.pool import Pool
from adapters.postgres.people.user import User, user_of
from adapters.postgres.queries import SQL

ID_CHARACTERS = 10
SECRET_CHARACTERS = 22
_ALPHABET = string.ascii_letters + string.digits


class Kind(StrEnum):
    PERSONAL = "personal"  # made by a user for his programs
    SESSION = "session"  # of a browser that has logged in
    CONFIGURED = "configured"  # the first admin's, as the daemon was told at its start


@dataclass(frozen=True, slots=True)
class Good:
    """A token that lets its user in."""

    id: str
    kind: Kind
    scopes: frozenset[str]
    seconds: float | None  # that it is good for, seen from when it was read; None: for ever
    user: User


def new_token() -> str:
    return f"{new_secret(ID_CHARACTERS)}-{new_secret(SECRET_CHARACTERS)}"


def new_secret(characters: int = SECRET_CHARACTERS) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(characters))


def hash_of(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


class Tokens:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of_hash(self, hash: bytes) -> Good | None:
        return await self._good(SQL["token_of_hash"], {"hash": hash})

    async def of_id(self, id: str) -> Good | None:
        return await self._good(SQL["token_of_id"], {"id": id})

    async def _good(self, sql: str, wanted: dict[str, object]) -> Good | None:
        async with self._pool.connection() as connection:
            rows = await connection.execute(sql, wanted)
        for id, kind, scopes, seconds, *user in rows:
            return Good(id, Kind(kind), frozenset(scopes), seconds, user_of(tuple(user)))
        return None
