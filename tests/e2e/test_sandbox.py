"""Commands of chats of a real daemon: in the sandbox, refused without one, gone with the daemon."""

import json
import os
from pathlib import Path

import pytest
from trio_websocket import open_websocket_url

from actors.law.parts.message import ToolResultPart
from adapters.workspaces.terminals.wire import input_message
from tests.e2e.clients import a_client
from tests.e2e.crossing import ADMIN, over, sites
from tests.e2e.daemons import a_daemon, run
from tests.e2e.processes import eventually
from tests.e2e.providers import a_provider

pytestmark = pytest.mark.slow

CREATES = '[[tool-calls: create_workspace:{"template_id":"empty"}]] [[text: done]]'


@pytest.fixture(scope="module")
def provider():
    with a_provider() as provider:
        yield provider


@pytest.fixture
def refusing(tmp_path):
    """A PATH whose bwrap says what one says where the kernel lets nobody make namespaces."""
    program = tmp_path / "bwrap"
    program.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
    )
    program.chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


def executes(command, **more):
    arguments = json.dumps({"command": command, "timeout": "20s", **more})
    return f"[[tool-calls: execute:{arguments}]] [[text: done]]"


def text_of(*path):
    return Path(*path).read_text()


async def told(client, chat):
    """What the last call of a tool came to."""
    await client.until(chat, "waiting")
    parts = [part for row in await client.history(chat) for part in row.body.parts]
    return json.loads([part for part in parts if isinstance(part, ToolResultPart)][-1].result)


def sleepers(marker):
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        found += [path] if words[:2] == [b"sleep", marker.encode()] else []
    return found


async def test_a_command_sees_nothing_of_the_daemon_and_dies_with_it(home, provider, database):
    marker = f"100000.{os.getpid()}"
    settings = {**provider.settings, "DATABASE_URL": database}
    with a_daemon(home, anew=True, **settings) as daemon:
        daemon.wait_ready()
        async with a_client(database) as client:
            chat = await client.create(CREATES)
            made = await told(client, chat)
            looks = f"ls {home}; cat {home}/secret.key; env; cat /proc/*/environ; echo a > kept"
            await client.send(chat, executes(looks))
            seen = await told(client, chat)
            server = f"(setsid sleep {marker} &) ; sleep {marker}"
            await client.send(chat, executes(server, run_in_background=True))
            begun = await told(client, chat)
            eventually(lambda: len(sleepers(marker)) == 2, "the server runs")

        daemon.process.kill()

        daemon.process.wait()
        eventually(lambda: not sleepers(marker), "nothing of it runs any more")

    assert home / "secret.key" in home.iterdir()
    assert seen["output"].startswith("workspaces\n")
    assert "No such file" in seen["output"]
    assert provider.settings["OPENAI_API_KEY"] not in seen["output"]
    assert database not in seen["output"]
    assert (made["created"], begun["backgrounded"]) == (True, True)
    assert "a\n" == text_of(made["path"], "kept")


async def test_where_there_can_be_no_sandbox_it_is_said_and_no_command_runs(
    home, provider, database, refusing
):
    settings = {**provider.settings, "DATABASE_URL": database, "PATH": refusing}
    with a_daemon(home, **settings) as daemon:
        daemon.wait_ready()
        async with a_client(database) as client:
            chat = await client.create(CREATES)
            await told(client, chat)
            await client.send(chat, executes("touch ran"))
            refused = await told(client, chat)
        _, examined, _ = run("doctor", "--data-dir", home, "--json", **settings)
        entry = daemon.entry("sandbox.missing")
        assert 0 == daemon.stop()

    why = "bwrap: No permissions to create new namespace"
    assert ("warning", "commands of chats are refused") == (entry["level"], entry["says"])
    assert why in entry["why"]
    assert why in refused["error"]
    [found] = [each for each in json.loads(examined) if each["subject"] == "sandbox"]
    assert ("warn", True) == (found["state"], why in found["fact"])
    assert [] == list(home.glob("workspaces/*/home/*"))


@pytest.mark.parametrize("sandbox", ["none", "bubblewrap"])
async def test_the_jobs_of_a_terminal_die_with_a_daemon_that_is_killed(
    home, provider, database, sandbox
):
    marker = f"100001.{os.getpid()}"
    settings = {
        **provider.settings,
        "DATABASE_URL": database,
        "PROMPTCORNER_ADMIN_TOKEN": ADMIN,
        "PROMPTCORNER_SANDBOX": sandbox,
    }
    with a_daemon(home, **settings) as daemon:
        daemon.wait_ready()
        async with sites(daemon) as (site,):
            await (await site.watch(await site.create(CREATES))).until(over)
            [space] = (await site.ask("GET", "/api/v2/workspaces"))["workspaces"]
            path = f"/api/v2/workspaces/{space['id']}/terminals"
            id = (await site.ask("POST", path))["id"]
            url = f"ws://{daemon.wait_ready()['listen']}{path}/{id}/stream"
            headers = [("Coder-Session-Token", ADMIN)]
            async with open_websocket_url(url, extra_headers=headers) as socket:
                # A job in the background, one of nobody, and one in front.
                for line in (f"sleep {marker} &", f"(sleep {marker} &)", f"sleep {marker}"):
                    await socket.send_message(input_message(f"{line}\r".encode()))
                eventually(lambda: len(sleepers(marker)) == 3, "the jobs run")

        daemon.process.kill()

        daemon.process.wait()
        eventually(lambda: not sleepers(marker), "none of the jobs runs any more")
