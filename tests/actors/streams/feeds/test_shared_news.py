"""News of shared chats: for those who watch and may read, once, and never for ever."""

from uuid import UUID

import trio
from trio.testing import wait_all_tasks_blocked

from actors.law.ids import ChatId, UserId
from actors.law.store.hints import ListChange, ReadersChanged, TitleChanged
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

    def tell(self, user, change, chat):
        assert change is not ListChange.TITLE or user is BOB
        self.told.append((user, chat) if change is ListChange.TITLE else (user, change, chat))

    async def hears(self, *chats):
        await self.hears_news(*(TitleChanged(chat, ANN) for chat in chats))

    async def hears_news(self, *news):
        async with trio.open_nursery() as nursery:
            for one in news:
                self.news.note(one)
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


async def test_readers_are_told_that_a_chat_is_shared_with_them_or_is_not_any_more():
    stage = Watching(ANN, BOB, EVE)

    await stage.hears_news(
        ReadersChanged(CHATS[0], ANN, BOB),
        ReadersChanged(CHATS[1], ANN, BOB),
        ReadersChanged(CHATS[0], ANN, ANN),  # its owner, whom nothing takes it from
    )

    assert [
        (BOB, ListChange.SHARED, CHATS[0]),
        (BOB, ListChange.UNSHARED, CHATS[1]),
    ] == stage.told


async def test_what_is_shared_with_everybody_is_told_to_all_but_its_owner():
    stage = Watching(ANN, BOB, EVE)

    await stage.hears_news(ReadersChanged(CHATS[0], ANN, None))

    assert {
        (BOB, ListChange.SHARED, CHATS[0]),
        (EVE, ListChange.UNSHARED, CHATS[0]),
    } == set(stage.told)


async def test_readers_that_do_not_watch_here_are_not_asked_for():
    stage = Watching(EVE)

    await stage.hears_news(ReadersChanged(CHATS[0], ANN, BOB))

    assert [] == stage.asked
