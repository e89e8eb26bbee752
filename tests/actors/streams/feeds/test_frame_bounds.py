"""Every bound of frames and logs, exactly at it and one beyond it."""

from contextlib import ExitStack
from uuid import uuid4

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.law import requests as ask
from actors.law.ids import ChatId, UserId
from actors.law.store.hints import HintsLost, TitleChanged
from actors.streams.feeds import log as logs
from actors.streams.feeds import owner_feed, subscription
from actors.streams.feeds import registry as all_feeds
from actors.streams.feeds.diff import Position
from actors.streams.feeds.log import FRAME_BYTES_MAX, FRAME_EVENTS_MAX, Beginning, EventLog, FeedEnd
from actors.streams.feeds.registry import FeedsFull, open_owner_feeds
from adapters.chats.streams.events import as_frame
from adapters.postgres.bus import Switchboard
from tests.actors.law.chats import ANN, user
from tests.actors.streams.feeds.test_feed import Stage, feeds_of, told

CLIENT_BYTES_MAX = 4 * 1024 * 1024  # of a message: a client closes the connection above it


def pack(events):
    return b"+".join(events)


def frames_of(log, cursor, pack=pack):
    frames = []
    while (frame := log.take(cursor, pack)) is not None:
        frames.append(frame)
    return frames


def read(events, pack=pack):
    """The frames in which a reader gets these events, when all of them wait."""
    log = EventLog()
    cursor = log.open_cursor()
    for event in events:
        log.append(event)
    return frames_of(log, cursor, pack)


def begun(events, pack=pack):
    """The frames in which one who comes gets them."""
    return list(Beginning(events, 0).frames(pack))


def test_what_a_newcomer_is_told_is_packed_as_they_read_it_and_shared_by_those_beside_them():
    packed = []

    def counted(events):
        packed.append(len(events))
        return pack(events)

    begun = Beginning([b"e"] * (10 * FRAME_EVENTS_MAX), 0)
    one, other = begun.frames(counted), begun.frames(counted)
    assert next(one) == next(other)
    assert [FRAME_EVENTS_MAX] == packed, "frames that no watcher has read yet are not packed"
    assert list(one) == list(other)
    assert len(begun._frames) <= logs.FRAMES_KEPT


WAYS = pytest.mark.parametrize("way", [read, begun], ids=["read", "begun"])


@WAYS
@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (FRAME_EVENTS_MAX - 1, [255]),
        (FRAME_EVENTS_MAX, [256]),
        (FRAME_EVENTS_MAX + 1, [256, 1]),
        (2 * FRAME_EVENTS_MAX, [256, 256]),
        (2 * FRAME_EVENTS_MAX + 1, [256, 256, 1]),
    ],
)
def test_a_frame_has_256_events_at_most(way, count, expected):
    assert expected == [len(frame.split(b"+")) for frame in way([b"e"] * count)]


@WAYS
@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((49, 49), [2]),  # each with what stands between them: 100
        ((49, 50), [1, 1]),
        ((9,) * 10, [10]),
        ((9,) * 11, [10, 1]),
        ((99,), [1]),
        ((100,), [1]),  # one alone may be larger
        ((100, 1), [1, 1]),
        ((1, 100), [1, 1]),
    ],
)
def test_a_frame_has_so_many_bytes_at_most_unless_one_event_is_larger(
    way, sizes, expected, monkeypatch
):
    monkeypatch.setattr(logs, "FRAME_BYTES_MAX", 100)

    assert expected == [len(frame.split(b"+")) for frame in way([b"e" * size for size in sizes])]


@WAYS
@pytest.mark.parametrize(("over", "expected"), [(0, 1), (1, 2)])
def test_the_largest_frame_is_one_that_clients_take(way, over, expected):
    half = FRAME_BYTES_MAX // 2
    frames = way([b"e" * (half - 1), b"e" * (FRAME_BYTES_MAX - half - 1 + over)], as_frame)

    assert expected == len(frames)
    assert all(len(frame) <= CLIENT_BYTES_MAX for frame in frames)


@pytest.mark.parametrize(("count", "is_lost"), [(8, False), (9, True)])
def test_a_log_keeps_so_many_events(count, is_lost, monkeypatch):
    monkeypatch.setattr(logs, "LOG_EVENTS_MAX", 8)
    log = EventLog()
    cursor = log.open_cursor()
    for _ in range(count):
        log.append(b"e")

    assert (is_lost, 4 * is_lost) == (log.is_lost(cursor), log.counts.dropped)


@pytest.mark.parametrize(("size", "is_lost"), [(4, False), (5, True)])
def test_a_log_keeps_so_many_bytes(size, is_lost, monkeypatch):
    monkeypatch.setattr(logs, "LOG_BYTES_MAX", 8)
    log = EventLog()
    cursor = log.open_cursor()
    log.append(b"four")
    log.append(b"e" * size)

    assert (is_lost, 8 if not is_lost else size) == (log.is_lost(cursor), log.bytes_count)


@pytest.mark.parametrize(("count", "sent"), [(2, 2), (3, 0)])
async def test_so_many_readers_are_sent_something_in_one_go(count, sent, monkeypatch, nursery):
    monkeypatch.setattr(logs, "AT_ONCE_MAX", 2)
    log, taken = EventLog(), []
    for _ in range(count):
        cursor = log.open_cursor()
        cursor.pack, cursor.at_once = pack, lambda frame: taken.append(frame) or len(frame)
        nursery.start_soon(log.wait_for_more, cursor)
    await wait_all_tasks_blocked()

    log.append_now(b"e")

    assert sent == len(taken)
    nursery.cancel_scope.cancel()


def test_so_many_packed_frames_are_kept(monkeypatch):
    packed = []

    def counted(events):
        packed.append(events)
        return pack(events)

    log = EventLog()
    first, second = log.open_cursor(), log.open_cursor()
    for number in range(logs.FRAMES_KEPT + 1):
        log.append(b"%d" % number)
        log.take(first, counted)
    packed.clear()
    second.position = 1
    for _ in range(logs.FRAMES_KEPT):  # one by one, as the first has read them
        place = second.position
        assert b"%d" % place == log._frames[(place, place + 1, counted)]
        second.position += 1

    assert logs.FRAMES_KEPT == len(log._frames)
    assert [] == packed


@pytest.mark.parametrize(("count", "expected"), [(2, [2]), (3, [2, 1])])
async def test_so_many_chats_are_polled_in_one_question(
    autojump_clock, monkeypatch, count, expected
):
    monkeypatch.setattr(all_feeds, "POLL_CHATS_MAX", 2)
    stage = Stage()
    chats = [ChatId(uuid4()) for _ in range(count)]
    for chat in chats:
        await stage.memory.create(ask.CreateChat(ask.NewChat(chat, ANN), (user("hi"),)), [])
    async with feeds_of(stage) as feeds:
        with ExitStack() as watching:
            for chat in chats:
                await told(watching.enter_context(feeds.subscribe(chat, Position())))
            stage.bus.hear(HintsLost())
            await wait_all_tasks_blocked()

            assert expected == [len(known) for known in stage.reading.polled]


async def test_so_many_chats_are_watched_and_one_more_is_refused(autojump_clock, monkeypatch):
    monkeypatch.setattr(all_feeds, "FEEDS_MAX", 2)
    stage = Stage()
    chats = [ChatId(uuid4()) for _ in range(3)]
    async with feeds_of(stage) as feeds:
        with ExitStack() as watching:
            for chat in chats[:2]:
                watching.enter_context(feeds.subscribe(chat, Position()))
            watching.enter_context(feeds.subscribe(chats[0], Position()))  # who is watched already

            with pytest.raises(FeedsFull):
                watching.enter_context(feeds.subscribe(chats[2], Position()))


@pytest.mark.parametrize(("lost", "is_let_go"), [(2, False), (3, True)])
async def test_a_watcher_may_fall_behind_so_often(autojump_clock, monkeypatch, lost, is_let_go):
    monkeypatch.setattr(logs, "LOG_EVENTS_MAX", 2)
    assert 3 == subscription.LOST_MAX
    stage = Stage()
    await stage.create()
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            await told(watcher)
            log = feeds._registry.feeds[stage.chat].log
            for _ in range(lost):
                for _ in range(3):
                    log.append(b'{"type":"status","status":{"status":"x"}}')
                end = await told(watcher)

    assert is_let_go is (end is FeedEnd.TOO_SLOW)


OWNER = UserId(uuid4())


class Listing:
    """Keeps the groups that it was asked for; answers when it may."""

    def __init__(self):
        self.groups, self.answers = [], trio.Event()

    async def events(self, news):
        self.groups.append(news)
        await self.answers.wait()
        return [b"news"] * len(news)


@pytest.mark.parametrize(("count", "expected"), [(64, [1, 64]), (65, [1, 64, 1])])
async def test_so_many_chats_of_an_owner_are_read_in_one_go(autojump_clock, count, expected):
    assert 64 == owner_feed.CHATS_AT_ONCE_MAX
    listing, bus = Listing(), Switchboard()
    async with open_owner_feeds(listing, bus) as feeds:
        with feeds.subscribe(OWNER):
            await _told_of(bus, 1)
            await _told_of(bus, count)
            listing.answers.set()
            await wait_all_tasks_blocked()

            assert expected == [len(group) for group in listing.groups]


@pytest.mark.parametrize(("count", "lost"), [(5, 0), (6, 1)])
async def test_so_much_news_of_an_owner_waits(autojump_clock, monkeypatch, count, lost):
    monkeypatch.setattr(owner_feed, "NEWS_MAX", 5)
    listing, bus = Listing(), Switchboard()
    async with open_owner_feeds(listing, bus) as feeds:
        with feeds.subscribe(OWNER):
            await _told_of(bus, 1)  # which is being read
            await _told_of(bus, count)

            assert lost == feeds.statistics().lost_count


async def _told_of(bus, count):
    for _ in range(count):
        bus.tell(TitleChanged(ChatId(uuid4()), OWNER))
    await wait_all_tasks_blocked()
