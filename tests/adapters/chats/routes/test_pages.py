"""GET messages and prompts: what has been said, in pages."""

import gzip
import json
from dataclasses import replace

import pytest

from actors.law import requests as ask
from actors.law.chat import Visibility
from actors.law.parts.message import Cost
from tests.actors.law.chats import (
    ANN,
    BOB,
    assistant,
    call,
    result,
    send,
    step,
    system,
    tool,
    user,
)
from tests.adapters.chats.routes.ground import ADA, message
from tests.contracts.given import a_chat, applied


async def a_history(ground, count=5):
    """A chat with `hello`, answers 1 to count-1, and hidden rows between; ids of what is shown."""
    chat = await a_chat(ground.store)
    said = []
    for number in range(1, count):
        said += [
            system("hidden", visibility=Visibility.MODEL),
            user("hidden", visibility=Visibility.MODEL),
            assistant(str(number), visibility=Visibility.BOTH),
        ]
    if said:
        await applied(ground.store.ledger.apply(chat, [step(*said)]))
    shown = [
        m.id
        for m in (await ground.store.rows(chat)).messages
        if m.body.visibility is not Visibility.MODEL
    ]
    return chat, shown


async def page(ground, chat, query=""):
    answer = await ground.ask(ANN, "GET", f"{chat}/messages", query=query)
    assert 200 == answer.status, answer.said
    return [row["id"] for row in answer.said["messages"]], answer.said["has_more"]


async def test_the_newest_come_first_and_hidden_rows_not_at_all(ground):
    chat, ids = await a_history(ground)

    assert (ids[::-1], False) == await page(ground, chat)


async def test_pages_go_back_to_the_beginning(ground):
    chat, [a, b, c, d, e] = await a_history(ground)

    assert ([e, d], True) == await page(ground, chat, "limit=2")
    assert ([c, b], True) == await page(ground, chat, f"limit=2&before_id={d}")
    assert ([a], False) == await page(ground, chat, f"limit=2&before_id={b}")
    assert ([], False) == await page(ground, chat, f"before_id={a}")


async def test_after_a_message_they_come_in_the_order_in_which_they_were_said(ground):
    chat, [a, b, c, d, e] = await a_history(ground)

    assert ([b, c], True) == await page(ground, chat, f"limit=2&after_id={a}")
    assert ([d, e], False) == await page(ground, chat, f"limit=2&after_id={c}")
    assert ([], False) == await page(ground, chat, f"after_id={e}")


async def test_between_two_messages_the_newest_come_first(ground):
    chat, [a, b, c, d, e] = await a_history(ground)

    assert ([d, c, b], False) == await page(ground, chat, f"after_id={a}&before_id={e}")
    assert ([d, c], True) == await page(ground, chat, f"after_id={a}&before_id={e}&limit=2")


async def test_a_page_says_of_which_history_it_is(ground):
    chat, [a, *_, e] = await a_history(ground)

    async def versions():
        queries = ("", f"before_id={e}", f"after_id={a}", f"after_id={e}")
        pages = [await ground.ask(ANN, "GET", f"{chat}/messages", query=q) for q in queries]
        return {page.said["history_version"] for page in pages}

    before = (await ground.store.rows(chat)).chat.history_version
    assert {before} == await versions()

    await ground.ask(ANN, "PATCH", f"{chat}/messages/{a}", message("otherwise"))

    after = (await ground.store.rows(chat)).chat.history_version
    assert before < after
    assert {after} == await versions()


async def test_a_large_page_is_compressed_for_those_who_ask(ground):
    chat, _ = await a_history(ground, 60)

    plain = await ground.ask(ANN, "GET", f"{chat}/messages")
    small = await ground.ask(
        ANN, "GET", f"{chat}/messages", headers={"accept-encoding": "br, gzip"}
    )

    assert "content-encoding" not in plain.headers
    assert "gzip" == small.headers["content-encoding"]
    assert plain.body == gzip.decompress(small.body)
    assert len(small.body) < len(plain.body) / 5


async def test_large_results_are_cut_for_those_who_want_that_and_read_whole_by_themselves(ground):
    chat = await a_chat(ground.store)
    output = json.dumps({"output": "x" * 9_000, "exit_code": 3})
    said = [assistant(call("a")), tool(result("a", value=output))]
    await applied(ground.store.ledger.apply(chat, [step(*said)]))

    whole, cut, wrong = [
        await ground.ask(ANN, "GET", f"{chat}/messages", query=query)
        for query in ("", "results=cut", "results=none")
    ]
    [newest, *_] = whole.said["messages"]
    [short, *_] = cut.said["messages"]
    one = await ground.ask(ANN, "GET", f"{chat}/messages/{newest['id']}")

    assert json.loads(output) == newest["content"][0]["result"]
    assert 3 == short["content"][0]["result"]["exit_code"]
    assert len(output) >= short["content"][0]["result_bytes"] > 9_000
    assert len(cut.body) < 6_000 < len(whole.body)
    assert (200, newest) == (one.status, one.said)
    assert (400, "results") == (wrong.status, wrong.said["validations"][0]["field"])


async def test_messages_say_what_they_cost_to_those_who_ask(ground):
    chat = await a_chat(ground.store)
    bought = [Cost(1_200, "table"), Cost(None, "unknown"), Cost(0, "table"), None]
    said = [replace(assistant(str(number)), cost=cost) for number, cost in enumerate(bought)]
    await applied(ground.store.ledger.apply(chat, [step(*said)]))

    asked = await ground.ask(ANN, "GET", f"{chat}/messages", query="costs=true")
    unasked = await ground.ask(ANN, "GET", f"{chat}/messages")
    wrong = await ground.ask(ANN, "GET", f"{chat}/messages", query="costs=all")
    last = asked.said["messages"][3]
    one = await ground.ask(ANN, "GET", f"{chat}/messages/{last['id']}")

    shown = [row.get("cost_micros", "none") for row in asked.said["messages"]]
    assert ["none", 0, None, 1_200, "none"] == shown
    assert b"cost" not in unasked.body
    assert (last, 400) == (one.said, wrong.status)


async def test_one_message_is_read_as_far_as_it_is_shown(ground):
    chat, [first, *_] = await a_history(ground)
    _, [elsewhere, *_] = await a_history(ground)
    hidden = first + 1

    async def status(id, chat=chat, who=ANN):
        return (await ground.ask(who, "GET", f"{chat}/messages/{id}")).status

    assert [200, 200, 404] == [await status(first, who=who) for who in (ANN, ADA, BOB)]
    assert [404, 404, 404] == [await status(id) for id in (hidden, elsewhere, 2**62)]
    assert [400, 400] == [await status(id) for id in ("0", "x")]
    await ground.ask(ANN, "PATCH", f"{chat}/messages/{first}", message("otherwise"))
    assert 404 == await status(first)


async def test_zero_and_nothing_are_no_cursors(ground):
    chat, ids = await a_history(ground, 3)
    await applied(ground.store.ledger.apply(chat, [send("waits")]))

    for query in ("before_id=0&after_id=0", "before_id=&after_id=&limit="):
        answer = await ground.ask(ANN, "GET", f"{chat}/messages", query=query)
        assert ids[::-1] == [row["id"] for row in answer.said["messages"]]
        assert 1 == len(answer.said["queued_messages"])


async def test_fifty_are_a_page_and_two_hundred_the_largest(ground):
    chat, ids = await a_history(ground, 202)

    assert (ids[:-51:-1], True) == await page(ground, chat)
    assert (ids[:1:-1], True) == await page(ground, chat, "limit=200")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=-1", "limit"),
        ("limit=ten", "limit"),
        ("limit=1&limit=2", "limit"),
        ("before_id=-1", "before_id"),
        ("before_id=1.5", "before_id"),
        ("before_id=9223372036854775808", "before_id"),
        ("after_id=x", "after_id"),
        ("after_id=%D9%A3", "after_id"),  # a digit, but not one of ours
        ("after_id=2&before_id=2", "after_id"),
        ("after_id=3&before_id=2", "after_id"),
    ],
)
async def test_what_is_no_page_is_refused(ground, query, field):
    chat, _ = await a_history(ground, 1)

    answer = await ground.ask(ANN, "GET", f"{chat}/messages", query=query)

    assert (400, field) == (answer.status, answer.said["validations"][0]["field"])


async def test_what_waits_stands_on_the_first_page_in_the_order_in_which_it_was_said(ground):
    chat, [first] = await a_history(ground, 1)
    made = await applied(ground.store.ledger.apply(chat, [send("a"), send("b")]))
    a, b = made.queued_ids
    await applied(ground.store.ledger.apply(chat, [ask.PromoteQueued(b)]))

    answer = await ground.ask(ANN, "GET", f"{chat}/messages")

    assert [a, b] == [row["id"] for row in answer.said["queued_messages"]]
    assert "a" == answer.said["queued_messages"][0]["content"][0]["text"]
    for cursor in ("before_id", "after_id"):
        later = await ground.ask(ANN, "GET", f"{chat}/messages", query=f"{cursor}={first + 1}")
        assert [] == later.said["queued_messages"]


async def test_who_may_see_the_chat_may_read_it(ground):
    chat, _ = await a_history(ground, 1)

    assert [200, 200, 404] == [
        (await ground.ask(who, "GET", f"{chat}/messages")).status for who in (ANN, ADA, BOB)
    ]
    await ground.store.execute(
        "INSERT INTO chat_readers (chat_id, subject_id, is_group)"
        " VALUES (%(chat)s, %(bob)s, false)",
        chat=chat,
        bob=BOB,
    )
    assert 200 == (await ground.ask(BOB, "GET", f"{chat}/messages")).status
    assert 404 == (await ground.ask(BOB, "POST", f"{chat}/messages", {})).status


async def test_prompts_are_what_users_said_in_words(ground):
    chat = await a_chat(ground.store)
    said = [
        assistant("an answer"),
        user("a\0b", " c"),
        user(" \n"),
        user("hidden", visibility=Visibility.MODEL),
        user("\ue000 last"),
    ]
    await applied(ground.store.ledger.apply(chat, [step(*said)]))

    answer = await ground.ask(ANN, "GET", f"{chat}/prompts")
    newest = await ground.ask(ANN, "GET", f"{chat}/prompts", query="limit=1")

    texts = [prompt["text"] for prompt in answer.said["prompts"]]
    assert ["\ue000 last", "a\0b c", "hello"] == texts
    assert answer.said["prompts"][:1] == newest.said["prompts"]
    statuses = [
        (await ground.ask(ANN, "GET", f"{chat}/prompts", query=f"limit={limit}")).status
        for limit in ("0", "", "2000", "2001", "-1", "x")
    ]
    assert [200, 200, 200, 400, 400, 400] == statuses
