"""Which model is marked as the default: one at a time, and one as long as there is any."""

import random

import pytest
import trio

from tests.adapters.models.store.ground import open_ground


async def test_the_first_model_is_marked_whatever_it_says(ground):
    provider = await ground.add_provider()

    first = await ground.add_model(provider)
    await ground.add_model(provider)

    assert [first] == await ground.defaults()


async def test_a_new_mark_takes_the_old_one_away(ground):
    provider = await ground.add_provider()
    await ground.add_model(provider)

    second = await ground.add_model(provider, default=True)

    assert [second] == await ground.defaults()


@pytest.mark.parametrize("way", ["unset", "removed"])
async def test_where_the_mark_is_taken_away_the_oldest_enabled_one_gets_it(ground, way):
    provider = await ground.add_provider()
    default = await ground.add_model(provider)
    await ground.add_model(provider, enabled=False)
    oldest = await ground.add_model(provider)
    await ground.add_model(provider)

    if way == "removed":
        await ground.configs.remove(default)
    else:
        await ground.configs.change(default, lambda stored: (stored, False))

    assert [oldest] == await ground.defaults()


async def test_a_disabled_one_is_better_than_none(ground):
    provider = await ground.add_provider()
    default = await ground.add_model(provider)
    off = await ground.add_model(provider, enabled=False)

    await ground.configs.remove(default)

    assert [off] == await ground.defaults()


async def test_the_last_one_keeps_the_mark_and_takes_it_along(ground):
    only = await ground.add_model(await ground.add_provider())

    await ground.configs.change(only, lambda stored: (stored, False))
    kept = await ground.defaults()
    await ground.configs.remove(only)

    assert [only] == kept
    assert [] == await ground.defaults()


async def test_a_change_of_something_else_leaves_the_mark_where_it_is(ground):
    provider = await ground.add_provider()
    await ground.add_model(provider)
    default = await ground.add_model(provider, default=True)

    await ground.configs.change(default, lambda stored: (stored, None))

    assert [default] == await ground.defaults()


@pytest.mark.slow
async def test_where_the_environment_offers_a_model_none_is_marked_unasked(migrated, ground):
    async with open_ground(migrated, environ={"OPENAI_API_KEY": "k"}) as here:
        provider = await here.add_provider()
        model = await here.add_model(provider)
        unasked = await here.defaults()
        await here.configs.change(model, lambda stored: (stored, True))
        asked = await here.defaults()
        await here.configs.change(model, lambda stored: (stored, False))

        assert ([], [model], []) == (unasked, asked, await here.defaults())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
async def test_whatever_is_written_at_once_leaves_one_mark(ground, seed):
    provider = await ground.add_provider()
    chance = random.Random(seed)
    models = [await ground.add_model(provider) for _ in range(6)]
    seen = []

    async def disturb(model):
        what = chance.randrange(4)
        if what == 0:
            await ground.add_model(provider, default=chance.random() < 0.5)
        elif what == 1:
            await ground.configs.remove(model)
        else:
            await ground.configs.change(model, lambda stored: (stored, what == 2))
        seen.append(len(await ground.defaults()))

    async with trio.open_nursery() as nursery:
        for model in models * 3:
            nursery.start_soon(disturb, model)

    assert {1} == set(seen)
