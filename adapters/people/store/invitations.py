"""Links with which somebody sets his password, once: who is invited, and who has forgotten it.

Several may be good at the same time, so that none that was handed out is void before its time; with
the use of one all others of its user go.
"""

from dataclasses import dataclass
from datetime import datetime

from actors.law.ids import UserId
from adapters.people.store.tokens import hash_of, new_secret
from adapters.people.store.user import User, user_of
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Statement
from adapters.postgres.queries import SQL

LINK_SECONDS = 24 * 3600.0  # then another has to be made
LINKS_MAX = 10  # of one user; with the next one the oldest is void


@dataclass(frozen=True, slots=True)
class Link:
    """What is in the link is the only copy."""

    code: str
    expires_at: datetime


def adding(user: UserId, code: str) -> tuple[Statement, Statement]:
    """What makes a link, as part of a transaction; the first one's row is when it expires."""
    new = {"hash": hash_of(code), "user": user, "seconds": LINK_SECONDS}
    surplus = {"user": user, "links_max": LINKS_MAX}
    return (SQL["add_invitation"], new), (SQL["end_surplus_invitations"], surplus)


class Invitations:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add(self, user: UserId) -> Link:
        code = new_secret()
        async with self._pool.connection() as connection:
            [[(expires_at,)], _] = await connection.commit(adding(user, code))
        return Link(code, expires_at)

    async def whom(self, code: str) -> User | None:
        """Whom it is for; None: it is not good, or not any more."""
        async with self._pool.connection() as connection:
            rows = await connection.execute(SQL["invited"], {"hash": hash_of(code)})
        return user_of(rows[0]) if rows else None

    async def take(self, code: str, password_hash: str) -> User | None:
        """Use it up. Of several who try with the same at the same moment one succeeds."""
        using = {"hash": hash_of(code), "password_hash": password_hash}
        async with self._pool.connection() as connection:
            [rows] = await connection.commit([(SQL["take_invitation"], using)])
        return user_of(rows[0]) if rows else None
