"""Models, as administrators write them; what is on offer to others; which one is the default."""

from uuid import uuid4

import pytest
import trio

from adapters.models.routes.presenters import (
    FETCHES_ALONE,
    NO_FETCH_AT_BEDROCK,
    NO_SEARCH_AT_BEDROCK,
    NO_SEARCH_OVER_CHAT,
    SEARCHES_ALONE,
)
from tests.adapters.models.routes.test_providers import MODELS, PROVIDERS, added

OFFER = "/api/experimental/chats/models"


def a_model(provider, **said):
    usual = {"ai_provider_id": provider["id"], "model": "m", "context_limit": 4096}
    return {name: value for name, value in (usual | said).items() if value is not None}


async def made(edge, provider, **said):
    answer = await edge.admin.post(MODELS, a_model(provider, **said))
    assert 201 == answer.status, answer.document
    return answer.document


async def listed(asker):
    return (await asker.get(MODELS)).document


async def defaults(edge):
    return [model["id"] for model in await listed(edge.admin) if model["is_default"]]


@pytest.mark.slow
async def test_a_model_is_all_that_was_written(edge):
    provider = await added(edge, type="openai")
    call = {
        "max_output_tokens": 100,
        "temperature": 0.5,
        "reasoning_effort": {"default": "low", "max": "high"},
        "openai_config": {"use_responses_api": False},
        "provider_options": {
            "openai": {"logit_bias": {"1": -1}, "web_search_enabled": True, "metadata": {"a": [1]}}
        },
    }

    model = await made(
        edge,
        provider,
        model=" gpt-x ",
        display_name="X",
        enabled=False,
        is_default=True,
        compression_threshold=100,
        model_config={**call, "cost": {"input": 1}, "top_k": None, "unknown": 1},
    )

    assert call == model["model_config"]
    assert ["none", "minimal", "low", "medium", "high"] == model["reasoning_efforts"]
    assert ("gpt-x", "X", False, True, 4096, 100, "database") == tuple(
        model[name]
        for name in (
            "model",
            "display_name",
            "enabled",
            "is_default",
            "context_limit",
            "compression_threshold",
            "source",
        )
    )


@pytest.mark.slow
async def test_a_search_that_a_model_will_never_make_is_warned_of_where_it_is_switched_on(edge):
    google, openai, anthropic = [
        await added(edge, type=type, name=type) for type in ("google", "openai", "anthropic")
    ]

    def searching(family, **more):
        options = {"provider_options": {family: {"web_search_enabled": True}}}
        return {"model_config": options | more}

    chat = {"openai_config": {"use_responses_api": False}}
    old = await made(edge, google, model="gemini-2.5-pro", **searching("google"))
    new = await made(edge, google, model="gemini-3-pro-preview", **searching("google"))
    none = await made(edge, google, model="gemini-2.5-flash")
    plain = await made(edge, openai, model="gpt-5", **searching("openai", **chat))
    search = await made(edge, openai, model="gpt-4o-search-preview", **searching("openai", **chat))
    responses = await made(edge, openai, model="gpt-5.1", **searching("openai"))
    claude = await made(edge, anthropic, model="claude-x", **searching("anthropic"))

    aws = await added(edge, type="bedrock", name="aws", api_keys=None)
    aws_searches = [
        await made(edge, aws, model=name, **searching("anthropic"))
        for name in ("anthropic.claude-z", "us.amazon.nova-pro-v1:0")
    ]

    reads = {
        family: {"model_config": {"provider_options": {family: {"web_fetch_enabled": True}}}}
        for family in ("google", "anthropic")
    }
    page = await made(edge, google, model="gemini-2.5-flash-lite", **reads["google"])
    pages = await made(edge, google, model="gemini-3.1-pro", **reads["google"])
    there = await made(edge, anthropic, model="claude-y", **reads["anthropic"])
    aws_pages = [
        await made(edge, aws, model=name, **reads["anthropic"])
        for name in ("anthropic.claude-x", "amazon.nova-lite-v1:0")
    ]

    assert [FETCHES_ALONE] == page["warnings"]
    assert [[NO_FETCH_AT_BEDROCK]] * 2 == [model["warnings"] for model in aws_pages]
    assert [SEARCHES_ALONE] == old["warnings"]
    assert [[NO_SEARCH_AT_BEDROCK]] * 2 == [model["warnings"] for model in aws_searches]
    assert [NO_SEARCH_OVER_CHAT] == plain["warnings"]
    for model in (new, none, search, responses, claude, pages, there):
        assert "warnings" not in model
    changed = await edge.admin.patch(f"{MODELS}/{old['id']}", {"model": "gemini-3-flash-preview"})
    assert "warnings" not in changed.document


@pytest.mark.slow
async def test_what_is_wrong_with_a_model_is_said_field_by_field(edge):
    provider = await added(edge)
    off = await added(edge, name="off", enabled=False)
    router = await added(
        edge, name="router", type="openai", base_url="https://openrouter.ai/api/v1"
    )
    effort = "model_config.reasoning_effort"
    options = "model_config.provider_options"
    table = [
        ({"ai_provider_id": None}, 400, "ai_provider_id"),
        ({"ai_provider_id": str(uuid4())}, 412, "ai_provider_id"),
        ({"ai_provider_id": off["id"]}, 412, "ai_provider_id"),
        ({"ai_provider_id": router["id"], "model": "vendor/m"}, 400, "model"),
        ({"model": None}, 400, "model"),
        ({"model": "  "}, 400, "model"),
        ({"context_limit": None}, 400, "context_limit"),
        ({"context_limit": 0}, 400, "context_limit"),
        ({"context_limit": -1}, 400, "context_limit"),
        ({"context_limit": "4096"}, 400, "context_limit"),
        ({"compression_threshold": -1}, 400, "compression_threshold"),
        ({"compression_threshold": 101}, 400, "compression_threshold"),
        ({"model_config": {"reasoning_effort": {"default": "low"}}}, 400, effort),
        ({"model_config": {"reasoning_effort": {"max": "low"}}}, 400, effort),
        (
            {"model_config": {"reasoning_effort": {"default": "x", "max": "low"}}},
            400,
            f"{effort}.default",
        ),
        (
            {"model_config": {"reasoning_effort": {"default": "high", "max": "low"}}},
            400,
            f"{effort}.default",
        ),
        (
            {"model_config": {"provider_options": {"anthropic": {"thinking_display": "x"}}}},
            400,
            f"{options}.anthropic.thinking_display",
        ),
        (
            {
                "model_config": {
                    "provider_options": {
                        "anthropic": {"allowed_domains": ["a"], "blocked_domains": ["b"]}
                    }
                }
            },
            400,
            f"{options}.anthropic.allowed_domains",
        ),
        (
            {
                "model_config": {
                    "provider_options": {"google": {"thinking_config": {"thinking_level": "x"}}}
                }
            },
            400,
            f"{options}.google.thinking_config.thinking_level",
        ),
        (
            {
                "model_config": {
                    "provider_options": {
                        "google": {
                            "thinking_config": {"thinking_level": "low", "thinking_budget": 0}
                        }
                    }
                }
            },
            400,
            f"{options}.google.thinking_config.thinking_budget",
        ),
    ]

    found = []
    for said, _, _ in table:
        answer = await edge.admin.post(MODELS, a_model(provider, **said) | said)
        found.append((said, answer.status, answer.document["validations"][0]["field"]))

    assert table == found
    assert 1 == len(await listed(edge.admin))


@pytest.mark.slow
async def test_what_a_patch_of_a_model_leaves_out_or_empty_stays(edge):
    provider = await added(edge)
    call = {"temperature": 1.0}
    model = await made(edge, provider, display_name="M", model_config=call)
    one = f"{MODELS}/{model['id']}"

    renamed = await edge.admin.patch(one, {"model": " ", "display_name": "", "context_limit": 9})
    recalled = await edge.admin.patch(one, {"model_config": {"top_p": 0.5}})
    wrong = await edge.admin.patch(one, {"context_limit": 0})
    unknown = await edge.admin.patch(f"{MODELS}/{uuid4()}", {"model": "x"})
    bad = await edge.admin.patch(f"{MODELS}/nonsense", {"model": "x"})

    assert ("m", "M", 9, call) == tuple(
        renamed.document[name]
        for name in ("model", "display_name", "context_limit", "model_config")
    )
    assert {"top_p": 0.5} == recalled.document["model_config"]
    assert [400, 404, 400] == [wrong.status, unknown.status, bad.status]


@pytest.mark.slow
async def test_the_default_is_one_whatever_is_asked_for(edge):
    [offered] = await defaults(edge)
    provider = await added(edge)
    first = await made(edge, provider, model="first")
    beside = await defaults(edge)
    marked = await made(edge, provider, model="second", is_default=True)
    moved = await defaults(edge)
    await edge.admin.patch(f"{MODELS}/{first['id']}", {"is_default": True})
    again = await defaults(edge)
    await edge.admin.patch(f"{MODELS}/{first['id']}", {"is_default": False})
    unset = await defaults(edge)

    assert [offered] == beside
    assert [marked["id"]] == moved
    assert [first["id"]] == again
    assert [offered] == unset
    assert [204, 404] == [
        (await edge.admin.delete(f"{MODELS}/{first['id']}")).status for _ in range(2)
    ]


@pytest.mark.slow
async def test_others_see_what_is_on_offer(edge):
    on = await added(edge)
    off = await added(edge, name="off", enabled=True)
    mine = await made(edge, on)
    await made(edge, on, model="hidden", enabled=False)
    await made(edge, off, model="dark")
    await edge.admin.patch(f"{PROVIDERS}/off", {"enabled": False})

    for_member = [model["model"] for model in await listed(edge.member)]
    for_admin = [model["model"] for model in await listed(edge.admin)]
    refused = [
        await edge.member.post(MODELS, a_model(on)),
        await edge.member.patch(f"{MODELS}/{mine['id']}", {"enabled": False}),
        await edge.member.delete(f"{MODELS}/{mine['id']}"),
    ]

    assert ["default", "m"] == for_member
    assert ["dark", "default", "hidden", "m"] == for_admin
    assert [403] * 3 == [answer.status for answer in refused]


@pytest.mark.slow
async def test_what_one_could_ask_is_listed_by_type_of_provider(edge):
    compat = await added(edge)
    openai = await added(edge, name="keyless", type="openai", api_keys=None)
    await added(edge, name="pilot", type="copilot", api_keys=None)
    await made(edge, compat, model="b", display_name="Bee")
    await made(edge, compat, model="B")
    await made(edge, openai, model="gpt-5")

    offer = (await edge.member.get(OFFER)).document

    assert ["openai", "openai-compat"] == [each["provider"] for each in offer["providers"]]
    openai, compat = offer["providers"]
    assert (False, "user_api_key_required") == (openai["available"], openai["unavailable_reason"])
    assert {"provider", "available", "models"} == set(compat)
    assert ["openai-compat:b", "openai-compat:default"] == [each["id"] for each in compat["models"]]
    assert {
        "id": "openai-compat:b",
        "provider": "openai-compat",
        "model": "b",
        "display_name": "Bee",
    } == compat["models"][0]
    assert [{"provider": "copilot", "display_name": "GitHub Copilot"}] == (
        offer["unsupported_providers"]
    )


@pytest.mark.slow
async def test_a_model_of_the_environments_provider_may_be_added(edge):
    [provider] = (await edge.admin.get(PROVIDERS)).document

    model = await made(edge, provider, model="another")

    assert provider["id"] == model["ai_provider_id"]
    assert "another" in [each["model"] for each in await listed(edge.member)]


@pytest.mark.slow
async def test_posts_at_the_same_moment_make_one_provider_and_one_default(edge):
    provider = await added(edge)
    statuses = []

    async def post(path, document):
        statuses.append((path, (await edge.admin.post(path, document)).status))

    async with trio.open_nursery() as nursery:
        for number in range(6):
            nursery.start_soon(post, MODELS, a_model(provider, model=f"m{number}", is_default=True))
            named = {"type": "openai-compat", "name": "same", "base_url": "http://a/v1"}
            nursery.start_soon(post, PROVIDERS, named)

    assert [201] + [409] * 5 == sorted(status for path, status in statuses if path == PROVIDERS)
    assert [201] * 6 == [status for path, status in statuses if path == MODELS]
    assert 1 == len(await defaults(edge))


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [MODELS, OFFER, PROVIDERS, "/api/v2/organizations/default/chats/models"]
)
async def test_a_catalogue_that_has_not_changed_is_not_sent_again(edge, path):
    first = await edge.admin.get(path)
    again = await edge.admin.get(path, headers={"if-none-match": first.headers["etag"]})
    await made(edge, await added(edge), model="another")
    changed = await edge.admin.get(path, headers={"if-none-match": first.headers["etag"]})

    assert [200, 304, 200] == [first.status, again.status, changed.status]
