"""What all episodes of a process hold together is bounded, and what happens at that bound."""

import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.law.chat import Role
from actors.law.parts.message import TextPart
from actors.streams.previews import RETENTION_SECONDS, Previews
from tests.actors.streams.test_previews import SAID, key, say
from tests.actors.streams.test_previews import encode as whole

PIECE_BYTES = 3  # "1:a"


def encode(key, said):
    return b"" if said.is_cut else whole(key, said)


def read(episode):
    return [piece.decode() for piece in episode.encoded if piece]


def episodes_of(pieces):
    return Previews(encode, bytes_max=pieces * PIECE_BYTES)


async def test_exactly_as_many_bytes_as_allowed_are_kept_and_not_one_more(autojump_clock):
    previews = episodes_of(2)
    first, second = previews.begin(key(1)), previews.begin(key(2))

    assert ([True], [True]) == (say(first, "a"), say(second, "b"))
    assert [False] == say(first, "c")
    assert ["1:a"] == read(first), "what stays is a beginning"
    counts = previews.statistics()
    assert (6, 6) == (counts.bytes_count, counts.bytes_max)

    short = Previews(encode, bytes_max=2 * PIECE_BYTES - 1)
    assert [True, False] == say(short.begin(key()), "a", "b")


async def test_pieces_of_closed_episodes_make_room_the_oldest_first(autojump_clock):
    previews = episodes_of(3)
    old, young = previews.begin(key(1)), previews.begin(key(2))
    say(old, "a")
    say(young, "b")
    previews.end(old)
    await trio.sleep(1)
    previews.end(young)
    running = previews.begin(key(3))

    assert [True, True] == say(running, "c", "d")
    assert ([], ["1:b"]) == (read(old), read(young))
    assert [True] == say(running, "e")
    assert [] == read(young)
    assert [False] == say(running, "f")
    counts = previews.statistics()
    assert (2, 9) == (counts.emptied_count, counts.bytes_count)


async def test_the_answer_of_an_episode_without_pieces_can_still_be_kept(autojump_clock):
    previews = episodes_of(1)
    attempt = object()
    cut_short = previews.begin(key(1), attempt)
    say(cut_short, "a")
    previews.end(cut_short)
    say(previews.begin(key(2)), "b")

    assert [] == read(cut_short)
    assert attempt is previews.find(key(1)).attempt


async def test_a_running_attempt_that_was_refused_a_piece_shows_no_later_one(autojump_clock):
    previews = episodes_of(1)
    first, second = previews.begin(key(1)), previews.begin(key(2))
    say(first, "a")
    assert [False] == say(second, "b")
    previews.end(first)
    await trio.sleep(RETENTION_SECONDS)
    previews.sweep()

    assert [False] == say(second, "c"), "it would not be a beginning"
    assert [True] == say(previews.begin(key(3)), "d")
    previews.end(second)
    assert 2 == previews.statistics().dropped_count


async def test_a_reader_of_an_episode_whose_pieces_are_forgotten_finds_its_end(autojump_clock):
    previews = episodes_of(2)
    episode = previews.begin(key(1))
    say(episode, "a", "b")
    previews.end(episode)
    say(previews.begin(key(2)), "c")

    assert [] == read(episode)
    assert episode.closed_at is not None


DEEDS = st.lists(
    st.tuples(st.sampled_from(["begin", "say", "end", "sweep"]), st.integers(0, 3)), max_size=60
)


@settings(max_examples=60, deadline=None)
@given(deeds=DEEDS, bytes_max=st.integers(0, 20))
def test_bytes_are_counted_as_they_are_kept(deeds, bytes_max):
    async def play():
        previews = Previews(encode, bytes_max=bytes_max, retention_seconds=0, previews_max=5)
        made, running = [], []
        for what, which in deeds:
            if what == "begin":
                made.append(previews.begin(key(len(made) + 1)))
                running.append(made[-1])
            elif what == "sweep":
                previews.sweep()
            elif running and what == "say":
                running[which % len(running)].add(Role.ASSISTANT, TextPart("x" * which))
            elif running:
                previews.end(running.pop(which % len(running)))
            kept = [one for one in made if previews.find(one.key)]
            bytes_count = sum(len(piece) for one in kept for piece in one.encoded)
            assert bytes_count == previews.statistics().bytes_count <= bytes_max

    trio.run(play)


async def test_an_attempt_that_finds_no_room_says_that_it_shows_no_more(autojump_clock):
    previews = Previews(whole, bytes_max=PIECE_BYTES)
    episode = previews.begin(key())

    assert [True, False, False] == say(episode, "a", "b", "c")
    assert [b"1:a", b"2:"] == episode.encoded
    assert PIECE_BYTES + 2 == previews.statistics().bytes_count, "it is counted all the same"


async def test_a_refused_piece_counts_for_nothing(autojump_clock):
    previews = episodes_of(1)
    assert [False] == [previews.begin(key()).add(SAID, TextPart("too long"))]
    assert 0 == previews.statistics().bytes_count


async def test_what_was_forgotten_in_time_makes_no_room_twice(autojump_clock):
    previews = episodes_of(2)
    first = previews.begin(key(1))
    say(first, "a")
    previews.end(first)
    await trio.sleep(RETENTION_SECONDS)
    previews.sweep()

    assert [True, True, False] == say(previews.begin(key(2)), "b", "c", "d")
    counts = previews.statistics()
    assert (2 * PIECE_BYTES, 0) == (counts.bytes_count, counts.emptied_count)
    assert ["1:a"] == read(first), "a reader keeps its own"
