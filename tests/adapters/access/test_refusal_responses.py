"""What the law refuses is said to people in words."""

import pytest

from actors.law.refusals import NO_TRANSITION, NotAllowed
from actors.law.states import State
from adapters.access.changes import refusal_response


@pytest.mark.parametrize("state", State)
def test_where_a_chat_stands_is_said_in_words(state):
    said = refusal_response(NotAllowed("Interrupt", state, NO_TRANSITION))

    assert 409 == said.status
    assert said.body.detail.startswith("it ")
    assert state.value not in said.body.detail.split()


def test_why_is_said_where_there_is_more_to_it():
    said = refusal_response(NotAllowed("RequestCompaction", State.W, "there is nothing to sum up"))

    expected = "it is waiting for a message, and nothing is queued: there is nothing to sum up"
    assert expected == said.body.detail
