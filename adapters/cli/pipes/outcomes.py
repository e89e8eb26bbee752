"""The ends of a turn as a script is told of them: outcomes, exit codes, errors. Pure.

The table stands in docs/commands.md, too; a test compares them.
"""

from dataclasses import dataclass
from enum import Enum

from msgspec import UNSET

from adapters.cli.command_line import DaemonAway
from adapters.settings.refusals import CannotStart
from promptcorner_client.errors import IS_IT_RUNNING, RequestRefused, ServerUnreachable
from promptcorner_client.transcript import Transcript
from promptcorner_client.wire import Chat

ATTENDED = ("question", "plan")  # what a chat that waits may want of a person
TOKEN_ADVICE = (
    "if it keeps its data elsewhere, set PROMPTCORNER_DATA_DIR; or set PROMPTCORNER_TOKEN"
)


class Outcome(Enum):
    """An end of a turn; the value is its name in JSON."""

    DONE = "done"
    FAILED = "error"
    NEEDS_PERSON = "needs_person"
    UNREACHABLE = "unreachable"
    UNFIT = "schema_not_met"
    INTERRUPTED = "interrupted"

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self]


EXIT_CODES = {
    Outcome.DONE: 0,
    Outcome.FAILED: 1,
    # 2 is that of wrong usage, as of every command.
    Outcome.NEEDS_PERSON: 3,
    Outcome.UNREACHABLE: DaemonAway.exit_code,
    Outcome.UNFIT: 5,
    Outcome.INTERRUPTED: 130,
}


@dataclass(frozen=True, slots=True)
class TurnFault:
    """An error in words: what is wrong, more of it, and its kind, if the daemon names one."""

    message: str
    detail: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class PipeEnd:
    """An end of a turn with all that a script is told of it."""

    outcome: Outcome
    answer: str = ""
    document: bytes | None = None  # JSON, where a schema was asked for and is met
    corrections: int = 0
    fault: TurnFault | None = None
    needs: str = ""  # consent, tool_results, question or plan
    question: str = ""


def end_of_rest(seen: Transcript, chat: Chat, *, was_interrupted: bool) -> PipeEnd:
    """Return how a chat rests; `chat` was read after it came to rest."""
    if was_interrupted:
        return PipeEnd(Outcome.INTERRUPTED, seen.answer)
    if seen.error is not None:
        detail = "" if seen.error.detail is UNSET else seen.error.detail
        kind = "" if seen.error.kind is UNSET else seen.error.kind
        fault = TurnFault(seen.error.message, detail, kind)
        return PipeEnd(Outcome.FAILED, seen.answer, fault=fault)
    if seen.approvals:
        return PipeEnd(Outcome.NEEDS_PERSON, seen.answer, needs="consent")
    if seen.pending:
        return PipeEnd(Outcome.NEEDS_PERSON, seen.answer, needs="tool_results")
    if chat.status == "waiting" and chat.attention in ATTENDED:
        question = chat.question or ""
        return PipeEnd(
            Outcome.NEEDS_PERSON, seen.answer, needs=str(chat.attention), question=question
        )
    return PipeEnd(Outcome.DONE, seen.answer)


def end_of_fault(error: RequestRefused | ServerUnreachable) -> PipeEnd:
    """Return the end of a turn that could not be begun, or not be followed."""
    words = str(refusal_of(error))
    if isinstance(error, ServerUnreachable):
        return PipeEnd(Outcome.UNREACHABLE, fault=TurnFault(words))
    return PipeEnd(Outcome.FAILED, fault=TurnFault(words, kind=error.kind))


def refusal_of(error: RequestRefused | ServerUnreachable) -> CannotStart:
    """Return the line that a person is shown in place of such an error."""
    if isinstance(error, ServerUnreachable):
        return DaemonAway("chat", str(error).removesuffix(IS_IT_RUNNING), DaemonAway.advice)
    if error.status == 401:
        return CannotStart("token", "the daemon does not know it", TOKEN_ADVICE)
    return CannotStart("chat", str(error))
