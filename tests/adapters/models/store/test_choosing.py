"""Which model answers a message: asked for by name, kept, of one's own, or the default."""

from dataclasses import replace
from uuid import uuid4

import pytest

from actors.law.chat import ChatError
from actors.law.ids import ModelConfigId
from adapters.models.choosing import ModelChoice, NoChoice
from adapters.models.settings import (
    ALLOW_OWN_OVERRIDES,
    override_name,
    own_override_text,
)
from adapters.models.snapshot import REHEARSAL_MODEL
from adapters.settings.secrets import Vault
from tests.actors.law.chats import ANN, BOB, a_chat
from tests.adapters.models.store.ground import open_ground

KEY = {"ANTHROPIC_API_KEY": "sk-ant"}
NOTHING_ELSE = "There is no other model that can be asked now."
OR_A_KEY = "Bring a key: there is no other model that can be asked now."
WITHOUT_KEY = ChatError("Provider mine has no key.", "missing_key", "openai", detail=NOTHING_ELSE)
EFFORTS = {"reasoning_effort": {"default": "medium", "max": "high"}}


def a_chat_for(model=None, effort=None):
    return a_chat(last_model_config_id=model, last_reasoning_effort=effort).chat


async def test_a_model_that_is_asked_for_is_taken(ground):
    provider = await ground.add_provider()
    await ground.add_model(provider, "first")
    wanted = await ground.add_model(provider, "second")

    assert ModelChoice(wanted, "high") == await ground.catalogue.choose(ANN, wanted, "high")


async def test_nobody_asks_for_one_and_the_default_is_taken(ground):
    default = await ground.add_model(await ground.add_provider())

    assert ModelChoice(default, None) == await ground.catalogue.choose(ANN, None, None)


async def test_an_unknown_model_is_refused(ground):
    await ground.add_model(await ground.add_provider())

    refused = await ground.catalogue.choose(ANN, ModelConfigId(uuid4()), None)

    assert isinstance(refused, NoChoice)
    assert "model_config_id" == refused.field


@pytest.mark.parametrize(
    ("provider", "model", "why", "kind"),
    [
        ({}, {"enabled": False}, "model m is disabled", "config"),
        ({"enabled": False}, {}, "provider mine is disabled", "provider_disabled"),
        ({"type": "openai", "keys": ()}, {}, "provider mine has no key", "missing_key"),
        (
            {"type": "copilot", "keys": ()},
            {},
            "providers of type copilot cannot be asked here",
            "config",
        ),
    ],
)
async def test_a_model_that_cannot_be_asked_is_refused(ground, provider, model, why, kind):
    wanted = await ground.add_model(await ground.add_provider(**provider), **model)

    refused = await ground.catalogue.choose(ANN, wanted, None)

    assert NoChoice("model_config_id", "The model cannot be used.", why, kind) == refused


async def test_an_effort_that_nobody_knows_is_refused(ground):
    wanted = await ground.add_model(await ground.add_provider())

    refused = await ground.catalogue.choose(ANN, wanted, "enormous")

    assert isinstance(refused, NoChoice)
    assert "reasoning_effort" == refused.field


async def test_a_chat_keeps_its_model_while_that_can_be_asked(ground):
    provider = await ground.add_provider()
    default = await ground.add_model(provider, "default")
    last = await ground.add_model(provider, "last")
    off = await ground.add_model(provider, "off", enabled=False)

    assert ModelChoice(last, None) == await ground.catalogue.choose(ANN, None, None, last=last)
    assert ModelChoice(default, None) == await ground.catalogue.choose(ANN, None, None, last=off)


async def test_a_users_own_choice_is_for_new_chats_if_administrators_allow_it(ground):
    provider = await ground.add_provider()
    default = await ground.add_model(provider, "default")
    mine = await ground.add_model(provider, "mine")
    stored = own_override_text("model", mine, "low")
    await ground.settings.put_own(ANN, override_name("root"), stored)

    before = await ground.catalogue.choose(ANN, None, None)
    await ground.settings.put({ALLOW_OWN_OVERRIDES: True})

    assert ModelChoice(default, None) == before
    assert ModelChoice(mine, "low") == await ground.catalogue.choose(ANN, None, None)
    assert ModelChoice(mine, "max") == await ground.catalogue.choose(ANN, None, "max")
    assert ModelChoice(default, None) == await ground.catalogue.choose(
        ANN, None, None, last=default
    )


async def test_a_default_that_cannot_be_asked_is_refused_in_words(ground):
    provider = await ground.add_provider(enabled=False)
    await ground.add_model(provider)

    refused = await ground.catalogue.choose(ANN, None, None)

    assert isinstance(refused, NoChoice)
    assert "The default model cannot be used." == refused.message


async def test_where_nothing_is_set_up_the_rehearsal_answers(ground):
    assert ModelChoice(REHEARSAL_MODEL, None) == await ground.catalogue.choose(ANN, None, None)


async def test_a_provider_without_a_model_leaves_nothing_to_choose(ground):
    await ground.add_provider()

    refused = await ground.catalogue.choose(ANN, None, None)

    assert isinstance(refused, NoChoice)
    assert "No default model is configured." == refused.message


async def test_a_chat_whose_model_was_deleted_gets_the_default(ground):
    provider = await ground.add_provider()
    default = await ground.add_model(provider, "default")
    deleted = await ground.add_model(provider, "deleted")
    await ground.configs.remove(deleted)

    model = await ground.catalogue.model_for(a_chat_for(deleted))

    assert (default, "default") == (model.config_id, model.name)


async def test_a_chat_whose_model_is_disabled_gets_an_error(ground):
    provider = await ground.add_provider()
    default = await ground.add_model(provider, "default")
    off = await ground.add_model(provider, "off", enabled=False)

    answer = await ground.catalogue.model_for(a_chat_for(off))

    choices = f"Name one of these as model_config_id to go on with it: default of mine ({default})."
    expected = ChatError("Model off is disabled.", "config", "openai-compat", detail=choices)
    assert expected == answer


@pytest.mark.parametrize(
    ("call", "wanted", "sent"),
    [
        ({}, "high", None),
        (EFFORTS, None, "medium"),
        (EFFORTS, "low", "low"),
        (EFFORTS, "max", "high"),
        (EFFORTS, "none", "none"),
        (EFFORTS, "enormous", "medium"),
    ],
)
async def test_a_chats_effort_counts_up_to_the_highest_of_its_model(ground, call, wanted, sent):
    model = await ground.add_model(await ground.add_provider(), call=call)

    answer = await ground.catalogue.model_for(a_chat_for(model, wanted))

    assert sent == answer.settings.effort


@pytest.mark.slow
async def test_what_the_environment_offers_is_there_without_a_further_step(migrated, ground):
    async with open_ground(migrated, environ=KEY) as here:
        choice = await here.catalogue.choose(ANN, None, None)
        model = await here.catalogue.model_for(a_chat_for(choice.model))

    assert ("anthropic", "claude-sonnet-4-5") == (model.vendor, model.name)


async def test_a_model_of_the_environment_is_the_default_until_another_is_marked(migrated, ground):
    async with open_ground(migrated, environ=KEY) as here:
        provider = await here.add_provider()
        unmarked = await here.add_model(provider)
        offered = await here.catalogue.choose(ANN, None, None)
        marked = await here.add_model(provider, default=True)
        chosen = await here.catalogue.choose(ANN, None, None)

    assert offered.model not in (unmarked, marked)
    assert ModelChoice(marked, None) == chosen


@pytest.mark.slow
async def test_messages_of_a_model_that_the_environment_no_longer_offers_keep_their_author(
    migrated, ground
):
    old, new = KEY | {"PROMPTCORNER_MODEL": "anthropic/old"}, KEY
    async with open_ground(migrated, environ=old) as before:
        await before.catalogue.begin()
        said_by = (await before.catalogue.choose(ANN, None, None)).model

    async with open_ground(migrated, environ=new) as after:
        await after.catalogue.begin()
        context = await after.turn_context(a_chat_for())
        model = await after.catalogue.model_for(a_chat_for(said_by))

    assert model.identity == context.identity_of(said_by)
    assert "claude-sonnet-4-5" == model.name
    assert context.identity_of(ModelConfigId(uuid4())) is None


async def test_a_key_of_the_users_own_is_used_for_his_chats(ground):
    provider = await ground.add_provider(type="openai", keys=())
    model = await ground.add_model(provider)
    refused = await ground.catalogue.model_for(a_chat_for(model))
    await ground.bring_key(ANN, provider)

    answer = await ground.catalogue.model_for(a_chat_for(model))

    assert replace(WITHOUT_KEY, detail=OR_A_KEY) == refused
    assert model == answer.config_id


@pytest.mark.slow
async def test_a_key_of_the_users_own_counts_only_where_users_may_bring_keys(migrated, ground):
    provider = await ground.add_provider(type="openai", keys=())
    model = await ground.add_model(provider)
    await ground.bring_key(ANN, provider)

    async with open_ground(migrated, allow_user_keys=False) as strict:
        answer = await strict.catalogue.model_for(a_chat_for(model))

    assert WITHOUT_KEY == answer


async def test_who_brought_a_key_that_cannot_be_opened_does_not_spend_the_deployments(ground):
    provider = await ground.add_provider(type="openai")
    model = await ground.add_model(provider)
    sealed = Vault(b"some other master key of 32 bytes").seal("sk", "whatever")
    await ground.providers.bring_key(ANN, provider, sealed)

    of_ann = await ground.catalogue.model_for(a_chat_for(model))
    of_bob = await ground.catalogue.choose(BOB, model, None)

    assert ("missing_key", ModelChoice(model, None)) == (of_ann.kind, of_bob)
