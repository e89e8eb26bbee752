"""A model is asked for a title, until it gives one or cannot."""

from dataclasses import dataclass

from actors.chat.turn.ports import Model
from actors.law.ids import ChatId
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import FailureKind, ProviderFailure
from actors.law.parts.prompt import Prompt
from actors.upkeep.background.asking import AnswerBooks, ask
from actors.upkeep.titles.wording import title_in
from runtime.scope import CausedScope

ASK_SECONDS_MAX = 30.0  # all tries together; then there is no title


@dataclass(frozen=True, slots=True)
class NoTitle:
    """`kind` None: the model did answer, but not with a title."""

    why: str
    kind: FailureKind | None = None

    def __str__(self) -> str:
        return self.why if self.kind is None else self.kind.value


async def title_for(
    model: Model, prompt: Prompt, *, books: AnswerBooks, chat: ChatId
) -> str | NoTitle:
    """Return the title that the model finds, or why there is none."""
    said: ModelAnswer | ProviderFailure | None = None
    with CausedScope(seconds=ASK_SECONDS_MAX):
        said = await ask(model, prompt, books=books, chat=chat, what="title")
    match said:
        case None:
            return NoTitle("nothing came in time", FailureKind.TIMEOUT)
        case ProviderFailure():
            return NoTitle(said.message, said.kind)
        case ModelAnswer():
            return title_in(said) or NoTitle("no title in the answer")
