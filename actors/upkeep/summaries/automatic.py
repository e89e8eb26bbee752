"""The jobs that say what came of a turn and what a chat is about, once it has come to rest.

They are begun by what this process commits, and no turn waits for them. Whatever goes wrong in
them, the chat is what it was: its label says at least how the turn ended, and the summary that it
has stays. Of two turns in a row the later one's is written, by the history that it knows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from actors.chat.turn.ports import Model, Models
from actors.law.chat import Body, Chat, ChatError, Message
from actors.law.ids import ChatId, chat_name
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import ProviderFailure
from actors.law.parts.prompt import Prompt
from actors.law.store.ports import Applied
from actors.upkeep.background.asking import AnswerBooks, ask
from actors.upkeep.background.jobs import Background
from actors.upkeep.summaries.ended import (
    TRANSCRIPT_CHARACTERS_MIN,
    TurnEnd,
    is_due,
    last_words,
    report_summary,
    transcript,
    turn_end_of,
)
from actors.upkeep.summaries.ports import Histories, ListedChat, SummaryStore
from actors.upkeep.summaries.wording import (
    FINISHED,
    WAITING,
    label_in,
    label_prompt,
    summary_in,
    summary_prompt,
)
from runtime.children import Body as Job
from runtime.scope import CausedScope
from runtime.statistics import CounterMetric

LABEL_SECONDS_MAX = 30.0  # all tries together; then the label only says that the turn has ended
SUMMARY_SECONDS_MAX = 60.0  # likewise; then the chat keeps the summary that it has
JOB_SECONDS_MAX = 120.0  # all of it, the store's part too; then what is not written stays as it was


@dataclass(frozen=True, slots=True)
class SummariesStatistics:
    begun_count: Annotated[int, CounterMetric("Summaries and labels that a model was asked for.")]
    labelled_count: Annotated[int, CounterMetric("Turns that were given a label.")]
    summarised_count: Annotated[int, CounterMetric("Chats that were given a summary.")]
    failed_count: Annotated[int, CounterMetric("Summaries and labels that the model did not give.")]


class AutomaticSummaries:
    """Hand `committed` to whoever tells of commits."""

    def __init__(
        self,
        background: Background,
        store: SummaryStore,
        *,
        histories: Histories,
        models: Models,
        books: AnswerBooks,
        may_be_asked: Callable[[Model], bool],
    ) -> None:
        self._background = background
        self._store = store
        self._histories = histories
        self._models = models
        self._books = books
        self._may_be_asked = may_be_asked
        self._begun_count = 0
        self._labelled_count = 0
        self._summarised_count = 0
        self._failed_count = 0

    def committed(self, applied: Applied) -> None:
        """In the task of whoever commits: waits for nothing."""
        ended, chat = turn_end_of(applied.change), applied.chat
        if ended is None or (ended is not TurnEnd.DONE and not chat.is_root):
            return
        said = applied.change.added
        job = (
            partial(self._told, chat, ended, said)
            if chat.is_root
            else partial(self._reported, chat, last_words(said))
        )
        name = f"{chat_name(chat.id)} summary {chat.history_version}"
        self._begun_count += self._background.begin(name, partial(self._bounded, job))

    def statistics(self) -> SummariesStatistics:
        return SummariesStatistics(
            self._begun_count, self._labelled_count, self._summarised_count, self._failed_count
        )

    async def _bounded(self, job: Job) -> None:
        with CausedScope(seconds=JOB_SECONDS_MAX):
            await job()

    async def _told(self, chat: Chat, ended: TurnEnd, said: Sequence[Body]) -> None:
        if ended is not TurnEnd.DONE:
            await self._label(chat, WAITING if ended is TurnEnd.WAITS else None)
            return
        model = await self._models.model_for(chat)
        if isinstance(model, ChatError) or not self._may_be_asked(model):
            await self._label(chat, FINISHED)
            return
        shown = await self._store.shown(chat.id)
        if shown is None:
            return
        await self._label(chat, await self._label_of(chat, model, shown, said))
        if is_due(shown.turns_done, shown.turns_summed):
            await self._summarise(chat, model, shown.turns_done)

    async def _reported(self, chat: Chat, words: str) -> None:
        """A child says what it is about by itself, with its report."""
        summary = report_summary(words)
        if summary:
            self._summarised_count += await self._store.summarise(chat, summary, turns=0)

    async def _label(self, chat: Chat, label: str | None) -> None:
        self._labelled_count += await self._store.label(chat, label)

    async def _label_of(
        self, chat: Chat, model: Model, shown: ListedChat, said: Sequence[Body]
    ) -> str:
        words = last_words(said)
        if not words:  # a tool has ended the turn, to hear what its user says
            return WAITING if said else FINISHED
        prompt = label_prompt(chat, model, title=shown.title, words=words)
        return await self._asked(chat.id, model, prompt, label_in, LABEL_SECONDS_MAX) or FINISHED

    async def _summarise(self, chat: Chat, model: Model, turns: int) -> None:
        history = await self._histories.history(chat.id)
        told = transcript(history)
        if has_moved(chat, history) or len(told) < TRANSCRIPT_CHARACTERS_MIN:
            return
        prompt = summary_prompt(chat, model, told)
        summary = await self._asked(chat.id, model, prompt, summary_in, SUMMARY_SECONDS_MAX)
        if summary:
            self._summarised_count += await self._store.summarise(chat, summary, turns=turns)

    async def _asked(
        self,
        chat: ChatId,
        model: Model,
        prompt: Prompt,
        reading: Callable[[ModelAnswer], str | None],
        seconds: float,
    ) -> str | None:
        said: ModelAnswer | ProviderFailure | None = None
        with CausedScope(seconds=seconds):
            said = await ask(model, prompt, books=self._books, chat=chat, what="summary")
        found = reading(said) if isinstance(said, ModelAnswer) else None
        self._failed_count += found is None
        return found


def has_moved(chat: Chat, history: Sequence[Message]) -> bool:
    """Whether something has been said behind the end of this turn."""
    return any(row.revision > chat.history_version for row in history)
