"""LISTEN that outlives its connection: what was missed meanwhile is told as "everything".

PostgreSQL delivers notifications only to clients that are connected, so after every connection, the
first one too, `look_at_everything` is called: code that acts on notifications then re-reads what
they are about. It is called once LISTEN has been committed, so nothing falls between the two.

Both callbacks are plain functions that return at once (cast, set an event).
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, NoReturn

import trio

from adapters.postgres.driver import timeouts as limits
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.faults import DatabaseFault
from adapters.postgres.driver.timeouts import Timeouts
from runtime.backoff import delay_seconds
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

# After this much silence the server is asked for a sign of life. A connection whose peer vanished
# is replaced after the sum of these two and CANCEL_SECONDS at the latest.
SILENCE_SECONDS = 15.0
SIGN_OF_LIFE_SECONDS = 5.0
# Between attempts to connect: doubling from the first to the cap, up to half of it taken off by
# chance, so that the processes of a fleet do not come back in step.
RETRY_FIRST_SECONDS = 0.05
RETRY_CAP_SECONDS = 5.0
RETRY_SPREAD = 0.5

_SIGN_OF_LIFE = ("SELECT 1", ())


@dataclass(frozen=True, slots=True)
class ListenerStatistics:
    connected: Annotated[
        bool, GaugeMetric("1 while the connection that hears other processes stands.")
    ]
    connected_count: Annotated[
        int,
        CounterMetric("Connections that were made to hear other processes.", name="connections"),
    ]
    heard_count: Annotated[int, CounterMetric("Notifications of other processes that were heard.")]
    failed_in_a_row: Annotated[
        int,
        GaugeMetric("Attempts to hear other processes that failed since the last that did not."),
    ]
    last_fault: str | None


class Listener:
    """A listener. It owns one connection at a time, for as long as `listen` runs."""

    def __init__(
        self,
        conninfo: str,
        channels: Sequence[str],
        *,
        heard: Callable[[str, str], None],
        look_at_everything: Callable[[], None],
        timeouts: Timeouts = limits.DEFAULT,
    ) -> None:
        self._conninfo = conninfo
        self._listen = [(f"LISTEN {_quoted(channel)}", ()) for channel in channels]
        self._heard = heard
        self._look_at_everything = look_at_everything
        self._timeouts = timeouts
        self._connected = False
        self._connected_count = 0
        self._heard_count = 0
        self._failed_in_a_row = 0
        self._last_fault: str | None = None

    async def listen(self) -> NoReturn:
        """Listen until cancelled. No fault of the database ends it."""
        while True:
            try:
                await self._listen_once()
            except DatabaseFault as fault:
                self._failed_in_a_row += 1
                self._last_fault = str(fault)
            seconds = delay_seconds(
                self._failed_in_a_row,
                first_seconds=RETRY_FIRST_SECONDS,
                cap_seconds=RETRY_CAP_SECONDS,
                spread=RETRY_SPREAD,
                chance=random.random(),
            )
            emit(
                "listener.lost",
                "warning",
                fault=self._last_fault,
                attempt=self._failed_in_a_row,
                retry_seconds=round(seconds, 3),
            )
            await trio.sleep(seconds)

    def statistics(self) -> ListenerStatistics:
        return ListenerStatistics(
            connected=self._connected,
            connected_count=self._connected_count,
            heard_count=self._heard_count,
            failed_in_a_row=self._failed_in_a_row,
            last_fault=self._last_fault,
        )

    async def _listen_once(self) -> NoReturn:
        connection = await DatabaseConnection.open(self._conninfo, timeouts=self._timeouts)
        try:
            await connection.run(self._listen)
            self._connected = True
            self._connected_count += 1
            self._failed_in_a_row = 0
            self._look_at_everything()
            while True:
                await self._hear(connection)
        finally:
            self._connected = False
            connection.close()

    async def _hear(self, connection: DatabaseConnection) -> None:
        with trio.move_on_after(SILENCE_SECONDS):
            for channel, payload in await connection.hear():
                self._heard_count += 1
                self._heard(channel, payload)
            return
        await connection.run([_SIGN_OF_LIFE], seconds=SIGN_OF_LIFE_SECONDS)


def _quoted(channel: str) -> str:
    return '"' + channel.replace('"', '""') + '"'
