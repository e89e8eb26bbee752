"""Servers that a workspace names, in whole turns of a daemon with a rehearsal behind it."""

import json
import os
from pathlib import Path

import pytest

from actors.law.chat import Role
from adapters.rehearsal.behaviour import Behaviour, ScriptedCall
from tests.adapters.chats.routes import daemon
from tests.adapters.tools.mcp.workspaces.conftest import patience
from tests.adapters.tools.mcp.workspaces.test_servers import SCRIPT, nobody_in, shell

__all__ = ["patience"]
pytestmark = pytest.mark.slow
CREATES = ScriptedCall("create_workspace", json.dumps({"template_id": "web"}))
STOPS = ScriptedCall("stop_workspace", "{}")
LOOKS = ScriptedCall("kit__look", "{}")


@pytest.fixture
def data_dir(tmp_path):
    """Of a daemon with a template that names a server."""
    template = tmp_path / "templates/web"
    template.mkdir(parents=True)
    (template / "server.sh").write_text(SCRIPT.read_text())
    (template / ".mcp.json").write_text(json.dumps({"mcpServers": {"kit": shell(GREETING="hi")}}))
    return tmp_path


def a_daemon(conninfo, data_dir, *calls, sandbox="bubblewrap", **more):
    steps = [
        Behaviour(tool_calls=(call,), tool_rounds=number) for number, call in enumerate(calls, 1)
    ]
    return daemon.a_daemon(
        conninfo,
        Behaviour(script=(*steps, Behaviour(text="done"))),
        PROMPTCORNER_DATA_DIR=str(data_dir),
        PROMPTCORNER_SANDBOX=sandbox,
        PATH=os.environ["PATH"],
        **more,
    )


async def results(running):
    chat = await running.begin("work")
    await running.at_rest(chat)
    history = await running.chats.store.reading.history(chat)
    said = [row.body.parts[0] for row in history if row.body.role is Role.TOOL]
    return [json.loads(part.result) for part in said]


@pytest.mark.parametrize(
    "setting", [{}, {"sandbox": "none", "PROMPTCORNER_WORKSPACE_SERVERS": "all"}]
)
async def test_a_chat_has_them_as_soon_as_it_has_its_workspace(fresh, data_dir, setting):
    async with a_daemon(fresh, data_dir, CREATES, LOOKS, LOOKS, **setting) as running:
        made, first, second = await results(running)
        asked = [heard.body.decode() for heard in running.rehearsal.records]

    assert f"{made['path']} hi" in first["output"]
    assert first == second
    assert "kit__look" not in asked[0]
    assert "Looks around." in asked[-1]
    await nobody_in(Path(made["path"]))


async def test_a_call_into_a_workspace_that_is_stopped_says_so(fresh, data_dir):
    async with a_daemon(fresh, data_dir, CREATES, LOOKS, STOPS, LOOKS) as running:
        *_, stopped, looked = await results(running)

    assert stopped["stopped"]
    assert "start_workspace" in looked["error"]


@pytest.mark.parametrize(
    "setting",
    [
        {"sandbox": "none"},
        {"PROMPTCORNER_WORKSPACE_SERVERS": "off"},
    ],
)
async def test_by_being_there_a_file_has_nothing_done_that_commands_may_not(
    fresh, data_dir, setting
):
    async with a_daemon(fresh, data_dir, CREATES, LOOKS, **setting) as running:
        made, looked = await results(running)

    assert "there is no tool kit__look" in looked["error"]
    assert not (Path(made["path"]) / "listed").exists()


async def test_rules_for_tools_of_servers_hold_for_those_of_a_workspace(fresh, data_dir):
    rules = {"PROMPTCORNER_APPROVAL_RULES": "mcp:*__look=deny"}
    async with a_daemon(fresh, data_dir, CREATES, LOOKS, **rules) as running:
        _, looked = await results(running)

    assert "kit__look is not allowed here" in looked["error"]


async def test_where_rules_deny_all_tools_of_servers_none_is_started(fresh, data_dir):
    rules = {"PROMPTCORNER_APPROVAL_RULES": "mcp:*=deny"}
    starts = ScriptedCall("kit__start_server", "{}")
    async with a_daemon(fresh, data_dir, CREATES, starts, LOOKS, **rules) as running:
        made, started, looked = await results(running)

    assert "kit__start_server is not allowed here" in started["error"]
    assert "there is no tool kit__look" in looked["error"]
    assert not (Path(made["path"]) / "listed").exists()


@pytest.mark.parametrize(
    ("rule", "told"), [("kit__look", "somebody's consent"), ("workspace:kit__look", " hi")]
)
async def test_what_is_allowed_to_a_server_of_all_is_not_to_one_of_the_workspace(
    fresh, data_dir, rule, told
):
    rules = f"create_workspace=allow, execute=allow, {rule}=allow"
    how = {"PROMPTCORNER_APPROVAL_RULES": rules, "PROMPTCORNER_APPROVAL_POLICY": "deny"}
    async with a_daemon(fresh, data_dir, CREATES, LOOKS, **how) as running:
        _, looked = await results(running)

    assert told in str(looked)
