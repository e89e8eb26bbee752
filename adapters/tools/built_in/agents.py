"""The tools for agents: families of chats over the same ledger as all other chats.

A call that is made again after a crash finds what it has done: a child's id comes from its call,
and a message is kept with a receipt in the call's name.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from uuid import UUID

from actors.agents import rules
from actors.agents.ports import FamilyMember, FamilyReader
from actors.agents.rules import AgentType, SpawnSlots, slot_refusal
from actors.agents.waiting import wait_for
from actors.chat.turn.ports import LocalTool, ToolInvocation, ToolOutput
from actors.law.chat import Chat, Message, UserMessage
from actors.law.ids import ChatId, ModelConfigId
from actors.law.parts.message import FilePart, TextPart
from actors.law.parts.prompt import EFFORTS
from actors.law.refusals import AlreadyServed, InvalidState, NotAllowed, QueueFull, Refusal
from actors.law.requests import BusyBehaviour, CreateChat, Interrupt, NewChat, Request, SendMessage
from actors.law.states import Status
from actors.law.store.ports import Applied, Bus, Receipt
from actors.law.store.retry import retry_store
from actors.upkeep.title_wording import (
    SOURCE_CHARACTERS_MAX,
    TITLE_CHARACTERS_MAX,
    fallback_title,
    printable,
)
from adapters.access.changes import ChatSender
from adapters.access.hooked_requests import PolicyRefusal
from adapters.models.catalogue import Catalogue
from adapters.models.choosing import ModelChoice, NoChoice
from adapters.models.prompt_texts import place_text
from adapters.tools.built_in.agent_recorder import AgentRecorder
from adapters.tools.built_in.agent_schemas import (
    LISTED_MAX,
    TOOLS,
    TOOLS_WITH_DESKTOP,
    InterruptAgent,
    ListAgents,
    ListSubagentModels,
    MessageAgent,
    SpawnAgent,
    WaitAgent,
    model_document,
)
from adapters.tools.dispatch import (
    Action,
    ArgumentsStruct,
    ResultDocument,
    ToolCallError,
    run,
    tool_result,
)

# An agent that is interrupted in them is at work, or asks a person and goes on afterwards.
INTERRUPTIBLE = (Status.RUNNING, Status.REQUIRES_ACTION)
LOOKS_MAX = 3  # at an agent that does another thing each time; then it has not been interrupted


WhyNoDesktop = Callable[[Chat], Awaitable[str | None]]


class NoDesktops:
    """A deployment in which no agent can have a desktop."""

    async def __call__(self, chat: Chat) -> str | None:
        return "this deployment has none"


NO_DESKTOPS = NoDesktops()


@dataclass(frozen=True, slots=True)
class AgentTools:
    """Fulfils `adapters.tools.toolbox.ToolSource`."""

    sending: ChatSender
    family: FamilyReader
    bus: Bus
    catalogue: Catalogue
    usable: Callable[[Chat], Awaitable[tuple[UUID, ...]]]  # servers of tools, in its next step
    places: SpawnSlots = field(default_factory=SpawnSlots)
    why_no_desktop: WhyNoDesktop = NO_DESKTOPS
    recorder: AgentRecorder | None = None

    async def offered(self, chat: Chat, history: Sequence[Message]) -> Sequence[LocalTool]:
        is_possible = chat.is_root and await self.why_no_desktop(chat) is None
        return TOOLS_WITH_DESKTOP if is_possible else TOOLS

    async def run(self, calling: ToolInvocation, name: str) -> ToolOutput:
        return await run(calling, *self._deeds()[name])

    def _deeds(self) -> Mapping[str, tuple[ArgumentsStruct, Action]]:
        return {
            "spawn_agent": (SpawnAgent, self._spawn),
            "list_subagent_models": (ListSubagentModels, self._models),
            "wait_agent": (WaitAgent, self._wait),
            "message_agent": (MessageAgent, self._message),
            "interrupt_agent": (InterruptAgent, self._interrupt),
            "list_agents": (ListAgents, self._list),
        }

    # spawning

    async def _spawn(self, calling: ToolInvocation, asked: SpawnAgent) -> ResultDocument:
        chat, prompt = calling.chat, asked.prompt.strip()
        type = rules.type_of(asked.type, await self.why_no_desktop(chat))
        if why := rules.spawn_refusal(chat):
            raise ToolCallError(why)
        if isinstance(type, str):
            raise ToolCallError(type)
        if not prompt:
            raise ToolCallError("prompt is empty; say what the agent is to do")
        choice = await self._model(chat, asked, type)
        child = rules.child_id(chat, calling.call.id)
        with self.places.reserve(chat.id, child) as before:
            asking = partial(self.family.family_counts, chat.id, besides=[*before, child])
            counts = await retry_store(chat.id, "agents", asking)
            if why := slot_refusal(counts, before=len(before)):
                raise ToolCallError(why)
            new = await self._new(chat, child, type)
            new = replace(
                new,
                title=_title(asked),
                client_type=counts.client_type,
                workspace_id=counts.workspace_id,
            )
            said = UserMessage((TextPart(prompt),), chat.owner_id, choice.model, choice.effort)
            return await self._create(chat, new, said)

    async def _new(self, chat: Chat, child: ChatId, type: AgentType) -> NewChat:
        """Return the new chat, with what it has from its parent. One that explores has the servers
        of tools that its parent could use just now."""
        explores = type is AgentType.EXPLORE
        is_told_apart = explores or type is AgentType.COMPUTER_USE
        return NewChat(
            child,
            chat.owner_id,
            parent_id=chat.id,
            root_id=chat.root,
            plan_mode="" if explores else chat.plan_mode,
            mode=type.value if is_told_apart else "",
            mcp_server_ids=await self.usable(chat) if explores else chat.mcp_server_ids,
            approval_policy=chat.approval_policy,
        )

    async def _create(self, chat: Chat, new: NewChat, said: UserMessage) -> ResultDocument:
        place = place_text(has_workspace=new.workspace_id is not None, is_root=False)
        hidden = await self.catalogue.system_messages(place=place)
        request = CreateChat(new, (*hidden, said.as_body()))
        asked = partial(_unless_refused, partial(self.sending.create, request))
        made = await retry_store(chat.id, "agents", asked)
        if isinstance(made, PolicyRefusal):
            raise ToolCallError(made.words)
        if isinstance(made, Applied):
            status, at = made.chat.status, made.at
            born = FamilyMember(
                new.id, new.parent_id, new.title, new.mode, status, False, None, at, at
            )
            return rules.child_document(born)
        # The id may be taken: by this very call, before a crash or an answer that got lost.
        found = await self._descendants(chat, new.id) if isinstance(made, NotAllowed) else ()
        if not found:
            raise ToolCallError(str(made))
        return rules.child_document(found[0])

    async def _model(self, chat: Chat, asked: SpawnAgent, type: AgentType) -> ModelChoice:
        if type is AgentType.COMPUTER_USE and (asked.model_config_id or asked.reasoning_effort):
            raise ToolCallError(
                "an agent of type computer_use has a model of its own; leave model_config_id and"
                " reasoning_effort out"
            )
        try:
            wanted = UUID(asked.model_config_id) if asked.model_config_id.strip() else None
        except ValueError:
            raise ToolCallError("model_config_id is no UUID; see list_subagent_models") from None
        effort = asked.reasoning_effort.strip() or None
        if effort is not None and effort not in EFFORTS:
            raise ToolCallError(
                f"reasoning_effort is {effort[:20]!r}; it can be {', '.join(EFFORTS)}"
            )
        last, override = chat.last_model_config_id, None
        if wanted is None and type is not AgentType.COMPUTER_USE:
            override = await self.catalogue.for_child(
                chat.owner_id, context=type.value, effort=effort, parent=last
            )
        if override is not None:
            return override
        named = None if wanted is None else ModelConfigId(wanted)
        choice = await self.catalogue.choose(chat.owner_id, named, effort, last=last)
        if isinstance(choice, NoChoice):
            raise ToolCallError(f"{choice.message} {choice.detail}; see list_subagent_models")
        return choice

    async def _models(self, calling: ToolInvocation, asked: ListSubagentModels) -> ResultDocument:
        found = await self.catalogue.askable(calling.chat.owner_id)
        return {"models": [model_document(model) for model in found]}

    # waiting

    async def _wait(self, calling: ToolInvocation, asked: WaitAgent) -> ToolOutput:
        agents = [ChatId(id) for id in asked.agents]
        if not agents:
            raise ToolCallError("chat_id is missing; say which agents to wait for")
        await self._begin_recording(calling.chat, agents)
        found = await wait_for(
            calling.chat.id,
            agents,
            family=self.family,
            bus=self.bus,
            seconds=max(0.0, asked.seconds - calling.age_seconds),  # a crash makes it no longer
            any_of_them=asked.wants_any,
        )
        if found is None:
            raise ToolCallError(
                "how the agents stand could not be read in time; wait for them again"
            )
        for stranger in set(agents) - {child.id for child in found}:
            raise ToolCallError(_stranger(stranger))
        working = [not rules.has_settled(child.status) for child in found]
        timed_out = all(working) if asked.wants_any else any(working)
        documents = [_child_result(child, timed_out=timed_out) for child in found]
        shown: list[FilePart] = []
        for at, child in enumerate(found):
            if self.recorder is not None:
                told, files = await self.recorder.finish(calling, child)
                documents[at] = {**documents[at], **told}
                shown += files
        is_one = asked.chat_id is not None and len(documents) == 1
        document = documents[0] if is_one else {"agents": documents, "timed_out": timed_out}
        return replace(tool_result(document), shown=tuple(shown))

    async def _begin_recording(self, chat: Chat, agents: Sequence[ChatId]) -> None:
        """Record the desktops of those who operate one, where there may be desktops at all."""
        if self.recorder is None or await self.why_no_desktop(chat) is not None:
            return
        asking = partial(self.family.descendants, chat.id, agents)
        self.recorder.begin(await retry_store(chat.id, "agents", asking))

    # talking

    async def _message(self, calling: ToolInvocation, asked: MessageAgent) -> ResultDocument:
        chat, text = calling.chat, asked.message.strip()
        if not text:
            raise ToolCallError("message is empty; say what the agent is to be told")
        child = await self._kin(chat, ChatId(asked.chat_id))
        if child.archived:
            raise ToolCallError("this agent is archived; spawn another", type=child.type)
        message = UserMessage((TextPart(text),), chat.owner_id)
        busy = BusyBehaviour.INTERRUPT if asked.interrupt else BusyBehaviour.QUEUE
        sent = await self._once(calling, child.id, [SendMessage(message, busy)], text)
        if isinstance(sent, QueueFull):
            raise ToolCallError(
                f"{sent.rows_max} messages wait for this agent; wait for it first", type=child.type
            )
        if not isinstance(sent, Applied | AlreadyServed):
            raise ToolCallError(str(sent), type=child.type)
        was = sent.change.before.chat.status if isinstance(sent, Applied) else child.status
        now = await self._now(chat, child, sent)
        return {
            **rules.child_document(now),
            "interrupted": asked.interrupt and was in INTERRUPTIBLE,
        }

    async def _interrupt(self, calling: ToolInvocation, asked: InterruptAgent) -> ResultDocument:
        """Interrupt an agent. Its state may change between the look and the write: then it is
        looked at again."""
        for look in range(LOOKS_MAX):
            child = await self._kin(calling.chat, ChatId(asked.chat_id))
            if child.archived or child.status is Status.ERROR:
                state = "archived" if child.archived else "stopped by an error"
                raise ToolCallError(
                    f"this agent is {state}; there is nothing to interrupt", type=child.type
                )
            if child.status not in INTERRUPTIBLE:
                break
            done = await self._once(calling, child.id, _stop(child.status), "stop", look=look)
            if not isinstance(done, Applied | AlreadyServed | NotAllowed | InvalidState):
                raise ToolCallError(str(done), type=child.type)
            if isinstance(done, AlreadyServed) or _stops(done):
                now = await self._now(calling.chat, child, done)
                return {**rules.child_document(now), "interrupted": True}
        stopping = child.status is Status.INTERRUPTING
        return {**rules.child_document(child), "interrupted": stopping}

    async def _once(
        self,
        calling: ToolInvocation,
        child: ChatId,
        requests: Sequence[Request],
        words: str,
        *,
        look: int = 0,
    ) -> Applied | Refusal:
        """Apply the requests to an agent once, even if the call is made again after a crash or the
        answer of the database gets lost."""
        chat = calling.chat
        key = f"call/{chat.id}/{chat.history_version}/{look}/{calling.call.id}"
        receipt = Receipt(chat.owner_id, key, sha256(words.encode()).digest())
        tries = 0

        async def write() -> Applied | Refusal:
            nonlocal tries
            tries += 1
            return await self.sending.apply(child, requests, is_root=False, receipt=receipt)

        done = await retry_store(chat.id, "agents", partial(_unless_refused, write))
        if isinstance(done, PolicyRefusal):
            raise ToolCallError(done.words)
        # What is not allowed any more, after a try whose answer got lost, was done by that try.
        return AlreadyServed(key) if isinstance(done, NotAllowed) and tries > 1 else done

    async def _list(self, calling: ToolInvocation, asked: ListAgents) -> ResultDocument:
        chat, limit = calling.chat.id, min(max(asked.limit, 1), LISTED_MAX)
        asking = partial(self.family.children, chat, limit=limit, offset=asked.offset)
        page = await retry_store(chat, "agents", asking)
        agents = [
            {
                **rules.child_document(child),
                "created_at": child.created_at.isoformat(),
                "updated_at": child.updated_at.isoformat(),
            }
            for child in page.members
        ]
        return {
            "agents": agents,
            "total": page.total,
            "returned": len(agents),
            "offset": asked.offset,
            "has_more": asked.offset + len(agents) < page.total,
        }

    async def _kin(self, chat: Chat, agent: ChatId) -> FamilyMember:
        """A descendant of this chat. Of others nothing is said, not even that they exist."""
        found = await self._descendants(chat, agent)
        if not found:
            raise ToolCallError(_stranger(agent))
        return found[0]

    async def _descendants(self, chat: Chat, agent: ChatId) -> Sequence[FamilyMember]:
        asking = partial(self.family.descendants, chat.id, [agent])
        return await retry_store(chat.id, "agents", asking)

    async def _now(self, chat: Chat, child: FamilyMember, done: object) -> FamilyMember:
        """Return the agent as it is since this was done to it."""
        if isinstance(done, Applied):
            return replace(child, status=done.chat.status)
        return await self._kin(chat, child.id)


async def _unless_refused(
    send: Callable[[], Awaitable[Applied | Refusal]],
) -> Applied | Refusal | PolicyRefusal:
    """Send a request. That a policy hook refuses it is an answer, and not tried again."""
    try:
        return await send()
    except PolicyRefusal as refused:
        return refused


def _stop(status: Status) -> Sequence[Request]:
    """Return the requests that stop an agent. One that waits for others would go on when it is
    interrupted, without their reports; so it is interrupted twice in the same write."""
    interrupt = Interrupt("interrupted by its parent")
    return (interrupt, interrupt) if status is Status.REQUIRES_ACTION else (interrupt,)


def _stops(done: Applied | Refusal) -> bool:
    return isinstance(done, Applied) and done.chat.status is Status.INTERRUPTING


def _child_result(child: FamilyMember, *, timed_out: bool) -> ResultDocument:
    if rules.has_settled(child.status):
        return rules.report_document(child)
    return rules.child_document(child) | ({"timed_out": True} if timed_out else {})


def _title(asked: SpawnAgent) -> str:
    given = " ".join(printable(asked.title[:SOURCE_CHARACTERS_MAX]).split())
    return given[:TITLE_CHARACTERS_MAX] or fallback_title(
        printable(asked.prompt[:SOURCE_CHARACTERS_MAX])
    )


def _stranger(agent: ChatId) -> str:
    return f"{agent} is no agent of this chat; see list_agents"
