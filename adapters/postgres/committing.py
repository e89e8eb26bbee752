"""Group commit: writes of different chats that wait at the same moment go out as one statement.

While all writers are busy, changes gather; the next free writer takes them all. So the group is as
large as the load makes it, and a lone change does not wait. Each change has its own fence and its
own answer in the group: one that has moved on, or is locked, does not harm its neighbours.

Hints and commits are told here and not by the task that asked: it may have been cancelled
meanwhile, but the commit stands all the same.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto

import trio
from psycopg import Error

from actors.law.change import Change
from actors.law.ids import ChatId, MessageId, QueuedId
from actors.law.store.hints import Hint, Tell, UntoldHint, tell_all
from actors.law.store.ports import Applied, CommitListener
from adapters.postgres.codec.writing import Write, write_together
from adapters.postgres.driver.faults import DatabaseFault
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row
from runtime.mailbox import Address, Mailbox, Reply, open_mailbox

WRITERS = 2  # groups on their way at the same time; more only make the groups smaller
GROUP_CHANGES_MAX = 128  # in one statement; what is over waits for the next
WAITING_CHANGES_MAX = 16_384  # one more is refused with MailboxFull: the database cannot follow
ANSWER_SECONDS_MAX = 120.0  # longer than any statement may take; then NoAnswer


@dataclass(frozen=True, slots=True)
class WriteResult:
    """A change that was written: when, and the ids of its rows."""

    at: datetime
    message_ids: tuple[MessageId, ...]
    queued_ids: tuple[QueuedId, ...]
    untold: tuple[UntoldHint, ...] = ()
    deliveries_count: int = 0


def ignore_commit(_: Applied) -> None:
    """Ignore a commit: the listener of a store that tells hints only."""


class WriteFailure(Enum):
    """The reason why a change was not written by its group, or may not have been."""

    MOVED_ON = auto()  # the snapshot no longer stands, or not in this group: go the long way
    UNKNOWN = auto()  # the connection broke while it was on its way


Outcome = WriteResult | WriteFailure


@dataclass(frozen=True, slots=True)
class _Write:
    chat: ChatId
    encoded: Write
    hints: tuple[Hint, ...]
    change: Change | None
    reply: Reply[Outcome]


class Committer:
    """An actor that writes groups: `run` it in a nursery, and call `write` from anywhere."""

    def __init__(
        self, pool: Pool, *, tell: Tell, on_commit: CommitListener = ignore_commit
    ) -> None:
        self._pool = pool
        self._tell = tell
        self._on_commit = on_commit
        self._address: Address[_Write]
        self._mailbox: Mailbox[_Write]
        self._address, self._mailbox = open_mailbox("committer", capacity=WAITING_CHANGES_MAX)
        self._turn = trio.Lock()  # of the writer that waits for the next group

    async def write(
        self, chat: ChatId, encoded: Write, hints: tuple[Hint, ...], change: Change | None = None
    ) -> Outcome:
        """Write a change together with whatever else waits.

        `encoded` is what is written. `change` is the same as an object: it is told to
        `on_commit` if it is given. `hints` are told once the change is committed.
        """
        return await self._address.ask(
            lambda reply: _Write(chat, encoded, hints, change, reply), seconds=ANSWER_SECONDS_MAX
        )

    async def run(self) -> None:
        """Write groups until cancelled."""
        try:
            async with trio.open_nursery() as writers:
                for _ in range(WRITERS):
                    writers.start_soon(self._write_groups)
        finally:
            self._mailbox.close()

    async def _write_groups(self) -> None:
        """Wait for changes, as one of the writers at a time, and write what there is."""
        while True:
            async with self._turn:
                group = await self._mailbox.drain(GROUP_CHANGES_MAX)
            await self._write(group)

    async def _write(self, group: list[_Write]) -> None:
        group = _one_for_each_chat(group)
        statement = write_together([write.encoded for write in group])
        try:
            async with self._pool.connection(ahead=True) as connection:
                [rows] = await connection.run([statement])
        except DatabaseFault:
            for write in group:
                write.reply.put(WriteFailure.UNKNOWN)
        except Error:  # the server refused one of them, and with it all
            for write in group:
                write.reply.put(WriteFailure.MOVED_ON)
        else:
            written = {row[0]: row for row in rows}
            for write in group:
                write.reply.put(self._answer(write, written.get(write.chat)))

    def _answer(self, write: _Write, row: Row | None) -> Outcome:
        if row is None:
            return WriteFailure.MOVED_ON
        if write.change is not None:
            self._on_commit(applied_of(write.change, written_of(row)))
        return written_of(row, tell_all(write.hints, self._tell))


def _one_for_each_chat(group: list[_Write]) -> list[_Write]:
    """Return one change for each chat. Of two changes of a chat at most one can stand: its task
    gave up one, and made another."""
    chosen: dict[ChatId, _Write] = {}
    for write in group:
        if chosen.setdefault(write.chat, write) is not write:
            write.reply.put(WriteFailure.MOVED_ON)
    return list(chosen.values())


def written_of(row: Row, untold: tuple[UntoldHint, ...] = ()) -> WriteResult:
    """Return the result of a row."""
    _, at, message_ids, queued_ids, deliveries = row
    return WriteResult(
        at, tuple(message_ids or ()), tuple(queued_ids or ()), untold, deliveries or 0
    )


def applied_of(change: Change, written: WriteResult) -> Applied:
    """Return a change with what was written of it."""
    return Applied(
        change,
        written.at,
        written.message_ids,
        written.queued_ids,
        untold=written.untold,
        deliveries_count=written.deliveries_count,
    )
