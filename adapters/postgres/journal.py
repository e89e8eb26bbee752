"""The journal of tool calls on PostgreSQL.

An output is kept as the tool message that it becomes: its result, and behind it what was shown. Ids
come from a provider, so they may hold what no text in PostgreSQL can (U+0000): they are kept
escaped.

Calls of one step, and of many chats, end at the same moments: all outputs that wait to be noted are
noted together, by the first task that waits.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

import msgspec
import trio

from actors.chat.turn.ports import JournalEntry, ToolOutput
from actors.law.chat import Chat
from actors.law.parts.message import ToolCallPart, ToolResultPart
from actors.upkeep.age_rules import AgeRule
from adapters.postgres.codec.parts import CONTENT_VERSION, from_json, storable_id, to_json
from adapters.postgres.driver.faults import DatabaseFault
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Json, Row
from adapters.postgres.queries import SQL

KEEP_SECONDS = 7 * 86_400.0  # a batch that is older than this is not resumed any more
JOURNAL_RULE = AgeRule(
    name="journal",
    help="entries of the journal of tool calls, whose results are in their chats",
    delete=SQL["forget_calls"],
    count=SQL["count_old_calls"],
    seconds=KEEP_SECONDS,
)

NOTED_TOGETHER_MAX = 64  # ends of calls in one statement; the next ones wait for it


class _Ending(msgspec.Struct):
    chat: UUID
    history_version: int
    id: str
    output: msgspec.Raw


@dataclass(eq=False, slots=True)
class _Note:
    """An end that is to be noted."""

    ending: _Ending
    is_over: bool = False  # it has been noted, or why not stands in `error`
    error: Exception | None = None


class Journal:
    """The journal. Fulfils `actors.chat.turn.ports.CallJournal`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._waiting: list[_Note] = []  # bounded by the calls under way: each waits for its own
        self._writing = trio.Lock()

    async def begin(self, chat: Chat, calls: Sequence[ToolCallPart]) -> tuple[JournalEntry, ...]:
        names = [call.name for call in calls]
        async with self._pool.connection() as connection:
            begun = (SQL["begin_calls"], {**_wanted(chat, calls), "names": names})
            [known] = await connection.commit([begun])
        return tuple(map(_entry, known))

    async def look(self, chat: Chat, calls: Sequence[ToolCallPart]) -> tuple[JournalEntry, ...]:
        async with self._pool.connection() as connection:
            known = await connection.execute(SQL["look_at_calls"], _wanted(chat, calls))
        return tuple(map(_entry, known))

    async def end(self, chat: Chat, tool_call_id: str, output: ToolOutput) -> None:
        result = ToolResultPart(
            tool_call_id, "", output.result, is_error=output.is_error, is_media=output.is_media
        )
        kept = msgspec.Raw(to_json((result, *output.shown)))
        note = _Note(_Ending(chat.id, chat.history_version, storable_id(tool_call_id), kept))
        self._waiting.append(note)
        try:
            async with self._writing:
                while not note.is_over:
                    await self._write()
        finally:
            with suppress(ValueError):  # it has been taken out to be written
                self._waiting.remove(note)
        if note.error is not None:
            raise note.error

    async def _write(self) -> None:
        """Write a group of notes. A task that is cancelled here leaves the notes of the others to
        the next of them."""
        group = self._waiting[:NOTED_TOGETHER_MAX]
        await self._note(group)
        for note in group:
            note.is_over = True
        self._waiting = [note for note in self._waiting if not note.is_over]

    async def _note(self, group: Sequence[_Note]) -> None:
        try:
            async with self._pool.connection() as connection:
                await connection.execute(SQL["end_calls"], {"ended": _together(group)})
        except Exception as error:  # noqa: BLE001  # raised again, by whose note it is
            if len(group) == 1 or isinstance(error, DatabaseFault):
                for note in group:
                    note.error = error
                return
            for note in group:  # the server refused one of them, and with it all
                await self._note([note])


def _wanted(chat: Chat, calls: Sequence[ToolCallPart]) -> dict[str, object]:
    ids = [storable_id(call.id) for call in calls]
    return {"chat": chat.id, "history_version": chat.history_version, "ids": ids}


def _together(group: Sequence[_Note]) -> Json:
    """Return the first output of each call as one document."""
    endings = [note.ending for note in reversed(group)]
    first = {(each.chat, each.history_version, each.id): each for each in endings}
    return Json(msgspec.json.encode(list(first.values())))


def _entry(row: Row) -> JournalEntry:
    kept, begun_at, output, ended_at, age_seconds = row
    id = kept.encode().decode("unicode_escape")
    if output is None:
        return JournalEntry(id, begun_at, age_seconds=age_seconds)
    parts = from_json(output, version=CONTENT_VERSION, where=f"tool call {id}")
    result, *shown = parts
    assert isinstance(result, ToolResultPart), "an output is kept with its result first"
    kept = ToolOutput(result.result, result.is_error, result.is_media, tuple(shown))
    return JournalEntry(id, begun_at, kept, ended_at, age_seconds)
