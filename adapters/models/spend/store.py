"""The stored limits, and what is set aside under them for calls in flight.

A reservation is one statement. Before the first call of a user in a period, what they have spent in
it is added up: their counter is made and committed, then locked and filled. Every other write that
touches a counter locks it in the same order, so none of them waits for another in a circle.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

import msgspec

from actors.chat.turn.spending import LimitStatus, OverLimit, Period, Scope, judge
from actors.law.ids import ChatId, UserId
from actors.law.parts.message import Reservation
from adapters.models.costs import Price
from adapters.postgres.driver.faults import DatabaseBusy
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row
from adapters.postgres.queries import SQL

NIL = UUID(int=0)  # the subject that stands for all users, and the worker that is none
# After these a counter is added up once more: a process that had not heard of its limit when it was
# added up first may have had calls in flight that nothing was set aside for.
RECOUNT_SECONDS = 900.0
AGE_SECONDS_MAX = 86_400.0  # of a reservation; no call takes as long
COUNTS_MAX = 3  # tries to reserve, each behind adding up; then DatabaseBusy, as limits change


@dataclass(frozen=True, slots=True)
class CallToReserve:
    """A call that money is set aside for. `micros` None: what it costs is not known."""

    id: UUID
    chat: ChatId
    what: str
    model: str
    micros: int | None
    asks: bool
    worker: UUID
    at: datetime | None = None  # None: now, by the clock of the database


class SpendLimit(msgspec.Struct, frozen=True):
    """A limit as it is stored; of a deployment the subject is nil."""

    scope: Scope
    subject_id: UUID
    period: Period
    hard_micros: int | None
    soft_micros: int | None
    group_id: UUID | None
    created_at: datetime
    updated_at: datetime
    name: str = ""  # of the user or group


@dataclass(frozen=True, slots=True)
class SpendStatus:
    """The limits of a user, and what is used of each."""

    today: date
    limits: tuple[LimitStatus, ...]


class SpendStore:
    """The limits, the counters and the reservations."""

    def __init__(self, pool: Pool, *, lease_seconds: float) -> None:
        self._pool = pool
        self._lease_seconds = lease_seconds

    async def reserve(
        self, call: CallToReserve, default: Price | None
    ) -> Reservation | OverLimit | None:
        """Set money aside, or return why not; None if no limit holds or the chat is gone.

        What other processes left behind is taken back before a call is refused for it. `default` is
        the price of messages whose cost is not known, where they are added up.
        """
        over: OverLimit | None = None
        is_counted = has_swept = False
        for _ in range(COUNTS_MAX):
            async with self._pool.connection() as connection:
                rows = await connection.execute(SQL["reserve_spend"], _parameters(call))
            if not rows or rows[0][3] is None:
                return None
            user, today, is_reserved = rows[0][:3]
            is_counted = all(row[9] is not None for row in rows)
            if not is_counted:
                await self.count(UserId(user), today, default)
                continue
            if is_reserved:
                assert call.micros is not None, "only a known amount is set aside"
                return Reservation(call.id, user, today, call.micros)
            over = judge(
                [_status_of(row[3:]) for row in rows],
                is_priced=call.micros is not None,
                asks=call.asks,
                model=call.model,
            )
            if over is not None and not (over.is_busy and not has_swept):
                return over
            has_swept = True
            await self.sweep()
        if not is_counted:
            raise DatabaseBusy(f"limits changed {COUNTS_MAX} times while spending was added up")
        return over

    async def count(self, user: UserId, day: date, default: Price | None) -> None:
        """Add up what a user, and all users, have spent on a day and in its month."""
        zero = Decimal(0)
        named = {"user": user, "day": day, "recount_seconds": RECOUNT_SECONDS}
        async with self._pool.connection() as connection:
            await connection.commit([(SQL["open_counters"], named)])
            async with connection.transaction() as tx:
                [locked] = await tx.run([(SQL["lock_counters"], named)])
                counted = {
                    "subjects": [subject for subject, _, _ in locked],
                    "periods": [period for _, period, _ in locked],
                    "starts": [starts_on.isoformat() for _, _, starts_on in locked],
                    "input": zero if default is None else default.input,
                    "output": zero if default is None else default.output,
                }
                # Only a statement that begins behind the lock sees all that was written before it.
                await tx.commit([(SQL["count_spend"], counted)])

    async def recount(self, default: Price | None) -> int:
        """Add up again what is due for it, and return how many counters that were."""
        async with self._pool.connection() as connection:
            due = await connection.execute(
                SQL["due_recounts"], {"recount_seconds": RECOUNT_SECONDS}
            )
        for subject, starts_on in due:
            await self.count(UserId(subject), starts_on, default)
        return len(due)

    async def give_back(self, reservations: Sequence[tuple[UUID, bool]]) -> int:
        """Take back reservations that are still there; those marked True count as spent."""
        parameters = {
            "ids": [id for id, _ in reservations],
            "spent": [is_spent for _, is_spent in reservations],
        }
        async with self._pool.connection() as connection:
            [rows] = await connection.commit([(SQL["give_back_spend"], parameters)])
        return len(rows)

    async def sweep(self) -> int:
        """Take back what processes that are gone had set aside; return how many calls that were."""
        parameters = {"lease_seconds": self._lease_seconds, "age_seconds": AGE_SECONDS_MAX}
        async with self._pool.connection() as connection:
            [rows] = await connection.commit([(SQL["sweep_spend"], parameters)])
        return len(rows)

    async def forget(self) -> None:
        """Remove counters of periods that are long over."""
        async with self._pool.connection() as connection:
            await connection.commit([(SQL["forget_spend"], ())])

    async def agree(self, chat: ChatId, at: datetime | None = None) -> None:
        """Let the family of a chat go on beyond the soft limits that its owner has reached."""
        async with self._pool.connection() as connection:
            await connection.commit([(SQL["agree_to_spend"], {"chat": chat, "at": at})])

    async def status(
        self, user: UserId, default: Price | None, at: datetime | None = None
    ) -> SpendStatus:
        """Return the limits of a user, and of the deployment, with what is used of them."""
        asking = (SQL["spend_status"], {"user": user, "at": at})
        async with self._pool.connection() as connection:
            rows = await connection.execute(*asking)
        if any(row[1] is not None and not row[9] for row in rows):
            await self.count(user, rows[0][0], default)
            async with self._pool.connection() as connection:
                rows = await connection.execute(*asking)
        limits = tuple(_status_of((*row[1:9], False)) for row in rows if row[1] is not None)
        return SpendStatus(rows[0][0], limits)

    # limits

    async def limits(self) -> tuple[SpendLimit, ...]:
        """Return all limits."""
        async with self._pool.connection() as connection:
            rows = await connection.execute(SQL["spend_limits"])
        return tuple(_limit_of(row) for row in rows)

    async def limit(self, scope: Scope, subject: UUID, period: Period) -> SpendLimit | None:
        found = await self.limits()
        wanted = (scope, subject, period)
        return next(
            (each for each in found if (each.scope, each.subject_id, each.period) == wanted), None
        )

    async def put_limit(
        self,
        scope: Scope,
        subject: UUID,
        period: Period,
        *,
        hard_micros: int | None,
        soft_micros: int | None,
        group: UUID | None = None,
    ) -> None:
        """Set a limit, or remove it if both amounts are None.

        All counters are added up anew before they are looked at again: calls that fell under no
        limit were not counted in them.
        """
        parameters = {
            "scope": scope,
            "subject": subject,
            "period": period,
            "hard": hard_micros,
            "soft": soft_micros,
            "group": group,
        }
        is_removed = hard_micros is None and soft_micros is None
        change = SQL["remove_spend_limit"] if is_removed else SQL["put_spend_limit"]
        async with self._pool.connection() as connection:
            await connection.commit(
                [(change, parameters), (SQL["note_spend_limits"], ()), (SQL["stale_counters"], ())]
            )


def _parameters(call: CallToReserve) -> dict[str, object]:
    return {
        "id": call.id,
        "chat": call.chat,
        "what": call.what,
        "micros": call.micros,
        "asks": call.asks,
        "worker": call.worker,
        "at": call.at,
    }


def _status_of(row: Row) -> LimitStatus:
    scope, name, period, starts_on, hard, soft, spent, reserved, is_agreed = row
    return LimitStatus(
        scope, name, period, starts_on, hard, soft, spent or 0, reserved or 0, is_agreed
    )


def _limit_of(row: Row) -> SpendLimit:
    scope, subject, period, hard, soft, group, created_at, updated_at, name = row
    return SpendLimit(scope, subject, period, hard, soft, group, created_at, updated_at, name or "")
