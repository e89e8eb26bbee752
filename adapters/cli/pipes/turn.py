"""One turn for a script: the message is sent, and what comes of it is told until the chat rests.

Ctrl-C interrupts the turn, and what there is of the answer is told all the same; a second one
leaves at once, and the daemon goes on. Nobody is asked: a call that needs a person's consent is
decided by `--approve`, or ends the command.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from msgspec import UNSET

from adapters.cli.pipes.ending import end_of
from adapters.cli.pipes.outcomes import Outcome, PipeEnd, TurnFault, end_of_rest
from adapters.cli.pipes.output_schema import CORRECTIONS_MAX, DocumentSchema, FittingAnswer
from adapters.cli.pipes.printing import RecordPrinter
from adapters.cli.pipes.records import BeginRecord, RecordMaker, end_record
from promptcorner_client import api
from promptcorner_client.api import Content
from promptcorner_client.async_client import AsyncClient, ChatEvents
from promptcorner_client.errors import RequestRefused, ServerUnreachable
from promptcorner_client.transcript import Transcript
from promptcorner_client.wire import ChatApproval, ChatMessage
from runtime.clock import now

MESSAGES_PRICED_MAX = 200  # of a turn; what a longer one cost is said to be unknown
NO_USER = "no user is there to be asked"
DECISIONS = {"allow": ("allow_once", ""), "deny": ("deny", NO_USER)}  # by --approve


@dataclass(frozen=True, slots=True)
class PipedFile:
    """Standard input that is too long for a message, or no text: it is uploaded."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class PipeRequest:
    """All that a script asks for."""

    chat: UUID | None
    text: str
    file: PipedFile | None = None
    model: UUID | None = None
    effort: str = ""
    approve: str = ""  # allow, ask or deny; empty: the chat keeps its own, or the deployment's
    schema: DocumentSchema | None = None


class PipeTurn:
    """A turn of a chat, and the printer that is told of it."""

    def __init__(self, client: AsyncClient, request: PipeRequest, printer: RecordPrinter) -> None:
        self._client = client
        self._request = request
        self._printer = printer
        self._chat: UUID | None = None
        self._known = {"after_id": 0, "history_version": 0}  # messages that are not told
        self._first_id = 0  # of the turn; messages before it cost nothing here
        self._messages: dict[int, ChatMessage] = {}
        self._decided: set[tuple[UUID, str]] = set()
        self._maker = RecordMaker()
        self._was_interrupted = False
        self._began = now()

    async def run(self) -> PipeEnd:
        """Take the turn, print its end as well, and return it. OSError: the output is closed."""
        end = await end_of(self._take, self._interrupt)
        await self._tell_end(end)
        return end

    async def _take(self) -> PipeEnd:
        schema, text = self._request.schema, self._request.text
        content = await self._content(text if schema is None else f"{text}\n\n{schema.request}")
        end = await self._follow(await self._begin(content))
        if schema is None:
            return end
        corrections = 0
        while end.outcome is Outcome.DONE:
            found = schema.judge(end.answer)
            if isinstance(found, FittingAnswer):
                return replace(end, document=found.document, corrections=corrections)
            if found.is_hopeless or corrections == CORRECTIONS_MAX:
                fault = TurnFault("the answer does not fit the schema", "; ".join(found.faults))
                return replace(end, outcome=Outcome.UNFIT, fault=fault, corrections=corrections)
            corrections += 1
            end = await self._follow(await self._send(schema.correction(found)))
        return replace(end, corrections=corrections)

    async def _content(self, text: str) -> Content:
        """Return the parts of the message; a file is uploaded first."""
        if self._request.file is None:
            return text
        file = self._request.file
        organization = (await self._client.request(api.me())).organization_ids[0]
        request = api.upload(organization, file.name, file.media_type, file.content)
        kept = await self._client.request(request)
        parts: list[Mapping[str, Any]] = [{"type": "text", "text": text}] if text else []
        return [*parts, {"type": "file", "file_id": str(kept.id)}]

    async def _begin(self, content: Content) -> int:
        """Send the first message; return its id, or 0 if it waits in the queue."""
        approve = self._request.approve or None
        if self._request.chat is None:
            chat = await self._client.create(content, approval_policy=approve, **self._chosen())
            self._chat = chat.id
            self._told(is_new=True, message=None)
            return 0
        self._chat = self._request.chat
        if approve is not None:
            await self._client.request(api.update_chat(self._chat, approval_policy=approve))
        latest = await self._client.request(api.messages(self._chat, limit=1))
        last = max((message.id for message in latest.messages), default=0)
        self._known = {"after_id": last, "history_version": latest.history_version or 0}
        return await self._send(content, is_first=True)

    def _chosen(self) -> Mapping[str, Any]:
        chosen = {"model_config_id": self._request.model, "reasoning_effort": self._request.effort}
        return {name: str(value) for name, value in chosen.items() if value}

    async def _send(self, content: Content, *, is_first: bool = False) -> int:
        assert self._chat is not None, "a message is sent to a chat"
        sent = await self._client.request(api.send(self._chat, content, **self._chosen()))
        id = sent.message.id if sent.message else 0
        if is_first:
            self._first_id = id or int(self._known["after_id"]) + 1
            self._told(is_new=False, message=id or None)
        return id

    def _told(self, *, is_new: bool, message: int | None) -> None:
        assert self._chat is not None, "a turn begins with its chat"
        self._printer.show(BeginRecord(chat_id=self._chat, is_new=is_new, message_id=message))

    async def _follow(self, since: int) -> PipeEnd:
        """Tell what happens until the chat rests after this message."""
        assert self._chat is not None, "a chat is followed"
        seen = Transcript()
        async with self._client.follow(self._chat, **self._known) as events:
            await self._show(events, seen, since)
        if seen.messages:
            # A correction is another turn: what has been told is not told again.
            self._known["after_id"] = max(self._known["after_id"], *seen.messages)
        self._messages |= seen.messages
        chat = await self._client.request(api.get_chat(self._chat))
        return end_of_rest(seen, chat, was_interrupted=self._was_interrupted)

    async def _show(self, events: ChatEvents, seen: Transcript, since: int) -> None:
        async for event in events:
            seen.apply(event)
            for record in self._maker.records_of(event):
                self._printer.show(record)
            if seen.status == "interrupting":
                self._was_interrupted = True
            if event.type == "approvals":
                await self._decide(seen.approvals)
            if self._is_over(seen, since):
                return

    def _is_over(self, seen: Transcript, since: int) -> bool:
        """Tell whether nothing more comes of it: the chat rests, or only a person can go on."""
        if self._request.approve in DECISIONS:
            is_ours = seen.status == "requires_action" and not seen.pending
            return seen.rests_since(since) and not is_ours
        return seen.rests_since(since) or bool(seen.approvals)

    async def _decide(self, approvals: Sequence[ChatApproval]) -> None:
        """Answer calls that need consent as the flag says, each once."""
        if self._request.approve not in DECISIONS:
            return
        decision, words = DECISIONS[self._request.approve]
        for approval in approvals:
            key = (approval.chat_id, approval.tool_call_id)
            if key in self._decided:
                continue
            self._decided.add(key)
            try:
                await self._client.request(api.decide(approval, decision, words))
            except RequestRefused as refused:
                if refused.status != 409:  # another user was first, or its time is over
                    raise

    async def _interrupt(self, signals: AsyncIterator[int]) -> None:
        """Interrupt the turn at the first ctrl-C, and return at the second: the turn is left."""
        async for _ in signals:
            if self._was_interrupted or self._chat is None:
                return
            self._was_interrupted = True
            try:
                await self._client.request(api.interrupt(self._chat))
            except RequestRefused:
                pass  # it rests already, and its last events are on their way
            except ServerUnreachable:
                return

    async def _tell_end(self, end: PipeEnd) -> None:
        usages = [each.usage for each in self._messages.values() if each.usage is not UNSET]
        record = end_record(
            end,
            chat=self._chat,
            input_tokens=sum(usage.input_tokens or 0 for usage in usages),
            output_tokens=sum(usage.output_tokens or 0 for usage in usages),
            cost_micros=await self._cost(end),
            seconds=now() - self._began,
        )
        self._printer.show(record)

    async def _cost(self, end: PipeEnd) -> int | None:
        """Return what the messages of the turn cost, or None if that is not known."""
        if self._chat is None or end.outcome is Outcome.UNREACHABLE:
            return None
        page = api.messages(
            self._chat, after_id=self._first_id, limit=MESSAGES_PRICED_MAX, costs=True
        )
        try:
            found = await self._client.request(page)
        except (RequestRefused, ServerUnreachable):
            return None
        priced = [each for each in found.messages if each.role == "assistant"]
        if found.has_more or any(not isinstance(each.cost_micros, int) for each in priced):
            return None
        return sum(each.cost_micros for each in priced if isinstance(each.cost_micros, int))
