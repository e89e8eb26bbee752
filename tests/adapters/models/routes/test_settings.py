"""What administrators set for the deployment, and users for themselves."""

from uuid import uuid4

import pytest

from adapters.models.routes.settings import DaemonFeatures
from tests.adapters.models.routes.test_model_configs import made
from tests.adapters.models.routes.test_providers import added
from tests.adapters.models.store.calling import Asking

CONFIG = "/api/v2/chats/config"
EFFORTS = {"reasoning_effort": {"default": "low", "max": "high"}}
NIL = "00000000-0000-0000-0000-000000000000"


async def put(asker, name, document):
    return (await asker.put(f"{CONFIG}/{name}", document)).status


async def get(asker, name):
    return (await asker.get(f"{CONFIG}/{name}")).document


@pytest.mark.slow
async def test_a_number_is_kept_within_its_bounds(edge):
    table = [
        ("retention-days", "retention_days", 30, [0, 1, 3650], [-1, 3651, "1", None, 1.5]),
        ("debug-retention-days", "debug_retention_days", 30, [0, 3650], [-1, 3651]),
        ("auto-archive-days", "auto_archive_days", 0, [7, 0, 3650], [-1, 3651]),
        (
            "workspace-ttl",
            "workspace_ttl_ms",
            0,
            [0, 60_000, 30 * 24 * 3_600_000],
            [-1, 59_999, 30 * 24 * 3_600_000 + 1],
        ),
    ]
    for name, field, usual, good, bad in table:
        assert {field: usual} == await get(edge.member, name)
        for value in good:
            assert 204 == await put(edge.admin, name, {field: value})
            assert {field: value} == await get(edge.member, name)
        for value in bad:
            assert 400 == await put(edge.admin, name, {field: value}), value
        assert {field: good[-1]} == await get(edge.member, name)
        assert 403 == await put(edge.member, name, {field: good[0]})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("system-prompt", "system_prompt"),
        ("plan-mode-instructions", "plan_mode_instructions"),
        ("user-prompt", "custom_prompt"),
    ],
)
async def test_prompts_are_made_plain_and_have_a_bound(edge, name, field):
    expected = 200 if name == "user-prompt" else 204
    written = {field: "\u200b be\u202e kind  \r\n\r\n\r\n\r\nalways \t"}

    assert expected == await put(edge.admin, name, written)
    assert "be kind\n\nalways" == (await get(edge.admin, name))[field]
    assert expected == await put(edge.admin, name, {field: "x" * 131_072})
    assert 400 == await put(edge.admin, name, {field: "x" * 131_073})
    assert expected == await put(edge.admin, name, {field: "x" * 131_072 + " " * 1_000})
    assert 400 == await put(edge.admin, name, {})


@pytest.mark.slow
async def test_the_default_prompt_is_included_until_somebody_leaves_it_out(edge):
    first = await get(edge.admin, "system-prompt")
    await put(edge.admin, "system-prompt", {"system_prompt": "ours"})
    second = await get(edge.admin, "system-prompt")
    left_out = {"system_prompt": "ours", "include_default_system_prompt": False}
    await put(edge.admin, "system-prompt", left_out)
    await put(edge.admin, "system-prompt", {"system_prompt": "others"})
    third = await get(edge.admin, "system-prompt")
    [body] = await edge.chats.catalogue.system_messages()

    flag = "include_default_system_prompt"
    assert (True, True, False) == (first[flag], second[flag], third[flag])
    assert first["default_system_prompt"].startswith("You are an agent")
    assert ("", "others") == (first["system_prompt"], third["system_prompt"])
    assert "others" == body.parts[0].text


@pytest.mark.slow
async def test_what_is_for_administrators_is_not_there_for_others(edge):
    hidden = ["system-prompt", "plan-mode-instructions", "model-override/general"]
    hidden += ["personal-model-overrides", "debug-logging"]

    assert [404] * 5 == [(await edge.member.get(f"{CONFIG}/{name}")).status for name in hidden]
    assert [200] * 5 == [(await edge.admin.get(f"{CONFIG}/{name}")).status for name in hidden]
    assert [403] * 5 == [await put(edge.member, name, {}) for name in hidden]
    assert [401] * 5 == [(await edge.nobody.get(f"{CONFIG}/{name}")).status for name in hidden]


@pytest.mark.slow
async def test_a_model_stands_in_for_another_if_it_can_be_asked(edge):
    provider = await added(edge)
    plain = (await made(edge, provider, model="plain"))["id"]
    thinking = (await made(edge, provider, model="thinking", model_config=EFFORTS))["id"]
    off = (await made(edge, provider, model="off", enabled=False))["id"]
    table = [
        ({"model_config_id": thinking, "reasoning_effort": "medium"}, 204),
        ({"model_config_id": thinking}, 204),
        ({"model_config_id": ""}, 204),
        ({"model_config_id": "nonsense"}, 400),
        ({"model_config_id": str(uuid4())}, 400),
        ({"model_config_id": off}, 400),
        ({"model_config_id": "", "reasoning_effort": "low"}, 400),
        ({"model_config_id": plain, "reasoning_effort": "low"}, 400),
        ({"model_config_id": thinking, "reasoning_effort": "xhigh"}, 400),
        ({"model_config_id": thinking, "reasoning_effort": "enormous"}, 400),
    ]

    found = [(said, await put(edge.admin, "model-override/explore", said)) for said, _ in table]
    await put(edge.admin, "model-override/explore", table[0][0])

    assert table == found
    assert {
        "context": "explore",
        "model_config_id": thinking,
        "reasoning_effort": "medium",
        "is_malformed": False,
    } == await get(edge.admin, "model-override/explore")
    assert {"context": "general", "model_config_id": "", "is_malformed": False} == await get(
        edge.admin, "model-override/general"
    )
    assert 400 == await put(edge.admin, "model-override/nonsense", {"model_config_id": ""})


@pytest.mark.slow
async def test_what_cannot_be_read_is_as_good_as_not_set(edge):
    await edge.execute("INSERT INTO settings VALUES ('model_override/compaction', '\"rubbish\"')")
    edge.chats.catalogue.forget()  # nobody tells of what is written by hand

    assert {"context": "compaction", "model_config_id": "", "is_malformed": True} == await get(
        edge.admin, "model-override/compaction"
    )


@pytest.mark.slow
async def test_users_choose_models_where_administrators_allow_it(edge):
    provider = await added(edge)
    mine = (await made(edge, provider, model_config=EFFORTS))["id"]
    name = "user-personal-model-overrides"
    chosen = {"mode": "model", "model_config_id": mine, "reasoning_effort": "low"}
    table = [
        ("root", chosen, 204),
        ("general", {"mode": "chat_default"}, 204),
        ("explore", {"mode": "deployment_default", "model_config_id": ""}, 204),
        ("nonsense", {"mode": "chat_default"}, 400),
        ("root", {"mode": "nonsense"}, 400),
        ("root", {"mode": "deployment_default"}, 400),
        ("root", {"mode": "model"}, 400),
        ("root", {"mode": "model", "model_config_id": str(uuid4())}, 400),
        ("root", {"mode": "chat_default", "model_config_id": mine}, 400),
        ("root", {"mode": "chat_default", "reasoning_effort": "low"}, 400),
        ("root", chosen | {"reasoning_effort": "max"}, 400),
    ]

    before = [await put(edge.member, f"{name}/root", chosen), (await get(edge.member, name))]
    assert 204 == await put(edge.admin, "personal-model-overrides", {"allow_users": True})
    found = [
        (context, said, await put(edge.member, f"{name}/{context}", said))
        for context, said, _ in table
    ]
    after = await get(edge.member, name)

    assert (403, False) == (before[0], before[1]["enabled"])
    assert {"allow_users": True} == await get(edge.admin, "personal-model-overrides")
    assert table == found
    assert {
        "context": "root",
        "mode": "model",
        "model_config_id": mine,
        "reasoning_effort": "low",
        "is_set": True,
        "is_malformed": False,
    } == after["root"]
    assert ("chat_default", "deployment_default", True) == (
        after["general"]["mode"],
        after["explore"]["mode"],
        after["explore"]["is_set"],
    )
    assert {"general", "explore"} == set(after["deployment_defaults"])
    assert "chat_default" == (await get(edge.stranger, name))["root"]["mode"]


@pytest.mark.slow
async def test_model_calls_are_recorded_for_who_wants_it_and_may(edge):
    name = "user-debug-logging"
    refused = await put(edge.member, name, {"debug_logging_enabled": True})
    await put(edge.admin, "debug-logging", {"allow_users": True})
    allowed = await put(edge.member, name, {"debug_logging_enabled": True})
    found = await get(edge.member, name)
    await put(edge.admin, "debug-logging", {"allow_users": False})

    assert (403, 204) == (refused, allowed)
    assert {
        "debug_logging_enabled": True,
        "user_toggle_allowed": True,
        "forced_by_deployment": False,
    } == found
    assert {
        "debug_logging_enabled": False,
        "user_toggle_allowed": False,
        "forced_by_deployment": False,
    } == await get(edge.member, name)
    assert {"allow_users": False, "forced_by_deployment": False} == await get(
        edge.admin, "debug-logging"
    )
    assert 400 == await put(edge.admin, "debug-logging", {})


@pytest.mark.slow
async def test_a_user_says_when_his_chats_are_summarised(edge):
    provider = await added(edge)
    model = (await made(edge, provider))["id"]
    off = (await made(edge, provider, model="off", enabled=False))["id"]
    name = "user-compaction-thresholds"
    table = [
        (model, {"threshold_percent": 0}, 200),
        (model, {"threshold_percent": 100}, 200),
        (model, {"threshold_percent": 101}, 400),
        (model, {"threshold_percent": -1}, 400),
        (model, {}, 400),
        (off, {"threshold_percent": 50}, 400),
        ("nonsense", {"threshold_percent": 50}, 400),
        (str(uuid4()), {"threshold_percent": 50}, 404),
    ]

    found = [(id, said, await put(edge.member, f"{name}/{id}", said)) for id, said, _ in table]
    mine, others = await get(edge.member, name), await get(edge.stranger, name)
    dropped = [(await edge.member.delete(f"{CONFIG}/{name}/{model}")).status for _ in range(2)]

    assert table == found
    assert {"thresholds": [{"model_config_id": model, "threshold_percent": 100}]} == mine
    assert {"thresholds": []} == others == await get(edge.member, name)
    assert [204, 204] == dropped


@pytest.mark.slow
async def test_a_prompt_is_of_the_user_who_set_it(edge):
    answer = await edge.member.put(f"{CONFIG}/user-prompt", {"custom_prompt": "be brief"})

    assert (200, {"custom_prompt": "be brief"}) == (answer.status, answer.document)
    assert {"custom_prompt": "be brief"} == await get(edge.member, "user-prompt")
    assert {"custom_prompt": ""} == await get(edge.stranger, "user-prompt")


@pytest.mark.slow
async def test_an_experiment_that_is_off_is_forbidden_to_all(edge):
    names = ["advisor", "computer-use-provider"]

    assert [403, 403] == [(await edge.member.get(f"{CONFIG}/{name}")).status for name in names]
    assert [403, 403] == [await put(edge.admin, name, {}) for name in names]


ON = DaemonFeatures(frozenset({"chat-advisor", "chat-virtual-desktop"}), debug_logging_forced=True)


async def test_an_advisor_is_as_administrators_set_it(ground):
    api = Asking(ground, ON)
    provider = await ground.add_provider()
    model = str(await ground.add_model(provider, call=EFFORTS))
    usual = {"enabled": True, "max_uses_per_run": 0, "max_output_tokens": 0, "model_config_id": NIL}
    wanted = {
        "max_uses_per_run": 3,
        "max_output_tokens": 100,
        "model_config_id": model,
        "reasoning_effort": "high",
    }

    before = await api.get(f"{CONFIG}/advisor")
    written = await api.put(f"{CONFIG}/advisor", wanted)
    after = await api.get(f"{CONFIG}/advisor")
    refused = [
        await api.put(f"{CONFIG}/advisor", said)
        for said in (
            {"max_uses_per_run": -1},
            {"max_output_tokens": -1},
            {"model_config_id": str(uuid4())},
            {"reasoning_effort": "low"},
            wanted | {"reasoning_effort": "max"},
        )
    ]

    assert (200, usual) == before
    assert 204 == written[0]
    assert (200, {"enabled": True, **wanted}) == after
    assert [400] * 5 == [status for status, _ in refused]


async def test_who_operates_desktops_is_one_of_two(ground):
    api, path = Asking(ground, ON), f"{CONFIG}/computer-use-provider"

    before = await api.get(path)
    statuses = [(await api.put(path, {"provider": who}))[0] for who in ("openai", "google", None)]

    assert (200, {"provider": "anthropic"}) == before
    assert [204, 400, 400] == statuses
    assert (200, {"provider": "openai"}) == await api.get(path)


async def test_what_the_deployment_forces_is_not_for_users_to_choose(ground):
    api, path = Asking(ground, ON), f"{CONFIG}/user-debug-logging"

    found = await api.get(path)

    assert {
        "debug_logging_enabled": True,
        "user_toggle_allowed": False,
        "forced_by_deployment": True,
    } == found[1]
    assert 409 == (await api.put(path, {"debug_logging_enabled": False}))[0]


async def test_no_body_of_a_setting_is_larger_than_a_prompt_may_be_written(ground):
    rows = Asking(ground).rows
    limits = {row.body_bytes_max for row in rows if row.path.startswith(CONFIG) and row.body}

    assert {262_144} == limits
