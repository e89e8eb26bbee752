"""A message that is being sent while another chat is opened: it goes where it was typed."""

import asyncio
from uuid import UUID

import httpx2
import msgspec

from adapters.cli.chat.conversation import ChatRequest
from adapters.cli.chat.place.desk import Desk
from adapters.cli.chat.place.live_chat import LiveChat
from adapters.cli.chat.place.plain import PlainFront
from promptcorner_client.async_client import AsyncClient
from tests.adapters.cli.test_conversation import CHAT
from tests.patience import PATIENCE_SECONDS

OTHER = msgspec.structs.replace(CHAT, id=UUID(int=8))
USER = {"id": str(UUID(int=2)), "username": "ann", "organization_ids": [str(UUID(int=1))]}


async def sent_to(line):
    """The path at which a message arrives if another chat is opened during its upload."""
    uploading, goes_on, paths = asyncio.Event(), asyncio.Event(), []

    async def daemon(request):
        name = request.url.path.rpartition("/")[2]
        if name == "me":
            return httpx2.Response(200, json=USER)
        if name == "files":
            uploading.set()
            await goes_on.wait()
            return httpx2.Response(201, json={"id": str(UUID(int=9))})
        paths.append(request.url.path)
        return httpx2.Response(200, json={"queued": False})

    transport = httpx2.MockTransport(daemon)
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        AsyncClient("http://d", "t", transport=transport) as client,
    ):
        front = PlainFront(bell="off")
        live = LiveChat(client, ChatRequest(chat=None, model=None, effort="", approve=None), front)
        desk = front.desk = Desk(live, front)
        live.chat = CHAT
        typed = asyncio.create_task(desk.typed(line))
        await uploading.wait()
        live.chat = OTHER
        goes_on.set()
        await typed
    return paths


def test_a_message_goes_to_the_chat_in_which_it_was_typed(tmp_path):
    (tmp_path / "notes").write_text("of it")

    [path] = asyncio.run(sent_to(f"look at @{tmp_path}/notes"))

    assert f"/{CHAT.id}/messages" in path
