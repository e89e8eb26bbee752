"""The deployment: its names, its first admin, and the links with which users set a password.

There is an admin from the first start on. A link is for a new user, or for one who has forgotten
the password. Several may be good at the same time, so that none is void before its time; with the
use of one all others of its user go.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from actors.law.ids import UserId
from adapters.people.store.tokens import ID_CHARACTERS, hash_of, new_secret
from adapters.people.store.users import User
from adapters.postgres.driver.connection import Transaction
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Statement
from adapters.postgres.queries import SQL, Record

CONFIGURED_NAME = "from the configuration"
LOCAL_NAME = "of commands on this machine"

LINK_SECONDS = 24 * 3600.0  # then another has to be made
LINKS_MAX = 10  # of one user; with the next one the oldest is void


class Deployment(Record, frozen=True):
    """The deployment. There is one organization in it, and all users are members."""

    id: UUID
    organization_id: UUID
    created_at: datetime


class FirstAdmin(User, frozen=True):
    """The first admin, and whether they have a password."""

    can_log_in: bool


@dataclass(frozen=True, slots=True)
class FirstAdminSetup:
    """The first admin, as a start finds or makes them.

    `code` is that of a new one-time link, or None if the admin can log in without one.
    """

    admin: User
    is_new: bool
    code: str | None


async def read_deployment(pool: Pool) -> Deployment:
    """Read the one deployment of this database."""
    async with pool.connection() as connection:
        [row] = await connection.execute(SQL["deployment"])
    return Deployment.of(row)


async def ensure_first_admin(
    pool: Pool, configured_token: str | None, *, local_token: str, invites: bool = True
) -> FirstAdminSetup:
    """Make sure that there is an admin who can log in. Every start does so, one at a time.

    The admin owns the configured token and the local one that commands on this machine show; there
    are no others of their kind. An admin with neither a configured token nor a password gets a
    link, at each start until one was used. `invites`: this process makes it, which of several
    processes one does.
    """
    async with pool.connection() as connection, connection.transaction() as tx:
        [[(first,)]] = await tx.run([(SQL["lock_deployment"], ())])
        admin, can_log_in = await _first_admin(tx, first)
        is_new = admin is None
        if admin is None:
            admin = await _add(tx)
        await _configure(tx, admin.id, {CONFIGURED_NAME: configured_token, LOCAL_NAME: local_token})
        if can_log_in or configured_token is not None or not invites:
            return FirstAdminSetup(admin, is_new, None)
        code = new_secret()
        await tx.run(_adding(admin.id, code))
        return FirstAdminSetup(admin, is_new, code)


async def _first_admin(tx: Transaction, first: UserId | None) -> tuple[User | None, bool]:
    [rows] = await tx.run([(SQL["first_admin"], {"first": first})])
    admin = FirstAdmin.of(rows[0]) if rows else None
    return (admin, admin.can_log_in) if admin is not None else (None, False)


async def _add(tx: Transaction) -> User:
    [[row]] = await tx.run([(SQL["add_first_admin"], {"id": uuid4()})])
    return User.of(row)


async def _configure(tx: Transaction, admin: UserId, tokens: Mapping[str, str | None]) -> None:
    hashes = {name: hash_of(token) for name, token in tokens.items() if token is not None}
    adding = [
        {"id": new_secret(ID_CHARACTERS), "user": admin, "hash": hash, "name": name}
        for name, hash in hashes.items()
    ]
    await tx.run(
        [
            (SQL["drop_configured_tokens"], {"hashes": list(hashes.values())}),
            *((SQL["add_configured_token"], new) for new in adding),
        ]
    )


@dataclass(frozen=True, slots=True)
class InvitationLink:
    """A link to set a password. Its code is stored nowhere else."""

    code: str
    expires_at: datetime


def _adding(user: UserId, code: str) -> tuple[Statement, Statement]:
    """Return the statements that add a link. The row of the first is when it expires."""
    new = {"hash": hash_of(code), "user": user, "seconds": LINK_SECONDS}
    surplus = {"user": user, "links_max": LINKS_MAX}
    return (SQL["add_invitation"], new), (SQL["end_surplus_invitations"], surplus)


class Invitations:
    """Adds and uses links."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add(self, user: UserId) -> InvitationLink:
        """Add a link for a user."""
        code = new_secret()
        async with self._pool.connection() as connection:
            [[(expires_at,)], _] = await connection.commit(_adding(user, code))
        return InvitationLink(code, expires_at)

    async def user_of(self, code: str) -> User | None:
        """Return the user of a link, or None if it is not good, or not any more."""
        async with self._pool.connection() as connection:
            rows = await connection.execute(SQL["invited"], {"hash": hash_of(code)})
        return User.of(rows[0]) if rows else None

    async def use(self, code: str, password_hash: str) -> User | None:
        """Use a link up. Of several attempts with the same link at the same moment one succeeds."""
        using = {"hash": hash_of(code), "password_hash": password_hash}
        async with self._pool.connection() as connection:
            [rows] = await connection.commit([(SQL["take_invitation"], using)])
        return User.of(rows[0]) if rows else None
