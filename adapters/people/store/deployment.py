"""The deployment: its names, and that there is an admin from the first start on."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from actors.law.ids import UserId
from adapters.people.store.invitations import adding
from adapters.people.store.tokens import ID_CHARACTERS, hash_of, new_secret
from adapters.people.store.user import User, user_of
from adapters.postgres.driver.connection import Transaction
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL

CONFIGURED_NAME = "from the configuration"
LOCAL_NAME = "of commands on this machine"


@dataclass(frozen=True, slots=True)
class Deployment:
    """There is one organization in it, and everybody is a member."""

    id: UUID
    organization_id: UUID
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Founded:
    """The first admin, whether he is new, and the code of a link if he cannot come in otherwise."""

    admin: User
    is_new: bool
    code: str | None


async def deployment(pool: Pool) -> Deployment:
    async with pool.connection() as connection:
        [row] = await connection.execute(SQL["deployment"])
    return Deployment(*row)


async def found(
    pool: Pool, configured_token: str | None, *, local_token: str, invites: bool = True
) -> Founded:
    """See to it that there is an admin who can come in. Every start does so, one at a time.

    The configured token is his, and the local one that commands on this machine show; there are no
    others of their kind. Who has neither a configured one nor a password gets a link, at each start
    until he has used one; of several processes one `invites`.
    """
    async with pool.connection() as connection, connection.transaction() as tx:
        [[(first,)]] = await tx.run([(SQL["lock_deployment"], ())])
        admin, can_log_in = await _first_admin(tx, first)
        is_new = admin is None
        if admin is None:
            admin = await _add(tx)
        await _configure(tx, admin.id, {CONFIGURED_NAME: configured_token, LOCAL_NAME: local_token})
        if can_log_in or configured_token is not None or not invites:
            return Founded(admin, is_new, None)
        code = new_secret()
        await tx.run(adding(admin.id, code))
        return Founded(admin, is_new, code)


async def _first_admin(tx: Transaction, first: UserId | None) -> tuple[User | None, bool]:
    [rows] = await tx.run([(SQL["first_admin"], {"first": first})])
    return (user_of(rows[0][1:]), rows[0][0]) if rows else (None, False)


async def _add(tx: Transaction) -> User:
    [[row]] = await tx.run([(SQL["add_first_admin"], {"id": uuid4()})])
    return user_of(row)


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
