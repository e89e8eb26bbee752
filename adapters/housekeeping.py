"""What is put away every so often: attempts that nobody follows any more, journals of old steps."""

from typing import NoReturn

import trio

from actors.episodes.buffer import RETENTION_SECONDS, Episodes
from adapters.postgres.driver.faults import DatabaseFault
from adapters.postgres.journal import Journal
from runtime.log import emit

JOURNAL_SECONDS = 3600.0


async def keep_house(episodes: Episodes, journal: Journal) -> NoReturn:
    """Until cancelled. What cannot be put away now is put away the next time."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_forget_calls, journal)
        while True:
            await trio.sleep(RETENTION_SECONDS)
            episodes.sweep()


async def _forget_calls(journal: Journal) -> NoReturn:
    while True:
        try:
            await journal.forget()
        except DatabaseFault as fault:
            emit("journal.kept", "warning", error=fault)
        await trio.sleep(JOURNAL_SECONDS)
