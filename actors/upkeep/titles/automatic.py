"""The job that gives a new chat a title of its own, once.

It begins beside the first attempt at the chat's first answer, asks the same model, and disturbs
nobody: whatever goes wrong, the chat keeps the title that it has. It is not begun a second time,
not even after a crash.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from actors.chat.turn.ports import Model
from actors.law.chat import Chat, Message, Role, Visibility
from actors.law.ids import chat_name
from actors.law.parts.message import Part
from actors.upkeep.background.asking import AnswerBooks
from actors.upkeep.background.jobs import Background
from actors.upkeep.titles.asking import title_for
from actors.upkeep.titles.fallback import NO_FILES, fallback_title, may_be_pasted, source_of
from actors.upkeep.titles.ports import TitleFileReader, TitleStore
from actors.upkeep.titles.wording import title_prompt
from runtime.log import emit
from runtime.statistics import CounterMetric


@dataclass(frozen=True, slots=True)
class TitleStatistics:
    begun_count: Annotated[int, CounterMetric("Titles that a model was asked for.")]
    given_count: Annotated[int, CounterMetric("Titles that chats were given.")]
    failed_count: Annotated[int, CounterMetric("Titles that the model did not give.")]
    late_count: Annotated[
        int, CounterMetric("Titles that were not needed any more: the chat had been named.")
    ]


class AutomaticTitles:
    """Fulfils `actors.chat.turn.ports.Titles`."""

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
        self._begun_count = 0
        self._given_count = 0
        self._failed_count = 0
        self._late_count = 0

    def begin(self, chat: Chat, history: Sequence[Message], model: Model) -> None:
        parts = first_words(chat, history)
        if parts is None or (chosen := self._choose(chat, model)) is None:
            return
        job = partial(self._give, chat, parts, chosen)
        self._begun_count += self._background.begin(f"{chat_name(chat.id)} title", job)

    def statistics(self) -> TitleStatistics:
        return TitleStatistics(
            self._begun_count, self._given_count, self._failed_count, self._late_count
        )

    async def _give(self, chat: Chat, parts: Sequence[Part], model: Model) -> None:
        wanted = may_be_pasted(parts)
        source = source_of(parts, await self._files.read(wanted) if wanted else NO_FILES)
        if not source:
            return
        was = fallback_title(source)
        if not await self._titles.is_called(chat.id, was):
            self._late_count += 1
            return
        title = await title_for(
            model, title_prompt(chat, model, source), books=self._books, chat=chat.id
        )
        if not isinstance(title, str):
            self._failed_count += 1
            emit("title.missed", "debug", chat=chat_name(chat.id), why=str(title))
        elif await self._titles.rename(chat.id, title, was=was):
            self._given_count += 1
        else:
            self._late_count += 1


def first_words(chat: Chat, history: Sequence[Message]) -> Sequence[Part] | None:
    """What the user of a new chat said; None: the chat is not new, or a child of another."""
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
