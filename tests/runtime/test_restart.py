"""The rule of restarts, alone: when again, when never, when the budget is used up."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from runtime.ends import Broken, Crashed, Finished, Shutdown, Stopped
from runtime.restart import GiveUp, Leave, Restart, StartAgain, what_next

POLICY = Restart(times=3, within_seconds=60, first_seconds=1, cap_seconds=3)
CRASHED = Crashed(OSError("reset"))
BROKEN = Broken(AssertionError("1 == 2"))


@pytest.mark.parametrize(
    ("policy", "end", "expected"),
    [
        (None, Finished(), Leave()),
        (None, Stopped(Shutdown()), Leave()),
        (None, CRASHED, Leave()),
        (None, BROKEN, Leave()),
        (POLICY, Finished(), Leave()),
        (POLICY, Stopped(Shutdown()), Leave()),
        (POLICY, CRASHED, StartAgain(1)),
        (POLICY, BROKEN, GiveUp()),
    ],
)
def test_only_a_kept_child_that_crashed_is_started_again(policy, end, expected):
    """R1, C4: a broken one is given up, whatever its budget."""
    assert expected == what_next(policy, end, (), 100.0)


def test_the_budget_is_used_up_by_restarts_within_the_window():
    """R2: the one that would be one too many is given up."""
    assert StartAgain(3) == what_next(POLICY, CRASHED, (50.0, 60.0), 100.0)
    assert GiveUp() == what_next(POLICY, CRASHED, (50.0, 60.0, 70.0), 100.0)


def test_a_restart_exactly_as_old_as_the_window_is_forgotten():
    """R2: within means less than."""
    assert GiveUp() == what_next(POLICY, CRASHED, (40.001, 60.0, 70.0), 100.0)
    assert StartAgain(3) == what_next(POLICY, CRASHED, (40.0, 60.0, 70.0), 100.0)


def test_a_budget_of_nothing_gives_up_at_once():
    """R2: kept, but never restarted."""
    assert GiveUp() == what_next(Restart(times=0), CRASHED, (), 100.0)


def test_each_rest_is_longer_until_the_cap_and_short_again_after_quiet():
    """R3: counted by the restarts within the window."""
    generous = Restart(times=9, within_seconds=60, first_seconds=1, cap_seconds=5)
    histories = [(), (90.0,), (90.0, 91.0), (90.0, 91.0, 92.0), (1.0, 2.0, 3.0)]

    rests = [what_next(generous, CRASHED, history, 100.0) for history in histories]

    assert [StartAgain(1), StartAgain(2), StartAgain(4), StartAgain(5), StartAgain(1)] == rests


class BudgetModel(RuleBasedStateMachine):
    """R2, R3: against a model that writes down every restart and counts them by hand."""

    @initialize(times=st.integers(0, 5), within=st.integers(1, 30), first=st.integers(1, 4))
    def begin(self, times, within, first):
        self.policy = Restart(
            times=times, within_seconds=within, first_seconds=first, cap_seconds=10
        )
        self.now = 0
        self.history = ()  # what is handed to the rule, trimmed as `Children` trims it
        self.restarts = []  # the model's: all of them, for ever
        self.over = False

    @rule(seconds=st.integers(0, 40))
    def time_passes(self, seconds):
        self.now += seconds

    @rule()
    def crashes(self):
        recent = [at for at in self.restarts if self.now - at < self.policy.within_seconds]

        verdict = what_next(self.policy, CRASHED, self.history, self.now)

        if len(recent) >= self.policy.times:
            assert GiveUp() == verdict
            return
        doubled = self.policy.first_seconds * 2 ** len(recent)
        assert StartAgain(min(10, doubled)) == verdict
        self.restarts.append(self.now)
        self.history = (*self.history, self.now)[-self.policy.times :]

    @rule(end=st.sampled_from([Finished(), Stopped(Shutdown())]))
    def ends_as_expected(self, end):
        assert Leave() == what_next(self.policy, end, self.history, self.now)

    @invariant()
    def no_window_holds_more_restarts_than_the_budget(self):
        for first in getattr(self, "restarts", ()):
            within = [at for at in self.restarts if 0 <= at - first < self.policy.within_seconds]
            assert len(within) <= self.policy.times


TestBudget = pytest.mark.slow(BudgetModel.TestCase)
TestBudget.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
