"""Commands, as a model runs them."""

from functools import partial

import pytest
import trio

from adapters.tools.built_in.workspace_schemas import TOOLS
from adapters.workspaces.commands.sandbox import NoSandbox
from tests.adapters.tools.built_in.workspace.conftest import a_daemon
from tests.patience import PATIENCE_SECONDS


@pytest.fixture
async def home(daemon, chat):
    return await daemon.home(chat)


async def test_a_command_runs_in_the_workspace(daemon, chat, home):
    done = await daemon.call(chat, "execute", command="pwd; exit 3", model_intent="looking")

    assert done.pop("wall_duration_ms") >= 0
    assert {"success": False, "output": f"{home}\n", "exit_code": 3} == done


async def test_a_command_runs_where_it_is_told(daemon, chat, home):
    (home / "sub").mkdir()

    for workdir in ("sub", f"{home}/sub"):
        done = await daemon.call(chat, "execute", command="pwd", workdir=workdir)
        assert f"{home}/sub\n" == done["output"]
    assert "outside the workspace" in await daemon.fault(
        chat, "execute", command="pwd", workdir="/etc"
    )
    assert "not found" in await daemon.fault(chat, "execute", command="pwd", workdir="none")


async def test_one_that_is_not_done_in_time_goes_on(daemon, chat, home):
    late = await daemon.call(
        chat,
        "execute",
        command="echo begun; while [ ! -e go ]; do sleep 0.02; done",
        timeout="50ms",
    )

    assert (False, -1) == (late["success"], late["exit_code"])
    assert late["error"].startswith("timed out after 0.05 s")
    id = late["background_process_id"]
    with trio.fail_after(PATIENCE_SECONDS):
        running = {}
        while not running.get("output"):  # a key without a value is left out
            running = await daemon.call(chat, "process_output", process_id=id, wait_timeout="0s")
    assert {"success": True, "running": True, "output": "begun\n"}.items() <= running.items()
    (home / "go").touch()
    ended = await daemon.call(chat, "process_output", process_id=id, wait_timeout="20s")
    assert {"success": True, "exit_code": 0, "output": "begun\n"}.items() <= ended.items()
    assert "running" not in ended


@pytest.mark.parametrize(
    "asked", [{"command": "sleep 1000 &"}, {"command": "sleep 1000", "run_in_background": True}]
)
async def test_one_in_the_background_is_not_waited_for(daemon, chat, home, asked):
    begun = await daemon.call(chat, "execute", **asked)

    id = begun.pop("background_process_id")
    assert {
        "success": True,
        "exit_code": 0,
        "wall_duration_ms": 0,
        "backgrounded": True,
    } == begun
    [listed] = (await daemon.call(chat, "process_list"))["processes"]
    assert {"id": id, "command": "sleep 1000", "background": True, "running": True}.items() <= (
        listed.items()
    )


async def test_one_in_the_background_is_ended(daemon, chat, home):
    id = (await daemon.call(chat, "execute", command="sleep 1000 &"))["background_process_id"]

    told = await daemon.call(chat, "process_signal", process_id=id, signal="terminate")
    ended = await daemon.call(chat, "process_output", process_id=id, wait_timeout="20s")
    again = await daemon.run(chat, "process_signal", process_id=id, signal="kill")

    assert told["success"]
    assert (False, 143) == (ended["success"], ended["exit_code"])
    assert not again.is_error
    assert "is not running any more" in again.result


async def test_of_a_flood_it_is_said_how_much_is_missing(daemon, chat, home):
    done = await daemon.call(chat, "execute", command="seq 1 20000", timeout="20s")

    cut = done["truncated"]
    assert ("head_tail", 32768) == (cut["strategy"], cut["retained_bytes"])
    assert cut["original_bytes"] == cut["retained_bytes"] + cut["omitted_bytes"]
    assert done["output"].startswith("1\n2\n")
    assert done["output"].endswith("\n20000\n")


async def test_advice_comes_with_the_result(daemon, chat, home):
    assert "read_file" in (await daemon.call(chat, "execute", command="cat a"))["note"]
    assert "note" not in await daemon.call(chat, "execute", command="true")


async def test_what_is_wrong_with_a_call_is_said(daemon, chat, home):
    for empty in (" ", "&", " & "):
        assert "command is empty" in await daemon.fault(chat, "execute", command=empty)
    assert "timeout: '5 minutes' is no duration" in await daemon.fault(
        chat, "execute", command="true", timeout="5 minutes"
    )
    assert "process_id is empty" in await daemon.fault(chat, "process_output", process_id="")
    assert "invalid enum value" in await daemon.fault(
        chat, "process_signal", process_id="x", signal="stop"
    )
    unknown = await daemon.run(chat, "process_output", process_id="x")
    assert not unknown.is_error
    assert "process x not found" in unknown.result


async def test_a_child_works_in_the_same_place_and_sees_only_its_own_commands(daemon, chat, home):
    child = await daemon.chat(parent=chat)
    id = (await daemon.call(chat, "execute", command="sleep 1000 &"))["background_process_id"]

    done = await daemon.call(child, "execute", command="pwd")

    assert f"{home}\n" == done["output"]
    assert "not found" in (await daemon.call(child, "process_output", process_id=id))["error"]
    assert 1 == len((await daemon.call(child, "process_list"))["processes"])


async def test_a_call_that_is_cut_short_leaves_its_command_running(daemon, chat, home):
    async with trio.open_nursery() as calling:
        calling.start_soon(partial(daemon.call, chat, "execute", command="sleep 1000"))
        with trio.fail_after(PATIENCE_SECONDS):
            while not (await daemon.call(chat, "process_list"))["processes"]:
                await trio.sleep(0.005)
        calling.cancel_scope.cancel()

    [listed] = (await daemon.call(chat, "process_list"))["processes"]
    assert listed["running"]


async def test_without_a_sandbox_files_are_read_but_no_command_is_run(store, tmp_path):
    async with a_daemon(store, tmp_path, NoSandbox("there is none")) as daemon:
        chat = await daemon.chat()
        home = await daemon.home(chat)

        refused = await daemon.fault(chat, "execute", command="true")

        assert "commands cannot be run here: there is none" in refused
        (home / "a").write_text("a")
        assert "1\ta" == (await daemon.call(chat, "read_file", path=f"{home}/a"))["content"]


async def test_who_may_do_what(daemon):
    explorer = await daemon.chat(parent=await daemon.chat(), mode="explore")

    with pytest.raises(LookupError):
        await daemon.run(explorer, "write_file", path="/a", content="")

    assert all(tool.strict for tool in TOOLS)
