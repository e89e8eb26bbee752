"""What users have pinned: an order from 1 to n for each of them, whoever else moves pins."""

from collections.abc import Callable, Sequence

from actors.law.ids import ChatId, UserId
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL


def moved(pins: Sequence[ChatId], chat: ChatId, *, place: int) -> tuple[ChatId, ...]:
    """The order after `chat` was given `place`: 0 takes it out, what is new comes last, and what is
    there moves among its neighbours, at most to an end. Pure."""
    others = [pin for pin in pins if pin != chat]
    if place <= 0:
        return tuple(others)
    at = min(place, len(pins)) - 1 if chat in pins else len(pins)
    return (*others[:at], chat, *others[at:])


class Pins:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def pin(self, owner: UserId, chat: ChatId, *, place: int) -> None:
        """`place` as `moved` has it. A chat that was archived meanwhile is not pinned."""
        await self._write(owner, lambda pins: moved(pins, chat, place=place))

    async def close_gaps(self, owner: UserId) -> None:
        """Where one was archived, its neighbours move up."""
        await self._write(owner, tuple)

    async def _write(
        self, owner: UserId, ordered: Callable[[Sequence[ChatId]], Sequence[ChatId]]
    ) -> None:
        asked = {"owner": owner}
        async with self._pool.connection() as connection, connection.transaction() as tx:
            [_, pins] = await tx.run([(SQL["lock_pins"], asked), (SQL["pins"], asked)])
            order = ordered([id for (id,) in pins])
            await tx.commit([(SQL["write_pins"], asked | {"order": list(order)})])
