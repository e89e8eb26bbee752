"""What a terminal says of a chat's cost."""

import pytest

from adapters.cli.talking.drawing import cost
from adapters.client.asks import CostShown


@pytest.mark.parametrize(
    ("paid", "said"),
    [
        (CostShown(0, 0, 0), "0 requests, $0.0000"),
        (CostShown(1_234_567, 3, 0), "3 requests, $1.2346"),
        (CostShown(50, 3, 1), "3 requests, $0.0001; what 1 of them cost is unknown"),
        (CostShown(50, 3, 2), "3 requests, $0.0001; what 2 of them cost is unknown"),
    ],
)
def test_what_has_no_price_is_not_called_free(paid, said):
    assert said == cost(paid)
