"""All that a user has is erased: their chats, files, workspaces, and what they have set."""

from tests.adapters.chats.housekeeping.leftovers import RECEIPTS, rows_with
from tests.adapters.chats.housekeeping.stories import (
    a_workspace,
    chat_at_rest,
    leave_traces,
    upload,
)
from tests.adapters.daemon.access_matrix import CHATS
from tests.adapters.requests_of import good, skill

MARK = "quaggamark"
DATA = "/api/v2/users/{}/chat-data"


async def much(edge, who):
    """A user who has used everything: three chats, one of them archived, and more."""
    chats = [await chat_at_rest(who, edge, MARK) for _ in range(3)]
    await leave_traces(edge, who, chats[0], MARK)
    await good(who.patch(f"{CHATS}/{chats[2]}", {"archived": True}), 204)
    await edge.execute("UPDATE chats SET status = 'error' WHERE id = %(c)s", {"c": chats[0]})
    await upload(who, edge, MARK)  # a file that no chat has
    await a_workspace(edge, who, MARK)
    await good(who.put(f"{CHATS}/config/user-prompt", {"custom_prompt": MARK}), 200)
    text = skill(MARK)
    await good(who.post("/api/experimental/users/me/skills", text), 201)
    await edge.execute(
        "WITH s AS (INSERT INTO mcp_servers (id, slug, config, sealed)"
        " VALUES (gen_random_uuid(), 'one', '{}', '') RETURNING id)"
        " INSERT INTO mcp_tokens (user_id, server_id, sealed)"
        " SELECT %(u)s, id, convert_to(%(m)s, 'UTF8') FROM s",
        {"u": who.id, "m": MARK},
    )
    return chats


async def test_after_it_nothing_is_left_of_them_and_all_of_others(edge):
    chats = await much(edge, edge.member)
    other = await chat_at_rest(edge.stranger, edge, "something else")
    assert {"user_settings", "user_skills", "mcp_tokens", "workspaces", "files"} <= set(
        await rows_with(edge.execute, MARK)
    )

    receipt = await good(edge.admin.delete(DATA.format(edge.member.username)), 200)

    left = await rows_with(edge.execute, MARK, *chats)
    assert {} == {table: count for table, count in left.items() if table != RECEIPTS}
    assert ("user", 4) == (receipt["why"], receipt["chats"])
    assert (1, 1) == (receipt["files"], receipt["workspaces"])
    assert receipt["other_rows"] >= 3
    assert 200 == (await edge.stranger.get(f"{CHATS}/{other}")).status
    assert [] == await good(edge.member.get(CHATS), 200)
    listed = await good(edge.admin.get("/api/v2/erasures"), 200)
    assert [receipt] == listed["erasures"]  # with its families in its sums


async def test_what_they_had_set_is_forgotten_at_once(edge):
    """The daemon keeps rules and settings of users in memory for a while."""
    rule, trial = {"tool": "execute", "policy": "deny"}, {"tool": "execute", "command": "ls"}
    tried = f"{CHATS}/config/approvals/test"
    await good(edge.member.put(f"{CHATS}/approval-rules", rule), 200)
    assert "deny" == (await good(edge.member.post(tried, trial), 200))["decision"]

    await good(edge.admin.delete(DATA.format(edge.member.id)), 200)

    assert "deny" != (await good(edge.member.post(tried, trial), 200))["decision"]


async def test_it_can_be_done_after_the_user_was_deleted(edge):
    await chat_at_rest(edge.member, edge, MARK)
    await good(edge.admin.delete(f"/api/v2/users/{edge.member.id}"), 200)

    receipt = await good(edge.admin.delete(DATA.format(edge.member.id)), 200)

    assert 1 == receipt["chats"]


async def test_a_user_with_chats_at_work_is_refused_with_words(edge):
    chat = await chat_at_rest(edge.member, edge, MARK)
    await edge.execute(
        "WITH w AS (INSERT INTO workers (id, heartbeat_at)"
        " VALUES (gen_random_uuid(), now() + interval '1 day') RETURNING id)"
        " UPDATE chats SET status = 'running', worker_id = w.id, runner_id = w.id FROM w"
        " WHERE chats.id = %(c)s",
        {"c": chat},
    )

    refused = await edge.admin.delete(DATA.format(edge.member.id))

    assert 409 == refused.status
    assert "a chat is at work" in refused.document["detail"]
    assert 200 == (await edge.member.get(f"{CHATS}/{chat}")).status


async def test_erasing_is_refused_for_unknown_users_and_to_members(edge):
    assert 404 == (await edge.admin.delete(DATA.format("nobody-at-all"))).status
    assert 403 == (await edge.member.delete(DATA.format("me"))).status
    assert 200 == (await edge.admin.delete(DATA.format(edge.stranger.id))).status
