"""Frames as bytes and back; what is none of ours is said to be."""

import contextlib
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.law.ids import ChatId, EpisodeKey
from actors.streams.relay.exchange import (
    BATCH_BYTES_MAX,
    FOLLOWS_MAX,
    PIECE_BYTES_MAX,
    Follow,
    PieceCount,
    RelayAnswer,
    RelayedPieces,
    RelayRequest,
)
from actors.streams.relay.link import REQUESTS_AT_ONCE_MAX
from adapters.relay.wire import (
    NEWS_BYTES_MAX,
    WISHES_BYTES_MAX,
    Garbled,
    news_encoded,
    news_of,
    wishes_encoded,
    wishes_of,
)
from tests.fakes.records import st_of


@given(st.lists(st_of(RelayRequest), max_size=5))
def test_wishes_come_as_they_were_sent(wishes):
    assert wishes == list(wishes_of(wishes_encoded(wishes)))


@given(st.lists(st_of(RelayAnswer), max_size=5))
def test_news_comes_as_it_was_sent(news):
    assert news == list(news_of(news_encoded(news)))


@given(st.binary(max_size=64))
def test_any_bytes_are_understood_or_garbled(message):
    for read in (wishes_of, news_of):
        with contextlib.suppress(Garbled):
            read(message)


@pytest.mark.parametrize("cut", [0, 1, 10])
def test_half_a_message_is_garbled(cut):
    whole = news_encoded([RelayedPieces(1, 0, [b"a piece"])])

    with pytest.raises(Garbled):
        news_of(whole[:cut])
    with pytest.raises(Garbled):
        wishes_of(whole[:cut])


def test_what_is_sent_at_once_is_within_what_is_heard():
    key = EpisodeKey(ChatId(UUID(int=7)), 2**53, 2**53)
    wishes = [Follow(2**53, key, 2**53)] * REQUESTS_AT_ONCE_MAX
    many = [PieceCount(2**53, 2**53)] * FOLLOWS_MAX
    largest = RelayedPieces(2**53, 0, [b"x" * PIECE_BYTES_MAX])
    batch = [RelayedPieces(n, 2**53, [b"x" * 255]) for n in range(BATCH_BYTES_MAX // 255)]

    assert WISHES_BYTES_MAX >= len(wishes_encoded(wishes))
    assert NEWS_BYTES_MAX >= len(news_encoded([*many, *batch, largest]))
