"""Whether the database answers: one connection for nothing else, so that no load delays it."""

import math

import trio

from adapters.postgres.connection import Connection
from adapters.postgres.faults import DatabaseFault
from adapters.postgres.queries import SQL
from runtime.clock import now

ANSWER_SECONDS = 2.0  # later counts as not at all
FRESH_SECONDS = 0.25  # whoever asks within, or while another asks, gets the same answer


class Pulse:
    """Asks over one connection, and makes a new one when it breaks."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._connection: Connection | None = None
        self._turn = trio.Lock()
        self._felt_at = -math.inf
        self._complaint: str | None = None

    async def feel(self) -> str | None:
        """Why the database cannot be used now; None when it can."""
        async with self._turn:
            if now() - self._felt_at > FRESH_SECONDS:
                self._complaint = await self._ask()
                self._felt_at = now()
            return self._complaint

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _ask(self) -> str | None:
        try:
            with trio.fail_after(ANSWER_SECONDS):
                if self._connection is None:
                    self._connection = await Connection.open(self._conninfo)
                await self._connection.execute(SQL["feel_pulse"])
        except DatabaseFault as fault:
            self.close()
            return str(fault)
        except trio.TooSlowError:
            self.close()
            return f"no answer in {ANSWER_SECONDS:g} s"
        return None
