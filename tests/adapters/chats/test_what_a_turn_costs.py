"""What a plain turn costs the database, from the POST to `waiting`, with somebody watching in the
same process. The server counts.
"""

import json
from collections import Counter

import pytest
import trio

from tests.adapters.chats.counting import TELL
from tests.adapters.daemon.access_matrix import CHATS
from tests.adapters.edges import PATIENCE_SECONDS, an_edge

pytestmark = pytest.mark.slow

STATEMENTS_MAX, WRITES_MAX = 12, 3  # of one turn; what only notifies writes nothing
TURNS = 20  # one after the other
# What the inbox and the outbox ask, beside the search that is made now and then whatever happens.
OF_NOTICES = ("file_notice", "settle_delivery", "inbox_news", "inbox_page")
HELLO = {"content": [{"type": "text", "text": "[[text: good day]] hello"}]}


async def test_a_plain_turn_is_a_few_statements_and_fewer_transactions(fresh, counting):
    async with an_edge(fresh) as edge:
        member = edge.member
        new = {**HELLO, "organization_id": edge.organization}
        chat = f"{CHATS}/{(await member.post(CHATS, new)).document['id']}"
        async with member.socket(f"{chat}/stream") as socket:
            await until_waiting(socket)
            await a_turn(member, chat, socket)  # caches are filled, statements prepared
            began = counting.begin()

            for _ in range(TURNS):
                await a_turn(member, chat, socket)

            await edge.chats.store.hints.flush(PATIENCE_SECONDS)  # hints may go out together
            said = counting.said()
            notified = counting.count(TELL)
            writes = counting.transactions() - began - notified

    assert len(said) / TURNS <= STATEMENTS_MAX, Counter(said)
    assert writes / TURNS <= WRITES_MAX


async def test_a_turn_with_nobody_to_tell_of_it_costs_no_statement_for_that(fresh, counting):
    """Its notice is filed by its own write, and the outbox is not searched for it."""
    async with an_edge(fresh) as edge:
        member = edge.member
        new = {**HELLO, "organization_id": edge.organization}
        chat = f"{CHATS}/{(await member.post(CHATS, new)).document['id']}"
        async with member.socket(f"{chat}/stream") as socket:
            await until_waiting(socket)
            counting.begin()
            for _ in range(3):
                await a_turn(member, chat, socket)
            asked = [counting.count(name) for name in OF_NOTICES]
        page = (await edge.nobody.get("/metrics")).body.decode()
        [(filed,)] = await edge.execute("SELECT count(*) FROM notices")

    assert [0] * len(OF_NOTICES) == asked
    assert "promptcorner_outbox_woken_total 0.0" in page
    assert 4 == filed


async def test_the_first_messages_of_a_chat_are_not_read_before_they_are_answered(fresh, counting):
    async with an_edge(fresh) as edge:
        new = {**HELLO, "organization_id": edge.organization}
        counting.begin()

        chat = f"{CHATS}/{(await edge.member.post(CHATS, new)).document['id']}"
        with trio.fail_after(PATIENCE_SECONDS):
            while (await edge.member.get(chat)).document["status"] != "waiting":
                await trio.sleep(0.02)

    assert 0 == counting.count("history")


async def a_turn(member, chat, socket):
    assert 200 == (await member.post(f"{chat}/messages", HELLO)).status
    await until_waiting(socket)


async def until_waiting(socket):
    with trio.fail_after(PATIENCE_SECONDS):
        while not any(
            event["type"] == "status" and event["status"]["status"] == "waiting"
            for event in json.loads(await socket.get_message())
        ):
            pass
