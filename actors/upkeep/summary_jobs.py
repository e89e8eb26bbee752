"""The jobs that write how a turn ended and what a chat is about, for lists of chats.

They begin when this process commits the end of a turn, and no turn waits for them. Whatever goes
wrong in them, the chat stays as it is: its label says at least how the turn ended, and the summary
that it has stays. Of two turns in a row the later one's summary is written.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Protocol

from actors.chat.turn.ports import Model, Models
from actors.law.chat import Body, Chat, ChatError, Message
from actors.law.ids import ChatId, chat_name
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import ProviderFailure
from actors.law.parts.prompt import Prompt
from actors.law.store.ports import Applied
from actors.upkeep.asking import AnswerBooks, ask_aside
from actors.upkeep.jobs import Background
from actors.upkeep.summary_wording import (
    FINISHED,
    TRANSCRIPT_CHARACTERS_MIN,
    WAITING,
    TurnEnd,
    is_due,
    label_in,
    label_prompt,
    last_words,
    report_summary,
    summary_in,
    summary_prompt,
    transcript,
    turn_end_of,
)
from runtime.children import Body as Job
from runtime.scope import CausedScope
from runtime.statistics import CounterMetric

LABEL_SECONDS_MAX = 30.0  # all tries together; then the label only says that the turn has ended
SUMMARY_SECONDS_MAX = 60.0  # likewise; then the chat keeps the summary that it has
JOB_SECONDS_MAX = 120.0  # all of it, the store's part too; then what is not written stays as it was


@dataclass(frozen=True, slots=True)
class ListedChat:
    """The title of a chat and its turns, as lists of chats know them."""

    title: str
    turns_done: int  # prompts of users that were answered
    turns_summed: int | None  # those that were when it was summed up; None: it never was


class SummaryStore(Protocol):
    """Reads and writes summaries. They stand beside the law: no version moves with them, nor the
    time of the last change. Nothing is written for a history that has moved on; watchers are told
    of what is written."""

    async def listed_chat(self, chat: ChatId) -> ListedChat | None:
        """Return what lists know of the chat, or None if it is gone."""
        ...

    async def label(self, chat: Chat, label: str | None) -> bool:
        """Write how the chat's latest turn ended. Return whether that was new."""
        ...

    async def summarise(self, chat: Chat, summary: str, *, turns: int) -> bool:
        """Write what the chat is about after so many turns. Return whether that was new."""
        ...


class Histories(Protocol):
    """Reads the history of a chat."""

    async def history(self, chat: ChatId) -> Sequence[Message]: ...


@dataclass(frozen=True, slots=True)
class SummariesStatistics:
    begun_count: Annotated[int, CounterMetric("Summaries and labels that a model was asked for.")]
    labelled_count: Annotated[int, CounterMetric("Turns that were given a label.")]
    summarised_count: Annotated[int, CounterMetric("Chats that were given a summary.")]
    failed_count: Annotated[int, CounterMetric("Summaries and labels that the model did not give.")]


class AutomaticSummaries:
    """Begins the jobs; its `committed` follows the commits of this process."""

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

    def note_commit(self, applied: Applied) -> None:
        """Begin a job if a turn has ended. Waits for nothing: it runs in the task that commits."""
        ended, chat = turn_end_of(applied.change), applied.chat
        if ended is None or (ended is not TurnEnd.DONE and not chat.is_root):
            return
        said = applied.change.added
        job = (
            partial(self._label_and_summarise, chat, ended, said)
            if chat.is_root
            else partial(self._summarise_report, chat, last_words(said))
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

    async def _label_and_summarise(self, chat: Chat, ended: TurnEnd, said: Sequence[Body]) -> None:
        if ended is not TurnEnd.DONE:
            await self._label(chat, WAITING if ended is TurnEnd.WAITS else None)
            return
        model = await self._models.model_for(chat)
        if isinstance(model, ChatError) or not self._may_be_asked(model):
            await self._label(chat, FINISHED)
            return
        shown = await self._store.listed_chat(chat.id)
        if shown is None:
            return
        await self._label(chat, await self._label_of(chat, model, shown, said))
        if is_due(shown.turns_done, shown.turns_summed):
            await self._summarise(chat, model, shown.turns_done)

    async def _summarise_report(self, chat: Chat, words: str) -> None:
        """Take the beginning of a child's report for its summary."""
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
        return await self._ask_once(chat.id, model, prompt, label_in, LABEL_SECONDS_MAX) or FINISHED

    async def _summarise(self, chat: Chat, model: Model, turns: int) -> None:
        history = await self._histories.history(chat.id)
        told = transcript(history)
        if has_moved(chat, history) or len(told) < TRANSCRIPT_CHARACTERS_MIN:
            return
        prompt = summary_prompt(chat, model, told)
        summary = await self._ask_once(chat.id, model, prompt, summary_in, SUMMARY_SECONDS_MAX)
        if summary:
            self._summarised_count += await self._store.summarise(chat, summary, turns=turns)

    async def _ask_once(
        self,
        chat: ChatId,
        model: Model,
        prompt: Prompt,
        reading: Callable[[ModelAnswer], str | None],
        seconds: float,
    ) -> str | None:
        said: ModelAnswer | ProviderFailure | None = None
        with CausedScope(seconds=seconds):
            said = await ask_aside(
                model,
                prompt,
                books=self._books,
                chat=chat,
                what="summary",
                pause=self._background.pause,
            )
        found = reading(said) if isinstance(said, ModelAnswer) else None
        self._failed_count += found is None
        return found


def has_moved(chat: Chat, history: Sequence[Message]) -> bool:
    """Tell whether something was said after the end of this turn."""
    return any(row.revision > chat.history_version for row in history)
