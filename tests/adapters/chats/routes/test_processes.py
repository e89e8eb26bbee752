"""Commands that go on beside a chat, followed by its owner."""

import json
import os
from uuid import UUID

import httpx2
import pytest
import trio

from actors.law.ids import ChatId
from actors.tools.workspaces import Command, Signal
from adapters.chats.routes import processes
from adapters.chats.routes.processes import ElsewhereReader
from adapters.workspaces.commands.bubblewrap import WorkspacePaths
from adapters.workspaces.commands.peers import Peers
from adapters.workspaces.commands.processes import ProcessSpec
from adapters.workspaces.commands.sandbox import DEFAULT_LIMITS, Unconfined, environment
from tests.adapters.edges import HEADER, an_edge
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow
C = "/api/v2/chats"
ONE = ("", {"text": "one\n"})
PAUSED = "echo one; until [ -e go ]; do sleep 0.02; done; echo two"


@pytest.fixture
async def edge(fresh, short_path):
    async with an_edge(fresh, data_dir=str(short_path), sandbox="none") as edge:
        yield edge


async def a_chat(edge):
    said = [{"type": "text", "text": "hello"}]
    made = await edge.member.post(C, {"organization_id": edge.organization, "content": said})
    return made.document["id"]


def begun(edge, chat, text, top):
    """A command of the chat in the background; its id."""
    paths = WorkspacePaths(str(top), str(top))
    return edge.chats.lifecycle.workspaces.table.start(
        ProcessSpec(
            chat=ChatId(UUID(chat)),
            workspace=UUID(int=3),
            command=Command(text, background=True),
            workdir=str(top),
            arguments=Unconfined().command(text, paths, workdir=str(top), limits=DEFAULT_LIMITS),
            environment=environment(os.environ, ChatId(UUID(chat)), paths, tmp=str(top)),
            seconds_max=PATIENCE_SECONDS,
        )
    )


async def events(edge, chat, id, *, seen, token=None):
    """All events of a stream, to its end; `seen` has them as they come."""
    headers = {HEADER: token or edge.member.token}
    async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as client:
        url = f"{edge.url}{C}/{chat}/processes/{id}/output"
        async with client.stream("GET", url, headers=headers) as response:
            assert 200 == response.status_code
            assert response.headers["content-type"].startswith("text/event-stream")
            name = ""
            async for line in response.aiter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    seen.append((name, json.loads(line.removeprefix("data: "))))
                    name = ""


async def test_it_is_told_as_it_writes_and_when_it_ends(edge, tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "BEAT_SECONDS", 0.3)
    chat = await a_chat(edge)
    id = begun(
        edge, chat, "echo one; until [ -e go ]; do sleep 0.02; done; echo two; exit 3", tmp_path
    )
    seen = []
    async with trio.open_nursery() as nursery:

        async def follow():
            await events(edge, chat, id, seen=seen)

        nursery.start_soon(follow)
        with trio.fail_after(PATIENCE_SECONDS):
            while ONE not in seen or seen[-1] != ("heartbeat", {}):
                await trio.sleep(0.01)
        (tmp_path / "go").touch()

    told = [each for each in seen if each[0] != "heartbeat"]
    assert [ONE, ("", {"text": "two\n"}), ("end", told[-1][1])] == told
    assert {"exit_code": 3, "why": ""} == told[-1][1]
    late = []
    await events(edge, chat, id, seen=late, token=edge.admin.token)
    assert [("", {"text": "one\ntwo\n"}), told[-1]] == late, "one who comes later gets all of it"


async def test_one_that_is_ended_says_why_it_ended(edge, tmp_path):
    chat = await a_chat(edge)
    id = begun(edge, chat, "sleep 1000", tmp_path)
    table = edge.chats.lifecycle.workspaces.table
    table.signal(ChatId(UUID(chat)), id, Signal.KILL)

    seen = []
    await events(edge, chat, id, seen=seen)

    assert [("end", {"exit_code": 137, "why": ""})] == seen


async def test_only_the_owner_follows_and_only_what_there_is(edge, tmp_path, monkeypatch):
    chat, other = await a_chat(edge), await a_chat(edge)
    id = begun(edge, chat, "true", tmp_path)

    for asker, path in (
        (edge.stranger, f"{C}/{chat}/processes/{id}/output"),
        (edge.member, f"{C}/{other}/processes/{id}/output"),
        (edge.member, f"{C}/{chat}/processes/none/output"),
    ):
        assert 404 == (await asker.get(path)).status
    monkeypatch.setattr(processes, "FOLLOWERS_MAX", 0)
    assert 503 == (await edge.member.get(f"{C}/{chat}/processes/{id}/output")).status


async def test_one_in_another_process_is_told_as_what_is_kept_of_it(edge, tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "ELSEWHERE_SECONDS", 0.05)
    chat = await a_chat(edge)
    there = edge.chats.lifecycle.workspaces
    here = Peers(there.directory / ".peers", None)
    id = begun(edge, chat, PAUSED, tmp_path)
    with trio.fail_after(PATIENCE_SECONDS):
        found = None
        while found is None or not found.output.text:
            found = await here.wait(ChatId(UUID(chat)), id, 0.05)
        reader = ElsewhereReader(here, ChatId(UUID(chat)), found)
        first = await reader.next()
        (tmp_path / "go").touch()
        pieces = []
        while (piece := await reader.next()) is not None:
            pieces.append(piece)

    assert ("one\n", True) == (first.text, first.resets)
    assert "one\ntwo\n" == pieces[-1].text
    assert 0 == reader.process.exit_code
