"""What an interrupt costs the database, from the POST to `waiting`, with somebody watching in the
same process; and what a wait for the client costs. The process that holds the chat looks at it for
the news of others, and never for its own.
"""

import json
from collections import Counter

import pytest
import trio

from tests.adapters.chats.counting import LOOK, TELL
from tests.adapters.daemon.access_matrix import CHATS
from tests.adapters.edges import PATIENCE_SECONDS, an_edge, eventually
from tests.fakes.severed_network import severed_network

pytestmark = pytest.mark.slow

TURNS = 10  # one after the other
STATEMENTS_MAX, WRITES_MAX = 30, 4  # of one turn that is interrupted; 26 and 3 when all goes well
SILENT = "[[text: good day]] [[delta-chars: 1]] [[faults: silence:3]] hello"
CALLING = "[[tool-calls: weather:{}]] [[text: rain]] hello"
WEATHER = {"name": "weather", "description": "of today", "input_schema": {"type": "object"}}


async def test_an_interrupt_is_looked_at_once_and_cancels_nothing_at_the_server(fresh, counting):
    async with severed_network(fresh) as network, an_edge(network.conninfo) as edge:
        member, chat = edge.member, await a_chat(edge, SILENT)
        async with member.socket(f"{chat}/stream") as socket:
            await interrupted(member, chat, socket)
            await a_turn(member, chat, socket)  # caches are filled, statements prepared
            began, cancels = counting.begin(), network.cancels

            for _ in range(TURNS):
                await a_turn(member, chat, socket)

            await eventually(lambda: all_told(counting))
            said, looks = counting.said(), counting.count(LOOK)
            writes = counting.transactions() - began - counting.count(TELL)
            cancels = network.cancels - cancels

    assert (TURNS, 0) == (looks, cancels)
    assert len(said) / TURNS <= STATEMENTS_MAX, Counter(said)
    assert writes / TURNS <= WRITES_MAX


async def a_turn(member, chat, socket):
    assert 200 == (await member.post(f"{chat}/messages", saying(SILENT))).status
    await interrupted(member, chat, socket)


async def interrupted(member, chat, socket):
    await until(socket, is_part)
    assert 200 == (await member.post(f"{chat}/interrupt")).status
    await until(socket, is_waiting)


async def test_a_wait_for_the_client_is_looked_at_once_when_it_answers(fresh, counting):
    async with severed_network(fresh) as network, an_edge(network.conninfo) as edge:
        member, chat = edge.member, await a_chat(edge, CALLING, unsafe_dynamic_tools=[WEATHER])
        async with member.socket(f"{chat}/stream") as socket:
            await answered(member, chat, socket)
            counting.begin()
            cancels = network.cancels

            for _ in range(TURNS):
                assert 200 == (await member.post(f"{chat}/messages", saying(CALLING))).status
                await answered(member, chat, socket)

            await eventually(lambda: all_told(counting))
            looks, cancels = counting.count(LOOK), network.cancels - cancels

    assert (TURNS, 0) == (looks, cancels)


async def answered(member, chat, socket):
    [asked] = [e for e in await until(socket, is_asked) if is_asked(e)]
    [call] = asked["action_required"]["tool_calls"]
    result = {"tool_call_id": call["tool_call_id"], "output": "rain"}
    assert 204 == (await member.post(f"{chat}/tool-results", {"results": [result]})).status
    await until(socket, is_waiting)


def saying(text):
    return {"content": [{"type": "text", "text": text}]}


async def a_chat(edge, text, **more):
    new = {**saying(text), "organization_id": edge.organization, **more}
    answer = await edge.member.post(CHATS, new)
    assert 201 == answer.status, answer.document
    return f"{CHATS}/{answer.document['id']}"


async def until(socket, is_it):
    with trio.fail_after(PATIENCE_SECONDS):
        while not any(map(is_it, events := json.loads(await socket.get_message()))):
            pass
    return events


def is_part(event):
    return event["type"] == "message_part"


def is_asked(event):
    return event["type"] == "action_required"


def is_waiting(event):
    return event["type"] == "status" and event["status"]["status"] == "waiting"


async def all_told(counting):
    """Of each turn three changes are told of; the last two may be told together."""
    return counting.count(TELL) >= 2 * TURNS
