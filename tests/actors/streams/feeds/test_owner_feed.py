"""Feeds of owners: one that fails ends, and neither the others nor who tells know of it."""

from contextlib import ExitStack
from uuid import uuid4

import pytest
import trio
import trio.testing

from actors.law.ids import ChatId, UserId
from actors.law.store.hints import TitleChanged
from actors.streams.feeds import owner_feed, registry
from actors.streams.feeds.log import FeedEnd
from actors.streams.feeds.registry import open_owner_feeds
from adapters.postgres.bus import Switchboard

ANN, BOB = UserId(uuid4()), UserId(uuid4())


class Listing:
    """Says every piece of news by its chat, as soon as it may."""

    def __init__(self):
        self.answers = trio.Event()

    async def events(self, news):
        await self.answers.wait()
        return [str(chat).encode() for _, chat in news]


def joined(events):
    return b" ".join(events)


def renamed(owner):
    return TitleChanged(ChatId(uuid4()), owner)


@pytest.fixture
def listing():
    return Listing()


async def test_a_feed_that_fails_ends_and_the_next_watcher_gets_a_new_one(
    autojump_clock, listing, monkeypatch
):
    monkeypatch.setattr(registry, "READERS_MAX", 1)
    bus = Switchboard()
    async with open_owner_feeds(listing, bus) as feeds:
        with feeds.subscribe(ANN) as ann, ExitStack() as bobs:
            bob = bobs.enter_context(feeds.subscribe(BOB))
            first = renamed(ANN)
            bus.tell(first)
            bus.tell(renamed(BOB))  # for whom there is no reader any more

            assert FeedEnd.UNREADABLE is await bob.next(joined)
            listing.answers.set()
            assert str(first.chat).encode() == await ann.next(joined)
            assert (1, 0) == (feeds.statistics().broken_count, bus.statistics().failed_count)

            later = bobs.enter_context(feeds.subscribe(BOB))
            await trio.testing.wait_all_tasks_blocked()
            second = renamed(BOB)
            bus.tell(second)
            assert str(second.chat).encode() == await later.next(joined)


async def test_a_reader_that_breaks_ends_its_feed_and_who_comes_next_begins_anew(
    autojump_clock, listing, monkeypatch
):
    listing.answers.set()
    bus = Switchboard()
    async with open_owner_feeds(listing, bus) as feeds:
        with feeds.subscribe(ANN) as ann:
            with monkeypatch.context() as planted:
                planted.setattr(owner_feed, "CHATS_AT_ONCE_MAX", None)  # no number: a bug
                bus.tell(renamed(ANN))
                assert FeedEnd.UNREADABLE is await ann.next(joined)
            with feeds.subscribe(ANN) as again:
                news = renamed(ANN)
                bus.tell(news)
                assert str(news.chat).encode() == await again.next(joined)
        assert (1, 0) == (feeds.statistics().broken_count, feeds.statistics().owners)
