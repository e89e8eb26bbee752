"""A feed whose chat is run by another process: its pieces come over a cable, all else as ever."""

import pytest

from actors.law import requests as ask
from actors.law.chat import Role
from actors.law.ids import EpisodeKey
from actors.law.parts.message import TextPart
from actors.streams.feeds.diff import Position
from actors.streams.feeds.registry import open_chat_feeds
from adapters.chats.streams.events import encode_event
from adapters.chats.streams.events import encode_piece as piece_encoded
from tests.actors.law.chats import HOLDER, OTHER_HOLDER, assistant, step
from tests.actors.streams.feeds.test_feed import BEGINNING, Stage, told
from tests.actors.streams.relay.cable import HERE, Cable, relays_over, settled


class Pair(Stage):
    """The chat is held there; who watches does so here."""

    def __init__(self):
        super().__init__()
        self.cable = Cable()
        self.cable.there._encode = piece_encoded

    def begin_there(self):
        chat = self.memory.chats[self.chat].chat
        return self.cable.begin(
            EpisodeKey(self.chat, chat.history_version, chat.generation_attempt)
        )


@pytest.fixture
async def pair():
    pair = Pair()
    await pair.create()
    return pair


def say(episode, *words):
    for word in words:
        episode.add(Role.ASSISTANT, TextPart(word))


def feeds_of(pair, elsewhere):
    return open_chat_feeds(pair.reading, encode_event, pair.previews, pair.bus, elsewhere=elsewhere)


async def test_what_is_said_there_is_told_here_between_what_is_committed(autojump_clock, pair):
    async with relays_over(pair.cable) as there, feeds_of(pair, there) as feeds:
        with feeds.subscribe(pair.chat, Position()) as watcher:
            assert BEGINNING == await told(watcher)
            episode = pair.begin_there()

            say(episode, "h", "i")
            assert ["+h", "+i"] == await told(watcher)
            await pair.apply(step(assistant("hi")), here=False)
            assert ["hi", "preview_reset"] == await told(watcher)
            say(episode, "too late")
            await settled()

            assert 0 == there.statistics().follows
            assert 1 == len(pair.cable.lines)


async def test_who_comes_late_is_told_what_was_said_so_far(autojump_clock, pair):
    async with relays_over(pair.cable) as there, feeds_of(pair, there) as feeds:
        episode = pair.begin_there()
        say(episode, "h", "i")
        with feeds.subscribe(pair.chat, Position()) as first:
            await told(first)
            assert ["+h", "+i"] == await told(first)

            with feeds.subscribe(pair.chat, Position()) as second:
                assert [*BEGINNING, "+h", "+i"] == await told(second)

        assert 1 == pair.cable.lines[0].wishes[0][0].number
        assert 1 == len(pair.cable.lines[0].wishes), "it is followed once for all"


async def test_who_comes_back_in_mid_message_to_another_process_gets_the_rest(autojump_clock, pair):
    async with relays_over(pair.cable) as there, feeds_of(pair, there) as feeds:
        episode = pair.begin_there()
        say(episode, "a", "b", "c")
        key = episode.key
        have = Position(1, key.history_version, key.attempt, 2)
        with feeds.subscribe(pair.chat, have) as watcher:
            assert ["running", "+c"] == await told(watcher)


async def test_who_comes_back_while_the_other_process_is_away_begins_anew(autojump_clock, pair):
    async with relays_over(pair.cable) as there, feeds_of(pair, there) as feeds:
        episode = pair.begin_there()
        say(episode, "a", "b", "c")
        pair.cable.is_out = True
        have = Position(1, episode.key.history_version, episode.key.attempt, 2)
        with feeds.subscribe(pair.chat, have) as watcher:
            assert ["running", "preview_reset"] == await told(watcher)

            pair.cable.is_out = False

            assert ["+a", "+b", "+c"] == await told(watcher)


async def test_a_chat_that_says_nothing_is_followed_nowhere(autojump_clock, pair):
    async with relays_over(pair.cable) as there, feeds_of(pair, there) as feeds:
        await pair.apply(step(assistant("hi")), here=False)
        await pair.apply(ask.FinishTurn(), here=False)
        with feeds.subscribe(pair.chat, Position()) as watcher:
            assert ["hello", "hi", "waiting", "preview_reset"] == await told(watcher)
            await settled()

            assert [] == pair.cable.tried_at
            assert 0 == there.statistics().links


async def test_an_attempt_that_was_interrupted_before_it_said_anything_is_followed_no_more(
    autojump_clock, pair
):
    async with relays_over(pair.cable) as there, feeds_of(pair, there) as feeds:
        await pair.apply(ask.Interrupt(), ask.FinishInterruption(), here=False)
        chat = pair.memory.chats[pair.chat].chat
        assert (1, HOLDER) == (chat.generation_attempt, chat.holder), "it is still held"

        with feeds.subscribe(pair.chat, Position()) as watcher:
            await told(watcher)
            await settled()

            assert [] == pair.cable.tried_at
            assert 0 == there.statistics().links


async def test_who_goes_lets_go_of_the_attempt(autojump_clock, pair):
    async with relays_over(pair.cable) as there, feeds_of(pair, there) as feeds:
        pair.begin_there()
        with feeds.subscribe(pair.chat, Position()) as watcher:
            await told(watcher)
            await settled()
            followed = there.statistics().follows

        await settled()

        assert (1, 0) == (followed, there.statistics().follows)
        assert 0 == pair.cable.lines[0].session.follows


async def test_another_process_takes_the_chat_and_its_attempt_is_followed_there(
    autojump_clock, pair
):
    async with relays_over(pair.cable) as there, feeds_of(pair, there) as feeds:
        with feeds.subscribe(pair.chat, Position()) as watcher:
            await told(watcher)
            say(pair.begin_there(), "half a")
            assert ["+half a"] == await told(watcher)

            await pair.apply(ask.Abandon(), here=False)
            await pair.apply(ask.Acquire(OTHER_HOLDER), ask.RecordGenerationAttempt(), here=False)
            say(pair.begin_there(), "all of it")

            assert ["preview_reset"] == await told(watcher)
            assert ["+all of it"] == await told(watcher)
            assert 2 == len(pair.cable.open_lines), "the first one lingers"


async def test_an_attempt_of_this_process_is_not_looked_for_elsewhere(autojump_clock, pair):
    async with (
        relays_over(pair.cable, me=HOLDER.worker) as there,
        feeds_of(pair, there) as feeds,
    ):
        with feeds.subscribe(pair.chat, Position()) as watcher:
            await told(watcher)
            say(pair.begin_attempt(), "here")

            assert ["+here"] == await told(watcher)
            assert [] == pair.cable.tried_at
            assert HERE != HOLDER.worker
