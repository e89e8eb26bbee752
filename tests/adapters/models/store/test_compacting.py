"""When a chat is compacted, and who writes its summary: what was set for the model, by its user,
by an administrator."""

from uuid import UUID

import pytest

from adapters.models.catalogue import ConfiguredCompacting
from adapters.models.settings import override_name, override_text
from tests.actors.law.chats import ANN, BOB, a_chat
from tests.adapters.models.store.ground import open_ground

OVERRIDE = override_name("compaction")


async def plan_for(ground, model, *, owner=ANN, counted=None):
    chat = a_chat(owner_id=owner, last_model_config_id=model, last_reasoning_effort=None).chat
    asked = await ground.catalogue.model_for(chat)
    compacting = ConfiguredCompacting(ground.catalogue)
    return await compacting.plan_for(chat, asked)


async def test_a_model_is_compacted_as_it_is_configured(ground):
    model = await ground.add_model(
        await ground.add_provider(), compression_threshold=55, context_limit=900
    )

    plan = await plan_for(ground, model)

    assert (55, 900, model) == (plan.threshold_percent, plan.context_limit, plan.model.config_id)


async def test_a_user_has_a_threshold_of_his_own(ground):
    model = await ground.add_model(await ground.add_provider(), compression_threshold=55)
    await ground.settings.put_own(ANN, f"compaction_threshold/{model}", 0)

    assert 0 == (await plan_for(ground, model)).threshold_percent
    assert 55 == (await plan_for(ground, model, owner=BOB)).threshold_percent


async def test_a_model_of_the_environment_has_the_usual_threshold_and_no_limit(migrated):
    environ = {"ANTHROPIC_API_KEY": "k"}
    async with open_ground(migrated, environ=environ) as ground:
        await ground.empty()
        await ground.add_users(ANN)

        plan = await plan_for(ground, None)

        assert (70, None) == (plan.threshold_percent, plan.context_limit)


@pytest.mark.parametrize(("limit", "counts"), [(100, 100), (10_000, 900)])
async def test_another_model_may_be_set_for_summaries_and_the_smaller_window_counts(
    ground, limit, counts
):
    provider = await ground.add_provider()
    model = await ground.add_model(provider, compression_threshold=55, context_limit=900)
    call = {"reasoning_effort": {"default": "low", "max": "high"}}
    other = await ground.add_model(
        provider, "writer", context_limit=limit, compression_threshold=5, call=call
    )
    await ground.settings.put({OVERRIDE: override_text(other, "high")})

    plan = await plan_for(ground, model)

    assert ("writer", other, "high") == (
        plan.model.name,
        plan.model.config_id,
        plan.model.settings.effort,
    )
    assert (55, counts) == (plan.threshold_percent, plan.context_limit)


@pytest.mark.parametrize("set_to", ["", "nonsense", str(UUID(int=9))])
async def test_one_that_is_not_there_is_as_good_as_none(ground, set_to):
    model = await ground.add_model(await ground.add_provider())
    await ground.settings.put({OVERRIDE: set_to})

    assert model == (await plan_for(ground, model)).model.config_id


async def test_one_that_cannot_be_asked_is_as_good_as_none(ground):
    provider = await ground.add_provider()
    model = await ground.add_model(provider)
    disabled = await ground.add_model(provider, "off", enabled=False)
    keyless = await ground.add_model(await ground.add_provider("bare", "anthropic", keys=()), "b")

    for unusable in (disabled, keyless):
        await ground.settings.put({OVERRIDE: override_text(unusable, None)})
        assert model == (await plan_for(ground, model)).model.config_id
