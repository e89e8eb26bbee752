"""Every bound of what goes over a line at once, exactly at it and one beyond it."""

import pytest

from actors.law.chat import Role
from actors.law.parts.message import TextPart
from actors.streams.previews import PREVIEW_BYTES_MAX, Previews
from actors.streams.relay import link, peer_session
from actors.streams.relay.exchange import (
    Follow,
    FollowEnded,
    FollowRefused,
    PieceCount,
    RelayedPieces,
    Unfollow,
)
from actors.streams.relay.link import Mirror, MirrorBudget
from actors.streams.relay.peer_session import PeerSession
from tests.actors.streams.relay.cable import THERE, Cable, a_key, relays_over, settled


class Encoding:
    """Episodes whose pieces are as long as the words that are said."""

    def __init__(self):
        self.previews = Previews(lambda key, said: said.piece.text.encode())
        self.session = PeerSession(self.previews)

    def said(self, number, *sizes):
        """An attempt in which pieces of these sizes have been said, and which is followed."""
        episode = self.previews.begin(a_key())
        for size in sizes:
            assert episode.add(Role.ASSISTANT, TextPart("x" * size))
        assert self.session.handle(Follow(number, episode.key, 0))
        return episode

    def messages(self):
        """Of each message that goes out: the attempts in it, and how many pieces of each."""
        messages = []
        while self.session._due or self.session._answers:
            news = self.session.take()
            messages.append(
                [(n.number, len(n.pieces)) for n in news if isinstance(n, RelayedPieces)]
            )
        return messages


@pytest.fixture
def here():
    return Encoding()


@pytest.mark.parametrize(
    ("count", "expected"), [(7, [[(1, 7)]]), (8, [[(1, 8)]]), (9, [[(1, 8)], [(1, 1)]])]
)
async def test_a_message_has_so_many_pieces_of_one_attempt(here, count, expected, monkeypatch):
    monkeypatch.setattr(peer_session, "BATCH_PIECES_MAX", 8)
    here.said(1, *[1] * count)

    assert expected == here.messages()


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((50, 50), [[(1, 2)]]),
        ((50, 51), [[(1, 1)], [(1, 1)]]),
        ((100,), [[(1, 1)]]),
        ((101,), [[(1, 1)]]),  # one alone may be larger
        ((101, 1), [[(1, 1)], [(1, 1)]]),
    ],
)
async def test_a_message_has_so_many_bytes_of_pieces(here, sizes, expected, monkeypatch):
    monkeypatch.setattr(peer_session, "BATCH_BYTES_MAX", 100)
    here.said(1, *sizes)

    assert expected == here.messages()


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        (((50,), (50,)), [[(1, 1), (2, 1)]]),
        (((99,), (1, 1)), [[(1, 1), (2, 1)], [(2, 1)]]),
        (((100,), (1,)), [[(1, 1)], [(2, 1)]]),
    ],
)
async def test_attempts_share_the_bytes_of_a_message(here, sizes, expected, monkeypatch):
    monkeypatch.setattr(peer_session, "BATCH_BYTES_MAX", 100)
    for number, of_one in enumerate(sizes, 1):
        here.said(number, *of_one)

    assert expected == here.messages()


@pytest.mark.parametrize(("count", "expected"), [(3, [3]), (4, [3, 1])])
def test_a_message_has_so_many_answers(here, count, expected, monkeypatch):
    for number in range(count):
        assert here.session.handle(Follow(number, a_key(), 0))
    monkeypatch.setattr(peer_session, "FOLLOWS_MAX", 3)

    sizes = []
    while here.session._answers:
        news = here.session.take()
        assert all(isinstance(one, PieceCount | FollowRefused | FollowEnded) for one in news)
        sizes.append(len(news))
    assert expected == sizes


@pytest.mark.parametrize(("count", "refused"), [(3, 0), (4, 1)])
def test_a_peer_follows_so_many_attempts(here, count, refused, monkeypatch):
    monkeypatch.setattr(peer_session, "FOLLOWS_MAX", 3)
    for number in range(count):
        assert here.session.handle(Follow(number, a_key(), 0))

    news = [*here.session.take(), *here.session.take()]
    assert refused == len([one for one in news if isinstance(one, FollowRefused)])
    assert 3 == here.session.follows


@pytest.mark.parametrize(("count", "is_heard"), [(4, True), (5, False)])
def test_so_many_answers_wait_for_a_peer(here, count, is_heard, monkeypatch):
    monkeypatch.setattr(peer_session, "ANSWERS_MAX", 4)
    heard = [here.session.handle(Follow(number, a_key(), 0)) for number in range(count)]

    assert [True] * 4 == heard[:4]
    assert is_heard is heard[-1]


@pytest.mark.parametrize(("count", "expected"), [(256, [256]), (257, [256, 1])])
async def test_a_message_has_so_many_wishes(autojump_clock, count, expected):
    assert 256 == link.REQUESTS_AT_ONCE_MAX
    cable = Cable()
    async with relays_over(cable) as here:
        for _ in range(count):
            here.follow(a_key(), THERE)
        await settled()

        assert expected == [len(wishes) for wishes in cable.lines[0].wishes]
        assert all(isinstance(one, Follow) for one in cable.lines[0].wishes[0])


@pytest.mark.parametrize(("wishes", "is_followed"), [(2, True), (1, False)])
async def test_so_many_wishes_wait_to_be_sent(autojump_clock, monkeypatch, wishes, is_followed):
    cable = Cable()
    async with relays_over(cable) as here:
        first = here.follow(a_key(), THERE)
        await settled()
        here.let_go(first)  # one wish, which nobody has had time to send
        monkeypatch.setattr(link, "REQUESTS_MAX", wishes)

        assert is_followed is (here.follow(a_key(), THERE) is not None)
        await settled()
        assert isinstance(cable.lines[0].wishes[1][0], Unfollow)


@pytest.mark.parametrize(
    ("size", "is_full"), [(PREVIEW_BYTES_MAX - 1, False), (PREVIEW_BYTES_MAX, True)]
)
def test_a_mirror_has_as_many_bytes_as_an_episode(size, is_full):
    followed = Mirror(a_key(), MirrorBudget())
    followed.add([b"x" * size, b"y"])

    assert is_full is followed.is_full
    assert PREVIEW_BYTES_MAX == followed.bytes_count


@pytest.mark.parametrize(("size", "is_full"), [(5, False), (6, True)])
def test_all_mirrors_have_so_many_bytes_together(size, is_full):
    room = MirrorBudget(bytes_max=10)
    one, other = Mirror(a_key(), room), Mirror(a_key(), room)
    one.add([b"x" * 5])
    other.add([b"x" * size])

    assert is_full is other.is_full
    assert link.MIRRORED_BYTES_MAX == MirrorBudget().bytes_max
