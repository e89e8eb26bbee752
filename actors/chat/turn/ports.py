"""The ports of a chat: what it asks of models, tools and all else, as protocols that adapters
fulfil."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, runtime_checkable
from uuid import UUID

from actors.chat.turn.work import MessageTimes
from actors.law.chat import Chat, ChatError, Message, Role
from actors.law.ids import ChatId, ModelConfigId
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import Delta, FailureKind, ProviderFailure
from actors.law.parts.message import Cost, JsonText, Part, TokenUsage, ToolCallPart
from actors.law.parts.prompt import CallSettings, Prompt, ProviderTool, ToolDefinition
from actors.law.parts.vendors import NO_FILES, PromptRules
from actors.streams.pieces import Piece
from actors.tools.approval_rules import ConsentNeed, ServerStart

Batch = Sequence[Delta]  # all that arrived in one read; never empty


TakeBatch = Callable[[Batch], bool]
"""Takes a batch at once. True: the answer has begun to speak, so what follows may be gathered."""


@runtime_checkable
class HearsTogether(Protocol):
    """Batches of an answer that can be read together with those of others, in one task."""

    async def hear(self, take: TakeBatch) -> None:
        """Give every batch to `take`, in order, to the end of the answer. Once it has begun to
        speak, `take` may be called in another task. What it raises is raised here."""
        ...


class ConfiguredProvider(Protocol):
    """A configured provider with its key. Its failures come back as data; it raises none."""

    def stream(self, prompt: Prompt) -> AbstractAsyncContextManager[AsyncIterator[Batch]]:
        """Ask, and read the answer as it comes. Leaving the block hangs up.

        Entering it waits for nothing; the first batch waits for the connection too. The last delta
        of the last batch is `AnswerFinished` or `AnswerFailed`. Keep-alives of the provider are not
        seen here, so the time between two batches is its silence.
        """
        ...

    async def generate(self, prompt: Prompt) -> ModelAnswer | ProviderFailure:
        """Ask, and wait for the whole answer. It has no deadline of its own."""
        ...


@dataclass(frozen=True, slots=True)
class Model:
    """A configured model, ready to be asked."""

    provider: ConfiguredProvider
    config_id: ModelConfigId | None
    identity: str  # of the provider: parts that only it understands are replayed to it alone
    vendor: str  # the type of its provider, which metrics and failures name
    name: str  # what the provider calls the model
    settings: CallSettings
    provider_tools: tuple[ProviderTool, ...] = ()
    context_limit: int | None = None
    rules: PromptRules = NO_FILES  # what a prompt for it has to meet


class Models(Protocol):
    """Chooses the model that a chat asks."""

    async def model_for(self, chat: Chat) -> Model | ChatError:
        """Return the model of the chat's next call, or why there is none."""
        ...


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """The way in which a chat is compacted before its next call."""

    model: Model  # that writes the summary
    threshold_percent: int  # of the window; at 100 nothing is compacted unless asked for
    context_limit: int | None = None  # the smallest that counts; None: none is configured


class Compacting(Protocol):
    """Decides by which model, and when, a chat is compacted."""

    async def plan_for(self, chat: Chat, model: Model) -> CompactionPlan:
        """Return how the chat is compacted whose next call asks `model`."""
        ...


class CompactOnRequest:
    """A compacting of chats only when a user asks for it, and then by the chat's own model."""

    async def plan_for(self, chat: Chat, model: Model) -> CompactionPlan:
        return CompactionPlan(model, 100, model.context_limit)


COMPACT_ON_REQUEST = CompactOnRequest()


class TitleJobs(Protocol):
    """Gives new chats a title, beside their first turn."""

    def begin(self, chat: Chat, history: Sequence[Message], model: Model) -> None:
        """Give a chat that is new a title while `model` is asked. Waits for nothing."""
        ...


class NoTitleJobs:
    """A port by which no chat is given another title."""

    def begin(self, chat: Chat, history: Sequence[Message], model: Model) -> None:
        pass


NO_TITLE_JOBS = NoTitleJobs()


class Prices(Protocol):
    """Knows what models cost."""

    def cost(self, model: Model, usage: TokenUsage) -> Cost:
        """Return what was paid for `usage`, as far as it is known."""
        ...


CostPurpose = Literal["title", "summary", "advice", "compaction", "answer"]


class Books(Protocol):
    """Keeps the costs of calls that become no message of a chat: titles, summaries, advice."""

    async def book(self, chat: ChatId, what: CostPurpose, costs: Sequence[Cost]) -> None:
        """Note costs for a chat that become no message of it. What cannot be noted is logged, and
        nothing else depends on it."""
        ...


class NoBooks:
    """A port by which only messages are paid for."""

    async def book(self, chat: ChatId, what: CostPurpose, costs: Sequence[Cost]) -> None:
        pass


NO_BOOKS = NoBooks()


RecordKind = Literal["chat_turn", "title_generation", "quickgen", "compaction"]


class CallRecorder(Protocol):
    """Records the calls of models, for users who have switched that on."""

    def recorded(
        self, model: Model, chat: Chat, kind: RecordKind, history: Sequence[Message] = ()
    ) -> Model:
        """Return the model as it is asked: itself, or one whose calls are recorded. Waits for
        nothing."""
        ...


class NoRecorder:
    """A port by which no call is recorded."""

    def recorded(
        self, model: Model, chat: Chat, kind: RecordKind, history: Sequence[Message] = ()
    ) -> Model:
        return model


NO_RECORDER = NoRecorder()


class Prompts(Protocol):
    """Makes the prompts of a chat."""

    async def prompt_for(
        self, chat: Chat, history: Sequence[Message], model: Model, tools: Sequence[ToolDefinition]
    ) -> Prompt | ChatError:
        """Return what the model is asked now, or why it cannot be asked."""
        ...

    def forget(self, chat: ChatId) -> None:
        """Forget what was kept for the next call of a chat that may wait for days."""
        ...


@dataclass(frozen=True, slots=True)
class LocalTool:
    """A tool that runs here, and what the rules of a batch have to know of it."""

    tool: ToolDefinition
    deadline_seconds: float  # then its result is an error that says so
    exclusive: bool = False  # has to be the only call of its batch
    serial: bool = False  # runs after the others, one at a time, in call order
    repeatable: bool = False  # running it twice does no harm: it may run again after a crash
    only_waits: bool = False  # for others: a process that stops lets go of it; has to be repeatable
    ends_turn: bool = False  # a result without error ends the turn
    strict: bool = False  # arguments that can be read in two ways are refused
    accepts: JsonText | None = None  # a schema, where it takes more than the model is told of
    hidden: bool = False  # may be called, but the model is not told of it
    aliases: tuple[str, ...] = ()  # by which it may be called, too
    consent: ConsentNeed = "by_policy"
    plugin: str = ""  # that brings it
    is_foreign: bool = False  # a server's: of one that is set up for all, or of the workspace
    server: UUID | None = None  # which one, if it is set up for all
    start: ServerStart | None = None  # the server of the workspace that a call starts

    def __post_init__(self) -> None:
        assert self.repeatable or not self.only_waits, f"{self.tool.name} runs again elsewhere"


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """The output of a tool. `shown` are files that it made, for the user to see."""

    result: JsonText
    is_error: bool = False
    is_media: bool = False
    shown: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """The tools of a turn, each in a fixed order. One that runs here comes before one of the same
    name that the client executes."""

    local: tuple[LocalTool, ...] = ()
    declared: tuple[ToolDefinition, ...] = ()  # that the client executes

    @property
    def for_model(self) -> tuple[ToolDefinition, ...]:
        """Return the tools that the model is told of."""
        here = [tool.tool for tool in self.local if not tool.hidden]
        names = {tool.tool.name for tool in self.local}
        return (*here, *(tool for tool in self.declared if tool.name not in names))

    @property
    def servers(self) -> Mapping[str, UUID]:
        """Return the servers of the tools that belong to one, by the names of the tools."""
        return {tool.tool.name: tool.server for tool in self.local if tool.server is not None}


class ShowPiece(Protocol):
    """Shows watchers a piece of the running attempt."""

    def __call__(self, role: Role, piece: Piece, *, alone: bool = False) -> object:
        """Show one piece to watchers; `alone` if nothing else is shown at the same moment."""
        ...


@dataclass(frozen=True, slots=True)
class ToolInvocation:
    """A call of a tool, and what the tool may know of where it comes from."""

    chat: Chat
    call: ToolCallPart
    history: Sequence[Message]
    show: Callable[[Piece], object]  # to watchers, while it runs; its result takes its place
    age_seconds: float = 0.0  # since it was begun, in an attempt or a process that is gone


class Toolset(Protocol):
    """The tools that can be called in a turn."""

    @property
    def offered(self) -> OfferedTools: ...

    async def run(self, calling: ToolInvocation) -> ToolOutput:
        """Run one call. An error of the tool is its output; what is raised is a bug in it."""
        ...


class Tools(Protocol):
    """Offers each turn its tools."""

    async def for_turn(self, chat: Chat, history: Sequence[Message]) -> Toolset:
        """Return the tools of a turn. Called at every attempt; it waits for nothing that is known
        from the attempt before."""
        ...


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A call that was begun, here or by a process now gone, and its output if it has ended."""

    tool_call_id: str
    begun_at: datetime
    output: ToolOutput | None = None
    ended_at: datetime | None = None
    age_seconds: float = field(default=0.0, compare=False)  # by the journal's own clock


class CallJournal(Protocol):
    """The record of local calls that have begun and have ended, which survives a crash in the
    middle of a batch.

    A batch is named by the chat's history version: ids of calls may come again in later steps.
    """

    async def begin(self, chat: Chat, calls: Sequence[ToolCallPart]) -> tuple[JournalEntry, ...]:
        """Note that these calls begin now. Those that were begun before are left as they are, and
        returned."""
        ...

    async def look(self, chat: Chat, calls: Sequence[ToolCallPart]) -> tuple[JournalEntry, ...]:
        """Return those of these calls that were begun before. Nothing is noted."""
        ...

    async def end(self, chat: Chat, tool_call_id: str, output: ToolOutput) -> None:
        """Note the output of a call."""
        ...


CompactionResult = Literal["success", "error", "timeout"]


class Telemetry(Protocol):
    """Measures what turns ask of models and tools. Each method returns at once and raises nothing.

    A turn tells it where it happens; nothing that is told changes the turn.
    """

    def model_asked(self, model: Model, prompt: Prompt) -> None:
        """Count a call of a model that begins, with the size of what it is asked."""
        ...

    def message_prepared(self, message: MessageTimes, begun: float) -> None:
        """Note that the model is asked now for the answer to a message; its step had `begun`."""
        ...

    def answer_began(self, model: Model, seconds: float) -> None:
        """Note how long after the call the first part of the answer came."""
        ...

    def attempt_failed(self, model: Model, kind: FailureKind) -> None:
        """Count an attempt that failed in a way that is tried again."""
        ...

    def tool_ended(self, calling: ToolInvocation, output: ToolOutput, *, is_cut: bool) -> None:
        """Count what a tool said; `is_cut` if that was too long and the model is told less."""
        ...

    def tool_crashed(self, calling: ToolInvocation) -> None:
        """Count a tool that raised instead of answering."""
        ...

    def compaction_ended(self, model: Model, result: CompactionResult) -> None:
        """Count a summary that the model was asked for."""
        ...


class NoTelemetry:
    """A telemetry that measures nothing."""

    def model_asked(self, model: Model, prompt: Prompt) -> None:
        pass

    def message_prepared(self, message: MessageTimes, begun: float) -> None:
        pass

    def answer_began(self, model: Model, seconds: float) -> None:
        pass

    def attempt_failed(self, model: Model, kind: FailureKind) -> None:
        pass

    def tool_ended(self, calling: ToolInvocation, output: ToolOutput, *, is_cut: bool) -> None:
        pass

    def tool_crashed(self, calling: ToolInvocation) -> None:
        pass

    def compaction_ended(self, model: Model, result: CompactionResult) -> None:
        pass


NO_TELEMETRY = NoTelemetry()
