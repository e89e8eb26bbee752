"""What limits cost the database: nothing where there is none, else one statement for each call."""

import pytest

from tests.adapters.edges import an_edge
from tests.adapters.models.spend.given import (
    DOLLAR,
    a_chat,
    all_paid,
    at_rest,
    send,
    set_limit,
    state_price,
)

pytestmark = pytest.mark.slow

TURNS = 5


@pytest.mark.parametrize("hard", [None, 10**6 * DOLLAR])
async def test_a_limit_costs_one_statement_for_each_call(fresh, counting, hard):
    async with an_edge(fresh) as edge:
        await state_price(edge)
        if hard is not None:
            await set_limit(edge, hard=hard)
        chat = await a_chat(edge)
        await all_paid(edge, chat)  # its title, too
        counting.begin()

        for _ in range(TURNS):
            await send(edge, chat)
            await at_rest(edge, chat, "waiting")

        money = ("reserve_spend", "open_counters", "lock_counters", "count_spend")
        expected = [TURNS if hard else 0, 0, 0, 0]
        assert expected == [counting.count(name) for name in money]
        assert 0 == counting.count("give_back_spend")
