"""Waiting until agents have settled, by the news of their commits instead of repeated queries.

A wait follows the children first and reads them then, so that nothing is missed in between. While
it lasts there is no query and no tick: the commit of a child that settles is told here or over the
bus, and once the children seem to have settled the store is asked whether they have. A store that
is away for a moment is asked again.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial

import trio

from actors.agents.ports import FamilyMember, FamilyReader
from actors.agents.rules import has_settled
from actors.law.ids import ChatId
from actors.law.store.hints import ChatMoved, HintsLost, News
from actors.law.store.ports import Bus
from actors.law.store.retry import retry_store
from runtime.scope import CausedScope

LAST_LOOK_SECONDS = 5.0  # when the time is over; then what was known before is the answer


async def wait_for(
    parent: ChatId,
    children: Sequence[ChatId],
    *,
    family: FamilyReader,
    bus: Bus,
    seconds: float,
    any_of_them: bool = False,
) -> Sequence[FamilyMember] | None:
    """Wait until all of the children (or any) have settled, or the time is over; return how they
    stand.

    Children that are no descendants of `parent` are left out, and then nothing is waited for.
    Return None if the store never answered.
    """
    watch = _Watch(children, any_of_them)
    look = partial(retry_store, parent, "agents", partial(family.with_reports, parent, children))
    with ExitStack() as following:
        for child in children:
            following.enter_context(bus.follow_chat(child, watch.hear))
        with CausedScope(seconds=seconds):
            while True:
                watch.begin_look()
                watch.end_look(await look())
                if watch.has_enough:
                    return watch.found
                await watch.until_it_seems_enough()
    with CausedScope(seconds=LAST_LOOK_SECONDS):
        watch.end_look(await look())  # it may have come at the last moment
    return watch.found


class _Watch:
    """The children that have settled, by the latest read and the news since it began."""

    def __init__(self, children: Sequence[ChatId], any_of_them: bool) -> None:
        self.found: Sequence[FamilyMember] | None = None
        self._children = children
        self._any = any_of_them
        self._settled: dict[ChatId, bool] = {}
        self._heard: dict[ChatId, bool] = {}  # since the latest look began
        self._newest: dict[ChatId, int] = {}  # snapshot that was heard of: older news came late
        self._in_doubt = False  # news may have got lost
        self._news = trio.Event()

    def begin_look(self) -> None:
        self._heard.clear()
        self._in_doubt = False

    def end_look(self, found: Sequence[FamilyMember]) -> None:
        self.found = found
        self._settled = {child.id: has_settled(child.status) for child in found}

    @property
    def has_enough(self) -> bool:
        return len(self._settled) < len(self._children) or self._enough(self._settled)

    async def until_it_seems_enough(self) -> None:
        while not (self._in_doubt or self._enough(self._settled | self._heard)):
            self._news = trio.Event()
            await self._news.wait()

    def hear(self, news: News) -> None:
        match news:
            case ChatMoved(chat=chat, status=status, snapshot_version=snapshot):
                if snapshot < self._newest.get(chat, 0):
                    return
                self._newest[chat] = snapshot
                self._heard[chat] = has_settled(status)
            case HintsLost():
                self._in_doubt = True
        self._news.set()

    def _enough(self, settled: dict[ChatId, bool]) -> bool:
        return any(settled.values()) if self._any else all(settled.values())
