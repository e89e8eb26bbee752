"""Who is let in: whoever has the key, once, at the right door, in time."""

from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.law.ids import WorkerId
from adapters.relay import protocol as tickets
from adapters.relay.protocol import NONCES_MAX, WINDOW_SECONDS, RelayTickets

KEY = b"k" * 32
ME, PEER, OTHER = (WorkerId(uuid4()) for _ in range(3))
NOW = 1_700_000_000.0


def test_a_ticket_says_who_comes():
    assert PEER == RelayTickets(KEY).take(RelayTickets(KEY).write(PEER, ME, at=NOW), ME, at=NOW)


@pytest.mark.parametrize("seconds", [-WINDOW_SECONDS, -1, 0, 1, WINDOW_SECONDS])
def test_clocks_may_differ_by_so_much(seconds):
    ticket = RelayTickets(KEY).write(PEER, ME, at=NOW)

    assert PEER == RelayTickets(KEY).take(ticket, ME, at=NOW + seconds)


@pytest.mark.parametrize("seconds", [-WINDOW_SECONDS - 1, WINDOW_SECONDS + 1, 1e9])
def test_but_not_by_more(seconds):
    ticket = RelayTickets(KEY).write(PEER, ME, at=NOW)

    assert RelayTickets(KEY).take(ticket, ME, at=NOW + seconds) is None


def test_a_ticket_is_good_once_for_as_long_as_it_would_be_good():
    door = RelayTickets(KEY)
    ticket = RelayTickets(KEY).write(PEER, ME, at=NOW)

    assert PEER == door.take(ticket, ME, at=NOW - WINDOW_SECONDS)
    for seconds in (-WINDOW_SECONDS, 0, WINDOW_SECONDS / 2, WINDOW_SECONDS):
        door.take(RelayTickets(KEY).write(PEER, ME, at=NOW), ME, at=NOW)  # others come meanwhile
        assert door.take(ticket, ME, at=NOW + seconds) is None


def test_another_key_opens_nothing():
    assert (
        RelayTickets(KEY).take(RelayTickets(b"x" * 32).write(PEER, ME, at=NOW), ME, at=NOW) is None
    )


def test_a_ticket_for_another_process_opens_nothing():
    assert RelayTickets(KEY).take(RelayTickets(KEY).write(PEER, OTHER, at=NOW), ME, at=NOW) is None


@given(st.integers(0, 300), st.sampled_from("0a.-é\0"))
def test_no_character_of_a_ticket_can_be_another(place, character):
    ticket = RelayTickets(KEY).write(PEER, ME, at=NOW)
    forged = ticket[:place] + character + ticket[place + 1 :]

    taken = RelayTickets(KEY).take(forged, ME, at=NOW)

    assert (PEER if forged == ticket else None) == taken


@given(st.text(st.sampled_from("01a.-é\0"), max_size=300))
def test_what_is_no_ticket_opens_nothing(text):
    assert RelayTickets(KEY).take(text, ME, at=NOW) is None


@pytest.mark.parametrize("text", ["2", "2.a", f"2.{PEER}.{ME}.{int(NOW)}.nonce.and.more"])
def test_a_ticket_of_another_version_opens_nothing(text):
    door = RelayTickets(KEY)

    assert door.take(f"{text}.{door._signed('ticket', text)}", ME, at=NOW) is None


def test_a_proof_is_for_one_ticket_and_is_no_ticket():
    ours = RelayTickets(KEY)
    first, second = (ours.write(PEER, ME, at=NOW) for _ in range(2))

    assert ours.proof(first) == RelayTickets(KEY).proof(first)
    assert ours.proof(first) != ours.proof(second)
    assert ours.proof(first) != RelayTickets(b"x" * 32).proof(first)
    assert ours.proof(first).decode() not in first


def test_no_more_than_so_many_are_remembered_and_the_oldest_make_room(monkeypatch):
    monkeypatch.setattr(tickets, "NONCES_MAX", 2)
    door = RelayTickets(KEY)

    def comes(at):
        return door.take(RelayTickets(KEY).write(PEER, ME, at=at), ME, at=at)

    assert [PEER, PEER, None] == [comes(NOW) for _ in range(3)]
    assert PEER == comes(NOW + 2 * WINDOW_SECONDS + 1)
    assert NONCES_MAX > 2
