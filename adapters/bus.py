"""The bus inside one process: a switchboard. What goes to other processes is handed `beyond`."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from actors.ids import ChatId, UserId, chat_name
from actors.store.answers import Applied
from actors.store.bus import Heard, Seen
from actors.store.hints import (
    ChatMoved,
    ContextChanged,
    Hint,
    LookAtEverything,
    News,
    SummaryChanged,
    TitleChanged,
)
from runtime.log import emit

_ALL = "all"


@dataclass(frozen=True, slots=True)
class SwitchboardStatistics:
    following: int
    told_count: int  # hints of this process
    heard_count: int  # news from beyond


class Switchboard:
    """Fulfils `actors.store.bus.Bus`. Every follower holds one place, for as long as its block
    runs, so there are as many as there are connected clients and supervisors."""

    def __init__(self, beyond: Callable[[Hint], None] | None = None) -> None:
        self._beyond = beyond
        self._followers: dict[Hashable, dict[object, Heard]] = {}
        self._seers: dict[object, Seen] = {}
        self._told_count = 0
        self._heard_count = 0

    def tell(self, hint: Hint) -> None:
        """Fails only when everybody has been told: with what went wrong first."""
        self._told_count += 1
        if self._beyond is not None:
            self._beyond(hint)
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
        wrong: Exception | None = None
        for heard in self._who_hears(news):
            try:
                heard(news)
            except Exception as error:  # noqa: BLE001  one follower's fault is not the others'
                wrong = wrong or error
        if wrong is not None:
            raise wrong

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
