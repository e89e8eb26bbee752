"""Leases on PostgreSQL: one row per process, fresh as long as it beats."""

from actors.ids import WorkerId
from actors.store.ports import Beat
from adapters.postgres.pool import Pool
from adapters.postgres.queries import SQL

FORGET_LEASES = 10  # a worker is forgotten when it has missed this many leases in a row


class Leases:
    """Fulfils `actors.store.ports.Leases`."""

    def __init__(self, pool: Pool, *, lease_seconds: float, url: str = "") -> None:
        self._pool = pool
        self._lease_seconds = lease_seconds
        self._url = url

    async def beat(self, worker: WorkerId) -> Beat:
        parameters = {"worker": worker, "url": self._url, "lease_seconds": self._lease_seconds}
        async with self._pool.connection() as connection:
            [(at, expired)] = await connection.execute(SQL["beat"], parameters)
        return Beat(at, expired)

    async def leave(self, worker: WorkerId) -> None:
        async with self._pool.connection() as connection:
            await connection.execute(SQL["leave"], {"worker": worker})

    async def sweep(self) -> int:
        forget_seconds = FORGET_LEASES * self._lease_seconds
        async with self._pool.connection() as connection:
            return len(await connection.execute(SQL["sweep"], {"forget_seconds": forget_seconds}))
