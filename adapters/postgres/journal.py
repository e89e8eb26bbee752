"""The journal of tool calls on PostgreSQL.

An output is kept as the tool message that it becomes: its result, and behind it what was shown.
Ids are a provider's, so they may hold what no text in PostgreSQL can (U+0000): they are kept
escaped.
"""

from collections.abc import Sequence

from actors.machine.chat import Chat
from actors.parts.model import ToolCallPart, ToolResultPart
from actors.turn.ports import Entry, ToolOutput
from adapters.postgres.codec.parts import CONTENT_VERSION, from_json, kept_id, to_json
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Json, Row
from adapters.postgres.queries import SQL

KEEP_SECONDS = 7 * 86_400.0  # a batch that is older than this is not resumed by anybody


class Journal:
    """Fulfils `actors.turn.ports.Journal`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def begin(self, chat: Chat, calls: Sequence[ToolCallPart]) -> tuple[Entry, ...]:
        wanted = {
            "chat": chat.id,
            "history_version": chat.history_version,
            "ids": [kept_id(call.id) for call in calls],
            "names": [call.name for call in calls],
        }
        async with self._pool.connection() as connection:
            [known] = await connection.commit([(SQL["begin_calls"], wanted)])
        return tuple(map(_entry, known))

    async def end(self, chat: Chat, tool_call_id: str, output: ToolOutput) -> None:
        result = ToolResultPart(
            tool_call_id, "", output.result, is_error=output.is_error, is_media=output.is_media
        )
        kept = Json(to_json((result, *output.shown)))
        ending = {
            "chat": chat.id,
            "history_version": chat.history_version,
            "id": kept_id(tool_call_id),
            "output": kept,
        }
        async with self._pool.connection() as connection:
            await connection.execute(SQL["end_call"], ending)

    async def forget(self) -> None:
        """Drop what nobody will ask for any more."""
        async with self._pool.connection() as connection:
            await connection.execute(SQL["forget_calls"], {"keep_seconds": KEEP_SECONDS})


def _entry(row: Row) -> Entry:
    kept, begun_at, output, ended_at = row
    id = kept.encode().decode("unicode_escape")
    if output is None:
        return Entry(id, begun_at)
    parts = from_json(output, version=CONTENT_VERSION, where=f"tool call {id}")
    result, *shown = parts
    assert isinstance(result, ToolResultPart), "an output is kept with its result first"
    kept = ToolOutput(result.result, result.is_error, result.is_media, tuple(shown))
    return Entry(id, begun_at, kept, ended_at)
