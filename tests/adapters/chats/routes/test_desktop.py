"""The desktop of a chat, watched over a WebSocket by its owner and by nobody else."""

from dataclasses import replace
from uuid import UUID

import pytest
import trio
from trio_websocket import ConnectionClosed

from adapters.chats.routes import desktop as route
from adapters.chats.routes.desktop import ClientBytes
from adapters.workspaces.desktop.desktops import WATCHERS_MAX
from adapters.workspaces.desktop.rfb import RfbClient, ScreenChanged, ScreenReady
from tests.adapters.edges import an_edge, eventually
from tests.adapters.requests_of import CHATS
from tests.fakes.screens import needs_desktop
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

MADE = '[[tool-calls: create_workspace:{"template_id":"empty"}]] [[text: done]]'


@pytest.fixture
async def house(fresh, tmp_path):
    """A daemon with desktops."""
    settings = {"experiments": "chat-virtual-desktop", "data_dir": tmp_path}
    async with an_edge(fresh, **settings) as edge:
        yield edge


async def a_chat(edge, text=MADE):
    new = {"organization_id": edge.organization, "content": [{"type": "text", "text": text}]}
    path = f"{CHATS}/{(await edge.member.post(CHATS, new)).document['id']}"

    async def rests():
        return (await edge.member.get(path)).document["status"] == "waiting"

    await eventually(rests)
    return path


async def seen(socket, screen, kind):
    """Talk to a screen until it has said this."""
    with trio.fail_after(PATIENCE_SECONDS):
        while True:
            if said := screen.bytes_to_send():
                await socket.send_message(said)
            for event in screen.receive(await socket.get_message()):
                if isinstance(event, kind):
                    return event


async def end_of(socket):
    """The code with which the server closes a socket."""
    with trio.fail_after(PATIENCE_SECONDS):
        while True:
            try:
                await socket.get_message()
            except ConnectionClosed as closed:
                return closed.reason.code


@needs_desktop
async def test_an_owner_watches_and_operates_it_and_several_clients_may(house):
    path = f"{await a_chat(house)}/stream/desktop"
    first, second = RfbClient(), RfbClient()

    async with house.member.socket(path) as socket, house.member.socket(path) as other:
        ready = await seen(socket, first, ScreenReady)
        await seen(other, second, ScreenReady)
        second.request(only_changes=False)
        await seen(other, second, ScreenChanged)
        watchers = house.chats.desktops.statistics().watchers
        first.pointer(100, 200, buttons=0)
        await socket.send_message(first.bytes_to_send())
        second.request(only_changes=True)
        moved = await seen(other, second, ScreenChanged)

    assert (1920, 1080) == (ready.size.width, ready.size.height)
    assert moved.pixels > 0
    assert 2 == watchers

    async def nobody_watches():
        return not house.chats.desktops.statistics().watchers

    await eventually(nobody_watches)


@needs_desktop
async def test_only_its_owner_gets_at_it(house):
    path = f"{await a_chat(house)}/stream/desktop"

    for asker, status in ((house.admin, 403), (house.stranger, 404), (house.nobody, 401)):
        assert status == (await asker.get(path)).status
    assert 426 == (await house.member.get(path)).status


@pytest.mark.parametrize("scope", ["chats:read", "chats"])
async def test_a_token_that_may_not_do_everything_operates_nothing(fresh, tmp_path, scope):
    settings = {"experiments": "chat-virtual-desktop", "data_dir": tmp_path}
    async with an_edge(fresh, **settings) as edge:
        path = await a_chat(edge, "hello")
        made = await edge.member.post("/api/v2/users/me/keys/tokens", {"scope": scope})
        limited = replace(edge.member, token=made.document["key"])

        assert 200 == (await limited.get(path)).status
        assert 403 == (await limited.get(f"{path}/stream/desktop")).status
        assert 400 == (await edge.member.get(f"{path}/stream/desktop")).status


@needs_desktop
async def test_a_socket_ends_with_its_desktop(house):
    path = await a_chat(house)
    async with house.member.socket(f"{path}/stream/desktop") as socket:
        await socket.get_message()
        space = (await house.member.get(path)).document["workspace_id"]
        await house.chats.lifecycle.stop(UUID(space))
        code = await end_of(socket)

    assert 1000 == code
    stopped = await house.member.get(f"{path}/stream/desktop")
    assert (400, True) == (stopped.status, "is stopped" in stopped.document["detail"])


@needs_desktop
async def test_a_desktop_has_a_bounded_number_of_watchers(house, monkeypatch):
    monkeypatch.setattr("adapters.workspaces.desktop.desktops.WATCHERS_MAX", 1)
    path = f"{await a_chat(house)}/stream/desktop"

    async with house.member.socket(path) as socket:
        await socket.get_message()
        async with house.member.socket(path) as late:
            code = await end_of(late)

    assert WATCHERS_MAX > 1
    assert 1013 == code


async def test_without_a_workspace_or_a_program_it_is_said_what_is_missing(fresh, tmp_path):
    settings = {"experiments": "chat-virtual-desktop", "data_dir": tmp_path}
    async with an_edge(fresh, **settings) as edge:
        none = await edge.member.get(f"{await a_chat(edge, 'hello')}/stream/desktop")

    assert 400 == none.status
    assert "The chat has no desktop to watch." == none.document["message"]
    says = none.document["detail"]
    assert "this chat has no workspace" in says or "apt-get install" in says


def test_a_client_that_says_more_than_the_screen_takes_is_cut_off(monkeypatch):
    monkeypatch.setattr(route, "WAITING_BYTES_MAX", 10)
    said = ClientBytes()

    assert said.add(bytes(10))
    assert not said.add(b"1")
