"""Until children have settled: by their news, never by asking again and again.

Whoever waits follows the children first and reads then, so that nothing is missed in between.
While he waits there is no query and no tick: a child that settles is told of by its commit, here or
over the bus, and once they seem to have settled the store is asked whether it is so.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial

import trio

from actors.ids import ChatId
from actors.store.bus import Bus
from actors.store.hints import ChatMoved, LookAtEverything, News
from actors.subagents.ports import Family, Kin
from actors.subagents.rules import has_settled
from runtime.scope import CausedScope


async def wait_for(
    parent: ChatId,
    children: Sequence[ChatId],
    *,
    family: Family,
    bus: Bus,
    seconds: float,
    any_of_them: bool = False,
) -> Sequence[Kin]:
    """How the children stand when all of them (or any) have settled, or the time is over."""
    watch = _Watch(any_of_them)
    look = partial(family.descendants, parent, children)
    with ExitStack() as following:
        for child in children:
            following.enter_context(bus.follow_chat(child, watch.hear))
        with CausedScope(seconds=seconds):
            while True:
                watch.begin_look()
                found = await look()
                if watch.has_enough(found):
                    return found
                await watch.until_it_seems_enough()
    return await look()  # it may have come at the last moment


class _Watch:
    """Who has settled, as far as the latest look and the news since its beginning tell."""

    def __init__(self, any_of_them: bool) -> None:
        self._any = any_of_them
        self._settled: dict[ChatId, bool] = {}
        self._heard: dict[ChatId, bool] = {}  # since the latest look began
        self._in_doubt = False  # news may have got lost
        self._news = trio.Event()

    def begin_look(self) -> None:
        self._heard.clear()
        self._in_doubt = False

    def has_enough(self, found: Sequence[Kin]) -> bool:
        self._settled = {child.id: has_settled(child.status) for child in found}
        return self._enough(self._settled)

    async def until_it_seems_enough(self) -> None:
        while not (self._in_doubt or self._enough(self._settled | self._heard)):
            self._news = trio.Event()
            await self._news.wait()

    def hear(self, news: News) -> None:
        match news:
            case ChatMoved(chat=chat, status=status):
                self._heard[chat] = has_settled(status)
            case LookAtEverything():
                self._in_doubt = True
        self._news.set()

    def _enough(self, settled: dict[ChatId, bool]) -> bool:
        return any(settled.values()) if self._any else all(settled.values())
