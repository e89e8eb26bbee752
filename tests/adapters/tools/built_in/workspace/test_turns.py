"""A workspace in whole turns, of a daemon with a rehearsal behind it."""

import json
import os
from pathlib import Path

import pytest
import trio

from actors.law.chat import Role
from actors.tools.plans import plan_path
from adapters.rehearsal.behaviour import Behaviour, ScriptedCall
from tests.actors.streams.relay.cable import Ear
from tests.adapters.chats.routes import daemon
from tests.adapters.conftest import fresh

__all__ = ["fresh"]
pytestmark = pytest.mark.slow
CREATES = ScriptedCall("create_workspace", json.dumps({"template_id": "empty"}))


def executes(command, **more):
    return ScriptedCall("execute", json.dumps({"command": command, "timeout": "20s", **more}))


def a_daemon(conninfo, data_dir, *calls, sandbox="none", programs=""):
    """Whose model makes these calls, one in each step."""
    steps = [
        Behaviour(tool_calls=(call,), tool_rounds=number) for number, call in enumerate(calls, 1)
    ]
    return daemon.a_daemon(
        conninfo,
        Behaviour(script=(*steps, Behaviour(text="done"))),
        PROMPTCORNER_DATA_DIR=str(data_dir),
        PROMPTCORNER_SANDBOX=sandbox,
        PATH=f"{programs}:{os.environ['PATH']}",
    )


async def results(running, **new):
    """What the calls of a turn came to; and the chat."""
    id = await running.begin("work", **new)
    await running.at_rest(id)
    history = await running.chats.store.reading.history(id)
    said = [row.body.parts[0] for row in history if row.body.role is Role.TOOL]
    return [json.loads(part.result) for part in said], id


def alive(pid):
    return Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("sandbox", ["none", "bubblewrap"])
async def test_a_chat_makes_itself_a_workspace_and_works_in_it(fresh, tmp_path, sandbox):
    calls = (CREATES, executes("echo here > a; pwd"), executes("cat a"))
    async with a_daemon(fresh, tmp_path, *calls, sandbox=sandbox) as running:
        (made, wrote, read), chat = await results(running)
        view = await running.chats.store.reading.view(chat)

    home = tmp_path / f"workspaces/{view.chat.workspace_id}/home"
    assert str(home) == made["path"]
    assert f"{home}\n" == wrote["output"]
    assert "here\n" == read["output"]


async def test_what_a_command_writes_is_seen_while_it_runs(fresh, tmp_path):
    pause = "until [ -e goes-on ]; do sleep 0.02; done"
    command = executes(f"echo one; echo $(pwd) >&2; {pause}; echo two")
    ears = []
    async with a_daemon(fresh, tmp_path, CREATES, command) as running:
        with running.chats.previews.follow(lambda it: ears.append(Ear(it)), fail=pytest.fail):
            chat = await running.begin("work")
            with trio.fail_after(daemon.PATIENCE_SECONDS):
                while (seen := live_text(ears)).count("\n") < 2:
                    await trio.sleep(0.005)
            home = Path(seen.splitlines()[1])
            (home / "goes-on").touch()
            await running.at_rest(chat)
        history = await running.chats.store.reading.history(chat)

    [_, result] = [row.body.parts[0] for row in history if row.body.role is Role.TOOL]
    assert seen == f"one\n{home}\n"
    assert f"one\n{home}\ntwo\n" == json.loads(result.result)["output"]
    last = parts_of(ears)[-1]
    assert json.loads(result.result) == last["result"], "the whole result takes its place"


def parts_of(ears):
    """The parts of tool results that watchers were shown."""
    heard = [json.loads(piece)["message_part"]["part"] for ear in ears for piece in ear.heard]
    return [part for part in heard if part["type"] == "tool-result"]


def live_text(ears):
    return "".join(part.get("result_delta", "") for part in parts_of(ears))


async def test_commands_end_with_the_daemon(fresh, tmp_path):
    calls = (CREATES, executes("echo $$ > pid; sleep 1000", run_in_background=True))
    async with a_daemon(fresh, tmp_path, *calls) as running:
        (made, begun), _ = await results(running)
        pid_file = Path(made["path"]) / "pid"
        with trio.fail_after(daemon.PATIENCE_SECONDS):
            while not (pid_file.exists() and pid_file.read_text().strip()):
                await trio.sleep(0.005)
        pid = int(pid_file.read_text())
        assert begun["backgrounded"]
        assert alive(pid)

    assert not alive(pid)


async def test_commands_in_the_sandbox_see_nothing_of_the_daemon(fresh, tmp_path):
    (tmp_path / "secret.key").write_text("SECRET")
    looks = executes(f"ls {tmp_path}; cat {tmp_path}/secret.key; ls /proc | grep -c '^[0-9]'")
    async with a_daemon(fresh, tmp_path, CREATES, looks, sandbox="bubblewrap") as running:
        (_, seen), _ = await results(running)

    listed, missing, count = seen["output"].splitlines()
    assert "workspaces" == listed
    assert "No such file" in missing
    assert int(count) <= 5


async def test_without_a_sandbox_the_daemon_runs_no_command(fresh, tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "bwrap").write_text("#!/bin/sh\necho no namespaces here; exit 1\n")
    (programs / "bwrap").chmod(0o755)
    calls = (CREATES, executes("true"))
    async with a_daemon(
        fresh, tmp_path / "data", *calls, sandbox="bubblewrap", programs=programs
    ) as running:
        (made, refused), _ = await results(running)

    assert made["created"]
    assert "commands cannot be run here" in refused["error"]
    assert "bwrap does not work: no namespaces here" in refused["error"]


async def test_a_plan_is_proposed_as_a_file_of_the_workspace(fresh, tmp_path):
    plan = ScriptedCall("propose_plan", json.dumps({"path": ""}))
    writes = executes(
        "d=.promptcorner/plans; mkdir -p $d; echo '# Plan' > $d/PLAN-$PROMPTCORNER_CHAT_ID.md"
    )
    async with a_daemon(fresh, tmp_path, CREATES, writes, plan) as running:
        (made, _, proposed), chat = await results(running, plan_mode="plan")

    assert plan_path(made["path"], chat) == proposed["path"]
    assert proposed["ok"]


async def test_a_plan_that_is_a_link_is_not_proposed(fresh, tmp_path):
    plan = ScriptedCall("propose_plan", json.dumps({"path": ""}))
    links = executes(
        "d=.promptcorner/plans; mkdir -p $d; echo other > other.md;"
        " ln -s $PWD/other.md $d/PLAN-$PROMPTCORNER_CHAT_ID.md"
    )
    async with a_daemon(fresh, tmp_path, CREATES, links, plan) as running:
        (_, _, refused), _ = await results(running, plan_mode="plan")

    assert "a symbolic link leads elsewhere" in refused["error"]
