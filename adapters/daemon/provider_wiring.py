"""Wiring of what speaks with providers: their client, the reads of answers, the lag of the loop."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import trio

from adapters.models.debug_runs.attempts import RecordingClient
from adapters.models.providers.dial import Dial
from adapters.models.providers.http import HttpClient
from adapters.models.providers.shared_reads import SharedReads, open_shared_reads
from runtime.children import Child, open_children
from runtime.lag import LoopLag
from runtime.restart import Restart

LAG_SECONDS_WARNED = 0.05  # as long as a piece of an answer may wait for it


@dataclass(frozen=True, slots=True)
class Reached:
    """The client of all providers, and how its answers are read."""

    client: HttpClient
    reads: SharedReads | None  # None: each answer is read by its own task
    lag: LoopLag

    async def warning(self) -> str | None:
        """Return how far the event loop is behind, if it is. A warning of `/readyz`."""
        await trio.lowlevel.checkpoint()  # like other checks
        lag = self.lag.seconds
        if lag < LAG_SECONDS_WARNED:
            return None
        return f"it is {lag * 1000:.0f} ms behind: answers come in larger pieces until it is not"

    def statistics(self) -> Mapping[str, object]:
        reads = {} if self.reads is None else {"reads": self.reads.statistics()}
        return {"loop": self.lag.statistics(), **reads}


@asynccontextmanager
async def open_client(dial: Dial, lag: LoopLag) -> AsyncIterator[Reached]:
    """Reach providers for the length of the block."""
    async with (
        open_children("lag of the loop", capacity=1) as children,
        open_shared_reads(lag) as reads,
    ):
        children.start(Child(name="lag", body=lag.watch, restart=Restart()))
        client = RecordingClient(dial, reads)
        try:
            yield Reached(client, reads, lag)
        finally:
            await client.aclose()
