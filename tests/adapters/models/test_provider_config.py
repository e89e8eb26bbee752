"""What the environment offers: a key that is there is a provider."""

import pytest

from adapters.models.provider_config import models_of_environment
from adapters.models.providers.bedrock.aws import AwsKeys, BearerToken
from adapters.settings.refusals import CannotStart

ALL = {
    "ANTHROPIC_API_KEY": "k",
    "OPENAI_API_KEY": "k",
    "GEMINI_API_KEY": "k",
    "OPENROUTER_API_KEY": "k",
    "AI_GATEWAY_API_KEY": "k",
    "AZURE_OPENAI_API_KEY": "k",
    "AZURE_OPENAI_BASE_URL": "https://r.openai.azure.com",
    "OPENAI_COMPAT_BASE_URL": "http://localhost:8000/v1",
    "AWS_BEARER_TOKEN_BEDROCK": "k",
}


@pytest.fixture
def home(tmp_path):
    """Where nobody has left credentials of AWS."""
    return {"HOME": str(tmp_path)}


def the_one(environ):
    [model] = models_of_environment(environ)
    return model


def test_where_nothing_is_set_nothing_is_offered(home):
    assert () == models_of_environment(home)


@pytest.mark.parametrize(
    ("environ", "model"),
    [
        ({"ANTHROPIC_API_KEY": "k"}, "anthropic/claude-sonnet-4-5"),
        ({"OPENAI_API_KEY": "k"}, "openai/gpt-5"),
        ({"GEMINI_API_KEY": "k"}, "google/gemini-2.5-pro"),
        ({"GOOGLE_API_KEY": "k"}, "google/gemini-2.5-pro"),
        ({"OPENROUTER_API_KEY": "k"}, "openrouter/openrouter/auto"),
        ({"AI_GATEWAY_API_KEY": "k"}, "vercel/openai/gpt-5"),
        ({"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_BASE_URL": "https://r.test"}, "azure/gpt-5"),
    ],
)
def test_a_key_is_a_provider_with_a_model(environ, model, home):
    found = the_one(home | environ)

    assert model == str(found)
    assert "k" == found.provider.key


@pytest.mark.parametrize(
    ("key", "variable"),
    [
        ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ("GEMINI_API_KEY", "GEMINI_BASE_URL"),
        ("OPENROUTER_API_KEY", "OPENROUTER_BASE_URL"),
        ("AI_GATEWAY_API_KEY", "AI_GATEWAY_BASE_URL"),
        ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_BASE_URL"),
        ("OPENAI_COMPAT_API_KEY", "OPENAI_COMPAT_BASE_URL"),
    ],
)
def test_a_provider_is_found_where_its_base_url_says(key, variable, home):
    found = the_one(home | {key: "k", variable: "http://localhost:9/x"})

    assert ("k", "http://localhost:9/x") == (found.provider.key, found.provider.base_url)


@pytest.mark.parametrize("key", ["AZURE_OPENAI_API_KEY", "OPENAI_COMPAT_API_KEY"])
def test_who_is_found_nowhere_in_particular_is_not_offered_without_a_base_url(key, home):
    assert () == models_of_environment(home | {key: "k"})


def test_a_server_of_ones_own_needs_no_key(home):
    found = the_one(home | {"OPENAI_COMPAT_BASE_URL": "http://localhost:8000/v1"})

    assert ("openai-compat/default", "") == (str(found), found.provider.key)


def test_of_two_names_for_a_key_the_first_counts(home):
    found = the_one(home | {"GOOGLE_API_KEY": "second", "GEMINI_API_KEY": "first"})

    assert "first" == found.provider.key


@pytest.mark.parametrize("blank", ["", "  ", "\n"])
def test_a_blank_key_is_no_key(blank, home):
    assert () == models_of_environment(home | {"ANTHROPIC_API_KEY": blank})


def test_blanks_around_a_key_are_not_of_it(home):
    assert "k" == the_one(home | {"ANTHROPIC_API_KEY": " k\n"}).provider.key


def test_bedrock_is_offered_where_credentials_of_aws_are_around(home):
    keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "eu-west-1"}

    signing, bearing = the_one(home | keys), the_one(home | {"AWS_BEARER_TOKEN_BEDROCK": "t"})

    assert ("bedrock", "eu-west-1") == (signing.provider.type, signing.provider.region)
    assert (AwsKeys("a", "s", None), BearerToken("t")) == (
        signing.provider.credentials,
        bearing.provider.credentials,
    )


def test_the_default_bedrock_model_is_bound_to_no_geography(home):
    found = the_one(home | {"AWS_BEARER_TOKEN_BEDROCK": "t", "AWS_REGION": "eu-west-1"})

    assert found.model.startswith("anthropic.")


def test_all_at_once_stand_in_a_fixed_order(home):
    names = [model.provider.name for model in models_of_environment(home | ALL)]

    assert [
        "anthropic",
        "openai",
        "google",
        "openrouter",
        "vercel",
        "azure",
        "openai-compat",
        "bedrock",
    ] == names


@pytest.mark.parametrize("provider", ["anthropic", "openai-compat", "bedrock"])
def test_the_model_that_is_asked_for_comes_first_and_stands_for_its_provider(provider, home):
    models = models_of_environment(home | ALL | {"PROMPTCORNER_MODEL": f"{provider}/big"})

    assert f"{provider}/big" == str(models[0])
    assert 8 == len({model.provider.name for model in models}) == len(models)


def test_a_name_of_a_model_may_have_slashes(home):
    models = models_of_environment(
        home | ALL | {"PROMPTCORNER_MODEL": "vercel/anthropic/claude-opus-4.1"}
    )

    assert "anthropic/claude-opus-4.1" == models[0].model


@pytest.mark.parametrize(
    ("wanted", "refusal"),
    [
        ("gpt-5", "PROMPTCORNER_MODEL=gpt-5, must be provider/model"),
        ("openai/", "PROMPTCORNER_MODEL=openai/, must be provider/model"),
        ("/gpt-5", "PROMPTCORNER_MODEL=/gpt-5, must be provider/model"),
        (
            "openai/gpt-5",
            "PROMPTCORNER_MODEL=openai/gpt-5,"
            " but the providers with a key are: anthropic, openrouter",
        ),
    ],
)
def test_a_model_that_cannot_be_had_is_refused(wanted, refusal, home):
    keys = {"ANTHROPIC_API_KEY": "k", "OPENROUTER_API_KEY": "k"}

    with pytest.raises(CannotStart) as refused:
        models_of_environment(home | keys | {"PROMPTCORNER_MODEL": wanted})

    assert f"config: {refusal}" == str(refused.value)


def test_without_any_key_a_model_is_refused(home):
    with pytest.raises(CannotStart) as refused:
        models_of_environment(home | {"PROMPTCORNER_MODEL": "openai/gpt-5"})

    assert str(refused.value).endswith("the providers with a key are: none")


def test_openrouter_is_not_asked_as_if_it_were_openai(home):
    environ = {
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": "https://openrouter.ai/api/v1",
        "PROMPTCORNER_MODEL": "openai/anthropic/claude-opus-4.1",
    }

    with pytest.raises(CannotStart) as refused:
        models_of_environment(home | environ)

    assert (
        "config: model openai/anthropic/claude-opus-4.1: the base URL is that of OpenRouter,"
        " which needs a provider of type openrouter"
    ) == str(refused.value)


@pytest.mark.parametrize("url", ["openrouter.ai", "ftp://a.test", "http://", "http://a:99999/v1"])
def test_a_base_url_that_is_none_is_refused_before_anything_starts(url, home):
    with pytest.raises(CannotStart, match=r"^config: model openai/gpt-5: "):
        models_of_environment(home | {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": url})


def test_the_same_names_have_the_same_ids_in_every_start(home):
    first, again = (
        models_of_environment(home | ALL),
        models_of_environment(home | ALL | {"OPENAI_API_KEY": "other"}),
    )

    assert [(m.id, m.provider.id) for m in first] == [(m.id, m.provider.id) for m in again]
    assert 16 == len({id for model in first for id in (model.id, model.provider.id)})
    assert "09f95d10-49ad-585f-808f-f0f42edf0cb2" == str(first[0].id)


def test_no_key_shows_in_a_repr(home):
    secrets = {name: f"secret-{name}" for name in ALL if "URL" not in name}

    assert "secret" not in repr(models_of_environment(home | ALL | secrets))
