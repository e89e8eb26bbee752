"""What is typed while something else happens: another chat is opened, or the daemon is lost."""

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import UUID

import httpx2
import msgspec
import pytest

from adapters.cli.chat.approvals import Approve, UserDecision
from adapters.cli.chat.conversation import ChatRequest
from adapters.cli.chat.deciding.asking import (
    PAUSE_SECONDS,
    FormQuestion,
    PlanAsk,
    QuestionsAsk,
)
from adapters.cli.chat.place.attaching import Attachment
from adapters.cli.chat.place.desk import Desk
from adapters.cli.chat.place.live_chat import LiveChat
from adapters.cli.chat.place.plain import PlainFront
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.errors import RequestRefused, ServerUnreachable
from promptcorner_client.wire import ChatApproval
from tests.adapters.cli.test_conversation import CHAT
from tests.patience import PATIENCE_SECONDS

OTHER = msgspec.structs.replace(CHAT, id=UUID(int=8))
APPROVAL = ChatApproval(CHAT.id, "", "c", "execute", "{}", datetime(2026, 1, 1, tzinfo=UTC), None)
USER = {"id": str(UUID(int=2)), "username": "ann", "organization_ids": [str(UUID(int=1))]}


@asynccontextmanager
async def a_desk(daemon, approve=None):
    """A desk with an open chat, before a daemon that answers as the function says."""
    transport = httpx2.MockTransport(daemon)
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        AsyncClient("http://d", "t", transport=transport) as client,
    ):
        front = PlainFront(bell="off")
        request = ChatRequest(chat=None, model=None, effort="", approve=approve)
        live = LiveChat(client, request, front)
        desk = front.desk = Desk(live, front)
        live.chat = CHAT
        yield desk
        await live.aclose()


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

    async with a_desk(daemon) as desk:
        typed = asyncio.create_task(desk.typed(line))
        await uploading.wait()
        desk.live.chat = OTHER
        goes_on.set()
        await typed
    return paths


def test_a_message_goes_to_the_chat_in_which_it_was_typed(tmp_path):
    (tmp_path / "notes").write_text("of it")

    [path] = asyncio.run(sent_to(f"look at @{tmp_path}/notes"))

    assert f"/{CHAT.id}/messages" in path


def refuses(status, paths):
    """A daemon that is away (0), or refuses all that it is asked to do."""

    async def daemon(request):
        paths.append((request.method, request.url.path.rpartition("/")[2]))
        if not status:
            raise httpx2.ConnectError("it is away")
        return httpx2.Response(status, json={"message": "No."})

    return daemon


@pytest.mark.parametrize("status", [0, 400])
def test_a_call_is_asked_about_again_if_the_decision_did_not_arrive(status):
    async def decided():
        async with a_desk(refuses(status, [])) as desk:
            desk.live.seen.approvals = (APPROVAL,)
            with pytest.raises((RequestRefused, ServerUnreachable)):
                await desk.live.decide(APPROVAL, UserDecision("allow_once"))
            return desk.live.is_asked_for_consent

    assert asyncio.run(decided())


@pytest.mark.parametrize(
    ("stood_seconds", "decided"),
    [(PAUSE_SECONDS, 1), (-PATIENCE_SECONDS, 0)],  # the second one is yet to be read
)
def test_a_plain_line_answers_a_question_that_stood_long_enough_however_busy_the_machine_is(
    stood_seconds, decided
):
    paths = []

    async def typed():
        async with a_desk(refuses(400, paths)) as desk:
            desk.live.seen.approvals = (APPROVAL,)
            desk.front._ask(asyncio.get_running_loop().time() - stood_seconds)
            desk.front._line("y")  # the front has not looked in between
            await asyncio.wait(desk.live._tasks)

    asyncio.run(typed())

    assert decided == paths.count(("POST", APPROVAL.tool_call_id))


@pytest.mark.parametrize("form", [PlanAsk("a plan"), QuestionsAsk([FormQuestion("Which one?")])])
def test_an_answer_to_a_form_that_is_closed_is_put_back(form):
    paths, put = [], []

    async def typed():
        async with a_desk(refuses(400, paths)) as desk:
            desk.front.put = put.append
            desk.live.answer_form(form)
            asked = desk.live.asked
            desk.live.answer_form(None)  # it was answered elsewhere, or another chat was opened
            await desk.typed("y", asked=asked)

    asyncio.run(typed())

    assert ([], ["y"]) == (paths, put)


def test_what_was_attached_while_a_message_was_refused_is_kept():
    first, second = (Attachment(name, "text/plain", b"x") for name in ("first", "second"))

    async def sent():
        async def daemon(request):
            desk.attachments.append(second)
            return httpx2.Response(400, json={"message": "No."})

        async with a_desk(daemon) as desk:
            desk.attachments.append(first)
            await desk.typed("look")
            return desk.attachments

    assert [first, second] == asyncio.run(sent())


def test_a_chat_whose_policy_cannot_be_set_is_not_opened():
    page = {"messages": [], "queued_messages": [], "has_more": False}

    async def daemon(request):
        if request.method == "PATCH":
            return httpx2.Response(403, json={"message": "No."})
        if request.url.path.endswith("/messages"):
            return httpx2.Response(200, json=page)
        return httpx2.Response(200, content=msgspec.json.encode(OTHER))

    async def opened():
        async with a_desk(daemon, approve=Approve.ALLOW) as desk:
            with pytest.raises(RequestRefused):
                await desk.live.resume(OTHER.id)
            return desk.live.chat

    assert CHAT == asyncio.run(opened())
