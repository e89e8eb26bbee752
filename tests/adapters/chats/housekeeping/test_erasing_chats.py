"""A chat is erased: nothing of it is left anywhere, and the receipt says how much went."""

import contextlib
from uuid import uuid4

import pytest
import trio
from trio_websocket import ConnectionClosed

from tests.adapters.chats.housekeeping.leftovers import RECEIPTS, files_with, rows_with
from tests.adapters.chats.housekeeping.stories import (
    a_workspace,
    chat_at_rest,
    leave_traces,
    upload,
)
from tests.adapters.daemon.access_matrix import CHATS
from tests.adapters.edges import eventually
from tests.adapters.requests_of import good
from tests.patience import PATIENCE_SECONDS

MARK = "zanzibarmark"


async def stopped(edge, chat):
    """The queue that was put there by hand is of no interest any more."""
    await edge.execute("UPDATE chats SET status = 'error' WHERE id = %(c)s", {"c": chat})


async def test_after_it_nothing_is_left_anywhere(edge):
    file = await upload(edge.member, edge, MARK)
    chat = await chat_at_rest(
        edge.member, edge, MARK, files=[file], headers={"idempotency-key": f"{MARK}-key"}
    )
    place = await a_workspace(edge, edge.member, MARK)
    await good(edge.member.patch(f"{CHATS}/{chat}", {"workspace_id": str(place)}), 204)
    child = await leave_traces(edge, edge.member, chat, MARK)
    await stopped(edge, chat)
    needles = (MARK, chat, child, file)
    before = await rows_with(edge.execute, *needles)
    folder = edge.chats.lifecycle.workspaces.directory
    assert {
        *("approval_decisions", "chat_files", "chat_words", "chats", "file_contents", "files"),
        *("message_words", "messages", "queued_messages", "receipts", "side_costs", "tool_calls"),
        *("workspaces", "debug_runs", "notices", "spend_days"),
    } <= set(before)
    assert files_with(folder, MARK)

    answer = await edge.member.delete(f"{CHATS}/{chat}")

    receipt = answer.document
    assert 200 == answer.status, answer.body
    assert {} == {
        table: count
        for table, count in (await rows_with(edge.execute, *needles)).items()
        if table != RECEIPTS
    }
    assert (2, 1, 1) == (receipt["chats"], receipt["files"], receipt["workspaces"])
    assert receipt["messages"] >= 4
    assert receipt["other_rows"] >= 4
    assert receipt["bytes"] > 0
    assert (chat, "chat") == (receipt["chat_id"], receipt["why"])
    assert str(edge.member.id) == receipt["asked_by"]

    async def gone():
        return not await trio.to_thread.run_sync(files_with, folder, MARK)

    await eventually(gone)
    assert 404 == (await edge.member.get(f"{CHATS}/{chat}")).status
    assert 404 == (await edge.member.delete(f"{CHATS}/{chat}")).status
    [page] = [(await good(edge.member.get(CHATS), 200))]
    assert chat not in str(page)


async def test_what_others_share_with_it_stays(edge):
    """A file and a workspace that another chat has are not of this one alone."""
    file = await upload(edge.member, edge, MARK)
    first = await chat_at_rest(edge.member, edge, "one", files=[file])
    second = await chat_at_rest(edge.member, edge, "two", files=[file])
    place = await a_workspace(edge, edge.member, MARK)
    for chat in (first, second):
        await good(edge.member.patch(f"{CHATS}/{chat}", {"workspace_id": str(place)}), 204)

    receipt = await good(edge.member.delete(f"{CHATS}/{first}"), 200)

    assert (0, 0) == (receipt["files"], receipt["workspaces"])
    assert 200 == (await edge.member.get(f"{CHATS}/files/{file}")).status
    assert 200 == (await edge.member.get(f"/api/v2/workspaces/{place}")).status


async def test_the_receipt_is_for_those_whom_it_concerns(edge):
    chat = await chat_at_rest(edge.member, edge, "hello")
    receipt = await good(edge.admin.delete(f"{CHATS}/{chat}"), 200)
    path = f"/api/v2/erasures/{receipt['id']}"

    assert receipt == await good(edge.member.get(path), 200)
    assert receipt == await good(edge.admin.get(path), 200)
    assert 404 == (await edge.stranger.get(path)).status
    listed = await good(edge.admin.get("/api/v2/erasures"), 200)
    assert [receipt] == listed["erasures"]
    earlier = f"/api/v2/erasures?before={receipt['begun_at'].replace('+', '%2B')}"
    assert {"erasures": []} == await good(edge.admin.get(earlier), 200)
    assert 400 == (await edge.admin.get("/api/v2/erasures?before=yesterday")).status


async def test_an_agent_goes_with_its_root_and_not_by_itself(edge):
    chat = await chat_at_rest(edge.member, edge, "hello")
    child = await leave_traces(edge, edge.member, chat, MARK)

    refused = await edge.member.delete(f"{CHATS}/{child}")

    assert 400 == refused.status
    assert chat in refused.document["detail"]


@pytest.mark.parametrize("status", ["running", "interrupting", "requires_action"])
async def test_a_chat_that_is_at_work_is_refused_with_words(edge, status):
    chat = await chat_at_rest(edge.member, edge, "hello")
    holder = {"w": uuid4(), "r": uuid4(), "c": chat, "s": status}
    await edge.execute(  # by a process that lives, so no other takes it over
        "WITH w AS (INSERT INTO workers (id, heartbeat_at)"
        " VALUES (%(w)s, now() + interval '1 day'))"
        " UPDATE chats SET status = %(s)s, worker_id = %(w)s, runner_id = %(r)s WHERE id = %(c)s",
        holder,
    )

    refused = await edge.member.delete(f"{CHATS}/{chat}")

    assert 409 == refused.status
    assert "interrupt it" in refused.document["detail"]
    assert (await good(edge.member.get(f"{CHATS}/{chat}"), 200))["archived"] is False


async def test_a_chat_that_is_being_erased_is_not_shown_and_not_brought_back(edge):
    chat = await chat_at_rest(edge.member, edge, "hello")
    await good(edge.member.patch(f"{CHATS}/{chat}", {"archived": True}), 204)
    await edge.execute(
        "INSERT INTO erasures (id, why, root_id, owner_id) SELECT gen_random_uuid(), 'chat', id,"
        " owner_id FROM chats WHERE id = %(c)s",
        {"c": chat},
    )
    ledger = edge.chats.store.ledger

    for who in (edge.member, edge.admin):
        assert 404 == (await who.get(f"{CHATS}/{chat}")).status
        assert 404 == (await who.patch(f"{CHATS}/{chat}", {"archived": False})).status
    assert [] == await good(edge.member.get(f"{CHATS}?q=archived:true"), 200)
    assert "ChatNotFound" in type(await ledger.archive_family(chat, archived=False)).__name__


async def test_its_watchers_are_told_that_it_is_gone(edge):
    chat = await chat_at_rest(edge.member, edge, "hello")

    async with edge.member.socket(f"{CHATS}/{chat}/stream") as socket:
        await socket.get_message()
        await good(edge.member.delete(f"{CHATS}/{chat}"), 200)
        with trio.fail_after(PATIENCE_SECONDS):
            await until_closed(socket)


async def until_closed(socket):
    with contextlib.suppress(ConnectionClosed):
        while True:
            await socket.get_message()
