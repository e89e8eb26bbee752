"""The parts of a message, and what a step took in tokens and money. Pure data.

A message is a role and an ordered tuple of parts. JSON that belongs to another party (arguments of
a call, the result of a tool, a provider's private notes) is kept as the text it came as: it is
handed back byte for byte, so that signatures hold and a provider's prompt cache is hit.
"""

from dataclasses import dataclass
from datetime import date, datetime
from typing import NewType
from uuid import UUID

from actors.law.ids import FileId

JsonText = NewType("JsonText", str)


@dataclass(frozen=True, slots=True)
class TextPart:
    text: str
    provider_metadata: JsonText | None = None
    hook_rewritten: bool = False  # of a prompt, by a policy hook


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """The reasoning of a model. Metadata may hold a signature that has to be replayed unchanged."""

    text: str
    created_at: datetime | None = None
    completed_at: datetime | None = None
    provider_metadata: JsonText | None = None


EXECUTE = "execute"  # the tool that runs shell commands


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A model's call of a tool. `provider_executed`: the provider runs it itself, and answers."""

    id: str
    name: str
    args: JsonText | None = None
    provider_executed: bool = False
    hook_rewritten: bool = False
    mcp_server_config_id: UUID | None = None
    parsed_commands: tuple[tuple[str, ...], ...] = ()
    created_at: datetime | None = None
    provider_metadata: JsonText | None = None


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    id: str
    name: str
    result: JsonText
    is_error: bool = False
    is_media: bool = False
    provider_executed: bool = False
    mcp_server_config_id: UUID | None = None
    created_at: datetime | None = None
    provider_metadata: JsonText | None = None


@dataclass(frozen=True, slots=True)
class SourcePart:
    """A place where a provider's own search found something."""

    id: str
    url: str
    title: str = ""
    provider_metadata: JsonText | None = None


@dataclass(frozen=True, slots=True)
class FilePart:
    """A stored file by id, or small inline data (base64) where there is none."""

    media_type: str
    name: str = ""
    file_id: FileId | None = None
    data: str | None = None
    provider_metadata: JsonText | None = None


@dataclass(frozen=True, slots=True)
class FileReferencePart:
    """Lines of a file that a user points at."""

    file_name: str
    start_line: int
    end_line: int
    content: str


@dataclass(frozen=True, slots=True)
class ContextFilePart:
    """An instruction file of the workspace, such as AGENTS.md."""

    path: str
    content: str = ""
    truncated: bool = False
    agent_id: UUID | None = None
    os: str = ""
    directory: str = ""


@dataclass(frozen=True, slots=True)
class SkillPart:
    name: str
    description: str = ""
    directory: str = ""
    meta_file: str = ""


@dataclass(frozen=True, slots=True)
class HookContextPart:
    """Text of a lifecycle hook for the model; never shown to the user."""

    text: str
    nudges: bool = False  # the model goes on because of it, although it had come to its end


@dataclass(frozen=True, slots=True)
class HookNoticePart:
    """A notice for the user, of a lifecycle hook or of our own; never sent to the model."""

    text: str


Part = (
    TextPart
    | ReasoningPart
    | ToolCallPart
    | ToolResultPart
    | SourcePart
    | FilePart
    | FileReferencePart
    | ContextFilePart
    | SkillPart
    | HookContextPart
    | HookNoticePart
)


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """The tokens that a step took. None: the provider did not say.

    Input does not count what was read from or written to the provider's cache. Output counts
    reasoning, as it is paid for.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_creation_tokens: int | None = None
    cache_read_tokens: int | None = None


NO_USAGE = TokenUsage()


# The tool by which a person is asked whether a chat goes on beyond a soft limit. No model knows it.
CONTINUE_SPENDING = "continue_spending"


@dataclass(frozen=True, slots=True)
class Reservation:
    """Money that was set aside for a call before it was made, because a limit holds for it."""

    id: UUID
    user: UUID
    day: date  # of UTC, on which the call began and is counted
    micros: int  # that the call was expected to cost


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a step in millionths of a US dollar, and its source. Unknown is None, never 0.

    With a `reservation` it is counted where that was set aside, in the write that stores the cost;
    an unknown one counts as what was expected. The reservation itself is not stored with it.
    """

    micros: int | None
    # table: the bundled prices; override: an administrator's; default: theirs for models without a
    # price; unknown; cut short
    source: str
    reservation: Reservation | None = None


UNPRICED = Cost(None, "unknown")
CUT_SHORT = Cost(None, "cut short")  # of an answer: what it took is told at its end, if at all
