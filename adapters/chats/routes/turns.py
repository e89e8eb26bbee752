"""What is done to a turn: interrupted, answered by the client's tools, compacted, put right."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from msgspec import UNSET

from actors.law.requests import (
    CompleteRequiresAction,
    DynamicResult,
    Interrupt,
    ReconcileInvalidState,
    Request,
    RequestCompaction,
)
from actors.law.store.ports import Applied
from adapters.access.admission import Admission, VisibleChat
from adapters.access.changes import ChatSender, archived_refusal, refusal_response
from adapters.chats.shelf.shelf import OverviewStore
from adapters.chats.wire.chats import Chat, shown
from adapters.chats.wire.sending import SubmitToolResultsRequest, ToolResult
from adapters.http.endpoints import Call, Endpoint, HttpResponse, json_response, no_content
from adapters.http.refusals import HttpError, Validation, not_found

CHAT = "/api/experimental/chats/{chat}"

RESULTS_BYTES_MAX = 256 * 1024  # of what a client's tools say in one request; then 413


class Turns:
    def __init__(
        self, admission: Admission, sending: ChatSender, *, shelf: OverviewStore, organization: UUID
    ) -> None:
        self._admission = admission
        self._sending = sending
        self._shelf = shelf
        self._organization = organization

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="POST",
                path=f"{CHAT}/interrupt",
                handle=self.interrupt,
                summary="End the turn. What has been said so far is kept.",
                tag="turns",
                answers={200: Chat},
                refusals=(409,),
            ),
            Endpoint(
                method="POST",
                path=f"{CHAT}/compact",
                handle=self.compact,
                summary="Replace what was said by a summary, for the model.",
                tag="turns",
                answers={200: Chat},
                refusals=(409,),
            ),
            Endpoint(
                method="POST",
                path=f"{CHAT}/tool-results",
                handle=self.tool_results,
                summary="Answer all calls of the client's own tools; the first valid answer counts",
                tag="turns",
                body=SubmitToolResultsRequest,
                body_bytes_max=RESULTS_BYTES_MAX,
                answers={204: None},
                refusals=(409,),
            ),
            Endpoint(
                method="POST",
                path=f"{CHAT}/reconcile-invalid",
                handle=self.reconcile,
                summary="Stop a chat whose stored state makes no sense, so that it can go on.",
                tag="turns",
                answers={200: Chat},
                refusals=(409,),
            ),
        )

    async def interrupt(self, call: Call) -> HttpResponse:
        chat = await self._admission.to_update(call)
        return await self._shown_after(chat, Interrupt())

    async def compact(self, call: Call) -> HttpResponse:
        chat = await self._admission.as_owner(call)
        if chat.archived:
            raise archived_refusal()
        return await self._shown_after(chat, RequestCompaction())

    async def reconcile(self, call: Call) -> HttpResponse:
        chat = await self._admission.to_update(call)
        return await self._shown_after(chat, ReconcileInvalidState())

    async def tool_results(self, call: Call) -> HttpResponse:
        chat = await self._admission.as_owner(call)
        if chat.archived:
            raise archived_refusal()
        results = call.read(SubmitToolResultsRequest).results
        if not results:
            validation = Validation("results", "must hold at least one result")
            raise HttpError(400, "Results are required.", validations=(validation,))
        answering = CompleteRequiresAction(
            tuple(map(_result, results)), call.user.id, chat.last_model_config_id
        )
        await self._applied(chat, answering)
        return no_content()

    async def _shown_after(self, chat: VisibleChat, request: Request) -> HttpResponse:
        """The chat as it was then: soon its worker has brought it further."""
        applied = await self._applied(chat, request)
        shelved = await self._shelf.chat(chat.id)
        if shelved is None:
            raise not_found()
        then = replace(shelved, status=applied.chat.status, last_error=applied.chat.last_error)
        return json_response(200, shown(then, organization=self._organization))

    async def _applied(self, chat: VisibleChat, request: Request) -> Applied:
        answer = await self._sending.apply(chat.id, [request], is_root=chat.is_root)
        if not isinstance(answer, Applied):
            raise refusal_response(answer)
        return answer


def _result(result: ToolResult) -> DynamicResult:
    """The output as it came; without one it is no JSON, which the law refuses in its turn."""
    output = "" if result.output is UNSET else bytes(result.output).decode()
    return DynamicResult(result.tool_call_id or "", output, bool(result.is_error))
