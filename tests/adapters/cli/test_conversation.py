"""What becomes of a conversation in the terminal when the daemon says no, or nothing at all."""

import signal
from datetime import UTC, datetime
from uuid import UUID

import httpx2
import msgspec
import pytest
import trio
from rich.console import Console

from adapters.cli.chat.conversation import ChatRequest, converse
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.errors import RequestRefused, ServerUnreachable
from promptcorner_client.wire import Chat
from tests.patience import PATIENCE_SECONDS

NEW_YEAR = datetime(2030, 1, 1, tzinfo=UTC)
CHAT = Chat(
    id=UUID(int=7),
    organization_id=UUID(int=1),
    owner_id=UUID(int=2),
    root_chat_id=UUID(int=7),
    last_model_config_id=None,
    title="Rivers",
    status="running",
    last_turn_summary=None,
    summary=None,
    created_at=NEW_YEAR,
    updated_at=NEW_YEAR,
    archived=False,
    shared=False,
    pin_order=0,
    mcp_server_ids=(),
    labels={},
    has_unread=False,
    client_type="api",
    children=(),
)


async def talked(daemon):
    """Take a chat up that is at work; `daemon` answers all that is asked but the beginning."""

    async def answer(request):
        match request.method, request.url.path.rpartition("/")[2]:
            case "GET", name if name == str(CHAT.id):
                return httpx2.Response(200, content=msgspec.json.encode(CHAT))
            case "GET", "messages":
                page = {"messages": [], "queued_messages": [], "has_more": False}
                return httpx2.Response(200, json=page)
            case _:
                return await daemon(request)

    transport = httpx2.MockTransport(answer)
    async with AsyncClient("http://localhost", "token", transport=transport) as client:
        return await converse(client, ChatRequest(CHAT.id), Console(quiet=True))


async def test_a_chat_that_is_gone_while_it_is_watched_is_a_refusal_and_no_group_of_faults():
    async def daemon(request):
        return httpx2.Response(404, json={"message": "there is no such chat", "detail": ""})

    with pytest.raises(RequestRefused, match="there is no such chat"):
        await talked(daemon)


async def test_an_interrupt_that_reaches_nobody_is_said_in_one_fault():
    async def daemon(request):
        if request.method == "GET":  # the stream: it begins, and ctrl-C is pressed
            signal.raise_signal(signal.SIGINT)
            await trio.sleep_forever()
        raise httpx2.ConnectError("nobody listens")

    with (
        trio.fail_after(PATIENCE_SECONDS),
        pytest.raises(ServerUnreachable, match="is the daemon running there"),
    ):
        await talked(daemon)
