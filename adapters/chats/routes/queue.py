"""The routes of the queue of a chat: delete, promote, edit, reorder."""

from collections.abc import Sequence

from actors.law.chat import UserMessage
from actors.law.ids import ModelConfigId, QueuedId
from actors.law.requests import DeleteQueued, EditQueued, PromoteQueued, ReorderQueued
from actors.law.store.ports import Applied, Ledger
from adapters.access.admission import Admission
from adapters.access.changes import ChatSender, archived_refusal, refusal_response
from adapters.chats.content import choice_or_refusal, choice_refused, model_id, parts_of
from adapters.chats.files.store import FileStore
from adapters.chats.wire import sending as responses
from adapters.chats.wire.messages import ChatQueuedMessage
from adapters.chats.wire.sending import (
    EditQueuedMessageRequest,
    MessageOnly,
    OrderQueueRequest,
    QueueResponse,
)
from adapters.http.endpoints import Call, Endpoint, HttpResponse, json_response, no_content, row_id
from adapters.http.refusals import HttpError, Validation
from adapters.models.catalogue import Catalogue
from adapters.models.choosing import fault_of_effort

QUEUE = "/api/v2/chats/{chat}/queue"


class QueueRoutes:
    """Handlers of messages that wait for their turn."""

    def __init__(
        self,
        admission: Admission,
        ledger: Ledger,
        *,
        sending: ChatSender,
        files: FileStore,
        catalogue: Catalogue,
    ) -> None:
        self._admission = admission
        self._ledger = ledger
        self._sending = sending
        self._files = files
        self._catalogue = catalogue

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="DELETE",
                path=f"{QUEUE}/{{queued}}",
                handle=self.delete,
                summary="Take a message out of the queue.",
                tag="queue",
                answers={204: None},
                refusals=(409,),
            ),
            Endpoint(
                method="POST",
                path=f"{QUEUE}/{{queued}}/promote",
                handle=self.promote,
                summary="Say this now: a turn that runs is interrupted.",
                tag="queue",
                answers={202: MessageOnly},
                refusals=(409,),
            ),
            Endpoint(
                method="PATCH",
                path=f"{QUEUE}/{{queued}}",
                handle=self.edit,
                summary="Reword a message before its turn has come. It keeps its place.",
                tag="queue",
                body=EditQueuedMessageRequest,
                answers={200: ChatQueuedMessage},
                refusals=(409,),
            ),
            Endpoint(
                method="PUT",
                path=f"{QUEUE}/order",
                handle=self.reorder,
                summary="Put the whole queue into another order. 409 shows the order there is.",
                tag="queue",
                body=OrderQueueRequest,
                answers={200: QueueResponse},
                refusals=(409,),
            ),
        )

    async def delete(self, call: Call) -> HttpResponse:
        chat = await self._admission.to_update(call)
        queued = QueuedId(row_id(call, "queued"))
        answer = await self._ledger.apply(chat.id, [DeleteQueued(queued)])
        if not isinstance(answer, Applied):
            raise refusal_response(answer)
        return no_content()

    async def promote(self, call: Call) -> HttpResponse:
        chat = await self._admission.as_owner(call)
        if chat.archived:
            raise archived_refusal()
        queued = QueuedId(row_id(call, "queued"))
        answer = await self._sending.apply(chat.id, [PromoteQueued(queued)], is_root=chat.is_root)
        if not isinstance(answer, Applied):
            raise refusal_response(answer)
        return json_response(202, MessageOnly("The queued message comes next."))

    async def edit(self, call: Call) -> HttpResponse:
        chat = await self._admission.as_owner(call)
        if chat.archived:
            raise archived_refusal()
        queued = QueuedId(row_id(call, "queued"))
        body = call.read(EditQueuedMessageRequest)
        parts = await parts_of(body.content, call.user, files=self._files)
        model, effort = await self._choice(call, body)
        message = UserMessage(parts, call.user.id, model, effort)
        editing = await self._sending.hooked(chat.id, [EditQueued(queued, message)])
        answer = await self._ledger.apply(chat.id, editing)
        if not isinstance(answer, Applied):
            raise refusal_response(answer)
        [row] = [row for row in responses.queue_shown(answer) if row.id == queued]
        return json_response(200, row)

    async def reorder(self, call: Call) -> HttpResponse:
        chat = await self._admission.to_update(call)
        body = call.read(OrderQueueRequest)
        if body.order is None:
            validation = Validation("order", "must list the ids of all that waits")
            raise HttpError(400, "An order is required.", validations=(validation,))
        order = tuple(map(QueuedId, body.order))
        answer = await self._ledger.apply(chat.id, [ReorderQueued(order)])
        if not isinstance(answer, Applied):
            raise refusal_response(answer)
        return json_response(200, QueueResponse(responses.queue_shown(answer)))

    async def _choice(
        self, call: Call, body: EditQueuedMessageRequest
    ) -> tuple[ModelConfigId | None, str | None]:
        """Return the model and effort of an edit. None: it stays as it was chosen before."""
        wanted, effort = model_id(body.model_config_id), body.reasoning_effort
        if wanted is None:
            if fault := fault_of_effort(effort):
                raise choice_refused(fault)
            return None, effort or None
        choice = choice_or_refusal(await self._catalogue.choose(call.user.id, wanted, effort))
        return choice.model, choice.effort
