"""Frames as bytes and back; what is none of ours is said to be."""

import contextlib
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.law.ids import ChatId, EpisodeKey
from actors.streams.previews import PIECE_BYTES_MAX
from actors.streams.relay.exchange import (
    BATCH_BYTES_MAX,
    FOLLOWS_MAX,
    Follow,
    PieceCount,
    RelayAnswer,
    RelayedPieces,
    RelayRequest,
)
from actors.streams.relay.link import REQUESTS_AT_ONCE_MAX
from adapters.relay.protocol import (
    ANSWERS_BYTES_MAX,
    REQUESTS_BYTES_MAX,
    GarbledMessage,
    decode_answers,
    decode_requests,
    encode_answers,
    encode_requests,
)
from tests.fakes.records import st_of


@given(st.lists(st_of(RelayRequest), max_size=5))
def test_wishes_come_as_they_were_sent(wishes):
    assert wishes == list(decode_requests(encode_requests(wishes)))


@given(st.lists(st_of(RelayAnswer), max_size=5))
def test_news_comes_as_it_was_sent(news):
    assert news == list(decode_answers(encode_answers(news)))


@given(st.binary(max_size=64))
def test_any_bytes_are_understood_or_garbled(message):
    for read in (decode_requests, decode_answers):
        with contextlib.suppress(GarbledMessage):
            read(message)


@pytest.mark.parametrize("cut", [0, 1, 10])
def test_half_a_message_is_garbled(cut):
    whole = encode_answers([RelayedPieces(1, 0, [b"a piece"])])

    with pytest.raises(GarbledMessage):
        decode_answers(whole[:cut])
    with pytest.raises(GarbledMessage):
        decode_requests(whole[:cut])


def test_what_is_sent_at_once_is_within_what_is_heard():
    key = EpisodeKey(ChatId(UUID(int=7)), 2**53, 2**53)
    wishes = [Follow(2**53, key, 2**53)] * REQUESTS_AT_ONCE_MAX
    many = [PieceCount(2**53, 2**53)] * FOLLOWS_MAX
    largest = RelayedPieces(2**53, 0, [b"x" * PIECE_BYTES_MAX])
    batch = [RelayedPieces(n, 2**53, [b"x" * 255]) for n in range(BATCH_BYTES_MAX // 255)]

    assert REQUESTS_BYTES_MAX >= len(encode_requests(wishes))
    assert ANSWERS_BYTES_MAX >= len(encode_answers([*many, *batch, largest]))
