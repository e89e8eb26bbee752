"""A root chat spawns an agent that operates a desktop: whole turns of a real daemon on both wires,
with a real Xvnc and a real terminal; and what is left of it when the daemon is killed."""

import base64
import http.client
import io
import json
import uuid
from pathlib import Path

import pytest
from PIL import Image

from actors.law.parts.message import FilePart, ToolResultPart
from adapters.workspaces.commands.sandbox import display_of
from tests.e2e.clients import a_client
from tests.e2e.conftest import a_database
from tests.e2e.daemons import a_daemon
from tests.e2e.processes import EVENTUALLY_SECONDS, belonging_to, eventually
from tests.e2e.providers import a_provider
from tests.fakes.screens import needs_desktop

pytestmark = [pytest.mark.slow, needs_desktop]

ADMIN = "a-token-of-the-first-admin-for-these-tests"
CREATES = '[[tool-calls: create_workspace:{"template_id":"empty"}]] [[text: done]]'
TERMINAL = "xterm -fn fixed -geometry 80x24+100+100 -e sh -c 'touch begun; cat > typed'"
INSIDE = [300, 250]
# What an agent does on each vendor's wire: a look, a terminal, a click into it, words.
FOR_ANTHROPIC = [
    ("computer", {"action": "screenshot"}),
    ("execute", {"command": TERMINAL, "run_in_background": True}),
    ("computer", {"action": "wait", "duration": 2}),
    ("computer", {"action": "left_click", "coordinate": INSIDE}),
    ("computer", {"action": "type", "text": "hello\n"}),
]
FOR_OPENAI = [
    ("computer", {"actions": [{"type": "screenshot"}]}),
    ("execute", {"command": TERMINAL, "run_in_background": True}),
    (
        "computer",
        {
            "actions": [
                {"type": "wait"},
                {"type": "wait"},
                {"type": "click", "button": "left", "x": 375, "y": 312},
                {"type": "type", "text": "hello\n"},
            ]
        },
    ),
]
WIRES = {"anthropic": ("/v1/messages", FOR_ANTHROPIC), "openai": ("/v1/responses", FOR_OPENAI)}


@pytest.fixture(scope="module")
def provider():
    with a_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def house(provider, server, tmp_path_factory):
    """A daemon without a sandbox: as root of a sandbox a terminal does not begin."""
    with a_database(server, "desktops") as database:
        home = tmp_path_factory.mktemp("desktops")
        settings = {
            **provider.settings,
            "PROMPTCORNER_ADMIN_TOKEN": ADMIN,
            "PROMPTCORNER_EXPERIMENTS": "chat-virtual-desktop",
            "PROMPTCORNER_SANDBOX": "none",
        }
        with a_daemon(home, DATABASE_URL=database, **settings) as daemon:
            daemon.wait_ready()
            yield daemon, database
            assert 0 == daemon.stop()
            assert [] == [e for e in daemon.entries if e["level"] == "error"]
        eventually(lambda: not belonging_to(home), "nothing of the desktops runs any more")


def spoken(calls):
    """Calls as markers of a message that is itself an argument of a call."""
    text = " ".join(f"{name}:{json.dumps(arguments)}" for name, arguments in calls)
    return f"[[tool-calls: {text}]] [[text: it is written]]"


def asked_for(name, arguments):
    """A message that makes the model call this; markers in the arguments are those of the agent."""
    spelled = json.dumps(arguments).replace("[[", "\\u005b\\u005b").replace("]]", "\\u005d\\u005d")
    return f"[[tool-calls: {name}:{spelled}]] [[text: done]]"


async def results(client, chat):
    await client.until(chat, "waiting")
    parts = [part for row in await client.history(chat) for part in row.body.parts]
    return [part for part in parts if isinstance(part, ToolResultPart | FilePart)]


async def told(client, chat):
    last = [each for each in await results(client, chat) if isinstance(each, ToolResultPart)][-1]
    return json.loads(last.result)


def ask(daemon, method, path, document):
    host, port = daemon.wait_ready()["listen"].split(":")
    asking = http.client.HTTPConnection(host, int(port), timeout=EVENTUALLY_SECONDS)
    headers = {"Coder-Session-Token": ADMIN, "Content-Type": "application/json"}
    asking.request(method, path, json.dumps(document), headers)
    answer = asking.getresponse()
    answer.read()
    asking.close()
    return answer.status


@pytest.mark.parametrize("vendor", WIRES)
async def test_an_agent_looks_clicks_and_types_and_the_screen_changes(vendor, house, provider):
    daemon, database = house
    path, calls = WIRES[vendor]
    setting = "/api/v2/chats/config/computer-use-provider"
    assert 204 == ask(daemon, "PUT", setting, {"provider": vendor})
    async with a_client(database) as client:
        root = await client.create(CREATES)
        home = Path((await told(client, root))["path"])
        # Each in a step of its own: of one step commands would run before what is serial.
        spawn = {"type": "computer_use", "prompt": spoken(calls[:1])}
        await client.send(root, asked_for("spawn_agent", spawn))
        child = (await told(client, root))["chat_id"]
        await results(client, child)
        await client.send(child, spoken(calls[1:2]))
        await results(client, child)
        eventually((home / "begun").exists, "there is a terminal")
        await client.send(child, spoken(calls[2:]))
        shown = await results(client, child)

    eventually(lambda: (home / "typed").read_text() == "hello\n", "it is written")
    pictures = [
        Image.open(io.BytesIO(base64.b64decode(json.loads(each.result)["data"])))
        for each in shown
        if isinstance(each, ToolResultPart) and each.is_media
    ]
    sizes = {"anthropic": (1280, 720), "openai": (1600, 900)}
    assert {sizes[vendor]} == {picture.size for picture in pictures}
    assert pictures[0].tobytes() != pictures[-1].tobytes()
    kept = [each for each in shown if isinstance(each, FilePart)]
    assert ["image/png"] * (1 if vendor == "anthropic" else 2) == [each.media_type for each in kept]
    asked = [each for each in provider.requests() if child in json.dumps(each["headers"])]
    assert {path} == {request["path"].partition("?")[0] for request in asked}


async def test_a_parent_that_waits_gets_a_film_of_what_its_agent_did(house):
    daemon, database = house
    setting = "/api/v2/chats/config/computer-use-provider"
    assert 204 == ask(daemon, "PUT", setting, {"provider": "anthropic"})
    moves = [{"action": "mouse_move", "coordinate": [200 * at, 300]} for at in (1, 2, 3)]
    calls = [("computer", {"action": "wait", "duration": 6}), *(("computer", m) for m in moves)]
    async with a_client(database) as client:
        root = await client.create(CREATES)
        await told(client, root)
        spawn = {"type": "computer_use", "prompt": spoken(calls)}
        await client.send(root, asked_for("spawn_agent", spawn))
        child = (await told(client, root))["chat_id"]
        await client.send(root, asked_for("wait_agent", {"chat_id": child}))
        report = await told(client, root)
        files = [each for each in await results(client, root) if isinstance(each, FilePart)]

    assert "it is written" == report["report"]
    assert [report["recording_file_id"], report["thumbnail_file_id"]] == [
        str(each.file_id) for each in files
    ]
    assert ["video/mp4", "image/jpeg"] == [each.media_type for each in files]
    assert [True, True] == [
        files[0].name.startswith("recording-20"),
        files[1].name.startswith("thumbnail-20"),
    ]


async def test_nothing_of_a_desktop_outlives_a_daemon_that_is_killed(home, provider, database):
    settings = {**provider.settings, "PROMPTCORNER_EXPERIMENTS": "chat-virtual-desktop"}
    with a_daemon(home, DATABASE_URL=database, **settings) as daemon:
        daemon.wait_ready()
        async with a_client(database) as client:
            root = await client.create(CREATES)
            workspace = Path((await told(client, root))["path"]).parent.name
            spawn = {"type": "computer_use", "prompt": spoken(FOR_ANTHROPIC[:1])}
            await client.send(root, asked_for("spawn_agent", spawn))
            child = (await told(client, root))["chat_id"]
            await results(client, child)
        display = display_of(uuid.UUID(workspace))
        assert 1 == len(screens(display))

        daemon.process.kill()

        daemon.process.wait()
        eventually(lambda: not screens(display), "the screen is gone")


def screens(display):
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        found += [path] if words[:2] == ["Xvnc", display] else []
    return found
