"""A chat as the terminal lives with it: followed, spoken to, decided about; on asyncio.

Everything that is to be seen goes to a `ChatOutput`, which is a window or plain lines. What is said
is handed over once, in order, to be printed for good; of everything else it is only told that
something has changed.
"""

import asyncio
import contextlib
import sys
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any, Protocol
from uuid import UUID

from msgspec import UNSET

from adapters.cli.chat.approvals import ApprovalKey, Approve, UserDecision, key_of
from adapters.cli.chat.conversation import HISTORY_SHOWN, ChatRequest
from adapters.cli.chat.deciding.asking import (
    Ask,
    ConsentAsk,
    PlanAsk,
    QuestionsAsk,
    UnknownCommandAsk,
    open_form,
)
from adapters.cli.chat.reading.blocks import GrowingMarkdown
from adapters.cli.chat.reading.scrollback import (
    ChatScrollback,
    ConsentCard,
    Item,
    NoteLine,
    Unfinished,
    items_of,
)
from adapters.cli.chat.reading.status_line import (
    ChatFacts,
    cost_of,
    used_tokens,
    with_chat,
    with_model,
)
from adapters.cli.chat.requests import file_content
from promptcorner_client import api
from promptcorner_client.api import ModelSummary
from promptcorner_client.async_client import AsyncClient, ChatEvents
from promptcorner_client.errors import RequestRefused, ServerUnreachable
from promptcorner_client.transcript import Transcript
from promptcorner_client.wire import Chat, ChatApproval, ChatStreamEvent

NEVER = sys.maxsize  # connections are made again as long as the terminal is open
AGENTS_SECONDS = 3.0  # between looks at agents that work
MESSAGES_MAX = 50  # kept; older ones are printed, and the daemon has them
LONG_TURN_SECONDS = 15.0  # the end of a longer turn is worth a bell
AT_WORK = frozenset({"running", "interrupting"})
Busy = str  # "", queue, steer or interrupt, as the API names what becomes of a message at work


class ChatOutput(Protocol):
    """A place where a chat is shown."""

    def show(self, items: Sequence[Item]) -> None:
        """Print items for good."""

    def changed(self) -> None:
        """Note that something else is to be drawn anew."""

    def ring(self, why: str) -> None:
        """Tell the user, who may look elsewhere, that the chat needs them or has come to rest."""


class LiveChat:
    """One chat, its events as they come, and what the user does to it."""

    def __init__(self, client: AsyncClient, request: ChatRequest, output: ChatOutput) -> None:
        self.client = client
        self.request = request
        self.chat: Chat | None = None
        self.seen = Transcript(messages_max=MESSAGES_MAX)
        self.scrollback = ChatScrollback()
        self.facts = ChatFacts(is_new=True)
        self.models: Sequence[ModelSummary] = ()
        self.model: UUID | None = request.model  # of the next messages; None: the chat's own
        self.effort = request.effort
        self.is_planning: bool | None = None  # from the next message on; None: as it is
        self.began_at = 0.0  # of the turn, by the loop's clock
        self.question: UnknownCommandAsk | None = None
        self.went_well = True
        self._output = output
        self._form: QuestionsAsk | PlanAsk | None = None
        self._history_version = 0
        self._answered: set[ApprovalKey] = set()
        self._consent_shown: set[ApprovalKey] = set()
        self._events: ChatEvents | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._following: asyncio.Task[None] | None = None
        self._was_idle = True

    @property
    def works(self) -> bool:
        return self.seen.status in AT_WORK

    @property
    def asked(self) -> Ask | None:
        """Return what the user is asked now."""
        if self.question is not None:
            return self.question
        undecided = self._undecided()
        if undecided:
            return ConsentAsk(undecided[0], len(undecided) - 1)
        return None if self.works else self._form

    @property
    def is_asked_for_consent(self) -> bool:
        return bool(self._undecided())

    def unfinished(self) -> Unfinished:
        """Return what is drawn below all that was printed; calls that wait for consent are not."""
        live = self.scrollback.unfinished()
        waiting = {approval.tool_call_id for approval in self._undecided()}
        if not waiting:
            return live
        return replace(live, calls=tuple(card for card in live.calls if card.id not in waiting))

    def _undecided(self) -> list[ChatApproval]:
        return [one for one in self.seen.approvals if key_of(one) not in self._answered]

    def state(self) -> ChatFacts:
        """Return the facts as they are now."""
        is_connected = self._events is None or self._events.is_connected
        return replace(self.facts, queued=len(self.seen.queue), is_connected=is_connected)

    # Which chat

    async def begin(self) -> None:
        """Learn which models there are, and go on with the chat that was named, if one was."""
        self.models = [*(await self.client.request(api.models()))]
        self._note_model(None)
        if self.request.chat is not None:
            await self.resume(self.request.chat)

    async def resume(self, id: UUID) -> None:
        """Show the last messages of a chat, and follow it from there."""
        chat = await self.client.request(api.get_chat(id))
        page = await self.client.request(api.messages(id, limit=HISTORY_SHOWN, results="cut"))
        if self.request.approve is not None:
            policy = self.request.approve.value
            await self.client.request(api.update_chat(id, approval_policy=policy))
        await self.leave()
        self.chat = chat
        self._history_version = page.history_version or 0
        messages = sorted(page.messages, key=lambda message: message.id)
        self.seen.messages = {message.id: message for message in messages}
        self.seen.status = chat.status
        more = " · older messages are not shown" if page.has_more else ""
        items: list[Item] = [NoteLine(f"── {chat.title or 'untitled'}{more}", "title")]
        self._output.show([*items, *items_of(messages, self.scrollback)])
        self.facts = ChatFacts()
        self._note_chat(chat)
        self._form = open_form(self.seen.history)
        self._follow(chat)
        self.spawn(self.refresh())

    async def leave(self) -> None:
        """Stop following the chat; the next message begins another one."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait([self._following])
        self._following = self._events = self.chat = self._form = self.question = None
        self.seen = Transcript(messages_max=MESSAGES_MAX)
        self.scrollback = ChatScrollback()
        self.facts, self._history_version = ChatFacts(is_new=True), 0
        self.is_planning = None
        self._note_model(None)
        self._output.changed()

    def _follow(self, chat: Chat) -> None:
        self._events = self.client.follow(
            chat.id,
            after_id=self.scrollback.last_id,
            history_version=self._history_version,
            connections_max=NEVER,
        )
        self._following = self.spawn(self._read(self._events))

    async def reconnect(self) -> None:
        """Make all connections anew: they may be dead without anybody having said so."""
        events, following = self._events, self._following
        if following is not None:
            following.cancel()
            await asyncio.wait([following])
        await self.client.renew_connections()
        if events is not None and self._events is events:
            self._following = self.spawn(self._read(events))

    async def _read(self, events: ChatEvents) -> None:
        async with events:
            async for event in events:
                self._apply(event)

    def spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Do something beside the conversation; a refusal is printed."""
        task = asyncio.get_running_loop().create_task(self._guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except (RequestRefused, ServerUnreachable) as fault:
            self.note(f"✗ {fault}", "error")

    def note(self, text: str, tone: str = "quiet") -> None:
        self._output.show([NoteLine(text, tone)])

    def show(self, items: Sequence[Item]) -> None:
        self._output.show(items)

    async def aclose(self) -> None:
        """End all that is still under way."""
        tasks = [task for task in self._tasks if not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    # What happens

    def _apply(self, event: ChatStreamEvent) -> None:
        before = self.seen.status
        self.seen.apply(event)
        if items := self.scrollback.apply(event, self.seen):
            self._output.show(items)
        match event.type:
            case "status" if self.seen.status != before:
                self._status_changed(before)
            case "message" if event.message is not UNSET:
                self.facts = replace(self.facts, used_tokens=used_tokens(self.seen.history[-8:]))
                if event.message.role == "user":
                    self._form = None
                if any("agent" in (p.tool_name or "") for p in event.message.content or ()):
                    self.spawn(self.refresh())
            case "approvals":
                self._show_consent()
            case "error":
                self.went_well = False
        self._output.changed()

    def _status_changed(self, before: str) -> None:
        now = asyncio.get_running_loop().time()
        if self.works and before not in AT_WORK:
            self.began_at, self.went_well = now, True
        elif not self.works:
            self._form = open_form(self.seen.history)
            took = now - self.began_at if before in AT_WORK else 0.0
            self.spawn(self.refresh())
            if isinstance(self._form, PlanAsk):
                self.spawn(self._show_plan(self._form))
            if self._form is not None:
                self._output.ring("the chat asks you something")
            elif took >= LONG_TURN_SECONDS:
                self._output.ring("the chat has come to rest")

    def _show_consent(self) -> None:
        chat = self.chat
        is_first = True  # the others are shown when it is decided about
        for approval in self._undecided():
            if self.request.approve in (Approve.ALLOW, Approve.DENY):
                choice = "allow_once" if self.request.approve is Approve.ALLOW else "deny"
                self.spawn(self.decide(approval, UserDecision(choice)))
            elif is_first and key_of(approval) not in self._consent_shown:
                self._consent_shown.add(key_of(approval))
                is_agents = chat is not None and approval.chat_id != chat.id
                self._output.show([ConsentCard(approval, is_agents)])
                self._output.ring(f"may {approval.tool_name} run?")
            is_first = False

    async def _show_plan(self, plan: PlanAsk) -> None:
        text = plan.plan
        if not text and plan.file_id:
            content = await self.client.request(file_content(plan.file_id))
            text = content.decode(errors="replace")
        self._output.show(GrowingMarkdown().finish(text))

    async def refresh(self) -> None:
        """Learn anew what the stream does not tell: the title, the agents, the cost."""
        if self.chat is None:
            return
        chat = await self.client.request(api.get_chat(self.chat.id))
        paid = await self.client.request(api.cost(chat.id))
        if self.chat is None or self.chat.id != chat.id or self.chat.updated_at > chat.updated_at:
            return
        self.facts = replace(self.facts, cost=cost_of(paid))
        self._note_chat(chat)
        self._output.changed()

    async def _look_at_agents(self, chat: UUID) -> None:
        """Look from time to time how many agents work: the stream of their root does not tell."""
        while self.chat is not None and self.chat.id == chat and self.facts.agents_at_work:
            await asyncio.sleep(AGENTS_SECONDS)
            with contextlib.suppress(RequestRefused, ServerUnreachable):  # the next look says it
                await self.refresh()

    def _note_chat(self, chat: Chat) -> None:
        before = self.facts.agents_at_work
        self.chat = chat
        self.facts = with_chat(self.facts, chat, used_tokens(self.seen.history[-8:]))
        self._note_model(chat)
        if self.facts.agents_at_work and not before:
            self.spawn(self._look_at_agents(chat.id))

    def _note_model(self, chat: Chat | None) -> None:
        last_effort = chat.last_reasoning_effort or "" if chat is not None else ""
        is_planning = self.facts.is_planning if self.is_planning is None else self.is_planning
        self.facts = replace(
            with_model(self.facts, chat, self.models, self.model),
            effort=self.effort or last_effort,
            is_planning=is_planning,
        )

    # What the user does

    def choose(self, *, model: UUID | None = None, effort: str | None = None) -> None:
        """Choose the model or the effort of the next messages."""
        self.model = model or self.model
        self.effort = self.effort if effort is None else effort
        self._note_model(self.chat)
        self._output.changed()

    async def plan(self, *, is_on: bool) -> None:
        """Plan from now on, or no longer."""
        if self.chat is not None:
            mode = "plan" if is_on else ""
            await self.client.request(api.update_chat(self.chat.id, plan_mode=mode))
        self.is_planning = is_on
        self.facts = replace(self.facts, is_planning=is_on)
        self._output.changed()

    async def send(self, to: Chat | None, parts: Sequence[dict[str, Any]], *, busy: Busy) -> int:
        """Send a message to a chat, or begin one with it; return its id in the queue, or 0."""
        more: dict[str, Any] = {}
        if self.model is not None:
            more["model_config_id"] = str(self.model)
        if self.effort:
            more["reasoning_effort"] = self.effort
        if to is not None:
            sent = await self.client.request(api.send(to.id, parts, busy=busy, **more))
            for warning in sent.warnings or ():
                self.note(f"! {warning}", "warning")
            return sent.queued_message.id if sent.queued_message else 0
        if self.is_planning:
            more["plan_mode"] = "plan"
        if self.request.approve is not None:
            more["approval_policy"] = self.request.approve.value
        chat = await self.client.create(parts, **more)
        self._note_chat(chat)
        self._follow(chat)
        return 0

    async def edit(self, message: int, text: str) -> None:
        """Replace a message, and all that came after it."""
        assert self.chat is not None, "a message that is edited has a chat"
        await self.client.request(api.edit(self.chat.id, message, text))

    async def interrupt(self) -> None:
        """Stop the turn that runs."""
        if self.chat is None:
            return
        try:
            await self.client.request(api.interrupt(self.chat.id))
        except RequestRefused as refused:
            if refused.status != 409:  # it rests already
                raise

    async def decide(self, approval: ChatApproval, decision: UserDecision) -> None:
        """Decide whether a call may run; another user may have been first."""
        self._answered.add(key_of(approval))
        self._output.changed()
        try:
            done = await self.client.request(decision.about(approval))
        except (RequestRefused, ServerUnreachable) as fault:
            if not isinstance(fault, RequestRefused) or fault.status != 409:
                self._answered.discard(key_of(approval))
                raise
            self.note(f"{fault}")
            self._show_consent()
            return
        if done.decision == "allow_always" and not decision.rules:
            same = [one for one in self._undecided() if one.tool_name == approval.tool_name]
            self._answered.update(map(key_of, same))  # the daemon allows them as well
        words = f": {decision.words}" if decision.words else ""
        self.note(f"  {approval.tool_name}: {done.decision.replace('_', ' ')}{words}")
        self._show_consent()

    def answer_form(self, form: QuestionsAsk | None) -> None:
        """Note the answers of a form so far, or close it."""
        self._form = form
        self._output.changed()
