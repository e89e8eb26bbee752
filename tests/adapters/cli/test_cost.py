"""What a terminal says of a chat's cost."""

import pytest

from adapters.cli.chat.screen import cost_text
from promptcorner_client.api import CostSummary


@pytest.mark.parametrize(
    ("paid", "said"),
    [
        (CostSummary(0, 0, 0), "0 requests, $0.0000"),
        (CostSummary(1_234_567, 3, 0), "3 requests, $1.2346"),
        (CostSummary(2_000_000, 1, 0), "1 request, $2.0000"),
        (CostSummary(0, 1, 1), "1 request; what it cost is unknown"),
        (CostSummary(0, 2, 2), "2 requests; what they cost is unknown"),
        (CostSummary(50, 3, 1), "3 requests, $0.0001; what 1 of them cost is unknown"),
        (CostSummary(50, 3, 2), "3 requests, $0.0001; what 2 of them cost is unknown"),
    ],
)
def test_what_has_no_price_is_not_called_free(paid, said):
    assert said == cost_text(paid)
