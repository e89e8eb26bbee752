"""The bus inside one process: a switchboard. What goes to other processes is handed `beyond`."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, TypeVar

from actors.law.ids import ChatId, UserId, chat_name
from actors.law.store.answers import Applied
from actors.law.store.bus import Heard, Seen
from actors.law.store.hints import (
    ChatMoved,
    ContextChanged,
    Hint,
    LookAtEverything,
    News,
    SummaryChanged,
    TitleChanged,
)
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

_ALL = "all"
N = TypeVar("N", Hint, News)


@dataclass(frozen=True, slots=True)
class SwitchboardStatistics:
    following: Annotated[int, GaugeMetric("Followers of hints in this process.")]
    told_count: Annotated[int, CounterMetric("Hints that this process told.")]
    heard_count: Annotated[int, CounterMetric("News that came from other processes.")]
    failed_count: Annotated[
        int, CounterMetric("Hints and commits that a follower failed to take in.")
    ]


class Switchboard:
    """Fulfils `actors.law.store.bus.Bus`. Every follower holds one place, for as long as its block
    runs, so there are as many as there are connected clients and supervisors."""

    def __init__(self, beyond: Callable[[Hint], None] | None = None) -> None:
        self._beyond = beyond
        self._followers: dict[Hashable, dict[object, Heard]] = {}
        self._seers: dict[object, Seen] = {}
        self._told_count = 0
        self._heard_count = 0
        self._failed_count = 0

    def tell(self, hint: Hint) -> None:
        """Tell all who follow. It raises nothing: what goes wrong in a follower is not the
        teller's affair, so it is written down and counted."""
        self._told_count += 1
        if self._beyond is not None:
            self._hand(self._beyond, hint)
        self._route(hint)

    def hear(self, news: News) -> None:
        """What another process told: it goes to followers here, and no further."""
        self._heard_count += 1
        self._route(news)

    @contextmanager
    def follow_all(self, heard: Heard) -> Iterator[None]:
        with self._follow(_ALL, heard):
            yield

    def saw(self, applied: Applied) -> None:
        """This process has committed something. Whoever looks on cannot undo it: what goes wrong
        there is only written down."""
        for seen in list(self._seers.values()):
            try:
                seen(applied)
            except Exception as error:  # noqa: BLE001  the commit stands all the same
                self._failed_count += 1
                emit("commit.unseen", "error", chat=chat_name(applied.chat.id), error=error)

    @contextmanager
    def follow_commits(self, seen: Seen) -> Iterator[None]:
        place = object()
        self._seers[place] = seen
        try:
            yield
        finally:
            del self._seers[place]

    @contextmanager
    def follow_chat(self, chat: ChatId, heard: Heard) -> Iterator[None]:
        with self._follow(("chat", chat), heard):
            yield

    @contextmanager
    def follow_owner(self, owner: UserId, heard: Heard) -> Iterator[None]:
        with self._follow(("owner", owner), heard):
            yield

    def statistics(self) -> SwitchboardStatistics:
        return SwitchboardStatistics(
            following=sum(map(len, self._followers.values())),
            told_count=self._told_count,
            heard_count=self._heard_count,
            failed_count=self._failed_count,
        )

    @contextmanager
    def _follow(self, what: Hashable, heard: Heard) -> Iterator[None]:
        place = object()
        self._followers.setdefault(what, {})[place] = heard
        try:
            yield
        finally:
            others = self._followers[what]
            del others[place]
            if not others:
                del self._followers[what]

    def _route(self, news: News) -> None:
        for heard in self._who_hears(news):
            self._hand(heard, news)

    def _hand(self, heard: Callable[[N], None], news: N) -> None:
        try:
            heard(news)
        except Exception as error:  # noqa: BLE001  neither the teller's nor the others' fault
            self._failed_count += 1
            emit("hint.unheard", "error", hint=repr(news), error=error)

    def _who_hears(self, news: News) -> list[Heard]:
        if isinstance(news, LookAtEverything):
            return [heard for group in self._followers.values() for heard in group.values()]
        wanted: list[Hashable] = [_ALL]
        if isinstance(news, ChatMoved | TitleChanged | SummaryChanged | ContextChanged):
            wanted += [("chat", news.chat), ("owner", news.owner_id)]
        return [
            heard
            for what in wanted
            if what in self._followers
            for heard in self._followers[what].values()
        ]
