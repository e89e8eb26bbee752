"""The outbox on PostgreSQL. Deliveries are put into it by the statements that they tell of."""

from collections.abc import Collection, Sequence
from uuid import UUID

from adapters.chats.notices.outbox.deliveries import (
    DISABLED_AFTER_SECONDS,
    Delivery,
    Receiver,
    Settlement,
)
from adapters.chats.notices.outbox.sender import CLAIM_SECONDS, OF_TARGET_MAX
from adapters.postgres.codec.parts import unescaped
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row
from adapters.postgres.queries import SQL

KEPT_DAYS = 7  # after the end of a delivery; then it can be neither read nor sent again
WAITING_MAX = 10_000  # of one receiver; above it the oldest are given up
FORGOTTEN_MAX = 5_000  # in one statement; what is over goes by the next one


class DeliveryStore:
    """The outbox. Fulfils `adapters.chats.notices.outbox.sender.Outbox`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def claim(
        self, count: int, *, busy: Collection[UUID]
    ) -> tuple[Sequence[Delivery], float | None]:
        asked = {
            "busy": list(busy),
            "count": count,
            "of_target": OF_TARGET_MAX,
            "claim_seconds": CLAIM_SECONDS,
        }
        async with self._pool.connection() as connection:
            [claimed, [(seconds,)]] = await connection.commit(
                [(SQL["claim_deliveries"], asked), (SQL["next_delivery"], {"busy": list(busy)})]
            )
        return [_delivery(row) for row in claimed], seconds

    async def settle(self, settlement: Settlement) -> bool:
        noted = {
            "id": settlement.id,
            "claims_count": settlement.claims_count,
            "state": settlement.state.value,
            "due_seconds": settlement.due_seconds,
            "status": settlement.status,
            "error": settlement.error.replace("\0", "\ufffd"),
            "is_gone": settlement.is_gone,
            "has_failed": settlement.has_failed,
            "disabled_after_seconds": DISABLED_AFTER_SECONDS,
        }
        async with self._pool.connection() as connection:
            return bool(await connection.execute(SQL["settle_delivery"], noted))

    async def forget(self) -> int:
        """Drop what is over, and what is too much. Return how many deliveries that were."""
        forgotten = {"kept_days": KEPT_DAYS, "count": FORGOTTEN_MAX}
        surplus = {"waiting_max": WAITING_MAX, "count": FORGOTTEN_MAX}
        async with self._pool.connection() as connection:
            dropped = await connection.execute(SQL["forget_deliveries"], forgotten)
            dropped += await connection.execute(SQL["drop_surplus_deliveries"], surplus)
        return len(dropped)


def _delivery(row: Row) -> Delivery:
    id, target, target_id, event_id, kind, user, chat, root, title, detail, *rest = row
    created_at, attempts, claims, url, secret, former, is_watched, is_shut = rest
    return Delivery(
        id,
        Receiver(target),
        target_id,
        event_id,
        kind,
        user,
        chat,
        root,
        title,
        unescaped(detail),
        created_at,
        attempts,
        claims,
        url,
        secret,
        former,
        is_watched,
        is_shut,
    )
