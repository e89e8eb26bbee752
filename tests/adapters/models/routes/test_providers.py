"""Providers and their keys, as administrators write them and clients see them."""

import json
from uuid import uuid4

import pytest

from adapters.models.routes.wire import (
    AIProviderKeyChange,
    CreateAIProviderRequest,
    UpdateAIProviderRequest,
    UpsertUserAIProviderKeyRequest,
    WrittenBedrockSettings,
)

PROVIDERS = "/api/v2/ai/providers"
MOCK = f"{PROVIDERS}/coder-scaletest-mock"
MODELS = "/api/experimental/chats/model-configs"
URL = "http://127.0.0.1:8080/v1"
KEY = "sk-0123456789abcdefghij"


def a_provider(**said):
    usual = {
        "type": "openai-compat",
        "name": "mine",
        "enabled": True,
        "base_url": URL,
        "api_keys": [KEY],
    }
    return {name: value for name, value in (usual | said).items() if value is not None}


async def added(edge, **said):
    answer = await edge.admin.post(PROVIDERS, a_provider(**said))
    assert 201 == answer.status, answer.document
    return answer.document


async def patched(edge, provider, **said):
    return await edge.admin.patch(f"{PROVIDERS}/{provider['id']}", said)


@pytest.mark.slow
async def test_the_load_generator_sets_up_its_model(edge):
    mock = {
        "type": "openai-compat",
        "name": "coder-scaletest-mock",
        "display_name": "Scaletest LLM Mock",
        "enabled": True,
        "base_url": URL,
        "api_keys": ["coder-scaletest"],
    }
    before = await edge.admin.get(MOCK)
    created = await edge.admin.post(PROVIDERS, mock)
    found = (await edge.admin.get(MOCK)).document
    listed = (await edge.admin.get(MODELS)).document
    model = await edge.admin.post(
        MODELS,
        {
            "ai_provider_id": found["id"],
            "model": "scaletest-model",
            "display_name": "Scaletest Model",
            "enabled": True,
            "is_default": False,
            "context_limit": 4096,
        },
    )

    assert [404, 201, 201] == [before.status, created.status, model.status]
    assert created.document == found
    assert ("openai-compat", "Scaletest LLM Mock", True, URL, None) == tuple(
        found[name] for name in ("type", "display_name", "enabled", "base_url", "settings")
    )
    [key] = found["api_keys"]
    assert {"id", "masked", "created_at"} == set(key)
    assert "co...st" == key["masked"]
    assert found["id"] not in [each["ai_provider_id"] for each in listed]
    [again] = [
        each
        for each in (await edge.admin.get(MODELS)).document
        if each["id"] == model.document["id"]
    ]
    assert model.document == again
    assert (found["id"], "scaletest-model", True, 4096, 70) == tuple(
        again[name]
        for name in ("ai_provider_id", "model", "enabled", "context_limit", "compression_threshold")
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080/v1",
        "http://127.0.0.1:8080/v1/",
        "HTTPS://Example.ORG:443//a/../b?x=%7e&y=<>#z",
        "http://[::1]:1/ü",
    ],
)
async def test_an_address_comes_back_byte_for_byte(edge, url):
    provider = await added(edge, base_url=url)

    assert url == provider["base_url"]
    assert url == (await edge.admin.get(f"{PROVIDERS}/mine")).document["base_url"]
    assert url == (await patched(edge, provider, enabled=False)).document["base_url"]


@pytest.mark.slow
async def test_what_is_wrong_with_a_new_provider_is_said_field_by_field(edge):
    table = [
        ({"type": None}, "type"),
        ({"type": "skynet"}, "type"),
        ({"name": None}, "name"),
        ({"name": "Upper"}, "name"),
        ({"name": "two--hyphens"}, "name"),
        ({"name": "-a"}, "name"),
        ({"name": "a" * 129}, "name"),
        ({"base_url": None}, "base_url"),
        ({"base_url": "example.org"}, "base_url"),
        ({"base_url": "ftp://example.org"}, "base_url"),
        ({"base_url": "http://"}, "base_url"),
        ({"base_url": "http://a b"}, "base_url"),
        ({"base_url": "http://a:port"}, "base_url"),
        ({"display_name": "a\0b"}, "display_name"),
        ({"icon": "x" * 2049}, "icon"),
        ({"api_keys": [""]}, "api_keys"),
        ({"api_keys": [" key"]}, "api_keys"),
        ({"api_keys": ["k" * 10241]}, "api_keys"),
        ({"api_keys": ["k"] * 33}, "api_keys"),
        ({"type": "bedrock"}, "api_keys"),
        ({"type": "copilot"}, "api_keys"),
        ({"settings": {"region": "eu-west-1"}}, "settings"),
        (
            {"type": "bedrock", "api_keys": None, "settings": {"access_key": "a"}},
            "settings.access_key",
        ),
        (
            {"type": "bedrock", "api_keys": None, "settings": {"role_arn": "arn:x"}},
            "settings.role_arn",
        ),
    ]
    found = []
    for said, _ in table:
        answer = await edge.admin.post(PROVIDERS, a_provider(**said))
        fields = [each["field"] for each in answer.document.get("validations", ())]
        found.append((said, fields[0] if answer.status == 400 and fields else answer.status))

    assert table == found
    assert ["openai-compat"] == [
        each["name"] for each in (await edge.admin.get(PROVIDERS)).document
    ]


@pytest.mark.slow
async def test_a_name_is_given_once(edge):
    await added(edge)

    again = await edge.admin.post(PROVIDERS, a_provider())
    of_environment = await edge.admin.post(PROVIDERS, a_provider(name="openai-compat"))

    assert [409, 409] == [again.status, of_environment.status]
    assert "mine" in again.document["message"]


@pytest.mark.slow
async def test_a_provider_is_found_by_id_and_by_name_and_removed_once(edge):
    provider = await added(edge)
    one = f"{PROVIDERS}/{provider['id']}"

    found = [await edge.admin.get(one), await edge.admin.get(f"{PROVIDERS}/mine")]
    removed = [await edge.admin.delete(f"{PROVIDERS}/mine"), await edge.admin.delete(one)]
    after = [await edge.admin.get(one), await edge.admin.get(f"{PROVIDERS}/mine")]
    unknown = await edge.admin.get(f"{PROVIDERS}/{uuid4()}")
    neither = await edge.admin.get(f"{PROVIDERS}/Not_A_Name")

    assert [provider, provider] == [answer.document for answer in found]
    assert [204, 404] == [answer.status for answer in removed]
    assert [404, 404] == [answer.status for answer in after]
    assert [404, 400] == [unknown.status, neither.status]
    assert "mine" == (await added(edge))["name"]


@pytest.mark.slow
async def test_what_a_patch_leaves_out_stays(edge):
    provider = await added(edge, display_name="Mine", icon="/i.svg")

    changed = (await patched(edge, provider, display_name="Ours", icon=None)).document

    assert ("Ours", "/i.svg") == (changed["display_name"], changed["icon"])
    assert provider["api_keys"] == changed["api_keys"]
    assert 400 == (await patched(edge, provider)).status
    assert 400 == (await patched(edge, provider, name="other")).status
    assert 400 == (await patched(edge, provider, base_url="nowhere")).status
    assert 404 == (await edge.admin.patch(f"{PROVIDERS}/{uuid4()}", {"icon": "x"})).status


@pytest.mark.slow
async def test_a_list_of_keys_is_what_there_is_from_then_on(edge):
    provider = await added(edge, api_keys=["first-key-1", "second-key-2"])
    first, second = provider["api_keys"]

    kept = await patched(edge, provider, api_keys=[{"id": second["id"]}, {"api_key": "third-key"}])
    unknown = await patched(edge, provider, api_keys=[{"id": str(uuid4())}])
    both = await patched(edge, provider, api_keys=[{"id": second["id"], "api_key": "x"}])
    neither = await patched(edge, provider, api_keys=[{}])
    twice = await patched(edge, provider, api_keys=[{"id": second["id"]}] * 2)
    still = (await edge.admin.get(f"{PROVIDERS}/mine")).document
    cleared = await patched(edge, provider, api_keys=[])

    assert ["fi...-1", "se...-2"] == [first["masked"], second["masked"]]
    assert [second["id"]] == [key["id"] for key in kept.document["api_keys"]][:1]
    assert ["se...-2", "t...y"] == [key["masked"] for key in kept.document["api_keys"]]
    assert [400, 400, 400, 400] == [each.status for each in (unknown, both, neither, twice)]
    assert kept.document["api_keys"] == still["api_keys"]
    assert [] == cleared.document["api_keys"]


@pytest.mark.slow
async def test_bedrock_keeps_its_secrets_to_itself(edge):
    settings = {"_type": "bedrock", "_version": 1, "region": "eu-west-1"}
    secrets = {"access_key": "AKIA-SECRET", "access_key_secret": "VERY-SECRET"}
    provider = await added(edge, type="bedrock", api_keys=None, settings=settings | secrets)

    changed = (await patched(edge, provider, settings={"region": "us-east-1"})).document
    contents = await edge.chats.catalogue.snapshot()

    assert settings == provider["settings"]
    assert {**settings, "region": "us-east-1"} == changed["settings"]
    config = contents.named("mine").config
    assert ("VERY-SECRET", "us-east-1") == (config.credentials.secret_key, config.region)
    assert "SECRET" not in repr(contents) + json.dumps(changed)


@pytest.mark.slow
async def test_what_comes_from_the_environment_is_shown_and_changed_there(edge):
    [provider] = (await edge.admin.get(PROVIDERS)).document
    one = f"{PROVIDERS}/{provider['id']}"
    [model] = (await edge.admin.get(MODELS)).document

    refused = [
        await edge.admin.patch(one, {"enabled": False}),
        await edge.admin.delete(one),
        await edge.admin.patch(f"{MODELS}/{model['id']}", {"display_name": "x"}),
        await edge.admin.delete(f"{MODELS}/{model['id']}"),
    ]

    assert ("environment", "openai-compat") == (provider["source"], provider["type"])
    assert ("environment", True) == (model["source"], model["is_default"])
    assert [409] * 4 == [answer.status for answer in refused]
    assert all("OPENAI_COMPAT_BASE_URL" in answer.document["detail"] for answer in refused)


@pytest.mark.slow
async def test_only_administrators_see_providers(edge):
    await added(edge)

    asked = [
        await asker.ask(method, path, {} if method != "GET" else None)
        for asker in (edge.member, edge.nobody)
        for method, path in (
            ("GET", PROVIDERS),
            ("GET", f"{PROVIDERS}/mine"),
            ("POST", PROVIDERS),
            ("PATCH", f"{PROVIDERS}/mine"),
            ("DELETE", f"{PROVIDERS}/mine"),
        )
    ]

    assert [403] * 5 + [401] * 5 == [answer.status for answer in asked]


@pytest.mark.slow
async def test_no_answer_and_no_log_has_a_key_in_it(edge, caplog):
    with caplog.at_level("DEBUG"):
        provider = await added(edge)
        answers = [
            await edge.admin.get(PROVIDERS),
            await edge.admin.post(PROVIDERS, a_provider()),
            await edge.admin.post(PROVIDERS, a_provider(name="Wrong")),
            await edge.admin.post(PROVIDERS, a_provider(name="other", api_keys=[f" {KEY}"])),
            await edge.admin.post(PROVIDERS, body=json.dumps(a_provider(api_keys=KEY)).encode()),
            await patched(edge, provider, api_keys=[{"api_key": KEY}]),
        ]
    stored = await edge.execute("SELECT sealed::text FROM ai_provider_keys")
    contents = await edge.chats.catalogue.snapshot()

    assert all(KEY not in answer.body.decode() for answer in answers)
    assert KEY not in caplog.text
    assert KEY not in repr(contents)
    assert KEY.encode().hex() not in str(stored)


@pytest.mark.parametrize(
    "written",
    [
        CreateAIProviderRequest(name="mine", api_keys=[KEY]),
        UpdateAIProviderRequest(api_keys=[AIProviderKeyChange(api_key=KEY)]),
        AIProviderKeyChange(api_key=KEY),
        UpsertUserAIProviderKeyRequest(KEY),
        WrittenBedrockSettings(access_key=KEY, access_key_secret=KEY),
        CreateAIProviderRequest(settings=WrittenBedrockSettings(access_key_secret=KEY)),
    ],
    ids=lambda written: type(written).__name__,
)
def test_what_is_written_does_not_show_its_secrets(written):
    assert KEY not in repr(written)
