"""Attempts of another process: followed over one line, on after it breaks, and let go."""

import random

import pytest
import trio
import trio.testing

from actors.law.chat import Role
from actors.law.parts.message import TextPart
from actors.streams.previews import PREVIEW_BYTES_MAX
from actors.streams.relay import exchange, link, peer_session, relays
from actors.streams.relay.exchange import Follow, RelayedPieces, Unfollow
from actors.streams.relay.link import (
    AGAIN_CAP_SECONDS,
    AGAIN_FIRST_SECONDS,
    LINGER_SECONDS,
    Mirror,
    MirrorBudget,
)
from actors.streams.relay.relays import CATCH_UP_SECONDS
from tests.actors.streams.relay.cable import (
    HERE,
    THERE,
    Cable,
    Ear,
    a_key,
    relays_over,
    say,
    settled,
)


async def test_what_is_said_elsewhere_is_heard_here_and_what_was_said_before_too(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        episode = cable.begin()
        say(episode, "one", "two")

        ear = Ear(here.follow(episode.key, THERE))
        await settled()
        say(episode, "three")
        await settled()

        assert [b"1.1 one", b"1.2 two", b"1.3 three"] == ear.heard == episode.encoded


async def test_an_attempt_is_followed_before_it_begins(autojump_clock):
    cable, key = Cable(), a_key()
    async with relays_over(cable) as here:
        attempt = here.follow(key, THERE)
        ear = Ear(attempt)
        await here.wait_until_caught_up(attempt)

        say(cable.begin(key), "first")
        await settled()

        assert [b"1.1 first"] == ear.heard


async def test_of_an_attempt_that_is_over_all_is_told_and_it_is_followed_no_more(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        episode = cable.begin()
        say(episode, "all", "of it")
        cable.there.end(episode)

        ear = Ear(here.follow(episode.key, THERE))
        await settled()

        assert episode.encoded == ear.heard
        assert (0, 0) == (here.statistics().follows, cable.lines[0].session.follows)


async def test_an_attempt_that_ends_meanwhile_is_followed_no_more(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        episode = cable.begin()
        ear = Ear(here.follow(episode.key, THERE))
        await settled()

        say(episode, "the end")
        await settled()
        cable.there.end(episode)
        await settled()

        assert [b"1.1 the end"] == ear.heard
        assert (0, 0) == (here.statistics().follows, cable.lines[0].session.follows)


async def test_nothing_is_left_at_an_attempt_that_is_let_go_or_whose_line_is_gone(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        first, second = cable.begin(), cable.begin()
        attempt = here.follow(first.key, THERE)
        here.follow(second.key, THERE)
        await settled()
        followed = len(first._followers), len(second._followers)

        here.let_go(attempt)
        await settled()
        cable.is_out = True
        cable.cut()
        await trio.sleep(1)

        assert (1, 1) == followed
        assert (0, 0) == (len(first._followers), len(second._followers))


async def test_however_many_are_followed_there_is_one_line(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        previews = [cable.begin() for _ in range(50)]

        ears = [Ear(here.follow(episode.key, THERE)) for episode in previews]
        for word in "abc":
            for episode in previews:
                say(episode, word)
            await settled()

        assert [episode.encoded for episode in previews] == [ear.heard for ear in ears]
        assert 1 == len(cable.lines)
        said_at_once = [
            news for news in cable.lines[0].messages[-1] if isinstance(news, RelayedPieces)
        ]
        assert 50 == len(said_at_once), "what is said at the same moment goes in one message"


@pytest.mark.parametrize("seed", range(20))
async def test_lines_that_break_lose_nothing_and_repeat_nothing(autojump_clock, seed):
    chance, cable = random.Random(seed), Cable()
    async with relays_over(cable) as here:
        previews = [cable.begin() for _ in range(3)]
        ears = []

        for number in range(100):
            episode = chance.choice(previews)
            if episode.key not in [ear.key for ear in ears]:
                ear = Ear(here.follow(episode.key, THERE))
                ear.key = episode.key
                ears.append(ear)
            say(episode, str(number))
            if chance.random() < 0.2:
                cable.cut()
            cable.is_out = chance.random() < 0.3
            if chance.random() < 0.6:
                await trio.sleep(chance.choice((0, 0.05, 3)))
        cable.is_out = False
        await trio.sleep(2 * AGAIN_CAP_SECONDS)

        said = {episode.key: episode.encoded for episode in previews}
        assert {ear.key: said[ear.key] for ear in ears} == {ear.key: ear.heard for ear in ears}
        assert 3 < len(cable.lines)


async def test_a_process_that_is_away_is_tried_again_ever_more_seldom(autojump_clock):
    cable, key = Cable(), a_key()
    cable.is_out = True
    async with relays_over(cable, chance=lambda: 0.0) as here:
        ear = Ear(here.follow(key, THERE))
        await trio.sleep(30)
        cable.is_out = False
        say(cable.begin(key), "back")
        await trio.sleep(AGAIN_CAP_SECONDS)

        pauses = [after - at for at, after in zip(cable.tried_at, cable.tried_at[1:], strict=False)]
        assert AGAIN_FIRST_SECONDS == pytest.approx(pauses[0])
        assert sorted(pauses) == pytest.approx(pauses)
        assert AGAIN_CAP_SECONDS == pytest.approx(pauses[-1])
        assert [b"1.1 back"] == ear.heard


async def test_without_anything_to_follow_there_is_no_line_for_long(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        episode = cable.begin()
        attempt = here.follow(episode.key, THERE)
        await settled()

        here.let_go(attempt)
        await trio.sleep(LINGER_SECONDS - 1)
        kept = len(cable.open_lines)
        await trio.sleep(2)

        assert (1, 0) == (kept, len(cable.open_lines))
        assert (0, 0) == (here.statistics().links, here.statistics().mirrored_bytes)
        ear = Ear(here.follow(episode.key, THERE))
        say(episode, "again")
        await settled()
        assert [b"1.1 again"] == ear.heard


async def test_after_the_end_of_all_that_was_followed_there_is_no_line_for_long(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        episode = cable.begin()
        here.follow(episode.key, THERE)
        await settled()

        cable.there.end(episode)
        await trio.sleep(LINGER_SECONDS - 1)
        kept = len(cable.open_lines)
        await trio.sleep(2)

        assert (1, 0) == (kept, len(cable.open_lines))
        assert (0, 1) == (here.statistics().links, here.statistics().connected_count)


async def test_a_line_that_lingers_serves_whoever_comes(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        first, second = cable.begin(), cable.begin()
        here.follow(first.key, THERE)
        await settled()
        cable.there.end(first)
        await trio.sleep(LINGER_SECONDS - 1)

        ear = Ear(here.follow(second.key, THERE))
        await trio.sleep(2 * LINGER_SECONDS)
        say(second, "late")
        await settled()

        assert [b"1.1 late"] == ear.heard
        assert 1 == len(cable.lines)


async def test_lines_that_break_as_soon_as_they_stand_are_made_ever_more_seldom(
    autojump_clock, caplog
):
    cable = Cable()
    cable.messages_max = 1
    async with relays_over(cable, chance=lambda: 0.0) as here:
        key = cable.begin().key
        ear = Ear(here.follow(key, THERE))
        await trio.sleep(300)
        tried, logged = len(cable.tried_at), [r.fields["tries"] for r in caplog.records]
        cable.messages_max = None
        await trio.sleep(30)
        say(cable.there.find(key), "at last")
        await settled()

        assert 300 / AGAIN_CAP_SECONDS + 10 > tried
        assert [link.TRIES_LOGGED + 1] == logged
        assert [b"1.1 at last"] == ear.heard


async def test_a_line_that_has_stood_for_a_while_is_made_again_at_once(autojump_clock):
    cable = Cable()
    async with relays_over(cable, chance=lambda: 0.0) as here:
        here.follow(cable.begin().key, THERE)
        for _ in range(5):
            await trio.sleep(link.STEADY_SECONDS + 1)
            cable.cut()

        await trio.sleep(2 * AGAIN_FIRST_SECONDS)

        assert (6, 1) == (len(cable.lines), len(cable.open_lines))


async def test_who_lets_go_is_told_nothing_more_and_holds_nothing_there(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        episode = cable.begin()
        attempt = here.follow(episode.key, THERE)
        ear = Ear(attempt)
        say(episode, "heard")
        await settled()

        here.let_go(attempt)
        say(episode, "unheard")
        await settled()

        assert [b"1.1 heard"] == ear.heard
        assert (0, 0) == (cable.lines[0].session.follows, here.statistics().mirrored_bytes)
        assert [Unfollow(1)] == [wish for wishes in cable.lines[0].wishes[1:] for wish in wishes]


async def test_an_attempt_can_be_let_go_and_followed_again_at_once(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        episode = cable.begin()
        say(episode, "one")
        here.let_go(here.follow(episode.key, THERE))
        first = here.follow(episode.key, THERE)
        await settled()
        here.let_go(first)
        ear = Ear(here.follow(episode.key, THERE))
        say(episode, "two")
        await settled()

        assert episode.encoded == ear.heard
        assert 1 == len(cable.lines)


async def test_a_slow_line_holds_up_nobody_and_gets_more_at_once(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        episode = cable.begin()
        ear = Ear(here.follow(episode.key, THERE))
        await settled()
        cable.hold()
        say(episode, "woken")  # one message is under way already

        say(episode, *map(str, range(3_000)))
        before = len(ear.heard)
        cable.passes.set()
        await settled()

        assert 1 >= before
        assert episode.encoded == ear.heard
        batches = [n for m in cable.lines[0].messages for n in m if isinstance(n, RelayedPieces)]
        assert max(len(batch.pieces) for batch in batches) == exchange.BATCH_PIECES_MAX
        assert 10 > len(batches)


async def test_a_batch_has_a_size_but_one_piece_always_goes(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        big, small = cable.begin(), cable.begin()
        say(big, "x" * (2 * exchange.BATCH_BYTES_MAX), "y" * exchange.BATCH_BYTES_MAX, "z")
        say(small, "small")

        ears = [Ear(here.follow(each.key, THERE)) for each in (big, small)]
        await settled()

        assert [big.encoded, small.encoded] == [ear.heard for ear in ears]
        turns = [
            [(news.number, len(news.pieces)) for news in message if isinstance(news, RelayedPieces)]
            for message in cable.lines[0].messages
        ]
        assert [[(1, 1)], [(2, 1), (1, 1)], [(1, 1)]] == [turn for turn in turns if turn]


async def test_what_runs_here_is_not_followed_elsewhere(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        assert here.follow(a_key(), HERE) is None
        assert [] == cable.tried_at


async def test_more_than_so_many_attempts_are_not_followed(autojump_clock, monkeypatch):
    monkeypatch.setattr(link, "FOLLOWS_MAX", 2)
    cable = Cable()
    async with relays_over(cable) as here:
        first = here.follow(a_key(), THERE)
        here.follow(a_key(), THERE)

        refused = here.follow(a_key(), THERE)
        here.let_go(first)
        await settled()

        assert refused is None
        assert 1 == here.statistics().refused_count
        assert here.follow(a_key(), THERE) is not None


async def test_what_has_still_to_be_said_to_the_other_side_counts_once(autojump_clock, monkeypatch):
    monkeypatch.setattr(link, "FOLLOWS_MAX", 3)
    cable = Cable()
    async with relays_over(cable) as here:
        here.follow(a_key(), THERE)
        await settled()

        assert None not in [here.follow(a_key(), THERE) for _ in range(2)]
        assert here.follow(a_key(), THERE) is None


async def test_who_is_told_that_it_is_too_much_goes_on_with_the_others(autojump_clock, monkeypatch):
    monkeypatch.setattr(peer_session, "FOLLOWS_MAX", 1)
    cable = Cable()
    async with relays_over(cable) as here:
        previews = cable.begin(), cable.begin()
        ears = [Ear(here.follow(each.key, THERE)) for each in previews]
        for episode in previews:
            say(episode, "word")
        await settled()

        assert [[b"1.1 word"], []] == [ear.heard for ear in ears]
        assert 1 == len(cable.open_lines)


async def test_more_than_so_many_processes_are_not_followed(autojump_clock, monkeypatch):
    monkeypatch.setattr(relays, "LINKS_MAX", 1)
    cable = Cable()
    async with relays_over(cable) as here:
        here.follow(a_key(), THERE)

        assert here.follow(a_key(), a_key().chat) is None


def test_a_mirror_that_finds_no_room_stays_a_beginning():
    room = MirrorBudget(bytes_max=10)
    one, other = Mirror(a_key(), room), Mirror(a_key(), room)

    one.add([b"12345"])
    other.add([b"123456", b"1"])
    one.add([b"12345"])
    one.forget()

    assert ([b"12345", b"12345"], []) == (one.encoded, other.encoded)
    assert (0, 2, 2) == (room.bytes_count, room.dropped_count, room.pieces_count)


def test_a_mirror_holds_as_much_as_an_episode():
    mirror = Mirror(a_key(), MirrorBudget())

    mirror.add([b"x" * PREVIEW_BYTES_MAX, b"x"])

    assert [PREVIEW_BYTES_MAX] == list(map(len, mirror.encoded))


async def test_a_mirror_that_is_full_does_not_break_the_line(autojump_clock, monkeypatch):
    cable = Cable()
    async with relays_over(cable) as here:
        here._budget.bytes_max = 8
        episode = cable.begin()
        ear = Ear(here.follow(episode.key, THERE))
        say(episode, "one", "two")
        await settled()
        say(episode, "three")
        await settled()

        assert [b"1.1 one"] == ear.heard
        assert (1, True) == (len(cable.lines), cable.lines[0].is_open)


async def test_who_has_lost_count_is_asked_anew(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        episode = cable.begin()
        ear = Ear(here.follow(episode.key, THERE))
        say(episode, "one", "two")
        await settled()

        place = cable.lines[0].session._cursors[1]
        place.seq += 1  # there: a piece is left out
        say(episode, "three", "four")
        await trio.sleep(1)

        assert episode.encoded == ear.heard
        assert 2 == len(cable.lines)


async def test_catching_up_waits_until_it_is_known_but_not_for_long(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        episode = cable.begin()
        say(episode, *"abc")
        attempt = here.follow(episode.key, THERE)

        await here.wait_until_caught_up(attempt)

        assert 3 == len(attempt.encoded)
        cable.is_out = True
        cable.cut()
        lost, began = here.follow(a_key(), THERE), trio.current_time()
        await here.wait_until_caught_up(lost)
        assert CATCH_UP_SECONDS == pytest.approx(trio.current_time() - began)


def test_whoever_asks_twice_under_one_number_has_lost_count():
    cable = Cable()
    there, key = peer_session.PeerSession(cable.there), a_key()

    assert there.handle(Follow(1, key, 0))
    assert not there.handle(Follow(1, a_key(), 0))
    assert not there.handle(Follow(2, key, 0))
    assert there.handle(Unfollow(7)), "of one that has ended"


def test_who_asks_on_and_on_but_takes_no_answer_is_hung_up_on(monkeypatch):
    monkeypatch.setattr(peer_session, "FOLLOWS_MAX", 3)
    monkeypatch.setattr(peer_session, "ANSWERS_MAX", 6)
    there = peer_session.PeerSession(Cable().there)

    numbers = iter(range(100))
    while there.handle(Follow(number := next(numbers), a_key(), 0)):
        there.handle(Unfollow(number))

    assert [3, 3, 0] == [len(there.take()) for _ in range(3)]
    assert there.handle(Follow(next(numbers), a_key(), 0)), "he has listened"


async def test_who_was_hung_up_on_follows_nothing_more():
    cable = Cable()
    there, episode = peer_session.PeerSession(cable.there), cable.begin()
    there.close()

    assert not there.handle(Follow(1, episode.key, 0))
    assert (0, {}) == (there.follows, episode._followers)


class BrokenEar(Ear):
    """Fails at the first piece; `let_go`: and then lets go of the attempt, as a feed does."""

    def __init__(self, attempt, *, let_go=lambda attempt: None):
        super().__init__(attempt)
        self._attempt, self._let_go = attempt, let_go

    def hear(self, piece, alone):
        super().hear(piece, alone)
        raise ValueError("a bug")

    def fail(self, error):
        super().fail(error)
        self._let_go(self._attempt)


async def test_a_bug_in_one_listener_ends_it_and_the_others_of_its_link_hear_on(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        episode, other = cable.begin(), cable.begin()
        broken = BrokenEar(here.follow(episode.key, THERE))
        well = Ear(here.follow(other.key, THERE))
        say(episode, "one", "two")
        say(other, "one", "two")
        await settled()

        assert [b"1.1 one"] == broken.heard
        assert [ValueError] == [type(error) for error in broken.failures]
        assert [b"1.1 one", b"1.2 two"] == well.heard
        counts = here.statistics()
        assert (1, 1) == (counts.links, counts.listeners_failed_count)
    assert 1 == len(cable.lines), "the line has stayed"


async def test_a_listener_that_lets_go_as_it_fails_leaves_no_bytes_behind(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        episode = cable.begin()
        BrokenEar(here.follow(episode.key, THERE), let_go=here.let_go)
        say(episode, "one", "two", "three")
        await settled()

        counts = here.statistics()
        assert (0, 0) == (counts.follows, counts.mirrored_bytes)


async def test_a_peer_whose_note_fails_is_hung_up_on_and_follows_on(autojump_clock, monkeypatch):
    cable = Cable()
    async with relays_over(cable) as here:
        episode = cable.begin()
        ear = Ear(here.follow(episode.key, THERE))
        say(episode, "one")
        await settled()

        with monkeypatch.context() as planted:
            planted.setattr(peer_session.PeerSession, "note", _raising)
            say(episode, "two")
        with trio.fail_after(60):
            while len(cable.lines) < 2:
                await trio.sleep(1)
        say(episode, "three")
        await settled()

    assert [b"1.1 one", b"1.2 two", b"1.3 three"] == ear.heard
    assert [True, False] == [line.session.has_failed for line in cable.lines]


async def test_a_peer_that_fails_as_an_attempt_begins_is_hung_up_on_and_follows_anew(
    autojump_clock, monkeypatch
):
    cable = Cable()
    key = a_key()
    async with relays_over(cable) as here:
        ear = Ear(here.follow(key, THERE))
        await settled()

        with monkeypatch.context() as planted:
            planted.setattr(peer_session.PeerSession, "note", _raising)
            episode = cable.begin(key)
        say(episode, "one")
        with trio.fail_after(60):
            while not ear.heard:
                await trio.sleep(1)

    assert [b"1.1 one"] == ear.heard
    assert [True, False] == [line.session.has_failed for line in cable.lines]


def _raising(self, number):
    raise TypeError("a bug")


async def test_who_adds_a_piece_is_not_told_of_followers(autojump_clock):
    cable = Cable()
    async with relays_over(cable) as here:
        episode = cable.begin()
        here.follow(episode.key, THERE)
        await settled()
        cable.hold()

        began = trio.current_time()
        for _ in range(10_000):
            assert episode.add(Role.ASSISTANT, TextPart("x"))

        assert began == trio.current_time()
        assert 1 >= len(cable.lines[0].session._due)
