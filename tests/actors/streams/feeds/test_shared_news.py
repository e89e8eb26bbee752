"""News of shared chats: for those who watch and may read, once, and never for ever."""

from uuid import UUID

import trio
from trio.testing import wait_all_tasks_blocked

from actors.law.ids import ChatId, UserId
from actors.law.store.hints import TitleChanged
from actors.streams.feeds import shared_news
from actors.streams.feeds.log import FeedCounts
from actors.streams.feeds.shared_news import SharedNews

ANN, BOB, EVE = (UserId(UUID(int=number)) for number in (1, 2, 3))
CHATS = [ChatId(UUID(int=number)) for number in range(10, 13)]


class Watching:
    def __init__(self, *watchers):
        self.watchers = set(watchers)
        self.asked, self.told = [], []
        self.counts = FeedCounts()
        self.fault = None
        self.news = SharedNews(
            self.find, watching=lambda: self.watchers, tell=self.tell, counts=self.counts
        )

    async def find(self, chats, users):
        await trio.lowlevel.checkpoint()
        self.asked.append((set(chats), set(users)))
        if self.fault:
            raise self.fault
        return {CHATS[0]: [BOB]} if CHATS[0] in chats and BOB in users else {}

    def tell(self, user, news):
        self.told.append((user, news.chat))

    async def hears(self, *chats):
        async with trio.open_nursery() as nursery:
            for chat in chats:
                self.news.note(TitleChanged(chat, ANN))
            nursery.start_soon(self.news.run)
            await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()


async def test_readers_are_asked_for_once_for_all_news():
    stage = Watching(BOB, EVE)

    await stage.hears(*CHATS, CHATS[0])

    assert [(set(CHATS), {BOB, EVE})] == stage.asked
    assert [(BOB, CHATS[0]), (BOB, CHATS[0])] == stage.told


async def test_where_nobody_watches_nothing_is_asked():
    stage = Watching()

    await stage.hears(*CHATS)

    assert [] == stage.asked


async def test_news_that_the_store_does_not_answer_for_is_lost_and_counted():
    stage = Watching(BOB)
    stage.fault = OSError("away")

    await stage.hears(*CHATS)
    stage.fault = None
    await stage.hears(CHATS[0])

    assert (3, [(BOB, CHATS[0])]) == (stage.counts.lost, stage.told)


async def test_more_than_a_bound_does_not_wait(monkeypatch):
    monkeypatch.setattr(shared_news, "NEWS_MAX", 2)
    stage = Watching(BOB)

    await stage.hears(CHATS[0], CHATS[1], CHATS[2])

    assert (1, {CHATS[1], CHATS[2]}) == (stage.counts.lost, stage.asked[0][0])
