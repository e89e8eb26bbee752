"""The stored runs of recorded model calls, and their steps."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from psycopg.errors import ForeignKeyViolation, UniqueViolation

from actors.chat.turn.ports import RecordKind
from actors.law.ids import ChatId, WorkerId
from actors.upkeep.age_rules import AgeRule
from adapters.models import settings
from adapters.models.debug_runs.redaction import json_text
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL, Record

RUNS_SHOWN_MAX = 100  # the newest; older ones are there until they are removed, but not listed
STEP_TRIES_MAX = 10  # to find a number that no other process takes at the same moment
ATTEMPTS_MAX = 32  # of one step; then the oldest go
STALE_SECONDS = 300.0  # without a beat; then a run counts as interrupted

DEBUG_RUN_RULE = AgeRule(
    name="debug_runs",
    help="records of model calls",
    delete=SQL["delete_old_debug_runs"],
    count=SQL["count_old_debug_runs"],
    setting=settings.DEBUG_RETENTION_DAYS,
    default_days=settings.DEFAULTS[settings.DEBUG_RETENTION_DAYS],
)

RecordStatus = Literal["in_progress", "completed", "error", "interrupted"]


@dataclass(frozen=True, slots=True)
class RunHead:
    """The part of a run that is known when it begins."""

    id: UUID
    kind: RecordKind
    chat_id: ChatId
    root_chat_id: ChatId | None
    parent_chat_id: ChatId | None
    model_config_id: UUID | None
    provider: str
    model: str
    trigger_message_id: int | None  # None: the last that a user said by the time it is written
    history_tip_message_id: int | None
    first_message: str


class RunRow(Record, frozen=True):
    """A run as lists have it, with sums over its steps."""

    id: UUID
    chat_id: UUID
    kind: str
    status: str
    provider: str
    model: str
    started_at: datetime
    updated_at: datetime
    finished_at: datetime | None
    root_chat_id: UUID | None
    parent_chat_id: UUID | None
    model_config_id: UUID | None
    trigger_message_id: int | None
    history_tip_message_id: int | None
    first_message: str
    step_count: int
    input_tokens: int
    output_tokens: int
    reasoning_tokens: int | None
    cache_creation_tokens: int | None
    cache_read_tokens: int | None
    endpoint: str | None


class StepRow(Record, frozen=True):
    """A step with all that was recorded of it. JSON is as it was written."""

    id: UUID
    run_id: UUID
    chat_id: UUID
    step_number: int
    operation: str
    status: str
    history_tip_message_id: int | None
    assistant_message_id: int | None
    normalized_request: msgspec.Raw
    normalized_response: bytes | None
    usage: bytes | None
    attempts: msgspec.Raw
    error: bytes | None
    metadata: msgspec.Raw
    started_at: datetime
    updated_at: datetime
    finished_at: datetime | None


class DebugRunStore:
    """The runs of all chats."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def begin_step(
        self, run: RunHead, step: UUID, operation: str, request: Mapping[str, Any]
    ) -> bool:
        """Note that a step begins, and its run, if that is not there yet. A step that is there
        goes on. Return False if what it would answer is gone, or its chat is archived."""
        run_row = {name: getattr(run, name) for name in run.__dataclass_fields__}
        step_row = {
            "step": step,
            "run": run.id,
            "operation": operation,
            "tip": run.history_tip_message_id,
            "request": json_text(request),
        }
        for _ in range(STEP_TRIES_MAX):
            try:
                async with self._pool.connection() as connection:
                    statements = [
                        (SQL["begin_debug_run"], run_row),
                        (SQL["begin_debug_step"], step_row),
                    ]
                    *_, begun = await connection.commit(statements)
                return bool(begun)
            except UniqueViolation:  # another process has taken that number
                continue
            except ForeignKeyViolation:  # the chat, or its run, is being deleted
                return False
        return False

    async def end_step(self, step: UUID, ended: Mapping[str, Any]) -> None:
        """Note how a step ended. One that is not there any more stays away."""
        parameters = {"step": step, "attempts_max": ATTEMPTS_MAX, **ended}
        async with self._pool.connection() as connection:
            await connection.execute(SQL["end_debug_step"], parameters)

    async def answered(self, step: UUID, message: int) -> None:
        """Note the message that a step's answer became."""
        async with self._pool.connection() as connection:
            await connection.execute(SQL["answer_debug_step"], {"step": step, "message": message})

    async def end_run(self, run: UUID, status: RecordStatus) -> None:
        """Note how a run ended. Of two ends the better one stays."""
        async with self._pool.connection() as connection:
            await connection.execute(SQL["end_debug_run"], {"run": run, "status": status})

    async def beat(self, runs: Collection[UUID], worker: WorkerId | None) -> frozenset[UUID]:
        """Keep these runs from counting as interrupted, and return those whose chats are still at
        work at this worker."""
        async with self._pool.connection() as connection:
            alive = await connection.execute(
                SQL["beat_debug_runs"], {"runs": list(runs), "worker": worker}
            )
        return frozenset(id for (id,) in alive)

    async def finish_stale(self) -> int:
        """End the runs that have had no beat for long, with their steps, and return how many."""
        async with self._pool.connection() as connection:
            rows = await connection.execute(
                SQL["finish_stale_debug_runs"], {"stale_seconds": STALE_SECONDS}
            )
        return len(rows)

    async def forget_after(self, chat: ChatId, message: int) -> None:
        """Remove the runs of a chat that answer this message or a later one."""
        async with self._pool.connection() as connection:
            await connection.execute(
                SQL["forget_debug_runs_after"], {"chat": chat, "message": message}
            )

    async def forget_family(self, root: ChatId) -> None:
        """Remove all runs of a chat and its agents."""
        async with self._pool.connection() as connection:
            await connection.execute(SQL["forget_debug_runs_of_family"], {"root": root})

    async def runs_of(self, chat: UUID) -> Sequence[RunRow]:
        """Return the newest runs of a chat, the newest first."""
        async with self._pool.connection() as connection:
            rows = await connection.execute(
                SQL["debug_runs_of_chat"], {"chat": chat, "shown": RUNS_SHOWN_MAX}
            )
        return [RunRow.of(row) for row in rows]

    async def run_of(self, chat: UUID, run: UUID) -> tuple[RunRow, Sequence[StepRow]] | None:
        """Return a run of a chat with its steps; None: this chat has none of this id."""
        asked = {"chat": chat, "run": run}
        async with self._pool.connection() as connection:
            runs, steps = await connection.read(
                [(SQL["debug_run"], asked), (SQL["debug_steps"], asked)]
            )
        if not runs:
            return None
        return RunRow.of(runs[0]), [StepRow.of(row) for row in steps]
