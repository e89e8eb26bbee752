"""The recording of model calls, put together."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from actors.law.ids import WorkerId
from actors.law.store.ports import Bus
from adapters.models.catalogue import Catalogue
from adapters.models.debug_runs.recorder import CallRecords, RecordSwitches
from adapters.models.debug_runs.store import DebugRunStore
from adapters.models.debug_runs.writer import FLUSH_SECONDS, RecordWriter
from adapters.postgres.driver.pool import Pool
from adapters.settings import Config
from runtime.children import Child, open_children
from runtime.restart import Restart


@asynccontextmanager
async def open_records(
    config: Config,
    pool: Pool,
    bus: Bus,
    worker: Callable[[], WorkerId | None],
    catalogue: Catalogue,
) -> AsyncIterator[CallRecords]:
    """Record the model calls of those who want that, for the length of the block."""
    switches = RecordSwitches(
        config.debug_logging_forced, catalogue.allows_records, catalogue.wants_records
    )
    writer = RecordWriter(DebugRunStore(pool), worker=worker, may_record=switches.is_on_for_any)
    records = CallRecords(switches, writer)
    body, mailbox = writer.run, writer.mailbox
    async with open_children("records of model calls", capacity=1) as children:
        children.start(Child(name="debug runs", body=body, restart=Restart(), mailbox=mailbox))
        with bus.follow_commits(records.note_commit):
            yield records
        await writer.flush(FLUSH_SECONDS)
