"""How full this process is, for the metrics: chats at work, and those that wait for a place."""

from actors.streams.previews import Previews
from actors.supervisor.slots import SlotsStatistics
from adapters.daemon.metrics.figures import Figures
from adapters.postgres.driver.faults import DatabaseFault
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL

ROOTS, CHILDREN = "root", "subagent"
STREAMING, WAITING = "streaming", "waiting"


class Pools:
    def __init__(self, figures: Figures, previews: Previews, pool: Pool) -> None:
        self._figures = figures
        self._previews = previews
        self._pool = pool
        figures.pull(
            "chatd_stream_buffer_dropped",
            "Pieces that were shown to no watcher, because too much had been said.",
            lambda: previews.statistics().dropped_count,
        )

    async def look(self, slots: SlotsStatistics) -> None:
        """Before somebody reads. Without a database the last answer stands."""
        figures, held = self._figures, slots.roots + slots.children + slots.waiting
        streaming = min(held, self._previews.statistics().open_count)
        figures.chats.labels(STREAMING).set(streaming)
        figures.chats.labels(WAITING).set(held - streaming)
        figures.agents_active.labels(ROOTS).set(slots.roots)
        figures.agents_active.labels(CHILDREN).set(slots.children)
        roots_full = slots.roots >= slots.roots_max
        children_full = slots.children >= slots.children_max
        roots, children = 0, 0
        if roots_full or children_full:
            try:
                roots, children = await self._waiting()
            except DatabaseFault:
                return
        figures.agents_queued.labels(ROOTS).set(roots if roots_full else 0)
        figures.agents_queued.labels(CHILDREN).set(children if children_full else 0)

    async def _waiting(self) -> tuple[int, int]:
        async with self._pool.connection() as connection:
            [(roots, children)] = await connection.execute(SQL["waiting_for_capacity"])
        return roots, children
