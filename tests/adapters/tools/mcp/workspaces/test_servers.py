"""Servers that a workspace names: begun in its sandbox, kept for its chats, ended with it."""

import json
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path

import pytest
import trio

from actors.tools.approvals import NO_APPROVALS
from adapters.tools.mcp.faults import ServerFault
from adapters.tools.mcp.workspaces import named_server as server
from adapters.tools.mcp.workspaces.named_server import BROKEN_MAX
from adapters.tools.mcp.workspaces.servers import (
    ENTRIES_MAX,
    NO_NETWORK,
    NOT_UNCONFINED,
    WorkspaceTrust,
    consent_scope_of,
    open_workspace_servers,
)
from adapters.workspaces.commands.sandbox import NoSandbox, Unconfined
from tests.fakes.tool_server import a_server
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).parents[4] / "fakes/shell_server.sh"
ALL = WorkspaceTrust(unconfined=True, network=True)
LOOPBACK = (ip_network("127.0.0.0/8"),)


class File:
    """What chats have taken in of their workspace, as `running.Settings` says it."""

    def __init__(self, **servers):
        self.servers = servers

    async def settings(self, chat):
        return [json.dumps({"mcpServers": self.servers})]


def shell(*args, **env):
    return {"command": "sh", "args": ["server.sh", *args], "env": env}


@asynccontextmanager
async def servers_of(daemon, file, trust=ALL, approving=NO_APPROVALS):
    async with open_workspace_servers(daemon.workspaces, file, trust, approving) as servers:
        daemon.listeners.append(servers)
        with trio.fail_after(PATIENCE_SECONDS):
            yield servers


async def at_home(daemon, chat):
    """A workspace with the script in it; and the chat as it is then."""
    home = await daemon.home(chat)
    (home / "server.sh").write_text(SCRIPT.read_text())
    return home, (await daemon.store.reading.view(chat.id)).chat


async def look(servers, chat, name="one"):
    said = await servers.call(chat, name, "look", {})
    return said["content"][0]["text"]


def names(tools):
    return [tool.offered_name for tool in tools]


def processes_of(home):
    """Those that stand in it."""
    found = []
    for each in Path("/proc").iterdir():
        try:
            if each.name.isdecimal() and (each / "cwd").readlink() == home:
                found.append(int(each.name))
        except OSError:
            pass
    return found


async def nobody_in(home):
    """Those that were killed have gone; the kernel takes its time."""
    with trio.fail_after(PATIENCE_SECONDS):
        while processes_of(home):
            await trio.sleep(0.01)


def environ_of(pid):
    pairs = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return dict(pair.partition("=")[::2] for pair in pairs)


async def test_a_program_runs_in_the_sandbox_with_its_environment_and_for_several_turns(
    daemon, chat
):
    home, chat = await at_home(daemon, chat)
    file = File(one=shell(GREETING="hello $USER"))

    async with servers_of(daemon, file) as servers:
        assert servers.listing_number(chat)
        assert ["one__look"] == names(await servers.tools(chat))
        first = await look(servers, chat)
        await servers.tools(chat)
        again = await look(servers, chat)
        assert processes_of(home)

    assert f" {home} hello $USER " in first
    assert first == again
    is_confined = not isinstance(daemon.workspaces.sandbox, Unconfined)
    assert is_confined is ("root" not in first.split())
    await nobody_in(home)


async def test_what_starts_the_sandbox_does_not_heed_the_environment_of_the_file(daemon, chat):
    home, chat = await at_home(daemon, chat)
    file = File(one=shell(LD_PRELOAD=f"{home}/evil.so"))

    async with servers_of(daemon, file) as servers:
        await servers.tools(chat)
        said = await look(servers, chat)
        heeds = "LD_PRELOAD" in environ_of(min(processes_of(home)))

    assert f"{home}/evil.so" in said
    assert heeds is isinstance(daemon.workspaces.sandbox, Unconfined)


async def test_variables_are_those_that_commands_of_the_workspace_find(daemon, chat, monkeypatch):
    monkeypatch.setenv("PROMPTCORNER_SECRET_KEY", "s3cret")
    home, chat = await at_home(daemon, chat)
    told = await daemon.call(chat, "execute", command="echo $TMPDIR")
    file = File(
        one=shell(GREETING="at ${HOME} and ${TMPDIR}"),
        two=shell("${PROMPTCORNER_SECRET_KEY}"),
        three=shell("${PROMPTCORNER_CHAT_ID}"),
    )

    async with servers_of(daemon, file) as servers:
        tools = await servers.tools(chat)
        said = await look(servers, chat)
        seen = {each.name: each.fault for each in await servers.seen(*await of(chat, file))}

    assert ["one__look"] == names(tools)
    assert f"at {home} and {told['output'].strip()}" in said
    assert "the variable PROMPTCORNER_SECRET_KEY is not set" in seen["two"]
    assert "the variable PROMPTCORNER_CHAT_ID is not set" in seen["three"]


async def test_two_chats_of_a_family_share_one(daemon, chat):
    _, chat = await at_home(daemon, chat)
    child = await daemon.chat(parent=chat, workspace_id=chat.workspace_id)

    async with servers_of(daemon, File(one=shell())) as servers:
        both = [await servers.tools(each) for each in (chat, child)]
        pids = {(await look(servers, each)).split()[0] for each in (chat, child)}
        assert 1 == servers.statistics().running

    assert [["one__look"]] * 2 == [names(tools) for tools in both]
    assert 1 == len(pids)


async def test_with_its_workspace_it_ends_and_a_call_says_so(daemon, chat):
    home, chat = await at_home(daemon, chat)

    async with servers_of(daemon, File(one=shell())) as servers:
        await servers.tools(chat)
        await look(servers, chat)
        await daemon.call(chat, "stop_workspace")

        assert 0 == servers.statistics().running
        await nobody_in(home)
        with pytest.raises(ServerFault, match="is stopped; start_workspace starts it"):
            await look(servers, chat)
        before = servers.listing_number(chat)
        await daemon.call(chat, "start_workspace")
        assert servers.listing_number(chat) != before
        assert ["one__look"] == names(await servers.tools(chat))
        assert await look(servers, chat)


async def test_if_the_news_that_its_workspace_was_stopped_is_lost_it_ends_at_the_next_look(
    daemon, chat
):
    home, chat = await at_home(daemon, chat)

    async with a_server() as wire:
        file = File(one=shell(), two={"type": "http", "url": wire.url})
        async with servers_of(daemon, file, replace(ALL, allowed=LOOPBACK)) as servers:
            await servers.tools(chat)
            before = servers.statistics().running
            await daemon.store.execute("UPDATE workspaces SET is_stopped = true")

            await daemon.lifecycle.caretaker.look()

            assert (2, 0) == (before, servers.statistics().running)
            await nobody_in(home)


FILLS = "(while sleep 0.01; do head -c 200000 /dev/urandom >> big; done) & . ./server.sh"


async def test_one_that_fills_the_disk_is_ended(daemon, chat):
    daemon.templates.mkdir()
    (daemon.templates / "empty.toml").write_text("[limits]\ndisk_mb = 1")
    home, chat = await at_home(daemon, chat)

    async with servers_of(daemon, File(one={"command": "sh", "args": ["-c", FILLS]})) as servers:
        assert ["one__look"] == names(await servers.tools(chat))
        while servers.statistics().running:
            await daemon.lifecycle.caretaker.measure()

        await nobody_in(home)


async def test_one_that_breaks_is_begun_again_but_not_for_ever(daemon, chat):
    _, chat = await at_home(daemon, chat)

    async with servers_of(daemon, File(one=shell("dies"))) as servers:
        faults = []
        for _ in range(BROKEN_MAX + 1):
            await servers.tools(chat)
            with pytest.raises(ServerFault) as fault:
                await look(servers, chat)
            faults.append(str(fault.value))
        assert [] == names(await servers.tools(chat))
        [seen] = await servers.seen(*await of(chat, File(one=shell("dies"))))

    assert BROKEN_MAX == sum("it ended with exit code 3" == each for each in faults)
    assert f"it broke {BROKEN_MAX} times within" in faults[-1]
    assert faults[-1].endswith("the last time: it ended with exit code 3")
    assert (faults[-1], ()) == (seen.fault, seen.tools)


async def test_one_that_is_late_does_not_keep_the_turn_waiting_and_comes_later(
    daemon, chat, monkeypatch
):
    home, chat = await at_home(daemon, chat)
    file = File(two=shell())

    async with servers_of(daemon, file) as servers:
        await servers.tools(chat)
        file.servers = {"one": shell("late"), "two": shell()}
        monkeypatch.setattr(server, "DISCOVERY_SECONDS", 3.0)
        first = await servers.tools(chat)
        seen = {each.name: each.fault for each in await servers.seen(*await of(chat, file))}
        look = servers.listing_number(chat)
        monkeypatch.setattr(server, "DISCOVERY_SECONDS", PATIENCE_SECONDS)
        (home / "go").touch()
        while servers.listing_number(chat) == look:
            await trio.sleep(0.05)
        second = await servers.tools(chat)
        look = servers.listing_number(chat)

    assert ["two__look"] == names(first)
    assert "not ready within" in seen["one"]
    assert "" == seen["two"]
    assert {"one__look", "two__look"} == set(names(second))
    assert look > 1


async def of(chat, file):
    return consent_scope_of(chat), chat.workspace_id, await file.settings(chat)


async def test_another_entry_is_another_server(daemon, chat):
    _, chat = await at_home(daemon, chat)
    file = File(one=shell(GREETING="hi"))

    async with servers_of(daemon, file) as servers:
        await servers.tools(chat)
        first = await look(servers, chat)
        file.servers = {"one": shell(GREETING="ho")}
        await servers.tools(chat)
        second = await look(servers, chat)
        file.servers = {}
        with pytest.raises(ServerFault, match="does not name the server"):
            await look(servers, chat)

    assert (" hi ", " ho ") == (first[first.index(" hi") :][:4], second[second.index(" ho") :][:4])


@pytest.mark.parametrize(
    ("entry", "trust", "why"),
    [
        ({"url": "http://h/mcp"}, WorkspaceTrust(), NO_NETWORK),
        ({"url": "http://127.0.0.1:1/mcp"}, ALL, "leads into a private network"),
        ({"url": "http://localhost:1/mcp"}, ALL, "leads into a private network"),
        ({"command": "no-such-program"}, ALL, "it ended with exit code 127"),
        ({"command": "a\0"}, ALL, "zero byte"),
    ],
)
async def test_what_may_not_or_cannot_be_done_is_said(daemon, chat, entry, trust, why):
    _, chat = await at_home(daemon, chat)
    file = File(one=entry)

    async with servers_of(daemon, file, trust) as servers:
        assert [] == names(await servers.tools(chat))
        [seen] = await servers.seen(*await of(chat, file))

    assert why in seen.fault


async def test_the_log_says_whose_server_cannot_be_used(daemon, chat, caplog):
    _, chat = await at_home(daemon, chat)

    async with servers_of(daemon, File(one={"url": "http://h/mcp"}), WorkspaceTrust()) as servers:
        await servers.tools(chat)

    told = [each.fields for each in caplog.records if each.message == "mcp.unusable"]
    workspace = str(chat.workspace_id)
    assert [{"workspace": workspace, "server": "one", "why": NO_NETWORK}] == told


async def test_without_a_sandbox_nothing_is_begun_that_nobody_has_said_may_be(daemon, chat):
    home, chat = await at_home(daemon, chat)
    file = File(one=shell())
    sandboxes = {NOT_UNCONFINED: Unconfined(), "commands cannot": NoSandbox("it is missing")}

    for why, sandbox in sandboxes.items():
        daemon.workspaces.sandbox = sandbox
        async with servers_of(daemon, file, replace(ALL, unconfined=False)) as servers:
            assert [] == names(await servers.tools(chat))
            [seen] = await servers.seen(*await of(chat, file))
        assert why in seen.fault

    assert not (home / "listed").exists()


async def test_a_server_elsewhere_is_reached_where_its_network_is_allowed(daemon, chat):
    _, chat = await at_home(daemon, chat)
    trust = replace(ALL, allowed=LOOPBACK)

    async with a_server() as wire:
        entry = {"type": "http", "url": wire.url, "headers": {"X-Team": "7"}}
        async with servers_of(daemon, File(one=entry), trust) as servers:
            tools = await servers.tools(chat)
            said = await servers.call(chat, "one", "echo", {})

    assert ["one__echo"] == names(tools)
    assert "done" == said["content"][0]["text"]
    assert "7" == wire.headers("tools/call")["x-team"]


@pytest.mark.parametrize(
    ("columns", "may"),
    [
        ({}, True),
        ({"plan_mode": "plan"}, False),
        ({"mode": "explore"}, False),
        ({"mode": "computer_use"}, True),
    ],
)
async def test_which_chats_have_them(daemon, chat, columns, may):
    _, chat = await at_home(daemon, chat)

    async with servers_of(daemon, File()) as servers:
        assert may is bool(servers.listing_number(replace(chat, **columns)))
    async with servers_of(daemon, File(), WorkspaceTrust(is_read=False)) as servers:
        assert 0 == servers.listing_number(chat)


async def test_what_moved_is_known_until_the_chat_rests(daemon, chat):
    async with servers_of(daemon, File()) as servers:
        before = servers.listing_number(chat)
        servers.opened(chat)
        meanwhile = servers.listing_number(chat)
        servers.forget(chat.id)

        assert (0, True, 0) == (before, meanwhile > 0, servers.listing_number(chat))


async def test_of_entries_that_come_and_go_those_that_rest_are_forgotten(daemon, chat):
    _, chat = await at_home(daemon, chat)
    file = File()

    async with servers_of(daemon, file, WorkspaceTrust()) as servers:
        for number in range(2 * ENTRIES_MAX):
            file.servers = {f"s{number}": {"url": "http://h/"}}
            assert [] == await servers.tools(chat)
        known = servers._of[chat.workspace_id]

    assert len(known) <= ENTRIES_MAX
    assert f"s{2 * ENTRIES_MAX - 1}" in {named.name for named in known}
