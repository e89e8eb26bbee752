"""Tickets and answers to forgeries: what was not signed by us is not believed."""

from hypothesis import example, given
from hypothesis import strategies as st

from adapters.people.auth.signing import Signing

OURS = Signing(b"c" * 32, b"t" * 32)
PATH = "/api/experimental/chats/1/stream"
NOON = 1_800_000_000


def test_a_ticket_names_its_token_until_it_is_too_old():
    ticket = OURS.ticket("0123456789", PATH, expires=NOON)

    assert "0123456789" == OURS.token_of(ticket, PATH, wall_seconds=NOON - 0.1)
    assert OURS.token_of(ticket, PATH, wall_seconds=NOON) is None


def test_a_ticket_is_good_for_its_path_alone():
    ticket = OURS.ticket("0123456789", PATH, expires=NOON)

    assert OURS.token_of(ticket, PATH + "/sse", wall_seconds=0) is None
    assert OURS.token_of(ticket, "", wall_seconds=0) is None


@given(st.data())
def test_a_ticket_that_was_touched_is_none(data):
    ticket = OURS.ticket("0123456789", PATH, expires=NOON)
    at = data.draw(st.integers(0, len(ticket) - 1))
    other = data.draw(st.characters(min_codepoint=0x21, max_codepoint=0x2FF))

    touched = ticket[:at] + other + ticket[at + 1 :]

    assert touched == ticket or OURS.token_of(touched, PATH, wall_seconds=0) is None


@given(st.text(max_size=100))
@example("0123456789." + "9" * 5_000 + ".x")
def test_any_text_can_be_shown_for_a_ticket(text):
    assert OURS.token_of(text, PATH, wall_seconds=0) is None


def test_keys_of_others_and_for_other_things_sign_nothing_of_ours():
    theirs, swapped = Signing(b"x" * 32, b"x" * 32), Signing(b"t" * 32, b"c" * 32)

    for others in (theirs, swapped):
        ticket = others.ticket("0123456789", PATH, expires=NOON)
        assert OURS.token_of(ticket, PATH, wall_seconds=0) is None
        assert not OURS.is_csrf(others.csrf_of("0123456789"), "0123456789")


@given(st.text(max_size=70))
def test_an_answer_to_forgeries_is_that_of_the_session(text):
    answer = OURS.csrf_of("0123456789")

    assert OURS.is_csrf(answer, "0123456789")
    assert not OURS.is_csrf(answer, "another id")
    assert text == answer or not OURS.is_csrf(text, "0123456789")
