"""What administrators are told of limits by `promptcorner doctor` and by `/readyz`."""

from adapters import settings as config
from adapters.cli.doctor.database import check_spending
from adapters.cli.doctor.findings import FindingState
from adapters.postgres.driver.connection import DatabaseConnection
from tests.adapters.models.spend.given import (
    DOLLAR,
    PRICES,
    a_chat,
    at_rest,
    good,
    set_limit,
    state_price,
)

GROUPS = "/api/v2/organizations/{}/groups"


async def examined(edge):
    """What doctor finds, without models of an environment."""
    connection = await DatabaseConnection.open(edge.conninfo)
    try:
        return list(await check_spending(connection, config.read_config({}, {})))
    finally:
        connection.close()


async def warned(edge):
    return await edge.chats.spending.warnings()


async def spend(edge):
    await at_rest(edge, await a_chat(edge))


async def test_without_a_limit_there_is_nothing_to_say(edge, counting):
    counting.begin()

    assert None is await warned(edge)
    assert [] == await examined(edge)

    assert 0 == counting.count("examine_prices")


async def test_limits_that_are_reached_are_counted_for_strangers_and_named_by_doctor(edge):
    await state_price(edge)
    await set_limit(edge, "deployment", "month", hard=10**6 * DOLLAR)
    await set_limit(edge, hard=1)
    assert None is await warned(edge)
    assert [FindingState.OK] == [each.state for each in await examined(edge)]

    await spend(edge)

    assert "limits that are reached: 1" == await warned(edge)
    [finding] = await examined(edge)
    assert FindingState.WARNING is finding.state
    assert f"limits that are reached: {edge.member.username}, day" == finding.fact
    await set_limit(edge, "deployment", "month", hard=1)
    await spend(edge)
    [finding] = await examined(edge)
    assert "limits that are reached: all users together, month; " in finding.fact


async def test_a_limit_of_ones_own_and_the_highest_of_groups_are_those_that_count(edge):
    await state_price(edge)
    made = await good(edge.admin.post(GROUPS.format(edge.organization), {"name": "low"}))
    adding = {"add_users": [str(edge.member.id)]}
    await good(edge.admin.patch(f"/api/v2/groups/{made['id']}", adding))
    await set_limit(edge, "group", "day", hard=1, subject=made["id"])
    await spend(edge)
    assert "limits that are reached: 1" == await warned(edge)

    await set_limit(edge, hard=10**6 * DOLLAR)

    assert None is await warned(edge)


async def test_models_without_a_price_are_told_while_a_limit_would_refuse_them(edge):
    await good(edge.admin.put(PRICES, {"prices": {}, "default_price": None}))
    provider = {
        "type": "openai-compat",
        "name": "mine",
        "enabled": True,
        "base_url": "https://models.example/v1",
        "api_keys": ["a-key"],
    }
    made = await good(edge.admin.post("/api/v2/ai/providers", provider))
    model = {"ai_provider_id": made["id"], "model": "my-model", "context_limit": 1_000}
    await good(edge.admin.post("/api/v2/chats/model-configs", model))
    assert [] == await examined(edge)

    await set_limit(edge, hard=DOLLAR)

    assert "models that no limit allows, without a price: " in await warned(edge)
    [finding] = await examined(edge)
    assert "openai-compat/my-model" in finding.fact
    assert "state their price" in finding.advice
    await state_price(edge)
    assert None is await warned(edge)
    assert [FindingState.OK] == [each.state for each in await examined(edge)]
