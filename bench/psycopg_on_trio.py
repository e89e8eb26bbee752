"""psycopg's own connection, driven by trio: the yardstick for ours, and nothing else."""

from typing import Any

import trio
from psycopg import AsyncConnection, pq
from psycopg.waiting import Ready, Wait


class PsycopgOnTrio(AsyncConnection[Any]):
    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.lock = trio.Lock()  # type: ignore[assignment]

    @classmethod
    async def open(cls, conninfo: str) -> "PsycopgOnTrio":
        pgconn = pq.PGconn.connect_start(conninfo.encode())
        while (status := pgconn.connect_poll()) != pq.PollingStatus.OK:
            assert status != pq.PollingStatus.FAILED, pgconn.get_error_message()
            if status == pq.PollingStatus.READING:
                await trio.lowlevel.wait_readable(pgconn.socket)
            else:
                await trio.lowlevel.wait_writable(pgconn.socket)
        pgconn.nonblocking = 1
        return cls(pgconn)

    async def wait(self, gen: Any, interval: float = 0.0) -> Any:
        fd = self.pgconn.socket
        try:
            wants = next(gen)
            while True:
                if wants == Wait.R:
                    await trio.lowlevel.wait_readable(fd)
                    wants = gen.send(Ready.R)
                else:  # a socket asked for writing is nearly always writable
                    await trio.lowlevel.wait_writable(fd)
                    wants = gen.send(Ready.W)
        except StopIteration as done:
            return done.value


class Yardsticks:
    """A fixed number of connections, each lent to one task at a time."""

    def __init__(self, conninfo: str, count: int) -> None:
        self._conninfo = conninfo
        self._slots = trio.Semaphore(count)
        self._idle: list[PsycopgOnTrio] = []

    async def take(self) -> PsycopgOnTrio:
        await self._slots.acquire()
        return self._idle.pop() if self._idle else await PsycopgOnTrio.open(self._conninfo)

    def give_back(self, connection: PsycopgOnTrio) -> None:
        self._idle.append(connection)
        self._slots.release()

    def close(self) -> None:
        for connection in self._idle:
            connection.pgconn.finish()
