"""A feed and its watchers: what is read and what is not, who is lost, how it ends."""

import json
from contextlib import asynccontextmanager
from dataclasses import replace
from uuid import uuid4

import pytest
import trio
import trio.testing

from actors.law import requests as ask
from actors.law.chat import Role
from actors.law.ids import ChatId, EpisodeKey
from actors.law.parts.message import TextPart
from actors.law.refusals import ChatNotFound
from actors.law.store.hints import hints_of_chat
from actors.streams.feeds import log as logs
from actors.streams.feeds.diff import ChatSnapshot, Position
from actors.streams.feeds.events import PendingApprovals
from actors.streams.feeds.log import FeedEnd
from actors.streams.feeds.reading import READS_MAX
from actors.streams.feeds.registry import POLL_SECONDS, open_chat_feeds
from actors.streams.previews import Previews
from adapters.chats.streams.events import encode_event
from adapters.chats.streams.events import encode_piece as piece_encoded
from adapters.postgres.bus import Switchboard
from tests.actors.law.chats import ANN, HOLDER, assistant, send, step, user
from tests.fakes.store import MemoryStore


class Reading:
    """The store in memory, as watchers read it. `fails` so often; `answers` when that is set."""

    def __init__(self, memory):
        self.memory = memory
        self.asked = []
        self.polled = []
        self.fails = 0
        self.answers = trio.Event()
        self.answers.set()

    async def snapshot(self, chat, have):
        await trio.lowlevel.checkpoint()
        self.asked.append(have)
        if self.fails:
            self.fails -= 1
            raise ConnectionError("the store is away")
        if chat not in self.memory.chats:
            return ChatNotFound(chat)
        kept = self.memory.chats[chat]
        gone_at = max((m.revision for m in kept.messages if m.deleted), default=0)
        found = ChatSnapshot(
            kept.chat, kept.history, gone_at, kept.queue, (), (), self.family(chat)
        )
        await self.answers.wait()
        return found

    def family(self, chat):
        members = [
            one.chat for one in self.memory.chats.values() if chat in (one.chat.id, one.chat.root)
        ]
        return tuple(
            PendingApprovals(one.id, "", one.open_approvals)
            for one in members
            if one.open_approvals
        )

    async def awaiting_consent(self, chats):
        await trio.lowlevel.checkpoint()
        return {chat for chat in chats if self.family(chat)}

    async def newer_snapshots(self, known):
        await trio.lowlevel.checkpoint()
        self.polled.append(dict(known))
        chats = self.memory.chats
        newest = {id: chats[id].chat.snapshot_version for id in known if id in chats}
        return {id: version for id, version in newest.items() if version > known[id]}


class Stage:
    def __init__(self):
        self.bus = Switchboard()
        self.memory = MemoryStore(tell=self.tell)
        self.reading = Reading(self.memory)
        self.previews = Previews(piece_encoded)
        self.deaf = False
        self.chat = ChatId(uuid4())

    def tell(self, hint):
        if not self.deaf:
            self.bus.tell(hint)

    async def create(self):
        new = ask.CreateChat(ask.NewChat(self.chat, ANN), (user("hello"),))
        await self.memory.create(new, [ask.Acquire(HOLDER), ask.RecordGenerationAttempt()])

    async def apply(self, *requests, here=True):
        """Committed by this process, or by another one."""
        made = await self.memory.apply(self.chat, requests)
        if here:
            self.bus.tell_commit(made)
        return made

    def begin_attempt(self):
        chat = self.memory.chats[self.chat].chat
        key = EpisodeKey(self.chat, chat.history_version, chat.generation_attempt)
        return self.previews.begin(key)


def as_lines(events):
    return b"".join(event + b"\n" for event in events)


async def told(watcher):
    """The next frame, in short."""
    with trio.fail_after(60):
        frame = await watcher.next(as_lines)
    if isinstance(frame, FeedEnd):
        return frame
    return [in_short(json.loads(line)) for line in frame.splitlines()]


def in_short(event):
    match event["type"]:
        case "message":
            return event["message"]["content"][0]["text"]
        case "message_part":
            return "+" + event["message_part"]["part"]["text"]
        case "status":
            return event["status"]["status"]
        case type:
            return type


BEGINNING = ["hello", "running", "preview_reset"]


@pytest.fixture
async def stage():
    stage = Stage()
    await stage.create()
    return stage


@asynccontextmanager
async def feeds_of(stage):
    async with open_chat_feeds(stage.reading, encode_event, stage.previews, stage.bus) as feeds:
        yield feeds


async def test_what_this_process_commits_is_told_without_reading(autojump_clock, stage):
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            assert BEGINNING == await told(watcher)
            episode = stage.begin_attempt()
            episode.add(Role.ASSISTANT, TextPart("h"))
            episode.add(Role.ASSISTANT, TextPart("i"))
            assert ["+h", "+i"] == await told(watcher)
            stage.previews.end(episode)
            await stage.apply(step(assistant("hi")), ask.FinishTurn())
            assert ["hi", "waiting", "preview_reset"] == await told(watcher)
            await stage.apply(send("and?"))
            assert ["and?", "running", "preview_reset"] == await told(watcher)

    assert [Position()] == stage.reading.asked


async def test_what_another_process_commits_is_read_from_what_is_known_on(autojump_clock, stage):
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            await told(watcher)
            await stage.apply(step(assistant("hi")), ask.FinishTurn(), here=False)

            assert ["hi", "waiting", "preview_reset"] == await told(watcher)

    assert [Position(), Position(0, 1)] == stage.reading.asked


async def test_a_hint_that_says_everything_is_told_without_reading(autojump_clock, stage):
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            await told(watcher)
            await stage.apply(ask.RecordGenerationAttempt(), here=False)

            assert ["preview_reset"] == await told(watcher)

    assert [Position()] == stage.reading.asked


async def test_commits_that_are_heard_of_in_the_wrong_order_are_told_in_the_right_one(
    autojump_clock, stage
):
    stage.deaf = True
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            await told(watcher)
            first = await stage.apply(step(assistant("hi")), ask.FinishTurn(), here=False)
            second = await stage.apply(send("and?"), here=False)
            stage.bus.tell_commit(second)
            stage.bus.tell_commit(first)

            expected = ["hi", "waiting", "preview_reset", "and?", "running", "preview_reset"]
            assert expected == await told(watcher)

    assert [Position()] == stage.reading.asked


async def test_a_commit_that_is_never_heard_of_is_read_when_a_later_one_is(autojump_clock, stage):
    stage.deaf = True
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            await told(watcher)
            await stage.apply(step(assistant("hi")), here=False)
            await stage.apply(step(assistant("ho")))

            assert ["hi", "ho", "preview_reset"] == await told(watcher)

    assert 2 == len(stage.reading.asked)


async def test_what_nobody_tells_is_found_by_one_question_for_all_chats(autojump_clock, stage):
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            await told(watcher)
            stage.deaf = True
            await stage.apply(ask.FinishTurn(), here=False)
            began = trio.current_time()

            assert ["waiting"] == await told(watcher)

    assert began + POLL_SECONDS + 1 > trio.current_time()
    assert [{stage.chat: 1}] == stage.reading.polled


async def test_pieces_wait_for_their_place_to_be_known(autojump_clock, stage):
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            await told(watcher)
            stage.deaf = True
            made = await stage.apply(ask.RecordGenerationAttempt(), here=False)
            stage.begin_attempt().add(Role.ASSISTANT, TextPart("h"))
            await trio.testing.wait_all_tasks_blocked()
            stage.bus.tell_commit(made)

            assert ["preview_reset", "+h"] == await told(watcher)


async def test_who_comes_while_the_chat_goes_on_is_read_for_once(autojump_clock, stage):
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as first:
            await told(first)
            episode = stage.begin_attempt()
            episode.add(Role.ASSISTANT, TextPart("h"))
            stage.reading.answers = trio.Event()
            with feeds.subscribe(stage.chat, Position()) as watcher, trio.fail_after(60):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(trio.testing.wait_all_tasks_blocked)
                    nursery.start_soon(_expect, watcher, [*BEGINNING, "+h"])
                    await trio.testing.wait_all_tasks_blocked()
                    episode.add(Role.ASSISTANT, TextPart("i"))
                    await stage.apply(send("later"))
                    await stage.apply(send("still later"))
                    stage.reading.answers.set()

                assert ["+i", "queue_update", "queue_update"] == await told(watcher)

    assert 2 == len(stage.reading.asked)


async def _expect(watcher, expected):
    assert expected == await told(watcher)


async def test_many_who_come_at_once_are_read_for_together(autojump_clock, stage):
    async with feeds_of(stage) as feeds, trio.open_nursery() as nursery:

        async def watch():
            with feeds.subscribe(stage.chat, Position()) as watcher:
                assert BEGINNING == await told(watcher)

        for _ in range(50):
            nursery.start_soon(watch)

    assert 2 >= len(stage.reading.asked)


async def test_what_many_read_alike_is_encoded_and_packed_once(autojump_clock, stage):
    packed = []

    def pack(events):
        packed.append(len(events))
        return as_lines(events)

    async with feeds_of(stage) as feeds, trio.open_nursery() as nursery:

        async def watch():
            with feeds.subscribe(stage.chat, Position()) as watcher:
                frames = [await watcher.next(pack), await watcher.next(pack)]
                assert 2 == len(frames)

        for _ in range(50):
            nursery.start_soon(watch)
        await trio.testing.wait_all_tasks_blocked()
        packed.clear()
        stage.begin_attempt().add(Role.ASSISTANT, TextPart("h"))

    assert [1] == packed


async def test_a_watcher_that_falls_behind_all_that_is_kept_begins_anew(
    autojump_clock, stage, monkeypatch
):
    monkeypatch.setattr(logs, "LOG_EVENTS_MAX", 8)
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            await told(watcher)
            episode = stage.begin_attempt()
            for _ in range(10):
                episode.add(Role.ASSISTANT, TextPart("h"))

            assert [*BEGINNING, *["+h"] * 10] == await told(watcher)
        dropped = feeds.statistics().dropped_count

    assert 0 < dropped < 10


async def test_a_watcher_that_always_falls_behind_is_let_go(autojump_clock, stage, monkeypatch):
    monkeypatch.setattr(logs, "LOG_EVENTS_MAX", 8)
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            await told(watcher)
            episode = stage.begin_attempt()
            frames = []
            while FeedEnd.TOO_SLOW not in frames:
                for _ in range(10):
                    episode.add(Role.ASSISTANT, TextPart("h"))
                frames.append(await told(watcher))

    assert 3 == len(frames)


async def test_a_frame_has_a_bounded_number_of_events(autojump_clock, stage):
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            await told(watcher)
            episode = stage.begin_attempt()
            for _ in range(600):
                episode.add(Role.ASSISTANT, TextPart("h"))
            sizes = [len(await told(watcher)) for _ in range(3)]

    assert [256, 256, 88] == sizes


async def test_a_frame_has_a_bounded_size_unless_one_event_is_larger(
    autojump_clock, stage, monkeypatch
):
    monkeypatch.setattr(logs, "FRAME_BYTES_MAX", 1_000)
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            while (await told(watcher))[-1] != "preview_reset":
                pass
            episode = stage.begin_attempt()
            for length in (1, 1, 2_000, 1):
                episode.add(Role.ASSISTANT, TextPart("h" * length))
            frames = [await told(watcher) for _ in range(3)]

    assert [["+h", "+h"], ["+" + "h" * 2_000], ["+h"]] == frames


async def test_a_read_that_fails_is_made_again(autojump_clock, stage):
    stage.reading.fails = READS_MAX - 1
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            assert BEGINNING == await told(watcher)


async def test_a_delta_that_comes_alone_is_sent_at_once_and_others_are_read(autojump_clock, stage):
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            sent, read = [], []
            watcher.may_send(as_lines, lambda frame: sent.append(frame) or len(frame))
            assert BEGINNING == await told(watcher)
            async with trio.open_nursery() as nursery:

                @nursery.start_soon
                async def _():
                    read.append(await told(watcher))

                await trio.testing.wait_all_tasks_blocked()
                episode = stage.begin_attempt()
                episode.add(Role.ASSISTANT, TextPart("h"), alone=True)
                episode.add(Role.ASSISTANT, TextPart("i"))
                episode.add(Role.ASSISTANT, TextPart("!"), alone=True)

    assert ["+h"] == [in_short(json.loads(frame)) for frame in sent]
    assert [["+i", "+!"]] == read


async def test_whose_delta_went_in_part_has_to_send_the_rest(autojump_clock, stage):
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            watcher.may_send(as_lines, lambda frame: 1)
            assert BEGINNING == await told(watcher)
            async with trio.open_nursery() as nursery:

                @nursery.start_soon
                async def _():
                    assert b"" == await watcher.next(as_lines)

                await trio.testing.wait_all_tasks_blocked()
                stage.begin_attempt().add(Role.ASSISTANT, TextPart("h"), alone=True)

            await stage.apply(ask.RecordGenerationAttempt())
            assert "+h" not in await told(watcher)


async def test_reads_that_always_fail_end_the_feed_and_a_new_one_can_begin(autojump_clock, stage):
    stage.reading.fails = READS_MAX
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            assert FeedEnd.UNREADABLE is await told(watcher)
        with feeds.subscribe(stage.chat, Position()) as watcher:
            assert BEGINNING == await told(watcher)


async def test_a_chat_that_is_gone_ends_its_feed(autojump_clock, stage):
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            await told(watcher)
            made = await stage.apply(ask.FinishTurn())
            assert ["waiting"] == await told(watcher)
            del stage.memory.chats[stage.chat]
            version = made.chat.snapshot_version + 1
            hint = hints_of_chat(made.chat, holder_is_fresh=True)[0]
            stage.bus.tell(replace(hint, snapshot_version=version, history_version=version))

            assert FeedEnd.GONE is await told(watcher)


async def test_what_goes_wrong_in_a_feed_ends_it_and_nothing_else(autojump_clock, stage):
    def broken(chat, event):
        raise AssertionError("a bug in the encoding")

    async with open_chat_feeds(stage.reading, broken, stage.previews, stage.bus) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            assert FeedEnd.UNREADABLE is await told(watcher)
        assert 1 == feeds.statistics().broken_count
        assert await stage.apply(ask.FinishTurn())


@pytest.mark.parametrize("error", [TypeError("a bug"), AssertionError("a broken promise")], ids=str)
async def test_a_watcher_that_fails_at_a_piece_ends_the_feed_and_not_the_turn(
    autojump_clock, stage, error
):
    def fails(frame):
        raise error

    ends = []

    async def watch(watcher):
        ends.append(await told(watcher))

    async with feeds_of(stage) as feeds, trio.open_nursery() as nursery:
        with (
            feeds.subscribe(stage.chat, Position()) as broken,
            feeds.subscribe(stage.chat, Position()) as well,
        ):
            broken.may_send(as_lines, fails)
            for watcher in (broken, well):
                assert BEGINNING == await told(watcher)
                nursery.start_soon(watch, watcher)
            await trio.testing.wait_all_tasks_blocked()
            episode = stage.begin_attempt()

            assert episode.add(Role.ASSISTANT, TextPart("h"), alone=True)
            assert episode.add(Role.ASSISTANT, TextPart("i"), alone=True)
            await trio.testing.wait_all_tasks_blocked()
            assert [FeedEnd.UNREADABLE] == [end for end in ends if isinstance(end, FeedEnd)]
            assert FeedEnd.UNREADABLE is await told(well)

        with feeds.subscribe(stage.chat, Position()) as again:
            assert [*BEGINNING, "+h", "+i"] == await told(again)
        assert 1 == feeds.statistics().broken_count


async def test_a_feed_that_fails_as_an_attempt_begins_ends_and_the_turn_goes_on(
    autojump_clock, stage, monkeypatch
):
    def fails(log, event):
        raise TypeError("a bug")

    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            assert BEGINNING == await told(watcher)
            episode = stage.begin_attempt()
            with monkeypatch.context() as planted:
                planted.setattr(logs.EventLog, "append", fails)
                assert episode.add(Role.ASSISTANT, TextPart("h"))
            assert FeedEnd.UNREADABLE is await told(watcher)
        assert (1, 0) == (feeds.statistics().broken_count, feeds.statistics().feeds)


async def test_who_watches_is_told_that_the_process_ends_behind_what_there_was(
    autojump_clock, stage
):
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            await told(watcher)
            await stage.apply(ask.FinishTurn())
            feeds.leave()

            assert ["waiting"] == await told(watcher)
            assert FeedEnd.LEAVING is await told(watcher)
        with feeds.subscribe(stage.chat, Position()) as late:
            assert FeedEnd.LEAVING is await told(late)


async def test_nothing_is_kept_when_everybody_has_read_or_gone(autojump_clock, stage):
    async with feeds_of(stage) as feeds:
        with feeds.subscribe(stage.chat, Position()) as watcher:
            await told(watcher)
            episode = stage.begin_attempt()
            episode.add(Role.ASSISTANT, TextPart("h"))
            kept = feeds.statistics().log_bytes
            await told(watcher)
            with trio.move_on_after(1):
                await told(watcher)
            read = feeds.statistics()
        gone = feeds.statistics()
        episode.add(Role.ASSISTANT, TextPart("i"))

    assert kept == len(episode.encoded[0])
    assert (0, 1, 1) == (read.log_bytes, read.feeds, read.watchers)
    assert (0, 0, 1) == (gone.feeds, gone.watchers, gone.reads_count)
    assert episode.listener is None
