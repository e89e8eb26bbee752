"""The browsers of users that are pushed to, on PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid4

import msgspec

from actors.law.ids import UserId
from adapters.chats.notices.push.encryption import BrowserKeys
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL, Record
from adapters.settings.secrets import Vault

OF_USER_MAX = 20  # browsers of one user; with one more the oldest is pushed to no more
WATCH_SECONDS_MAX = 120.0  # for which a browser's word holds that it shows a chat


class SubscriptionRow(Record, frozen=True):
    """A browser of a user."""

    id: UUID
    endpoint: str
    created_at: datetime


def keys_subject(subscription: UUID) -> str:
    """Return the subject that a browser's keys are sealed for."""
    return f"push/{subscription} keys"


def opened_keys(vault: Vault, subscription: UUID, sealed: bytes) -> BrowserKeys:
    """Open the keys of a browser. CannotOpen: another master key has sealed them."""
    text = vault.open(sealed, keys_subject(subscription))
    return msgspec.json.decode(text, type=BrowserKeys)


class SubscriptionStore:
    """The browsers of all users."""

    def __init__(self, pool: Pool, vault: Vault) -> None:
        self._pool = pool
        self._vault = vault

    async def of(self, user: UserId) -> Sequence[SubscriptionRow]:
        async with self._pool.connection() as connection:
            rows = await connection.execute(SQL["push_subscriptions"], {"user": user})
        return [SubscriptionRow.of(row) for row in rows]

    async def add(self, user: UserId, endpoint: str, keys: BrowserKeys) -> None:
        """Push to this browser from now on, in the name of this user alone."""
        id = uuid4()
        sealed = self._vault.seal(msgspec.json.encode(keys).decode(), keys_subject(id))
        new = {"id": id, "user": user, "endpoint": endpoint, "keys": sealed, "most": OF_USER_MAX}
        async with self._pool.connection() as connection:
            await connection.execute(SQL["add_push_subscription"], new)

    async def remove(self, user: UserId, endpoint: str) -> bool:
        """Push to this browser no more. Return whether it was pushed to."""
        named = {"user": user, "endpoint": endpoint}
        async with self._pool.connection() as connection:
            return bool(await connection.execute(SQL["remove_push_subscription"], named))

    async def watch(self, user: UserId, endpoint: str, chat: UUID | None) -> bool:
        """Note which chat a browser shows. Return whether it is pushed to at all."""
        noted = {"user": user, "endpoint": endpoint, "chat": chat, "seconds": WATCH_SECONDS_MAX}
        async with self._pool.connection() as connection:
            return bool(await connection.execute(SQL["watch_on_device"], noted))

    async def test(self, user: UserId) -> int:
        """Put a trial message for each browser into the outbox. Return how many there are."""
        async with self._pool.connection() as connection:
            return len(await connection.execute(SQL["test_push"], {"user": user}))
