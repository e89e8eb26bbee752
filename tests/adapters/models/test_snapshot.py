"""The catalogue at one moment: what is stored, what the environment offers, the rehearsal."""

from dataclasses import replace
from uuid import UUID, uuid4

import msgspec
import pytest

from adapters.models.assembling import ProcessFacts, assemble
from adapters.models.provider_config import models_of_environment
from adapters.models.providers.bedrock.aws import AwsKeys, BearerToken
from adapters.models.snapshot import REHEARSAL_MODEL, ModelSource, with_user_key
from adapters.models.store.catalogue import BedrockSecrets, StoredCatalogue, StoredKey
from tests.adapters.models.store.ground import SINCE, a_model, a_provider

KEY = {"ANTHROPIC_API_KEY": "sk-ant", "OPENAI_API_KEY": "sk-oai"}
AMBIENT = AwsKeys("access", "secret", None)


def the_contents(*providers, models=(), environ=None, known=None, ambient=None, opened=None):
    stored = StoredCatalogue(tuple(providers), tuple(models), known or {}, {})
    around = ProcessFacts(
        models_of_environment({"HOME": "/nowhere"} | (environ or {})), ambient, SINCE
    )
    return assemble(stored, around, opened or (lambda sealed, about: sealed.decode()))


def keyed(provider, *keys):
    rows = (StoredKey(uuid4(), key.encode(), "...", SINCE) for key in keys)
    return replace(provider, keys=tuple(rows))


PROVIDER = a_provider()
FIRST, SECOND = a_model(PROVIDER.id, "first"), a_model(PROVIDER.id, "second")
OFF = a_model(PROVIDER.id, "off", enabled=False)
MARKED = a_model(PROVIDER.id, "marked", default=True)


@pytest.mark.parametrize(
    ("providers", "models", "environ", "default"),
    [
        ((), (), {}, "rehearsal"),
        ((), (), KEY, "claude-sonnet-4-5"),
        ((), (), KEY | {"PROMPTCORNER_MODEL": "openai/o"}, "o"),
        ((), (MARKED,), {}, "rehearsal"),
        ((PROVIDER,), (), {}, None),
        ((PROVIDER,), (FIRST, SECOND), {}, "first"),
        ((PROVIDER,), (OFF, SECOND), {}, "second"),
        ((PROVIDER,), (OFF,), {}, "off"),
        ((PROVIDER,), (FIRST, MARKED), {}, "marked"),
        ((PROVIDER,), (FIRST,), KEY, "claude-sonnet-4-5"),
        ((PROVIDER,), (FIRST, MARKED), KEY, "marked"),
    ],
)
def test_there_is_one_default_wherever_there_is_a_model(providers, models, environ, default):
    contents = the_contents(*providers, models=models, environ=environ)

    marked = [model for model in contents.models.values() if model.is_default]
    assert default == (contents.default.model if contents.default else None)
    assert marked == ([contents.default] if contents.default else [])


def test_what_the_environment_offers_stands_beside_what_is_stored():
    contents = the_contents(PROVIDER, models=(FIRST,), environ=KEY)

    assert [
        ("mine", ModelSource.DATABASE, ""),
        ("anthropic", ModelSource.ENVIRONMENT, "ANTHROPIC_API_KEY"),
        ("openai", ModelSource.ENVIRONMENT, "OPENAI_API_KEY"),
    ] == [(each.name, each.source, each.config.variable) for each in contents.providers.values()]
    assert REHEARSAL_MODEL not in contents.models


def test_a_stored_provider_goes_before_one_of_the_environment_of_its_name():
    stored = a_provider("anthropic", "anthropic")

    assert stored.id == the_contents(stored, environ=KEY).named("anthropic").id


def test_whose_a_model_was_is_known_of_all_that_ever_were():
    gone, provider = uuid4(), uuid4()

    contents = the_contents(PROVIDER, models=(FIRST,), environ=KEY, known={gone: provider})

    assert provider == contents.known[gone]
    assert all(
        contents.known[model.id] == model.provider_id
        for model in contents.models.values()
        if model.source is ModelSource.ENVIRONMENT
    )


def test_the_first_key_is_the_one_in_use():
    [provider] = the_contents(keyed(PROVIDER, "one", "two")).providers.values()

    assert ("one", "") == (provider.config.key, provider.fault)
    assert provider.has_credentials


def test_a_key_that_cannot_be_opened_is_a_fault_and_no_key():
    contents = the_contents(
        keyed(a_provider(type="openai"), "one"), opened=lambda sealed, about: ValueError("closed")
    )

    [provider] = contents.providers.values()
    assert ("", "closed", False) == (
        provider.config.key,
        provider.fault,
        provider.has_credentials,
    )


@pytest.mark.parametrize(
    ("type", "keys", "has"),
    [
        ("openai", (), False),
        ("openai", ("k",), True),
        ("openai-compat", (), True),
        ("copilot", (), False),
        ("bedrock", (), False),
    ],
)
def test_who_needs_a_key_and_has_one(type, keys, has):
    [provider] = the_contents(keyed(a_provider(type=type), *keys)).providers.values()

    assert has is provider.has_credentials


def test_bedrock_is_asked_with_its_own_keys_before_those_of_the_machine():
    secrets = msgspec.json.encode(BedrockSecrets("mine", "my secret"))
    region = b'{"_type":"bedrock","region":"eu-west-1"}'
    own = a_provider("own", "bedrock", settings=region, sealed_settings=secrets)
    plain = a_provider("plain", "bedrock")

    contents = the_contents(own, plain, ambient=AMBIENT)

    configs = [each.config for each in contents.providers.values()]
    assert [(AwsKeys("mine", "my secret", None), "eu-west-1"), (AMBIENT, "us-east-1")] == [
        (config.credentials, config.region) for config in configs
    ]


def test_a_users_own_key_takes_the_place_of_the_deployments():
    aws = a_provider("aws", "bedrock")
    models = (FIRST, a_model(aws.id, "on-aws"))

    contents = the_contents(keyed(PROVIDER, "central"), aws, models=models, ambient=AMBIENT)

    mine, on_aws = contents.models.values()
    assert "own" == with_user_key(mine, "own").provider.key
    assert "central" == with_user_key(mine, None).provider.key
    assert BearerToken("own") == with_user_key(on_aws, "own").provider.credentials
    assert AMBIENT == with_user_key(on_aws, None).provider.credentials


@pytest.mark.parametrize("said", [True, False, None])
def test_which_of_openais_interfaces_is_as_the_model_says(said):
    provider = a_provider(type="openai")
    call = {} if said is None else {"openai_config": {"use_responses_api": said}}
    model = a_model(provider.id, call=call)

    [listed] = the_contents(provider, models=(model,)).models.values()

    assert said is listed.config.use_responses_api


def test_a_model_without_its_provider_is_there_and_not_on_offer():
    orphan = a_model(UUID(int=1))

    listed = the_contents(PROVIDER, models=(orphan,)).models[orphan.id]

    assert (None, False) == (listed.provider, listed.is_offered)
