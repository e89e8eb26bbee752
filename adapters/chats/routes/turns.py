"""The routes that change a turn: interrupt, retry, tool results, compact, reconcile."""

from collections.abc import Sequence
from uuid import UUID

from msgspec import UNSET

from actors.law.refusals import NotAllowed
from actors.law.requests import (
    CompleteRequiresAction,
    DynamicResult,
    Interrupt,
    ReconcileInvalidState,
    Request,
    RequestCompaction,
    RetryTurn,
)
from actors.law.states import State
from actors.law.store.ports import Applied
from adapters.access.admission import (
    Admission,
    VisibleChat,
    checked_as_owner,
    checked_to_update,
)
from adapters.access.changes import ChatSender, archived_refusal, refusal_response
from adapters.chats.content import choice_or_refusal, model_id
from adapters.chats.overview_rows import ChatOverview
from adapters.chats.overviews import AdmittedOverview, OverviewStore
from adapters.chats.wire.chats import Chat, single_chat
from adapters.chats.wire.sending import RetryTurnRequest, SubmitToolResultsRequest, ToolResult
from adapters.http.endpoints import Call, Endpoint, HttpResponse, json_response, no_content
from adapters.http.refusals import HttpError, Validation
from adapters.models.catalogue import Catalogue

CHAT = "/api/v2/chats/{chat}"

BEING_INTERRUPTED = (State.I0, State.I1)
RESULTS_BYTES_MAX = 256 * 1024  # of what a client's tools say in one request; then 413


class TurnRoutes:
    """Handlers of what is done to a turn."""

    def __init__(
        self,
        admission: Admission,
        sending: ChatSender,
        *,
        catalogue: Catalogue,
        overviews: OverviewStore,
        organization: UUID,
    ) -> None:
        self._admission = admission
        self._sending = sending
        self._catalogue = catalogue
        self._overviews = overviews
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
                path=f"{CHAT}/retry",
                handle=self.retry,
                summary="Make the next attempt now: in the pause after one that failed, or after an"
                " error.",
                tag="turns",
                body=RetryTurnRequest,
                body_may_be_left_out=True,
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
        """End the turn. If it is being ended already, answer with the chat as it is."""
        found = await self._overviews.admitted(call, self._admission, ahead=True)
        checked_to_update(call, found.chat)
        applied = await self._sending.apply(
            found.chat.id, [Interrupt()], is_root=found.chat.is_root
        )
        if isinstance(applied, Applied):
            return self._shown(found.after(applied))
        if isinstance(applied, NotAllowed) and applied.state in BEING_INTERRUPTED:
            return self._shown((await self._overviews.admitted(call, self._admission)).overview)
        raise refusal_response(applied)

    async def compact(self, call: Call) -> HttpResponse:
        found = await self._overviews.admitted(call, self._admission)
        if checked_as_owner(call, found.chat).archived:
            raise archived_refusal()
        return await self._apply_and_show(found, RequestCompaction())

    async def retry(self, call: Call) -> HttpResponse:
        found = await self._overviews.admitted(call, self._admission)
        chat = checked_as_owner(call, found.chat)
        if chat.archived:
            raise archived_refusal()
        body = call.read(RetryTurnRequest) if call.body else RetryTurnRequest()
        wanted, effort = model_id(body.model_config_id), body.reasoning_effort
        if not (wanted or effort):
            return await self._apply_and_show(found, RetryTurn())
        last = chat.last_model_config_id
        choice = choice_or_refusal(
            await self._catalogue.choose(call.user.id, wanted, effort, last=last)
        )
        return await self._apply_and_show(found, RetryTurn(choice.model, choice.effort))

    async def reconcile(self, call: Call) -> HttpResponse:
        found = await self._overviews.admitted(call, self._admission)
        checked_to_update(call, found.chat)
        return await self._apply_and_show(found, ReconcileInvalidState())

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

    async def _apply_and_show(self, found: AdmittedOverview, request: Request) -> HttpResponse:
        """Answer with the chat as it was right then: soon its worker has brought it further."""
        return self._shown(found.after(await self._applied(found.chat, request)))

    def _shown(self, chat: ChatOverview) -> HttpResponse:
        return json_response(200, single_chat(chat, organization=self._organization))

    async def _applied(self, chat: VisibleChat, request: Request) -> Applied:
        answer = await self._sending.apply(chat.id, [request], is_root=chat.is_root)
        if not isinstance(answer, Applied):
            raise refusal_response(answer)
        return answer


def _result(result: ToolResult) -> DynamicResult:
    """Return the result as it came. Without output it is no JSON, which the law refuses."""
    output = "" if result.output is UNSET else bytes(result.output).decode()
    return DynamicResult(result.tool_call_id or "", output, bool(result.is_error))
