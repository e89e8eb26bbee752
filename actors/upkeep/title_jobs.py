"""The job that gives a new chat a title of its own, once.

It begins beside the first attempt at the chat's first answer and asks the same model. Whatever goes
wrong, the chat keeps the title that it has. The job is not begun a second time, not even after a
crash.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Protocol

import trio

from actors.chat.turn.ports import Model
from actors.law.chat import Chat, Message, Role, Visibility
from actors.law.ids import ChatId, FileId, chat_name
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import FailureKind, ProviderFailure
from actors.law.parts.message import Part
from actors.law.parts.prompt import Prompt
from actors.prompts.converting import StoredFiles
from actors.upkeep.asking import AnswerBooks, Pause, ask_aside, sleep
from actors.upkeep.jobs import Background
from actors.upkeep.title_wording import (
    NO_FILES,
    fallback_title,
    may_be_pasted,
    source_of,
    title_in,
    title_prompt,
)
from runtime.log import emit
from runtime.scope import CausedScope
from runtime.statistics import CounterMetric

TITLES_AT_ONCE_MAX = 16  # more wait: they are work beside turns, which go first
ASK_SECONDS_MAX = 30.0  # all tries together; then there is no title


class TitleStore(Protocol):
    """Reads and writes titles. A title stands beside the law: no version moves with it, nor the
    time of the last change."""

    async def is_called(self, chat: ChatId, title: str) -> bool:
        """Tell whether this is the chat's title now."""
        ...

    async def rename(self, chat: ChatId, title: str, *, was: str) -> bool:
        """Call the chat `title` if it is still called `was`, and tell watchers. Return whether that
        was done."""
        ...


class TitleFileReader(Protocol):
    """Reads the files of a first message, for a title that is made of them."""

    async def read(self, wanted: Set[FileId]) -> StoredFiles:
        """Return those of the files that are there."""
        ...


@dataclass(frozen=True, slots=True)
class TitleStatistics:
    begun_count: Annotated[int, CounterMetric("Titles that a model was asked for.")]
    given_count: Annotated[int, CounterMetric("Titles that chats were given.")]
    failed_count: Annotated[int, CounterMetric("Titles that the model did not give.")]
    late_count: Annotated[
        int, CounterMetric("Titles that were not needed any more: the chat had been named.")
    ]


class AutomaticTitles:
    """Fulfils `actors.chat.turn.ports.TitleJobs`."""

    def __init__(
        self,
        background: Background,
        titles: TitleStore,
        files: TitleFileReader,
        *,
        choose: Callable[[Chat, Model], Model | None],
        books: AnswerBooks,
    ) -> None:
        """`choose` returns the model to ask instead of the chat's own, or None to ask no model."""
        self._background = background
        self._titles = titles
        self._files = files
        self._choose = choose
        self._books = books
        self._room = trio.CapacityLimiter(TITLES_AT_ONCE_MAX)
        self._begun_count = 0
        self._given_count = 0
        self._failed_count = 0
        self._late_count = 0

    def begin(self, chat: Chat, history: Sequence[Message], model: Model) -> None:
        parts = first_message(chat, history)
        if parts is None or (chosen := self._choose(chat, model)) is None:
            return
        job = partial(self._give, chat, parts, chosen)
        self._begun_count += self._background.begin(f"{chat_name(chat.id)} title", job)

    def statistics(self) -> TitleStatistics:
        return TitleStatistics(
            self._begun_count, self._given_count, self._failed_count, self._late_count
        )

    async def _give(self, chat: Chat, parts: Sequence[Part], model: Model) -> None:
        async with self._room:
            await self._find_and_give(chat, parts, model)

    async def _find_and_give(self, chat: Chat, parts: Sequence[Part], model: Model) -> None:
        wanted = may_be_pasted(parts)
        source = source_of(parts, await self._files.read(wanted) if wanted else NO_FILES)
        if not source:
            return
        was = fallback_title(source)
        if not await self._titles.is_called(chat.id, was):
            self._late_count += 1
            return
        title = await title_for(
            model,
            title_prompt(chat, model, source),
            books=self._books,
            chat=chat.id,
            pause=self._background.pause,
        )
        if not isinstance(title, str):
            self._failed_count += 1
            emit("title.missed", "debug", chat=chat_name(chat.id), why=str(title))
        elif await self._titles.rename(chat.id, title, was=was):
            self._given_count += 1
        else:
            self._late_count += 1


def first_message(chat: Chat, history: Sequence[Message]) -> Sequence[Part] | None:
    """Return what the user of a new chat said. None: the chat is not new, or another's child."""
    if not chat.is_root or chat.generation_attempt != 1:
        return None
    found = None
    for message in history:
        body = message.body
        if message.deleted or body.visibility is Visibility.MODEL:
            continue
        if body.role is Role.ASSISTANT or (body.role is Role.USER and found is not None):
            return None
        if body.role is Role.USER:
            found = body.parts
    return found


@dataclass(frozen=True, slots=True)
class NoTitle:
    """The reason why a model gave no title. `kind` is None if it answered, but not with a title."""

    why: str
    kind: FailureKind | None = None

    def __str__(self) -> str:
        return self.why if self.kind is None else self.kind.value


async def title_for(
    model: Model, prompt: Prompt, *, books: AnswerBooks, chat: ChatId, pause: Pause = sleep
) -> str | NoTitle:
    """Return the title that the model finds, or why there is none."""
    said: ModelAnswer | ProviderFailure | None = None
    with CausedScope(seconds=ASK_SECONDS_MAX):
        said = await ask_aside(model, prompt, books=books, chat=chat, what="title", pause=pause)
    match said:
        case None:
            return NoTitle("nothing came in time", FailureKind.TIMEOUT)
        case ProviderFailure():
            return NoTitle(said.message, said.kind)
        case ModelAnswer():
            return title_in(said) or NoTitle("no title in the answer")
