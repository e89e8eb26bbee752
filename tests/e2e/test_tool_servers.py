"""Servers of tools with real daemons and real processes: those that are set up, over each way to
reach one; those that a workspace names, which end with its daemon, however that ends.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from tests.e2e.daemons import a_daemon, environment
from tests.e2e.processes import EVENTUALLY_SECONDS, POLL_SECONDS, ROOT, eventually, free_ports
from tests.e2e.test_context import (
    CHATS,
    MAKES_ONE,
    ORGANIZATIONS,
    SETTINGS,
    at_rest,
    begun,
    client_of,
    good,
    provider,
    says,
)

__all__ = ["provider"]
pytestmark = pytest.mark.slow
SCRIPT = ROOT / "tests/fakes/shell_server.sh"
LOOKS = "[[tool-calls: kit__look:{}]] look around"


@contextlib.contextmanager
def a_tool_server(way):
    """The official SDK's, on a free port; its URL."""
    port = free_ports()
    words = [sys.executable, "-m", "tests.fakes.tool_server", way, str(port)]
    process = subprocess.Popen(words, cwd=ROOT, env=environment(), stderr=subprocess.DEVNULL)

    def listens():
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True

    try:
        eventually(listens, "the server of tools listens")
        yield f"http://127.0.0.1:{port}/{'sse' if way == 'sse' else 'mcp'}"
    finally:
        process.kill()
        process.wait()


async def set_up(client, **config):
    [organization, *_] = await good(client.get(ORGANIZATIONS))
    new = {"display_name": "One", "slug": "one", "transport": "streamable_http"}
    new |= {"auth_type": "none", "availability": "default_off", **config}
    path = f"/api/experimental/organizations/{organization['id']}/mcp-servers"
    return await good(client.post(path, json=new))


async def results(client, chat):
    """Of all calls of the chat, with whose tools they called."""
    said = await good(client.get(f"{CHATS}/{chat}/messages"))
    rows = sorted(said["messages"], key=lambda row: row["id"])
    parts = [part for row in rows for part in row["content"]]
    return [
        (part["result"], part["mcp_server_config_id"])
        for part in parts
        if part["type"] == "tool-result"
    ]


@pytest.mark.parametrize("way", ["streamable-http", "sse"])
async def test_a_chat_calls_a_tool_of_a_server_that_is_set_up(home, provider, database, way):
    settings = {**SETTINGS, **provider.settings, "DATABASE_URL": database}
    with a_tool_server(way) as url, a_daemon(home, **settings) as daemon:
        async with client_of(daemon) as client:
            transport = "sse" if way == "sse" else "streamable_http"
            server = (await set_up(client, url=url, transport=transport))["id"]
            words = '[[tool-calls: one__add:{"a": 1, "b": 2}]] what is it?'
            chat = await begun(client, words, mcp_server_ids=[server])

            [(result, whose)] = await results(client, chat["id"])

        assert 0 == await trio.to_thread.run_sync(daemon.stop)

    assert (3, server) == (result, whose)


def processes_of(home):
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if home in Path(f"/proc/{name}/cwd").readlink().parents:
                found.append(int(name))
    return found


async def until_gone(home):
    with trio.fail_after(EVENTUALLY_SECONDS):
        while processes_of(home):
            await trio.sleep(POLL_SECONDS)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["told", "killed"])
@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
async def test_a_server_of_a_workspace_ends_with_its_daemon(
    home, provider, database, number, sandbox
):
    template = home / "templates/web"
    template.mkdir(parents=True)
    (template / "server.sh").write_text(SCRIPT.read_text())
    kit = {"kit": {"command": "sh", "args": ["server.sh"]}, "broken": {"command": "nothing"}}
    (template / ".mcp.json").write_text(json.dumps({"mcpServers": kit}))
    settings = {**SETTINGS, **provider.settings, "DATABASE_URL": database}
    settings |= {"PROMPTCORNER_SANDBOX": sandbox, "PROMPTCORNER_WORKSPACE_SERVERS": "all"}
    with a_daemon(home, **settings) as daemon:
        async with client_of(daemon) as client:
            chat = (await begun(client, MAKES_ONE))["id"]
            await good(client.post(f"{CHATS}/{chat}/messages", json=says(LOOKS)))
            shown = await at_rest(client, chat)
            *_, (looked, whose) = await results(client, chat)
            before = processes_of(home)
        daemon.process.send_signal(number)
        await trio.to_thread.run_sync(daemon.process.wait)

        await until_gone(home)

    servers = [each for each in shown["context"]["resources"] if each["kind"] == "mcp_server"]
    assert (None, True) == (whose, str(home / "workspaces") in looked["output"])
    assert before
    assert {"ok", "invalid"} >= {each["status"] for each in servers}
    assert any("exit code 127" in each.get("error", "") for each in servers)
    assert ["kit__look"] in [[tool["name"] for tool in each.get("tools", [])] for each in servers]
