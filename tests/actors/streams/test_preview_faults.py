"""What fails in somebody who listens to an attempt ends that listener, and never the attempt."""

import pytest

from actors.law.parts.message import TextPart
from actors.streams.previews import Previews
from tests.actors.streams.test_previews import SAID, encode, key, read, say

ERRORS = (TypeError("a bug"), AssertionError("a broken promise"), ExceptionGroup("", [KeyError(1)]))


class Listener:
    """Fulfils `PieceListener` and `PreviewFollower`: keeps what it hears until it has to fail."""

    def __init__(self, *, fails_at=None, error=None, fails_to_end=False):
        self.heard, self.failures = [], []
        self._fails_at, self._error = fails_at, error
        self._fails_to_end = fails_to_end

    def hear(self, piece, alone):
        self._take(piece.decode())

    def note(self):
        self._take("note")

    def began(self, episode):
        self._take(str(episode.key)[-3:])

    def fail(self, error):
        self.failures.append(error)
        if self._fails_to_end:
            raise KeyError("it cannot even be ended")

    def _take(self, what):
        self.heard.append(what)
        if len(self.heard) == self._fails_at:
            raise self._error


@pytest.fixture
def previews():
    return Previews(encode)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
async def test_a_listener_that_fails_hears_no_more_and_the_attempt_goes_on(
    autojump_clock, previews, error
):
    episode = previews.begin(key())
    episode.listener = listener = Listener(fails_at=2, error=error)

    assert [True, True, True] == say(episode, "a", "b", "c")
    assert ["1:a", "2:b", "3:c"] == read(episode)
    assert ["1:a", "2:b"] == listener.heard
    assert [error] == listener.failures
    assert 1 == previews.statistics().failed_count


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
async def test_a_follower_that_fails_is_told_no_more_and_the_others_are(
    autojump_clock, previews, error
):
    episode = previews.begin(key())
    broken, well = Listener(fails_at=1, error=error), Listener()
    episode.follow(broken)
    episode.follow(well)

    assert [True, True] == say(episode, "a", "b")
    previews.end(episode)

    assert (["note"], [error]) == (broken.heard, broken.failures)
    assert (["note"] * 3, []) == (well.heard, well.failures)
    assert 1 == previews.statistics().failed_count


async def test_a_follower_that_fails_at_the_end_of_an_attempt_does_not_keep_it_open(
    autojump_clock, previews
):
    episode = previews.begin(key())
    episode.follow(follower := Listener(fails_at=1, error=TypeError("a bug")))

    previews.end(episode)

    assert 1 == len(follower.failures)
    assert (0, 1) == (previews.statistics().open_count, previews.statistics().closed_count)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
async def test_who_fails_at_the_beginning_of_an_attempt_does_not_keep_it_from_beginning(
    autojump_clock, previews, error
):
    broken, well = Listener(fails_at=1, error=error), Listener()
    with (
        previews.follow(broken.began, fail=broken.fail),
        previews.follow(well.began, fail=well.fail),
    ):
        episode = previews.begin(key())

    assert episode is previews.find(key())
    assert (["3.1"], [error]) == (broken.heard, broken.failures)
    assert (["3.1"], []) == (well.heard, well.failures)
    assert 1 == previews.statistics().failed_count


async def test_a_listener_that_cannot_even_be_ended_is_left(autojump_clock, previews):
    episode = previews.begin(key())
    episode.listener = listener = Listener(fails_at=1, error=TypeError("a bug"), fails_to_end=True)

    assert [True, True] == say(episode, "a", "b")
    assert ["1:a"] == listener.heard


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
async def test_a_piece_that_cannot_be_encoded_is_shown_to_nobody_and_the_attempt_goes_on(
    autojump_clock, error
):
    def encodes_few(key, said):
        if said.seq == 2:
            raise error
        return encode(key, said)

    previews = Previews(encodes_few)
    episode = previews.begin(key())
    episode.listener = listener = Listener()

    assert [True, False, False] == [episode.add(SAID, TextPart(text)) for text in "abc"]
    previews.end(episode)

    assert ["1:a"] == read(episode), "what stays is a beginning, whole"
    assert (["1:a"], []) == (listener.heard, listener.failures)
    assert (2, 1) == (previews.statistics().dropped_count, previews.statistics().failed_count)
