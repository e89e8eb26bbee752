"""Reading of what was spent, grouped by user, model, purpose, label and day, in bounded pieces."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from uuid import UUID

import msgspec

from actors.chat.turn.spending import period_end, period_start
from actors.law.ids import UserId
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL

ROWS_MAX = 10_000  # of one answer, or of one day of a table; with more it is refused
DAYS_MAX = 366  # of one question


@dataclass(frozen=True, slots=True)
class UsageQuestion:
    """A question: from one day on, before another, and by what the answer is grouped."""

    since: date
    until: date
    by: frozenset[str]  # of day, user, model, what
    label: str | None = None  # the name of a label, to group by its values
    user: UserId | None = None  # None: all users
    skip: int = 0  # rows of the answer

    def parameters(self) -> dict[str, object]:
        flags = {f"by_{name}": name in self.by for name in ("day", "user", "model", "what")}
        return {
            "since": self.since,
            "until": self.until,
            "label": self.label,
            "user": self.user,
            "most": ROWS_MAX + 1,
            "skip": self.skip,
            **flags,
        }


class UsageRow(msgspec.Struct, frozen=True):
    """The sums of one group of calls; what it is not grouped by is null. Of requests that
    are unpriced nobody knows what they cost."""

    day: date | None = None
    user_id: UUID | None = None
    username: str | None = None
    model_config_id: UUID | None = None
    model: str | None = None
    what: str | None = None
    label: str | None = None
    request_count: int = 0
    unpriced_request_count: int = 0
    cost_micros: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_creation_tokens: int = 0


class TooManyRows(Exception):
    """An answer with more rows than there may be."""


class UsageReader:
    """Reads what was spent."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def read(self, question: UsageQuestion) -> Sequence[UsageRow]:
        """Return the whole answer, or raise TooManyRows."""
        rows = await self._page(question)
        if len(rows) > ROWS_MAX:
            raise TooManyRows
        return rows

    async def _page(self, question: UsageQuestion) -> Sequence[UsageRow]:
        async with self._pool.connection() as connection:
            rows = await connection.execute(SQL["usage"], question.parameters())
        return [UsageRow(*row) for row in rows]

    async def by_day(self, question: UsageQuestion) -> AsyncIterator[Sequence[UsageRow]]:
        """Yield the answer day by day, in pages, so that no more than one page is held."""
        day = question.since
        while day < question.until:
            following = day + timedelta(days=1)
            asked = replace(question, since=day, until=following)
            while len(page := await self._page(asked)) > ROWS_MAX:
                yield page[:ROWS_MAX]
                asked = replace(asked, skip=asked.skip + ROWS_MAX)
            yield page
            day = following

    async def of_month(self, users: Sequence[UserId], day: date) -> Mapping[UserId, int]:
        """Return what users have spent in the month of a day, in millionths of a dollar."""
        since = period_start("month", day)
        asked = {
            "since": since,
            "until": period_end("month", since),
            "user": None,
            "users": list(users),
        }
        async with self._pool.connection() as connection:
            rows = await connection.execute(SQL["month_spend_of_users"], asked)
        return {UserId(user): micros for user, micros in rows}
