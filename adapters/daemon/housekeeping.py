"""What is put away every so often: attempts that nobody follows any more, journals of old steps,
receipts of requests that nobody will repeat."""

from collections.abc import Awaitable, Callable
from typing import NoReturn

import trio

from actors.streams.episodes.buffer import RETENTION_SECONDS, Episodes
from adapters.chats.shelf.receipts import Receipts
from adapters.postgres.driver.faults import DatabaseFault
from adapters.postgres.journal import Journal
from runtime.log import emit

FORGET_SECONDS = 3600.0  # between two looks at what is old in the database


async def keep_house(episodes: Episodes, journal: Journal, receipts: Receipts) -> NoReturn:
    """Until cancelled. What cannot be put away now is put away the next time."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_forget, "journal.kept", journal.forget)
        nursery.start_soon(_forget, "receipts.kept", receipts.forget)
        while True:
            await trio.sleep(RETENTION_SECONDS)
            episodes.sweep()


async def _forget(kept: str, forget: Callable[[], Awaitable[object]]) -> NoReturn:
    while True:
        try:
            await forget()
        except DatabaseFault as fault:
            emit(kept, "warning", error=fault)
        await trio.sleep(FORGET_SECONDS)
