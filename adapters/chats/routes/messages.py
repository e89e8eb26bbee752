"""The routes of messages: read in pages, sent, edited."""

from collections.abc import Sequence
from contextlib import suppress

import trio
from msgspec import structs

from actors.law.chat import Chat, StoredChat, UserMessage
from actors.law.ids import ChatId, MessageId
from actors.law.refusals import MessageNotFound, Refusal
from actors.law.requests import BusyBehaviour, ChatOptions, EditMessage, SendMessage
from actors.law.store.ports import Applied, Receipt
from adapters.access.admission import Admission, VisibleChat
from adapters.access.changes import ChatSender, archived_refusal, refusal_response
from adapters.chats.content import choice_or_refusal, model_id, parts_of
from adapters.chats.files.store import FileStore
from adapters.chats.request_repeats import RequestRepeats, ServedRequest
from adapters.chats.wire import sending as responses
from adapters.chats.wire.cutting import RESULT_BYTES_MAX, cut_message
from adapters.chats.wire.messages import ChatMessage, message_of
from adapters.chats.wire.sending import (
    ChatMessagesResponse,
    ChatPrompt,
    ChatPromptsResponse,
    CreateChatMessageRequest,
    CreateChatMessageResponse,
    EditChatMessageRequest,
    EditChatMessageResponse,
)
from adapters.http.endpoints import (
    Call,
    Endpoint,
    HttpResponse,
    Parameter,
    flag,
    json_response,
    number,
    row_id,
)
from adapters.http.refusals import HttpError, Validation, query_refused
from adapters.models.catalogue import Catalogue
from adapters.models.choosing import ModelChoice
from adapters.postgres.reading import MessagePages
from adapters.tools.mcp.registry import ServerRegistry, unknown_to

CHAT = "/api/v2/chats/{chat}"

MESSAGES_DEFAULT = 50  # of a page that asks for no number
MESSAGES_MAX = 200  # in a page; who asks for more is refused
PROMPTS_DEFAULT = 500
PROMPTS_MAX = 2_000  # likewise

CUT = "cut"
PLAN_MODES = ("", "plan")
EXPLORES = "explore"
KEEPS_ITS_SERVERS = "mcp_server_ids: ignored, an exploring agent keeps those it was spawned with"
_BUSY = {busy.value: busy for busy in BusyBehaviour}


class MessageRoutes:
    """Handlers of messages."""

    def __init__(
        self,
        admission: Admission,
        pages: MessagePages,
        *,
        sending: ChatSender,
        files: FileStore,
        catalogue: Catalogue,
        repeating: RequestRepeats,
        servers: ServerRegistry,
    ) -> None:
        self._admission = admission
        self._pages = pages
        self._sending = sending
        self._files = files
        self._catalogue = catalogue
        self._repeating = repeating
        self._servers = servers

    def endpoints(self) -> Sequence[Endpoint]:
        numbers = "a whole number"
        return (
            Endpoint(
                method="GET",
                path=f"{CHAT}/messages",
                handle=self.page,
                summary="Messages, the newest first; with after_id alone, those that came after",
                tag="messages",
                parameters=(
                    Parameter(name="before_id", type=int, help=numbers),
                    Parameter(name="after_id", type=int, help=numbers),
                    Parameter(name="limit", type=int, help=f"1 to {MESSAGES_MAX}"),
                    Parameter(
                        name="results",
                        help=f"{CUT}: those above {RESULT_BYTES_MAX} bytes are cut, and say how"
                        " large they are (result_bytes)",
                    ),
                    Parameter(name="costs", type=bool, help="say what each message cost"),
                ),
                answers={200: ChatMessagesResponse},
            ),
            Endpoint(
                method="GET",
                path=f"{CHAT}/messages/{{message}}",
                handle=self.get,
                summary="One message, with all of its results and what it cost.",
                tag="messages",
                answers={200: ChatMessage},
            ),
            Endpoint(
                method="POST",
                path=f"{CHAT}/messages",
                handle=self.send,
                summary="Say something. If the chat is busy it waits, interrupts or steers.",
                tag="messages",
                body=CreateChatMessageRequest,
                answers={200: CreateChatMessageResponse},
                refusals=(409,),
            ),
            Endpoint(
                method="PATCH",
                path=f"{CHAT}/messages/{{message}}",
                handle=self.edit,
                summary="Say it otherwise: what came after it, and the queue, are forgotten.",
                tag="messages",
                body=EditChatMessageRequest,
                answers={200: EditChatMessageResponse},
                refusals=(409,),
            ),
            Endpoint(
                method="GET",
                path=f"{CHAT}/prompts",
                handle=self.prompts,
                summary="What users said in words, the newest first.",
                tag="messages",
                parameters=(Parameter(name="limit", type=int, help=f"at most {PROMPTS_MAX}"),),
                answers={200: ChatPromptsResponse},
            ),
        )

    async def page(self, call: Call) -> HttpResponse:
        chat = (await self._admission.to_read(call)).id
        before, after = number(call, "before_id"), number(call, "after_id")
        limit = number(call, "limit", default=MESSAGES_DEFAULT, minimum=1, maximum=MESSAGES_MAX)
        if before and after >= before:
            raise query_refused("after_id", "must be less than before_id")
        if before:
            page = await self._pages.before(chat, before, after=after, limit=limit)
        elif after:
            page = await self._pages.after(chat, after, limit=limit)
        else:
            page = await self._pages.newest(chat, limit=limit)
        response = responses.page_response(chat, page, costs=flag(call, "costs"))
        if _wants_cut(call):
            response = structs.replace(response, messages=await _cut(response.messages))
        return json_response(200, response)

    async def get(self, call: Call) -> HttpResponse:
        chat = (await self._admission.to_read(call)).id
        id = MessageId(row_id(call, "message"))
        page = await self._pages.some(chat, [id], [])
        if not page.messages:
            raise refusal_response(MessageNotFound(id))
        [found] = page.messages
        return json_response(200, message_of(chat, found, costs=True, is_edited=id in page.edited))

    async def prompts(self, call: Call) -> HttpResponse:
        chat = (await self._admission.to_read(call)).id
        limit = number(call, "limit", maximum=PROMPTS_MAX) or PROMPTS_DEFAULT
        found = await self._pages.prompts(chat, limit=limit)
        return json_response(200, ChatPromptsResponse([ChatPrompt(id, text) for id, text in found]))

    async def send(self, call: Call) -> HttpResponse:
        return await self._repeating.once(call, self._send, again=self._sent_before)

    async def _send(self, call: Call, receipt: Receipt | None) -> HttpResponse:
        resting = self._sending.at_rest(ChatId(call.uuid("chat")), call.user.id)
        if receipt is None and resting is not None:
            with suppress(HttpError):  # refused for what may have changed meanwhile
                if (woken := await self._say(call, resting.chat, resting=resting)) is not None:
                    return woken
        chat = await self._admission.as_owner(call)
        if chat.archived:
            raise archived_refusal()
        sent = await self._say(call, chat, receipt=receipt)
        assert sent is not None, "it was sent, or refused"
        return sent

    async def _say(
        self,
        call: Call,
        chat: VisibleChat | Chat,
        *,
        receipt: Receipt | None = None,
        resting: StoredChat | None = None,
    ) -> HttpResponse | None:
        """Send the message of the call. If the chat is said to be resting: None, if it is not."""
        body = call.read(CreateChatMessageRequest)
        parts = await parts_of(body.content, call.user, files=self._files)
        options = await self._options(body, chat)
        busy = _busy(body.busy_behavior)
        choice = choice_or_refusal(
            await self._catalogue.choose(
                call.user.id,
                model_id(body.model_config_id),
                body.reasoning_effort,
                last=chat.last_model_config_id,
            )
        )
        message = UserMessage(parts, call.user.id, choice.model, choice.effort)
        requests, arrived = [SendMessage(message, busy, options)], call.arrived
        answer: Applied | Refusal | None
        if resting is not None:
            answer = await self._sending.wake(resting, requests, arrived=arrived)
            if answer is None:
                return None
        else:
            answer = await self._sending.apply(
                chat.id, requests, is_root=chat.is_root, receipt=receipt, arrived=arrived
            )
        if not isinstance(answer, Applied):
            raise refusal_response(answer)
        sent = responses.sent_response(answer)
        if body.mcp_server_ids is not None and options.mcp_server_ids is None:
            sent = structs.replace(sent, warnings=[KEEPS_ITS_SERVERS])
        return json_response(200, sent)

    async def _options(
        self, body: CreateChatMessageRequest, chat: VisibleChat | Chat
    ) -> ChatOptions:
        """Return the chat's options from now on. It may keep servers that it has already, and an
        exploring agent has to."""
        servers = None
        if body.mcp_server_ids is not None and chat.mode != EXPLORES:
            servers = tuple(dict.fromkeys(body.mcp_server_ids))
        new = [id for id in servers or () if id not in chat.mcp_server_ids]
        if new and (unknown := await unknown_to(self._servers, chat.owner_id, new)):
            named = ", ".join(map(str, unknown))
            raise _invalid("mcp_server_ids", f"unknown or disabled: {named}")
        if body.plan_mode is not None and body.plan_mode not in PLAN_MODES:
            raise _invalid("plan_mode", f"{body.plan_mode[:32]!r} is neither 'plan' nor empty")
        return ChatOptions(body.plan_mode, servers)

    async def _sent_before(self, call: Call, done: ServedRequest) -> HttpResponse:
        page = await self._pages.some(done.chat, done.message_ids, done.queued_ids)
        was_queued = bool(done.queued_ids)
        return json_response(
            200,
            responses.sent_again_response(
                done.chat, page.messages, page.queue, was_queued=was_queued
            ),
        )

    async def edit(self, call: Call) -> HttpResponse:
        chat = await self._admission.as_owner(call)
        if chat.archived:
            raise archived_refusal()
        target = MessageId(row_id(call, "message"))
        body = call.read(EditChatMessageRequest)
        parts = await parts_of(body.content, call.user, files=self._files)
        choice = await self._choice(call, chat, target, body)
        message = UserMessage(parts, call.user.id, choice.model, choice.effort)
        answer = await self._sending.apply(
            chat.id, [EditMessage(target, message)], is_root=chat.is_root
        )
        if not isinstance(answer, Applied):
            raise refusal_response(answer)
        return json_response(200, responses.edited_response(answer))

    async def _choice(
        self, call: Call, chat: VisibleChat, target: MessageId, body: EditChatMessageRequest
    ) -> ModelChoice:
        """Return the model and effort of an edit. What the request does not name is taken from the
        message that is replaced, as long as its provider can be asked."""
        wanted, last = model_id(body.model_config_id), chat.last_model_config_id
        if wanted is None:
            replaced = await self._pages.choice_of(chat.id, target)
            last = last if replaced is None else replaced.model
        user, effort = call.user.id, body.reasoning_effort
        return choice_or_refusal(await self._catalogue.choose(user, wanted, effort, last=last))


def _wants_cut(call: Call) -> bool:
    wanted = call.one("results")
    if wanted not in (None, "", CUT):
        raise query_refused("results", f"{wanted[:32]!r} is not {CUT!r}")
    return wanted == CUT


async def _cut(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """Cut the results of messages, one at a time, so that other tasks go on."""
    cut = []
    for message in messages:
        await trio.lowlevel.checkpoint()
        cut.append(cut_message(message))
    return cut


def _busy(said: str | None) -> BusyBehaviour:
    busy = _BUSY.get(said or BusyBehaviour.QUEUE.value)
    if busy is None:
        raise _invalid("busy_behavior", f"{(said or '')[:32]!r} is none of {', '.join(_BUSY)}")
    return busy


def _invalid(field: str, fact: str) -> HttpError:
    return HttpError(
        400, f"Invalid {field}.", detail=f"{field}: {fact}", validations=(Validation(field, fact),)
    )
