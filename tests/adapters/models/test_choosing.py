"""The model of a chat's next call."""

from uuid import uuid4

import pytest

from actors.ids import ModelConfigId
from actors.machine.chat import ChatError
from actors.parts.prompt import CallSettings, WebSearch
from adapters.models.choosing import ConfiguredModels
from adapters.providers.anthropic.provider import Anthropic
from adapters.providers.http import HttpClient
from tests.actors.machine.chats import a_chat
from tests.adapters.models.given import a_config

DEFAULT = a_config()
OTHER = a_config("openai", "gpt-5")


def models_of(*configs):
    return ConfiguredModels(configs, HttpClient(None))


def a_chat_for(config_id=None, effort=None):
    return a_chat(last_model_config_id=config_id, last_reasoning_effort=effort).chat


async def test_a_chat_that_names_no_model_gets_the_first_one():
    model = await models_of(DEFAULT, OTHER).model_for(a_chat_for())

    assert (DEFAULT.id, "claude-sonnet-4-5") == (model.config_id, model.name)
    assert isinstance(model.provider, Anthropic)


async def test_a_chat_gets_the_model_that_it_named_last():
    model = await models_of(DEFAULT, OTHER).model_for(a_chat_for(OTHER.id))

    assert (OTHER.id, "gpt-5") == (model.config_id, model.name)


async def test_where_a_named_model_is_gone_the_first_one_answers():
    model = await models_of(DEFAULT, OTHER).model_for(a_chat_for(ModelConfigId(uuid4())))

    assert DEFAULT.id == model.config_id


async def test_where_no_model_is_configured_the_chat_is_told_what_to_do():
    answer = await models_of().model_for(a_chat_for())

    assert isinstance(answer, ChatError)
    assert ("config", False) == (answer.kind, answer.retryable)
    assert "ANTHROPIC_API_KEY" in answer.message


async def test_a_model_is_all_that_was_configured():
    settings = CallSettings(temperature=0.5)
    config = a_config(
        "openai",
        "gpt-4o",
        settings=settings,
        provider_tools=(WebSearch(),),
        context_limit=128_000,
    )

    model = await models_of(config).model_for(a_chat_for())

    assert (settings, (WebSearch(),), 128_000) == (
        model.settings,
        model.provider_tools,
        model.context_limit,
    )
    assert (str(config.provider.id), "openai") == (model.identity, model.label)


@pytest.mark.parametrize(
    ("config", "transport"),
    [
        (a_config(), "anthropic"),
        (a_config("openai", "gpt-5"), "openai-responses"),
        (a_config("openai", "some-model"), "openai"),
        (a_config("azure", "gpt-5", base_url="https://r.test"), "openai-responses"),
        (a_config("azure", "some-model", base_url="https://r.test"), "azure"),
        (a_config("openrouter", "openai/gpt-5"), "openrouter"),
    ],
    ids=str,
)
async def test_its_transport_says_whose_wire_it_is(config, transport):
    assert transport == (await models_of(config).model_for(a_chat_for())).transport


async def test_a_provider_is_made_once_for_all_chats():
    models = models_of(DEFAULT)

    first, second = await models.model_for(a_chat_for()), await models.model_for(a_chat_for())

    assert first.provider is second.provider


@pytest.mark.parametrize(
    ("default", "highest", "wanted", "sent"),
    [
        (None, None, "high", None),  # a model without efforts
        ("medium", None, None, "medium"),
        ("medium", None, "low", "low"),
        ("medium", None, "high", "medium"),
        ("medium", "high", None, "medium"),
        ("medium", "high", "high", "high"),
        ("medium", "high", "max", "high"),
        ("medium", "high", "none", "none"),
        ("medium", "high", "enormous", "medium"),
    ],
)
async def test_a_chats_effort_counts_up_to_the_highest_of_its_model(default, highest, wanted, sent):
    config = a_config(settings=CallSettings(effort=default), effort_max=highest)

    model = await models_of(config).model_for(a_chat_for(effort=wanted))

    assert sent == model.settings.effort


def test_who_said_something_is_known_by_the_model_that_said_it():
    models = models_of(DEFAULT, OTHER)

    assert str(OTHER.provider.id) == models.identity_of(OTHER.id)
    assert str(DEFAULT.provider.id) == models.identity_of(None)
    assert models.identity_of(ModelConfigId(uuid4())) is None
    assert models_of().identity_of(None) is None
