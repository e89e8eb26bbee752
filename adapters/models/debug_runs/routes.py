"""The routes of recorded model calls. Only the owner of a chat sees its records, and admins do:
they hold more of a conversation than is shared with readers."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from msgspec import UNSET, Struct, UnsetType

from adapters.http.endpoints import Call, Endpoint, HttpResponse, json_response
from adapters.http.refusals import not_found
from adapters.models.debug_runs.store import DebugRunStore, RunRow, StepRow

RUNS = "/api/v2/chats/{chat}/debug/runs"

Admit = Callable[[Call], Awaitable[object]]
"""Refuses the request unless its caller may see the records of the chat of its path."""


class DebugSummary(Struct, frozen=True):
    """The sum of a run. Counts of tokens that no provider told are left out."""

    first_message: str
    step_count: int
    total_input_tokens: int
    total_output_tokens: int
    has_error: bool
    endpoint_label: str
    total_reasoning_tokens: int | UnsetType = UNSET
    total_cache_creation_tokens: int | UnsetType = UNSET
    total_cache_read_tokens: int | UnsetType = UNSET


class ChatDebugRunSummary(Struct, frozen=True, kw_only=True):
    """A run of recorded model calls, as the list has it."""

    id: UUID
    chat_id: UUID
    kind: str
    status: str
    provider: str | UnsetType = UNSET
    model: str | UnsetType = UNSET
    summary: DebugSummary
    started_at: datetime
    updated_at: datetime
    finished_at: datetime | UnsetType = UNSET


class ChatDebugStep(Struct, frozen=True, kw_only=True):
    """One call of a model, with each exchange that it took."""

    id: UUID
    run_id: UUID
    chat_id: UUID
    step_number: int
    operation: str
    status: str
    history_tip_message_id: int | UnsetType = UNSET
    assistant_message_id: int | UnsetType = UNSET
    normalized_request: dict[str, Any]
    normalized_response: dict[str, Any] | UnsetType = UNSET
    usage: dict[str, Any] | UnsetType = UNSET
    attempts: list[dict[str, Any]]
    error: dict[str, Any] | UnsetType = UNSET
    metadata: dict[str, Any]
    started_at: datetime
    updated_at: datetime
    finished_at: datetime | UnsetType = UNSET


class ChatDebugRun(ChatDebugRunSummary, frozen=True, kw_only=True):
    """A run with its steps."""

    root_chat_id: UUID | UnsetType = UNSET
    parent_chat_id: UUID | UnsetType = UNSET
    model_config_id: UUID | UnsetType = UNSET
    trigger_message_id: int | UnsetType = UNSET
    history_tip_message_id: int | UnsetType = UNSET
    steps: list[ChatDebugStep]


class DebugRunRoutes:
    def __init__(self, store: DebugRunStore, *, admit: Admit) -> None:
        self._store = store
        self._admit = admit

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=RUNS,
                handle=self.list_runs,
                summary="List the newest recorded runs of model calls, the newest first.",
                tag="debug runs",
                answers={200: list[ChatDebugRunSummary]},
            ),
            Endpoint(
                method="GET",
                path=f"{RUNS}/{{debugRun}}",
                handle=self.run,
                summary="Get a recorded run with its steps and their exchanges.",
                tag="debug runs",
                answers={200: ChatDebugRun},
            ),
        )

    async def list_runs(self, call: Call) -> HttpResponse:
        await self._admit(call)
        rows = await self._store.runs_of(call.uuid("chat"))
        return json_response(200, [ChatDebugRunSummary(**_summary_fields(row)) for row in rows])

    async def run(self, call: Call) -> HttpResponse:
        id = call.uuid("debugRun")
        await self._admit(call)
        found = await self._store.run_of(call.uuid("chat"), id)
        if found is None:
            raise not_found()
        row, steps = found
        run = ChatDebugRun(
            **_summary_fields(row),
            root_chat_id=_or_unset(row.root_chat_id),
            parent_chat_id=_or_unset(row.parent_chat_id),
            model_config_id=_or_unset(row.model_config_id),
            trigger_message_id=_or_unset(row.trigger_message_id),
            history_tip_message_id=_or_unset(row.history_tip_message_id),
            steps=[step_of(step) for step in steps],
        )
        return json_response(200, run)


def _summary_fields(row: RunRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "chat_id": row.chat_id,
        "kind": row.kind,
        "status": row.status,
        "provider": row.provider or UNSET,
        "model": row.model or UNSET,
        "summary": summary_of(row),
        "started_at": row.started_at,
        "updated_at": row.updated_at,
        "finished_at": _or_unset(row.finished_at),
    }


def summary_of(row: RunRow) -> DebugSummary:
    """Return the sum of a run. An interrupt is no error."""
    return DebugSummary(
        row.first_message,
        row.step_count,
        row.input_tokens,
        row.output_tokens,
        row.status == "error",
        row.endpoint or "",
        _or_unset(row.reasoning_tokens),
        _or_unset(row.cache_creation_tokens),
        _or_unset(row.cache_read_tokens),
    )


def step_of(row: StepRow) -> ChatDebugStep:
    """Return a step as it is shown. Its exchanges are numbered from 1."""
    attempts = msgspec.json.decode(row.attempts, type=list[dict[str, Any]])
    return ChatDebugStep(
        id=row.id,
        run_id=row.run_id,
        chat_id=row.chat_id,
        step_number=row.step_number,
        operation=row.operation,
        status=row.status,
        history_tip_message_id=_or_unset(row.history_tip_message_id),
        assistant_message_id=_or_unset(row.assistant_message_id),
        normalized_request=_document(row.normalized_request),
        normalized_response=_document_or_unset(row.normalized_response),
        usage=_document_or_unset(row.usage),
        attempts=[{"number": number, **each} for number, each in enumerate(attempts, 1)],
        error=_document_or_unset(row.error),
        metadata=_document(row.metadata),
        started_at=row.started_at,
        updated_at=row.updated_at,
        finished_at=_or_unset(row.finished_at),
    )


def _or_unset(value: Any) -> Any:
    return UNSET if value is None else value


def _document(text: bytes | msgspec.Raw) -> dict[str, Any]:
    return msgspec.json.decode(text, type=dict[str, Any])


def _document_or_unset(text: bytes | None) -> dict[str, Any] | UnsetType:
    return UNSET if text is None else _document(text)
