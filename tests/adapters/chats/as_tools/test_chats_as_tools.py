"""Chats as tools of an MCP server, by the official client over a real socket: what it can do, and
what it may not."""

from contextlib import asynccontextmanager
from uuid import uuid4

import httpx2
import msgspec
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from adapters.chats.as_tools.protocol import STATELESS_VERSION, VERSIONS
from adapters.chats.as_tools.routes import BODY_BYTES_MAX, PATH
from adapters.chats.as_tools.tools import TEXT_CHARACTERS_MAX, TOOLS
from tests.adapters.daemon.access_matrix import CHATS
from tests.adapters.edges import HEADER, eventually
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow


@asynccontextmanager
async def a_client(asker, mode="auto"):
    """The official client with the token of a user."""
    headers = {HEADER: asker.token}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE_SECONDS, trust_env=False) as http,
        Client(streamable_http_client(asker.url + PATH, http_client=http), mode=mode) as client,
    ):
        yield client


async def called(client, name, /, **arguments):
    """Call a tool that answers; return its document."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    [text] = result.content
    assert result.structured_content == msgspec.json.decode(text.text)
    return result.structured_content


async def refused(client, name, /, **arguments):
    """Call a tool that refuses; return its words."""
    result = await client.call_tool(name, arguments)
    assert result.is_error, result.structured_content
    [text] = result.content
    return text.text


async def said(edge, document, **headers):
    """Send a message as it is; return (status, document)."""
    body = msgspec.json.encode(document) if not isinstance(document, bytes) else document
    answer = await edge.member.post(PATH, body=body, headers=headers)
    return answer.status, answer.document if answer.body else None


def rpc(method, id=1, **parameters):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_chat_is_begun_followed_answered_and_put_away(edge, mode):
    async with a_client(edge.member, mode) as client:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in TOOLS] == [tool.name for tool in listed]
        chat = await called(
            client, "coder_create_chat", prompt="[[text: good day]] hello", labels={"team": "ops"}
        )
        id = chat["chat_id"]

        async def at_rest():
            found = await called(client, "coder_get_chat", chat_id=id)
            return found if found["status"] == "waiting" else None

        rested = await eventually(at_rest)
        assert {"team": "ops"} == rested["labels"]
        sent = await called(
            client, "coder_send_chat_message", chat_id=id, message="[[text: bye]] and now?"
        )
        assert not sent["is_queued"]
        await eventually(at_rest)

        page = await called(client, "coder_get_chat_messages", chat_id=id)
        roles = ["user", "assistant", "user", "assistant"]
        assert (roles, False) == ([each["role"] for each in page["messages"]], page["has_more"])
        assert ["good day", "bye"] == [each["text"] for each in page["messages"][1::2]]
        after = page["messages"][1]["id"]
        rest = await called(client, "coder_get_chat_messages", chat_id=id, after_id=after)
        assert page["messages"][2:] == rest["messages"]
        newest = await called(client, "coder_get_chat_messages", chat_id=id, limit=1)
        assert (page["messages"][3:], True) == (newest["messages"], newest["has_more"])

        await called(client, "coder_archive_chat", chat_id=id)
        assert (await called(client, "coder_get_chat", chat_id=id))["archived"]
        assert "archived" in await refused(
            client, "coder_send_chat_message", chat_id=id, message="hello?"
        )


async def test_a_chat_is_interrupted_and_what_is_said_meanwhile_waits(edge):
    async with a_client(edge.member) as client:
        [model, *_] = (await called(client, "coder_list_chat_model_configs"))["model_configs"]
        chat = await called(
            client,
            "coder_create_chat",
            prompt="[[deltas: 1000]] [[delta-ms: 1000]] take long",
            model_config_id=model["id"],
        )
        id = chat["chat_id"]
        sent = await called(client, "coder_send_chat_message", chat_id=id, message="then this")
        assert sent["is_queued"]
        page = await called(client, "coder_get_chat_messages", chat_id=id)
        assert ["then this"] == [each["text"] for each in page["queued"]]

        stopped = await called(client, "coder_interrupt_chat", chat_id=id)

        assert stopped["status"] in ("interrupting", "running", "waiting")


async def test_every_tool_obeys_what_its_user_may_see_and_change(edge):
    async with a_client(edge.member) as client:
        chat = await called(client, "coder_create_chat", prompt="hello")
    async with a_client(edge.stranger) as client:
        arguments = {"chat_id": chat["chat_id"]}
        nowhere = {"chat_id": str(uuid4())}
        for tool in TOOLS:
            if "chat_id" not in tool.listed["inputSchema"]["properties"]:
                continue
            more = {"message": "x"} if "send" in tool.name else {}

            words = await refused(client, tool.name, **arguments, **more)

            assert words == await refused(client, tool.name, **nowhere, **more), tool.name
    assert 401 == (await edge.nobody.post(PATH, rpc("tools/list"))).status


async def test_a_token_that_may_read_cannot_change(edge):
    made = await edge.member.post(
        "/api/v2/users/me/keys/tokens", {"token_name": "reads", "scopes": ["chats:read"]}
    )
    assert 201 == made.status, made.body
    headers = {HEADER: made.document["key"]}

    async def ask(name, **arguments):
        call = rpc("tools/call", name=name, arguments=arguments)
        answer = await edge.nobody.post(PATH, call, headers=headers)
        return answer.document["result"]

    new = rpc("tools/call", name="coder_create_chat", arguments={"prompt": "hello"})
    chat = (await edge.member.post(PATH, new)).document["result"]["structuredContent"]
    read = await ask("coder_get_chat", chat_id=chat["chat_id"])
    assert chat["chat_id"] == read["structuredContent"]["chat_id"]
    result = await ask("coder_create_chat", prompt="hello")
    assert result["isError"]
    assert "scope chats" in result["content"][0]["text"]
    assert 1 == len((await edge.member.get(CHATS)).document)


SOME = str(uuid4())
WRONG_CALLS = [
    ("coder_create_chat", {}, "prompt"),
    ("coder_create_chat", {"prompt": ""}, "prompt"),
    ("coder_create_chat", {"prompt": "x", "organization_id": SOME}, "rganization"),
    ("coder_create_chat", {"prompt": "x", "model_config_id": SOME}, "model"),
    ("coder_create_chat", {"prompt": "x", "nothing": 1}, "nothing"),
    ("coder_get_chat", {"chat_id": "x"}, "chat_id"),
    ("coder_get_chat_messages", {"chat_id": SOME, "limit": 101}, "limit"),
    ("coder_send_chat_message", {"chat_id": "$", "message": "x", "busy_behavior": "y"}, "busy"),
]
NO_MESSAGES = [
    (b"{", 400, -32700),
    (b"[]", 400, -32600),
    ([rpc("ping")], 400, -32600),
    ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, 400, -32600),
    ({"jsonrpc": "2.0", "id": True, "method": "ping"}, 400, -32600),
    ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}, 400, -32600),
    (rpc("resources/list"), 200, -32601),
    (rpc("tools/call", name="execute"), 200, -32602),
    (rpc("tools/call"), 200, -32602),
]


async def test_what_is_wrong_with_a_call_is_said_in_words_and_what_is_long_is_cut(edge):
    async with a_client(edge.member) as client:
        size = TEXT_CHARACTERS_MAX + 1
        id = (await called(client, "coder_create_chat", prompt="x" * size))["chat_id"]
        for name, arguments, fault in WRONG_CALLS:
            if arguments.get("chat_id") == "$":
                arguments = {**arguments, "chat_id": id}

            assert fault in await refused(client, name, **arguments)

        page = await called(client, "coder_get_chat_messages", chat_id=id)
    assert page["messages"][0]["text"].endswith(f"[cut; it has {size} characters]")


async def test_what_is_no_message_is_refused(edge):
    for document, status, code in NO_MESSAGES:
        found, answer = await said(edge, document)

        assert (status, code) == (found, answer["error"]["code"]), document


async def test_the_protocol_is_answered_as_each_revision_wants(edge):
    assert (202, None) == await said(
        edge, {"jsonrpc": "2.0", "method": "notifications/initialized"}
    )
    assert (202, None) == await said(edge, {"jsonrpc": "2.0", "id": 1, "result": {}})
    assert (200, {"jsonrpc": "2.0", "id": "a", "result": {}}) == await said(edge, rpc("ping", "a"))
    for version in VERSIONS:
        _, answer = await said(edge, rpc("ping"), **{"mcp-protocol-version": version})
        assert ("resultType" in answer["result"]) == (version == STATELESS_VERSION)
    status, answer = await said(edge, rpc("ping"), **{"mcp-protocol-version": "1999-01-01"})
    assert (400, list(VERSIONS)) == (status, answer["error"]["data"]["supported"])
    _, old = await said(edge, rpc("initialize", protocolVersion="2024-11-05"))
    _, new = await said(edge, rpc("initialize", protocolVersion="2099-01-01"))
    assert ["2024-11-05", "2025-11-25"] == [
        each["result"]["protocolVersion"] for each in (old, new)
    ]
    assert 413 == (await said(edge, b" " * (BODY_BYTES_MAX + 1)))[0]
    assert 405 == (await edge.member.get(PATH)).status
