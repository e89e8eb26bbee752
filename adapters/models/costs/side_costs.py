"""What was bought for chats beside their messages, on PostgreSQL."""

from collections.abc import Sequence

from actors.law.ids import ChatId
from actors.law.parts.message import Cost
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL


class SideCosts:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add(self, chat: ChatId, what: str, costs: Sequence[Cost]) -> None:
        known = [cost.micros for cost in costs if cost.micros is not None]
        booking = {
            "chat": chat,
            "what": what,
            "micros": sum(known),
            "requests": len(costs),
            "unpriced": len(costs) - len(known),
        }
        async with self._pool.connection() as connection:
            await connection.execute(SQL["book_side_cost"], booking)
