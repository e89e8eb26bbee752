"""What was spent, as users and administrators are told, and as `promptcorner usage` prints it."""

import csv
import io

import trio

from adapters.cli.main import main
from tests.adapters.daemon.access_matrix import CHATS
from tests.adapters.edges import ADMIN_TOKEN
from tests.adapters.models.spend.given import (
    DEAR,
    DOLLAR,
    PRICES,
    USAGE,
    a_chat,
    all_paid,
    at_rest,
    good,
    set_limit,
    spend_of,
    state_price,
)


async def test_what_was_spent_is_told_by_user_model_label_and_day(edge, capsys):
    await state_price(edge)
    chat = await a_chat(edge, labels={"team": "blue"})
    other = await a_chat(edge, who=edge.stranger)
    for each in (chat, other):
        await all_paid(edge, each)
    mine = (await good(edge.member.get(f"{CHATS}/{chat}/cost")))["total_cost_micros"]

    [row] = (await good(edge.member.get(f"{USAGE}?by=user,model,day&label=team")))["rows"]
    assert ("member", "blue", mine) == (row["username"], row["label"], row["cost_micros"])
    assert row["model"].startswith("openai-compat/")
    assert 0 == row["unpriced_request_count"]
    assert row["input_tokens"] > 0

    rows = (await good(edge.admin.get(f"{USAGE}?by=user")))["rows"]
    assert {"member", "stranger"} == {each["username"] for each in rows}
    assert 404 == (await edge.member.get(f"{USAGE}?user=stranger")).status

    export = f"/api/v2/organizations/{edge.organization}/ai/spend/export"
    table = await edge.admin.get(export)
    assert table.headers["content-type"].startswith("text/csv")
    read = list(csv.DictReader(io.StringIO(table.body.decode())))
    assert mine == sum(int(each["cost_micros"]) for each in read if each["username"] == "member")

    asked = ["usage", "--by", "user", "--url", edge.url, "--token", ADMIN_TOKEN]
    assert 0 == await trio.to_thread.run_sync(main, asked)
    said = capsys.readouterr().out
    assert "member" in said
    assert f"{mine / DOLLAR:.4f}" in said


async def test_what_a_deleted_chat_has_cost_is_kept(edge):
    await state_price(edge)
    chat = await a_chat(edge, labels={"team": "blue"})
    await all_paid(edge, chat)
    asked = f"{USAGE}?by=user,day,what&label=team"
    before = (await good(edge.member.get(asked)))["rows"]

    await edge.execute("DELETE FROM chats WHERE id = %(id)s", {"id": chat})

    assert before == (await good(edge.member.get(asked)))["rows"]


async def test_questions_that_make_no_sense_are_refused(edge):
    for query in (
        "by=planet",
        "from=yesterday",
        "from=2026-02-02&to=2026-02-01",
        "from=2020-01-01&to=2026-01-01",
        "format=xml",
    ):
        assert 400 == (await edge.member.get(f"{USAGE}?{query}")).status, query
    for prices in (
        {"prices": {"no-slash": DEAR}},
        {"prices": {"a/b": {"input": "much", "output": "1"}}},
        {"prices": {"a/b": {"input": "-1", "output": "1"}}},
        {"prices": {"a/b": {"input": "NaN", "output": "1"}}},
        {"prices": {}, "default_price": {"input": "1"}},
    ):
        assert 400 == (await edge.admin.put(PRICES, prices)).status, prices
    for limit in (
        {"scope": "user", "period": "day", "limit_micros": 1},
        {"scope": "deployment", "period": "day", "limit_micros": -1},
        {"scope": "deployment", "period": "week", "limit_micros": 1},
        {"scope": "deployment", "period": "day", "limit_micros": 10**13},
        {"scope": "group", "period": "day", "limit_micros": 1, "subject_id": str(edge.member.id)},
    ):
        assert 400 == (await edge.admin.put("/api/v2/ai/limits", limit)).status, limit


async def test_budgets_of_groups_and_users_are_those_of_a_month(edge):
    groups = f"/api/v2/organizations/{edge.organization}/groups"
    group = await good(edge.admin.post(groups, {"name": "painters"}))
    path = f"/api/v2/groups/{group['id']}"
    budget, override = f"{path}/ai/budget", "/api/v2/users/member/ai/budget/override"
    assert 409 == (await edge.admin.post(groups, {"name": "Painters"})).status
    assert 404 == (await edge.admin.get(budget)).status

    changed = await good(edge.admin.patch(path, {"add_users": ["member"]}))
    assert ["member"] == [each["username"] for each in changed["members"]]
    await good(edge.admin.put(budget, {"spend_limit_micros": 5 * DOLLAR}))
    everyone = f"/api/v2/groups/{edge.organization}/ai/budget"
    await good(edge.admin.put(everyone, {"spend_limit_micros": 9 * DOLLAR}))

    mine, theirs = await spend_of(edge), await spend_of(edge, edge.stranger)
    assert (5 * DOLLAR, "group") == (mine["spend_limit_micros"], mine["limit_source"])
    assert "painters" == mine["limits"][0]["name"]
    assert 9 * DOLLAR == theirs["spend_limit_micros"]

    wrong = {"spend_limit_micros": 1, "group_id": group["id"]}
    assert 400 == (await edge.admin.put("/api/v2/users/stranger/ai/budget/override", wrong)).status
    await good(edge.admin.put(override, {**wrong, "spend_limit_micros": 7 * DOLLAR}))
    mine = await spend_of(edge)
    assert (7 * DOLLAR, "user") == (mine["spend_limit_micros"], mine["limit_source"])
    members = await good(edge.admin.get(f"{path}/members/ai/spend"))
    assert [7 * DOLLAR] == [each["spend_limit_micros"] for each in members["members"]]

    await good(edge.admin.patch(path, {"remove_users": ["member"]}))
    assert 404 == (await edge.admin.get(override)).status
    assert 9 * DOLLAR == (await spend_of(edge))["spend_limit_micros"]
    await good(edge.admin.delete(path))
    assert 404 == (await edge.admin.get(path)).status


async def test_a_price_of_a_model_goes_before_the_default_one(edge):
    chat = await a_chat(edge)
    await at_rest(edge, chat, "waiting")
    [row] = (await good(edge.member.get(f"{USAGE}?by=model")))["rows"]
    assert row["unpriced_request_count"] == row["request_count"]

    free = {"input": "0", "output": "0"}
    await good(edge.admin.put(PRICES, {"prices": {row["model"]: free}, "default_price": DEAR}))
    assert free == (await good(edge.admin.get(PRICES)))["prices"][row["model"]]
    await set_limit(edge, hard=DOLLAR)
    another = await a_chat(edge)
    await at_rest(edge, another, "waiting")

    cost = await good(edge.member.get(f"{CHATS}/{another}/cost"))
    assert (0, 0) == (cost["total_cost_micros"], cost["unpriced_request_count"])
