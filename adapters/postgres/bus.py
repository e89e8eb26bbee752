"""The bus of one process: it hands each hint to the followers here, and to `forward`, which sends
it to other processes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, TypeVar

from actors.law.ids import ChatId, chat_name
from actors.law.store.hints import (
    ChatMoved,
    ContextChanged,
    DiffStatusChanged,
    Hint,
    HintsLost,
    News,
    SummaryChanged,
    TitleChanged,
)
from actors.law.store.ports import Applied, CommitListener, NewsListener
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

N = TypeVar("N", Hint, News)

_OF_ONE_CHAT = (ChatMoved, TitleChanged, SummaryChanged, ContextChanged, DiffStatusChanged)


@dataclass(frozen=True, slots=True)
class SwitchboardStatistics:
    following: Annotated[int, GaugeMetric("Followers of hints in this process.")]
    told_count: Annotated[int, CounterMetric("Hints that this process told.")]
    heard_count: Annotated[int, CounterMetric("News that came from other processes.")]
    failed_count: Annotated[
        int, CounterMetric("Hints and commits that a follower failed to take in.")
    ]


class Switchboard:
    """The bus of one process. Fulfils `actors.law.store.ports.Bus`.

    A follower has its place for as long as its block runs, so there are as many as there are parts
    of the daemon that follow and parents that wait.
    """

    def __init__(self, forward: Callable[[Hint], None] | None = None) -> None:
        self._forward = forward
        # By the kind of news, or the chat, that is followed.
        self._followers: dict[type[News] | ChatId, dict[object, NewsListener]] = {}
        self._committed: dict[object, CommitListener] = {}
        self._told_count = 0
        self._heard_count = 0
        self._failed_count = 0

    def tell(self, hint: Hint) -> None:
        """Tell the followers here and the other processes. It raises nothing: an error of a
        listener is logged and counted, because the task that tells can do nothing about it."""
        self._told_count += 1
        if self._forward is not None:
            self._hand(self._forward, hint)
        self._route(hint)

    def hear(self, news: News) -> None:
        """Tell the followers here what another process told. It goes no further."""
        self._heard_count += 1
        self._route(news)

    @contextmanager
    def follow(self, listener: NewsListener, *kinds: type[News]) -> Iterator[None]:
        with self._follow(kinds, listener):
            yield

    @contextmanager
    def follow_chat(self, chat: ChatId, listener: NewsListener) -> Iterator[None]:
        with self._follow((chat,), listener):
            yield

    @contextmanager
    def follow_commits(self, listener: CommitListener) -> Iterator[None]:
        place = object()
        self._committed[place] = listener
        try:
            yield
        finally:
            del self._committed[place]

    def tell_commit(self, applied: Applied) -> None:
        """Tell what this process has committed. An error of a listener undoes nothing, and is
        logged and counted."""
        for listener in list(self._committed.values()):
            try:
                listener(applied)
            except Exception as error:  # noqa: BLE001  the commit stands all the same
                self._failed_count += 1
                emit("commit.unseen", "error", chat=chat_name(applied.chat.id), error=error)

    def statistics(self) -> SwitchboardStatistics:
        return SwitchboardStatistics(
            following=len(self._everyone()),
            told_count=self._told_count,
            heard_count=self._heard_count,
            failed_count=self._failed_count,
        )

    @contextmanager
    def _follow(
        self, subjects: Sequence[type[News] | ChatId], listener: NewsListener
    ) -> Iterator[None]:
        place = object()
        for subject in subjects:
            self._followers.setdefault(subject, {})[place] = listener
        try:
            yield
        finally:
            for subject in subjects:
                others = self._followers[subject]
                del others[place]
                if not others:
                    del self._followers[subject]

    def _route(self, news: News) -> None:
        for listener in self._listeners_to(news):
            self._hand(listener, news)

    def _listeners_to(self, news: News) -> list[NewsListener]:
        if isinstance(news, HintsLost):
            return list(self._everyone().values())
        listeners = list(self._followers.get(type(news), {}).values())
        if isinstance(news, _OF_ONE_CHAT):
            listeners += self._followers.get(news.chat, {}).values()
        return listeners

    def _everyone(self) -> Mapping[object, NewsListener]:
        """Return each listener once, however many kinds of news it follows."""
        return {place: one for group in self._followers.values() for place, one in group.items()}

    def _hand(self, listener: Callable[[N], None], news: N) -> None:
        try:
            listener(news)
        except Exception as error:  # noqa: BLE001  neither the teller's nor the others' fault
            self._failed_count += 1
            emit("hint.unheard", "error", hint=repr(news), error=error)
