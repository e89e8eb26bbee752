"""The law against a plain program: random requests, everything compared after each of them.

Twice over. Hypothesis looks for the smallest story that goes wrong, and remembers it; seeds play
more of them and choose evenly, where Hypothesis likes to repeat itself.
"""

from random import Random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests.models.holds import check
from tests.models.law import Twice
from tests.models.requests import drawing

STEPS = 12  # chats begin half-way through, so that a story can be short


class Law(RuleBasedStateMachine):
    @initialize(data=st.data())
    def a_chat_begins(self, data):
        self.chat = Twice(data.draw)

    @rule(data=st.data())
    def it_goes_on(self, data):
        self.chat.go_on(data.draw)

    @invariant()
    def all_holds(self):
        check(self.chat)


def play(seed, steps=STEPS):
    """One chat; how often something was asked of it."""
    random = Random(seed)
    with drawing(random) as draw:
        chat = Twice(draw)
    check(chat)
    for _ in range(steps):
        with drawing(random) as draw:
            chat.go_on(draw)
        check(chat)
    return chat.asked


@pytest.mark.slow
def test_no_story_is_found_in_which_the_law_and_a_plain_program_differ():
    few = settings(
        max_examples=60,
        stateful_step_count=STEPS,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )

    run_state_machine_as_test(Law, settings=few)


@pytest.mark.slow
@pytest.mark.parametrize("hundred", range(0, 500, 100))
def test_the_law_and_a_plain_program_decide_the_same(hundred):
    asked = sum(play(seed) for seed in range(hundred, hundred + 100))

    assert asked >= 100
