"""Webhooks on PostgreSQL. Secrets come sealed, and go to the sender only."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from actors.law.ids import UserId
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row
from adapters.postgres.queries import SQL, Record

OF_USER_MAX = 10  # webhooks of one user; one more is refused
OF_DEPLOYMENT_MAX = 20  # likewise, of the deployment
PAGE_DELIVERIES = 50  # of a page; the next one begins below its last
FORMER_SECRET_SECONDS = 86_400.0  # for which the former secret signs, too


class WebhookRow(Record, frozen=True):
    """A webhook as it is stored, without its secret."""

    id: UUID
    owner_id: UserId | None  # None: of the deployment
    url: str
    description: str
    kinds: tuple[str, ...]
    former_until: datetime | None
    created_at: datetime
    failing_since: datetime | None
    disabled_at: datetime | None
    disabled_why: str


class DeliveryRow(Record, frozen=True):
    """A delivery as its owner sees it."""

    id: UUID
    event_id: UUID
    kind: str
    chat_id: UUID | None
    state: str
    attempts_count: int
    created_at: datetime
    due_at: datetime
    last_status: int | None
    last_error: str
    finished_at: datetime | None


class WebhookStore:
    """The webhooks of users and, where the owner is None, of the deployment."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of(self, owner: UserId | None) -> Sequence[WebhookRow]:
        return [WebhookRow.of(row) for row in await self._ask(SQL["webhooks"], {"owner": owner})]

    async def find(self, owner: UserId | None, webhook: UUID) -> WebhookRow | None:
        return await self._one(SQL["webhook"], {"id": webhook, "owner": owner})

    async def add(
        self,
        owner: UserId | None,
        *,
        id: UUID,
        url: str,
        description: str,
        kinds: Sequence[str],
        secret: bytes,
        by: UserId,
    ) -> WebhookRow | None:
        """Add a webhook. None: its owner has as many as one may have."""
        new = {
            "id": id,
            "owner": owner,
            "url": url,
            "description": description,
            "kinds": list(kinds),
            "secret": secret,
            "by": by,
            "most": OF_DEPLOYMENT_MAX if owner is None else OF_USER_MAX,
        }
        return await self._one(SQL["add_webhook"], new)

    async def change(
        self,
        owner: UserId | None,
        webhook: UUID,
        *,
        url: str | None,
        description: str | None,
        kinds: Sequence[str] | None,
        enabled: bool | None,
    ) -> WebhookRow | None:
        """Change what is not None. None comes back if there is no such webhook."""
        changed = {
            "id": webhook,
            "owner": owner,
            "url": url,
            "description": description,
            "kinds": None if kinds is None else list(kinds),
            "enabled": enabled,
        }
        return await self._one(SQL["change_webhook"], changed)

    async def rotate(self, owner: UserId | None, webhook: UUID, secret: bytes) -> WebhookRow | None:
        """Set a new secret. The former one signs, too, for a while."""
        named = {"id": webhook, "owner": owner, "secret": secret}
        return await self._one(
            SQL["rotate_webhook_secret"], {**named, "seconds": FORMER_SECRET_SECONDS}
        )

    async def remove(self, owner: UserId | None, webhook: UUID) -> bool:
        """Remove a webhook with its deliveries. Return whether there was one."""
        return bool(await self._ask(SQL["remove_webhook"], {"id": webhook, "owner": owner}))

    async def test(self, owner: UserId | None, webhook: UUID, *, by: UserId) -> DeliveryRow | None:
        """Put a trial delivery into the outbox. None: the webhook is switched off, or not there."""
        rows = await self._ask(SQL["test_webhook"], {"id": webhook, "owner": owner, "by": by})
        return DeliveryRow.of(rows[0]) if rows else None

    async def deliveries(
        self, owner: UserId | None, webhook: UUID, *, state: str | None, before: UUID | None
    ) -> Sequence[DeliveryRow]:
        """Return a page of deliveries, the newest first."""
        named = {"id": webhook, "owner": owner, "state": state, "before": before}
        rows = await self._ask(SQL["webhook_deliveries"], {**named, "count": PAGE_DELIVERIES})
        return [DeliveryRow.of(row) for row in rows]

    async def replay(
        self, owner: UserId | None, webhook: UUID, delivery: UUID
    ) -> DeliveryRow | None:
        """Send a delivery again. None: there is none, or its webhook is switched off."""
        named = {"id": webhook, "owner": owner, "delivery": delivery}
        rows = await self._ask(SQL["replay_delivery"], named)
        return DeliveryRow.of(rows[0]) if rows else None

    async def _one(self, sql: str, parameters: Mapping[str, object]) -> WebhookRow | None:
        rows = await self._ask(sql, parameters)
        return WebhookRow.of(rows[0]) if rows else None

    async def _ask(self, sql: str, parameters: Mapping[str, object]) -> list[Row]:
        async with self._pool.connection() as connection:
            return await connection.execute(sql, parameters)
