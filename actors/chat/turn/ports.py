"""What a chat asks of the world, said as protocols. Adapters implement these."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

from actors.law.chat import Chat, ChatError, Message, Role
from actors.law.ids import ChatId, ModelConfigId
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import Delta, FailureKind, ProviderFailure
from actors.law.parts.message import Cost, JsonText, Part, TokenUsage, ToolCallPart
from actors.law.parts.prompt import CallSettings, Prompt, ProviderTool, ToolDefinition
from actors.law.parts.vendors import NO_FILES, PromptRules
from actors.streams.pieces import Piece
from actors.tools.approvals import ConsentNeed, ServerStart

Batch = Sequence[Delta]  # what arrived in one read; never empty


class ConfiguredProvider(Protocol):
    """One configured provider with its key. What it does wrong comes back as data, not raised."""

    def stream(self, prompt: Prompt) -> AbstractAsyncContextManager[AsyncIterator[Batch]]:
        """Ask, and read the answer as it comes. Leaving hangs up.

        Entering waits for nothing; the first batch waits for the connection too. The last delta of
        the last batch is `Finished` or `Failed`. Keep-alives of the provider are not seen here, so
        the time between two batches is its silence.
        """
        ...

    async def generate(self, prompt: Prompt) -> ModelAnswer | ProviderFailure:
        """Ask, and wait for the whole answer. Has no deadline of its own."""
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
    async def model_for(self, chat: Chat) -> Model | ChatError:
        """The model of the chat's next call, or why there is none."""
        ...


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """How a chat is compacted before its next call."""

    model: Model  # that writes the summary
    threshold_percent: int  # of the window; at 100 nothing is compacted unless asked for
    context_limit: int | None = None  # the smallest that counts; None: nobody has configured one


class Compacting(Protocol):
    async def plan_for(self, chat: Chat, model: Model) -> CompactionPlan:
        """`model`: the one that the chat asks."""
        ...


class OnRequest:
    """Nothing is compacted unless somebody asks for it, and then by the chat's own model."""

    async def plan_for(self, chat: Chat, model: Model) -> CompactionPlan:
        return CompactionPlan(model, 100, model.context_limit)


ON_REQUEST = OnRequest()


class TitleJobs(Protocol):
    def begin(self, chat: Chat, history: Sequence[Message], model: Model) -> None:
        """This model is about to be asked: a chat that is new may be given a title meanwhile.
        Waits for nothing."""
        ...


class Untitled:
    """Chats keep the titles that they were given."""

    def begin(self, chat: Chat, history: Sequence[Message], model: Model) -> None:
        pass


UNTITLED = Untitled()


class Prices(Protocol):
    def cost(self, model: Model, usage: TokenUsage) -> Cost:
        """What was paid for `usage`, as far as anybody knows."""
        ...


Side = Literal["title", "summary", "advice", "compaction", "answer"]


class Books(Protocol):
    async def book(self, chat: ChatId, what: Side, costs: Sequence[Cost]) -> None:
        """Note what was bought for a chat without becoming a message of it. Nothing depends on it:
        what cannot be noted is told to whoever looks after the daemon."""
        ...


class Unbooked:
    """Only messages are paid for."""

    async def book(self, chat: ChatId, what: Side, costs: Sequence[Cost]) -> None:
        pass


UNBOOKED = Unbooked()


class Prompts(Protocol):
    async def prompt_for(
        self, chat: Chat, history: Sequence[Message], model: Model, tools: Sequence[ToolDefinition]
    ) -> Prompt | ChatError:
        """What the model is asked now, or why it cannot be asked."""
        ...

    def forget(self, chat: ChatId) -> None:
        """Nobody works on this chat here any more: nothing needs to be kept for its next call."""
        ...


@dataclass(frozen=True, slots=True)
class LocalTool:
    """A tool that runs here, and what the batch rules have to know of it."""

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
    """What a tool says. `shown` are files it made, for the user to see."""

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
    def told(self) -> tuple[ToolDefinition, ...]:
        """What the model is told of."""
        here = [tool.tool for tool in self.local if not tool.hidden]
        names = {tool.tool.name for tool in self.local}
        return (*here, *(tool for tool in self.declared if tool.name not in names))

    @property
    def servers(self) -> Mapping[str, UUID]:
        """Whose each tool of a server is, by its name."""
        return {tool.tool.name: tool.server for tool in self.local if tool.server is not None}


class Show(Protocol):
    def __call__(self, role: Role, piece: Piece, *, alone: bool = False) -> object:
        """Show one piece to watchers; `alone` if nothing else is shown at the same moment."""
        ...


@dataclass(frozen=True, slots=True)
class Calling:
    """A call, and what its tool may know of where it comes from."""

    chat: Chat
    call: ToolCallPart
    history: Sequence[Message]
    show: Callable[[Piece], object]  # to watchers, while it runs; its result takes its place
    age_seconds: float = 0.0  # since it was begun, in an attempt or a process that is gone


class Toolset(Protocol):
    """What can be called in a turn."""

    @property
    def offered(self) -> OfferedTools: ...

    async def run(self, calling: Calling) -> ToolOutput:
        """Run one call. An error of the tool is its output; what is raised is a bug in it."""
        ...


class Tools(Protocol):
    async def for_turn(self, chat: Chat, history: Sequence[Message]) -> Toolset:
        """Asked for at every attempt, and waits for nothing that is known from the one before."""
        ...


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A call that was begun, here or by a process now gone; and what came of it, if it ended."""

    tool_call_id: str
    begun_at: datetime
    output: ToolOutput | None = None
    ended_at: datetime | None = None
    age_seconds: float = field(default=0.0, compare=False)  # by the journal's own clock


class CallJournal(Protocol):
    """Which local calls have been begun and have ended: what survives a crash in mid-batch.

    A batch is named by the chat's history version: ids of calls may come again in later steps.
    """

    async def begin(self, chat: Chat, calls: Sequence[ToolCallPart]) -> tuple[JournalEntry, ...]:
        """Note that these are begun now. What was begun before is left as it is and returned."""
        ...

    async def look(self, chat: Chat, calls: Sequence[ToolCallPart]) -> tuple[JournalEntry, ...]:
        """What was begun of these before. Nothing is noted."""
        ...

    async def end(self, chat: Chat, tool_call_id: str, output: ToolOutput) -> None:
        """Note what came of a call."""
        ...


CompactionResult = Literal["success", "error", "timeout"]


class Telemetry(Protocol):
    """Measures what turns ask of models and tools. Each method returns at once and raises nothing.

    A turn tells it where it happens; nothing that is told changes the turn.
    """

    def model_asked(self, model: Model, prompt: Prompt) -> None:
        """Count a call of a model that begins, with the size of what it is asked."""
        ...

    def answer_began(self, model: Model, seconds: float) -> None:
        """Note how long after the call the first part of the answer came."""
        ...

    def attempt_failed(self, model: Model, kind: FailureKind) -> None:
        """Count an attempt that failed in a way that is tried again."""
        ...

    def tool_ended(self, calling: Calling, output: ToolOutput, *, is_cut: bool) -> None:
        """Count what a tool said; `is_cut` if that was too long and the model is told less."""
        ...

    def tool_crashed(self, calling: Calling) -> None:
        """Count a tool that raised instead of answering."""
        ...

    def compaction_ended(self, model: Model, result: CompactionResult) -> None:
        """Count a summary that the model was asked for."""
        ...


class Unmeasured:
    """A telemetry that measures nothing."""

    def model_asked(self, model: Model, prompt: Prompt) -> None:
        pass

    def answer_began(self, model: Model, seconds: float) -> None:
        pass

    def attempt_failed(self, model: Model, kind: FailureKind) -> None:
        pass

    def tool_ended(self, calling: Calling, output: ToolOutput, *, is_cut: bool) -> None:
        pass

    def tool_crashed(self, calling: Calling) -> None:
        pass

    def compaction_ended(self, model: Model, result: CompactionResult) -> None:
        pass


UNMEASURED = Unmeasured()
