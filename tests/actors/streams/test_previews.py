"""What is said in attempts that run: the log, its readers, its bounds, and when it is forgotten."""

from datetime import UTC, datetime

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.law.chat import Role
from actors.law.ids import EpisodeKey
from actors.law.parts.message import TextPart
from actors.streams import previews as module
from actors.streams.pieces import ArgsPiece, NumberedPiece, ReasoningPiece
from actors.streams.previews import (
    CUT_BYTES_MAX,
    PIECE_BYTES_MAX,
    PREVIEW_BYTES_MAX,
    PREVIEWS_BYTES_MAX,
    RETENTION_SECONDS,
    Previews,
    PreviewsStatistics,
)
from adapters.chats.streams.events import encode_piece
from tests.actors.law.chats import CHAT
from tests.actors.streams.relay.cable import Ear

SAID = Role.ASSISTANT


def key(attempt=1, history_version=3):
    return EpisodeKey(CHAT, history_version, attempt)


def encode(key, said):
    return f"{said.seq}:{said.piece.text}".encode()


@pytest.fixture
def previews():
    return Previews(encode)


def say(episode, *texts):
    return [episode.add(SAID, TextPart(text)) for text in texts]


def read(episode, seq=0, at_most=100):
    return [data.decode() for data in episode.encoded[seq : seq + at_most]]


# the log


async def test_what_is_said_is_numbered_from_one_and_encoded_once(autojump_clock, previews):
    episode = previews.begin(key())

    assert [True, True] == say(episode, "a", "b")
    assert ["1:a", "2:b"] == read(episode)
    assert 6 == episode.bytes_count


async def test_a_reader_reads_on_from_where_it_is_as_much_as_it_likes(autojump_clock, previews):
    episode = previews.begin(key())
    say(episode, "a", "b", "c")

    assert ["2:b"] == read(episode, 1, at_most=1)
    assert ["2:b", "3:c"] == read(episode, 1)
    assert [] == read(episode, 3)


async def test_who_follows_hears_each_piece_as_it_is_added(autojump_clock, previews):
    ears = []

    def began(episode):
        ears.append(Ear(episode))

    with previews.follow(began, fail=pytest.fail):
        say(previews.begin(key()), "a", "b")
    say(previews.begin(key(2)), "c")

    assert [[b"1:a", b"2:b"]] == [ear.heard for ear in ears]


async def test_an_episode_begins_once(autojump_clock, previews):
    episode = previews.begin(key())

    with pytest.raises(AssertionError, match=r"#3\.1: an attempt begins once$"):
        previews.begin(key())
    previews.end(episode)
    with pytest.raises(AssertionError, match=r"#3\.1: an attempt begins once$"):
        previews.begin(key())


async def test_nothing_is_said_in_a_closed_episode(autojump_clock, previews):
    episode = previews.begin(key())
    say(episode, "a")
    episode.close()

    assert [False] == say(episode, "b")
    assert ["1:a"] == read(episode)


async def test_closing_twice_is_closing_once(autojump_clock, previews):
    episode = previews.begin(key())
    previews.end(episode)
    closed_at = episode.closed_at
    await trio.sleep(1)

    previews.end(episode)
    episode.close()

    assert closed_at == episode.closed_at
    assert 1 == previews.statistics().closed_count


@pytest.fixture
def small(monkeypatch):
    """Previews of 100 bytes, 10 of which are for the piece that says that no more comes."""
    monkeypatch.setattr(module, "PREVIEW_BYTES_MAX", 100)
    monkeypatch.setattr(module, "CUT_BYTES_MAX", 10)
    return Previews(lambda key, said: encode(key, said) + b"!" * said.is_cut)


async def test_a_full_episode_keeps_a_beginning_without_holes_and_says_so_once(
    autojump_clock, small
):
    episode = small.begin(key())
    ear = Ear(episode)

    assert [True, True] == say(episode, "a", "x" * 80)
    assert [False, False] == say(episode, "y" * 20, "z")
    assert ["1:a", "2:" + "x" * 80, "3:!"] == read(episode)
    assert episode.encoded == ear.heard
    assert 2 == episode.dropped_count
    small.end(episode)
    assert 2 == small.statistics().dropped_count


@pytest.mark.parametrize(("over", "shown"), [(0, [True, True]), (1, [True, False])])
async def test_an_episode_may_be_filled_to_its_last_byte(autojump_clock, small, over, shown):
    assert shown == say(small.begin(key()), "a", "x" * (90 - len("1:a2:") + over))


@pytest.mark.parametrize(("over", "shown"), [(0, True), (1, False)])
async def test_one_piece_is_so_large_at_most(autojump_clock, previews, over, shown):
    assert [shown] == say(previews.begin(key()), "x" * (PIECE_BYTES_MAX - len("1:") + over))


LONGEST_PIECES = [  # of a token each
    TextPart("word "),
    ReasoningPiece("word ", datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)),
    ArgsPiece("call_" + "x" * 24, "workspace_write_file", "word "),
]


@pytest.mark.parametrize("piece", LONGEST_PIECES, ids=lambda piece: type(piece).__name__)
def test_an_answer_of_128_thousand_tokens_is_shown_to_its_end(piece):
    long = len(encode_piece(key(9_999, 9_999), NumberedPiece(128_000, SAID, piece)))

    assert 128_000 * long <= PREVIEW_BYTES_MAX - CUT_BYTES_MAX


def test_the_piece_that_says_that_it_is_a_beginning_finds_room():
    cut = NumberedPiece(2**53, Role.ASSISTANT, TextPart(""), is_cut=True)

    assert len(encode_piece(key(2**53, 2**53), cut)) <= CUT_BYTES_MAX


# readers


class Reader:
    """Reads what is new each time that it is told of more."""

    def __init__(self, episode):
        self.heard = []
        self._episode = episode
        self._seq = 0
        episode.follow(self)

    def note(self):
        if batch := read(self._episode, self._seq):
            self.heard.append(batch)
            self._seq += len(batch)
        if self._episode.closed_at is not None:
            self.heard.append("end")

    def fail(self, error):
        raise AssertionError from error


async def test_every_reader_is_told_of_what_is_said_and_of_the_end(autojump_clock, previews):
    episode = previews.begin(key())
    readers = [Reader(episode) for _ in range(3)]

    say(episode, "a")
    say(episode, "b", "c")
    previews.end(episode)

    assert [[["1:a"], ["2:b"], ["3:c"], "end"]] * 3 == [reader.heard for reader in readers]


async def test_a_reader_that_comes_late_reads_more_at_once(autojump_clock, previews):
    episode = previews.begin(key())
    say(episode, "a", "b")
    late = Reader(episode)

    say(episode, "c")

    assert [["1:a", "2:b", "3:c"]] == late.heard


async def test_a_reader_that_leaves_takes_nothing_with_it(autojump_clock, previews):
    episode = previews.begin(key())
    gone, stays = Reader(episode), Reader(episode)

    episode.unfollow(gone)
    say(episode, "a")
    previews.end(episode)

    assert ([], [["1:a"], "end"]) == (gone.heard, stays.heard)


# when it is forgotten


async def test_a_closed_episode_is_found_for_a_while(autojump_clock, previews):
    episode = previews.begin(key())
    assert episode is previews.find(key())

    previews.end(episode)
    await trio.sleep(RETENTION_SECONDS - 1)
    previews.sweep()
    assert episode is previews.find(key())
    await trio.sleep(1)
    previews.sweep()

    assert previews.find(key()) is None
    assert 1 == previews.statistics().forgotten_count


async def test_an_open_episode_is_not_forgotten(autojump_clock, previews):
    episode = previews.begin(key())
    await trio.sleep(10 * RETENTION_SECONDS)
    previews.sweep()

    assert episode is previews.find(key())


async def test_whoever_begins_sweeps(autojump_clock, previews):
    previews.end(previews.begin(key(1)))
    await trio.sleep(RETENTION_SECONDS)

    previews.begin(key(2))

    assert previews.find(key(1)) is None


async def test_a_reader_keeps_its_own_episode(autojump_clock, previews):
    episode = previews.begin(key())
    say(episode, "a")
    previews.end(episode)
    await trio.sleep(RETENTION_SECONDS)
    previews.sweep()

    assert ["1:a"] == read(episode)


async def test_what_was_never_begun_is_not_found(autojump_clock, previews):
    assert previews.find(key()) is None


async def test_in_a_crowd_the_oldest_closed_ones_are_forgotten_early(autojump_clock):
    previews = Previews(encode, previews_max=3)
    for attempt in (1, 2, 3):
        previews.end(previews.begin(key(attempt)))

    previews.begin(key(4))

    assert [False, True, True, True] == [bool(previews.find(key(n))) for n in (1, 2, 3, 4)]


async def test_open_ones_are_never_forgotten_whatever_the_crowd(autojump_clock):
    previews = Previews(encode, previews_max=1)

    made = [previews.begin(key(attempt)) for attempt in (1, 2, 3)]

    assert made == [previews.find(key(attempt)) for attempt in (1, 2, 3)]


async def test_statistics_count_what_there_is(autojump_clock, previews):
    first, second = previews.begin(key(1)), previews.begin(key(2))
    say(first, "abc")
    say(second, "d")
    previews.end(first)

    assert PreviewsStatistics(1, 1, 8, PREVIEWS_BYTES_MAX, 0, 0, 0, 0) == previews.statistics()


DO = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.text("xyz", max_size=3)),
        st.tuples(st.just("read"), st.integers(1, 3)),
        st.tuples(st.just("close"), st.none()),
    ),
    max_size=20,
)


@settings(max_examples=50)
@given(DO)
def test_a_reader_gets_everything_once_and_in_order(steps):
    async def story():
        previews = Previews(encode)
        episode, said, heard = previews.begin(key()), [], []
        for what, how in steps:
            if what == "say" and episode.add(SAID, TextPart(how)):
                said.append(f"{len(said) + 1}:{how}")
            elif what == "read":
                heard += read(episode, len(heard), how)
            elif what == "close":
                previews.end(episode)
        previews.end(episode)
        heard += read(episode, len(heard))
        assert said == heard

    trio.run(story)
