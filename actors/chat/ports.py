"""What a chat asks of the world, said as protocols. Adapters implement these."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from actors.parts.assemble import Answer
from actors.parts.deltas import Delta
from actors.parts.failure import ProviderFailure
from actors.parts.prompt import Prompt

Batch = Sequence[Delta]  # what arrived in one read; never empty


class Provider(Protocol):
    """One configured provider with its key. What it does wrong comes back as data, not raised."""

    def stream(self, prompt: Prompt) -> AbstractAsyncContextManager[AsyncIterator[Batch]]:
        """Ask, and read the answer as it comes. Leaving hangs up.

        Entering waits for nothing; the first batch waits for the connection too. The last delta of
        the last batch is `Finished` or `Failed`. Keep-alives of the provider are not seen here, so
        the time between two batches is its silence.
        """
        ...

    async def generate(self, prompt: Prompt) -> Answer | ProviderFailure:
        """Ask, and wait for the whole answer. Has no deadline of its own."""
        ...
