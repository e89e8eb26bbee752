"""Examples of Hypothesis, as every test has them."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


@settings(max_examples=2)
@given(st.booleans())
def test_no_example_has_to_be_ready_by_a_time(drawn):
    """The scheduler of a busy machine may make each of them take long."""
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check
