"""What is said at once to those who wait at the end of a log, and to whom it is not."""

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.streams.feeds import log as logs
from actors.streams.feeds.log import EventLog


def pack(events):
    return b"+".join(events)


class Reader:
    """Reads on as watchers do. Of each frame that is sent at once `room` bytes are taken."""

    def __init__(self, log, room=100):
        self.log, self.room = log, room
        self.cursor = log.open_cursor()
        self.cursor.pack, self.cursor.at_once = pack, self._take
        self.sent, self.read = [], []

    def _take(self, frame):
        taken = min(self.room, len(frame))
        if taken:
            self.sent.append(frame[:taken])
        return taken

    async def read_on(self):
        while True:
            await self.log.wait_for_more(self.cursor)
            if self.cursor.is_midway:
                self.cursor.is_midway = False
                self.read.append("the rest")
            while (frame := self.log.take(self.cursor, pack)) is not None:
                self.read.append(frame)


@pytest.fixture
async def reading(nursery):
    """Makes readers that wait."""

    async def make(*readers):
        for reader in readers:
            nursery.start_soon(reader.read_on)
        await wait_all_tasks_blocked()

    yield make
    nursery.cancel_scope.cancel()


async def test_who_waits_is_sent_it_and_not_woken(reading):
    log = EventLog()
    reader = Reader(log)
    await reading(reader)

    log.append_now(b"a")
    log.append_now(b"b")
    sent = list(reader.sent)
    await wait_all_tasks_blocked()

    assert ([b"a", b"b"], []) == (sent, reader.read)
    assert (0, 2) == (log.bytes_count, log.counts.appended)


async def test_what_is_not_taken_is_read_in_its_place(reading):
    log = EventLog()
    reader = Reader(log, room=0)
    await reading(reader)

    log.append_now(b"a")
    reader.room = 100
    log.append_now(b"b")
    await wait_all_tasks_blocked()
    log.append_now(b"c")

    assert ([b"a+b"], [b"c"]) == (reader.read, reader.sent)


async def test_what_is_taken_in_part_is_not_read_again(reading):
    log = EventLog()
    reader = Reader(log, room=1)
    await reading(reader)

    log.append_now(b"long")
    log.append_now(b"more")
    await wait_all_tasks_blocked()

    assert ([b"l"], ["the rest", b"more"]) == (reader.sent, reader.read)


async def test_what_is_appended_wakes_and_what_is_said_then_follows_it(reading):
    log = EventLog()
    reader = Reader(log)
    await reading(reader)

    log.append(b"a")
    log.append_now(b"b")
    await wait_all_tasks_blocked()

    assert ([], [b"a+b"]) == (reader.sent, reader.read)


async def test_one_who_is_behind_keeps_it_and_does_not_hold_up_the_others(reading):
    log = EventLog()
    quick, slow, plain = Reader(log), log.open_cursor(), Reader(log)
    plain.cursor.at_once = None
    await reading(quick, plain)

    log.append_now(b"a")
    log.append_now(b"b")
    await wait_all_tasks_blocked()

    assert ([b"a", b"b"], []) == (quick.sent, quick.read)
    assert ([], [b"a+b"]) == (plain.sent, plain.read)
    assert b"a+b" == log.take(slow, pack)


async def test_a_crowd_is_woken(reading, monkeypatch):
    monkeypatch.setattr(logs, "AT_ONCE_MAX", 2)
    log = EventLog()
    readers = [Reader(log) for _ in range(3)]
    await reading(*readers)

    log.append_now(b"a")
    await wait_all_tasks_blocked()

    assert [([], [b"a"])] * 3 == [(reader.sent, reader.read) for reader in readers]


async def test_what_is_larger_than_all_that_is_kept_is_lost_to_him(reading, monkeypatch):
    monkeypatch.setattr(logs, "LOG_BYTES_MAX", 4)
    log = EventLog()
    reader = Reader(log)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(log.wait_for_more, reader.cursor)
        await wait_all_tasks_blocked()

        log.append_now(b"far too long")

    assert log.is_lost(reader.cursor)
    assert [] == reader.sent
