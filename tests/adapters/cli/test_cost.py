"""What a terminal says of a chat's cost."""

import pytest

from adapters.cli.talking.drawing import cost
from adapters.client.asks import CostShown


@pytest.mark.parametrize(
    ("paid", "said"),
    [
        (CostShown(0, 0, 0), "0 requests, $0.0000"),
        (CostShown(1_234_567, 3, 0), "3 requests, $1.2346"),
        (CostShown(50, 3, 2), "3 requests, $0.0001 and what 2 of them cost that have no price"),
    ],
)
def test_what_has_no_price_is_not_called_free(paid, said):
    assert said == cost(paid)
