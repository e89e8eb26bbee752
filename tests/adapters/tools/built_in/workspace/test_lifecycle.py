"""Workspaces of chats: made of templates, started, stopped; what is said where there is none."""

import os
import shutil
from functools import partial
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
import trio

from adapters.workspaces.commands.sandbox import NoSandbox
from adapters.workspaces.store import OwnedWorkspaces
from tests.actors.law.chats import BOB
from tests.adapters.tools.built_in.workspace.conftest import a_daemon
from tests.patience import PATIENCE_SECONDS


@pytest.fixture
def template(daemon):
    """Puts a template into its place."""

    def put(name, text="", **files):
        for file, content in files.items():
            path = daemon.templates / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        if text:
            daemon.templates.mkdir(exist_ok=True)
            (daemon.templates / f"{name}.toml").write_text(text)

    return put


async def test_without_any_template_there_is_an_empty_one(daemon, chat):
    listed = await daemon.call(chat, "list_templates")

    assert {
        "templates": [{"id": "empty", "name": "empty", "description": "An empty directory"}],
        "page": 1,
        "recommended_template_id": "empty",
        "next_step": "call create_workspace with template_id empty",
    } == listed


async def test_a_workspace_is_a_copy_of_its_template(daemon, chat, template):
    template("web", 'display_name = "Web Service"', **{"src": "one"})

    made = await daemon.call(chat, "create_workspace", template_id="web")

    home = Path(made.pop("path"))
    assert {"created": True, "workspace_name": "web-service"} == made
    assert ["src"] == os.listdir(home)
    (home / "src").write_text("two")
    assert "one" == (daemon.templates / "web/src").read_text()


async def test_a_chat_has_one_workspace(daemon, chat):
    made = await daemon.call(chat, "create_workspace", template_id="empty", name="Mine!")

    again = await daemon.call(chat, "create_workspace", template_id="empty")

    assert "mine" == made["workspace_name"]
    assert {**made, "created": False, "status": "already_exists"} == again


async def test_a_name_that_is_taken_gets_an_ending(daemon, chat):
    first = await daemon.call(chat, "create_workspace", template_id="empty", name="w")
    second = await daemon.call(
        await daemon.chat(), "create_workspace", template_id="empty", name="w"
    )
    of_another = await daemon.call(
        await daemon.chat(owner=BOB), "create_workspace", template_id="empty", name="w"
    )

    assert ("w", "w") == (first["workspace_name"], of_another["workspace_name"])
    assert second["workspace_name"].startswith("w-")
    assert 6 == len(second["workspace_name"])


async def test_it_is_set_up_once_in_its_limits(daemon, chat, template):
    template("web", 'setup = "echo set up; echo x >> runs"\n[limits]\nfile_mb = 1')

    made = await daemon.call(chat, "create_workspace", template_id="web")
    again = await daemon.call(chat, "create_workspace", template_id="web")
    await daemon.call(chat, "start_workspace")

    assert {
        "success": True,
        "output": "set up\n",
        "exit_code": 0,
        "wall_duration_ms": 0,
    } == made["setup"]
    assert "setup" not in again
    assert "x\n" == (Path(made["path"]) / "runs").read_text()
    await daemon.call(chat, "execute", command="head -c 3000000 /dev/zero > big")
    assert 1024 * 1024 == (Path(made["path"]) / "big").stat().st_size


async def test_a_set_up_that_could_not_be_run_is_run_later(store, tmp_path):
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates/web.toml").write_text('setup = "echo x >> runs"')
    async with a_daemon(store, tmp_path, NoSandbox("there is none")) as daemon:
        chat = await daemon.chat()
        made = await daemon.call(chat, "create_workspace", template_id="web")
        assert made["created"]
        assert "commands cannot be run here" in made["setup"]["error"]

    async with a_daemon(store, tmp_path) as daemon:
        again = await daemon.call(chat, "start_workspace")

    assert again["setup"]["success"]
    assert "x\n" == (Path(made["path"]) / "runs").read_text()


@pytest.mark.slow
async def test_a_set_up_that_takes_too_long_is_ended(daemon, chat, template):
    template("web", 'setup = "sleep 1000"\nsetup_seconds = 1')

    made = await daemon.call(chat, "create_workspace", template_id="web")

    assert (False, 137) == (made["setup"]["success"], made["setup"]["exit_code"])
    assert "ended after 1 s, which is its limit" == made["setup"]["error"]


async def test_what_cannot_be_made_leaves_nothing_behind(daemon, chat, template, tmp_path):
    template("gone", f'git = "{tmp_path}/nowhere"')

    failed = await daemon.run(chat, "create_workspace", template_id="gone")

    assert not failed.is_error
    assert "git does not clone it" in failed.result
    assert [] == list((tmp_path / "workspaces").iterdir())
    assert "this chat has no workspace" in await daemon.fault(chat, "execute", command="true")


async def test_a_call_that_is_made_again_goes_on_where_it_was(daemon, chat, template):
    """Its process was killed when the directory was there and nobody knew of it."""
    template("web", 'setup = "echo x >> runs"')
    first = await daemon.call(chat, "create_workspace", "the-call", template_id="web")
    await daemon.store.execute("UPDATE chats SET workspace_id = NULL")
    await daemon.store.execute("DELETE FROM workspaces")

    again = await daemon.call(chat, "create_workspace", "the-call", template_id="web")

    assert (True, first["path"]) == (again["created"], again["path"])


async def test_one_that_is_interrupted_before_it_is_registered_leaves_nothing_behind(
    daemon, chat, migrated, tmp_path
):
    top = tmp_path / "workspaces"
    with psycopg.connect(migrated) as another, trio.fail_after(PATIENCE_SECONDS):
        another.execute("LOCK TABLE workspaces IN SHARE MODE")  # read it may be
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(daemon.call, chat, "create_workspace", template_id="empty"))
            while not list(top.glob("[0-9a-f]*-*/home")):
                await trio.sleep(0.002)
            nursery.cancel_scope.cancel()
        [left] = os.listdir(top)

    await daemon.lifecycle.caretaker.clear()

    assert left.endswith(".gone")
    assert [] == os.listdir(top)
    assert "this chat has no workspace" in await daemon.fault(chat, "execute", command="true")


async def test_one_that_is_registered_is_not_given_up(daemon, chat):
    home = await daemon.home(chat)

    await daemon.lifecycle.caretaker.give_up(UUID(home.parent.name))

    assert ["home", "tmp"] == sorted(os.listdir(home.parent))


async def test_a_stopped_workspace_is_started_again(daemon, chat):
    home = await daemon.home(chat)
    (home / "a").write_text("kept")
    child = await daemon.chat(parent=chat)
    for one in (chat, child):
        await daemon.call(one, "execute", command="sleep 1000 &")

    stopped = await daemon.call(chat, "stop_workspace")

    assert {"stopped": True, "workspace_name": "empty"} == stopped
    fault = await daemon.fault(chat, "read_file", path=f"{home}/a")
    assert "the workspace empty is stopped; start_workspace starts it" == fault
    again = await daemon.call(chat, "create_workspace", template_id="empty")
    assert ("stopped", False) == (again["status"], again["created"])
    started = await daemon.call(chat, "start_workspace")
    assert started["started"]
    assert "1\tkept" == (await daemon.call(chat, "read_file", path=f"{home}/a"))["content"]
    for one in (chat, child):
        [process] = (await daemon.call(one, "process_list"))["processes"]
        assert (False, 137) == (process["running"], process["exit_code"])
    assert "it was running already" == (await daemon.call(chat, "start_workspace"))["message"]


async def test_a_chat_that_is_moved_works_elsewhere_from_its_next_call_on(daemon, chat):
    """What it has begun is not moved, and stays its own. Its children move with it."""
    home = await daemon.home(chat)
    other = await daemon.home(await daemon.chat())
    child = await daemon.chat(parent=chat, workspace_id=UUID(home.parent.name))
    id = (await daemon.call(chat, "execute", command="sleep 1000 &"))["background_process_id"]
    owned = OwnedWorkspaces(daemon.store.pool, tell=daemon.store.telling)

    await owned.bind(chat.id, UUID(other.parent.name))

    for one in (chat, child):
        assert f"{other}\n" == (await daemon.call(one, "execute", command="pwd"))["output"]
    running = await daemon.call(chat, "process_output", process_id=id, wait_timeout="0s")
    assert running["running"]

    await owned.bind(chat.id, None)

    for one in (chat, child):
        assert "has no workspace" in await daemon.fault(one, "execute", command="pwd")


async def test_without_a_workspace_it_is_said_how_to_get_one(daemon, chat):
    child = await daemon.chat(parent=chat)

    for name, arguments in {
        "read_file": {"path": "/a"},
        "write_file": {"path": "/a", "content": ""},
        "edit_files": {"files": []},
        "attach_file": {"path": "/a"},
        "execute": {"command": "true"},
        "process_output": {"process_id": "x"},
        "process_list": {},
        "process_signal": {"process_id": "x", "signal": "kill"},
    }.items():
        fault = await daemon.fault(chat, name, **arguments)
        assert "this chat has no workspace; create_workspace makes one" == fault
        assert "the chat that has spawned you has to call create_workspace" in await daemon.fault(
            child, name, **arguments
        )
    for name in ("start_workspace", "stop_workspace"):
        assert "this chat has no workspace" in await daemon.fault(chat, name)


async def test_one_whose_directory_is_gone_is_made_anew(daemon, chat):
    home = await daemon.home(chat)
    shutil.rmtree(home.parent)

    fault = await daemon.fault(chat, "execute", command="true")
    again = await daemon.home(chat)

    assert "is not on this machine any more; create_workspace makes one" in fault
    assert again != home
    assert again.is_dir()


async def test_a_template_is_read(daemon, chat, template):
    template(
        "web",
        'description = "ours"\nsetup = "make"\n[limits]\nseconds = 5',
        **{"README.md": "# Web"},
    )

    told = await daemon.call(chat, "read_template", template_id=" web ")

    assert {
        "template": {
            "id": "web",
            "name": "web",
            "description": "ours",
            "readme": "# Web",
            "setup": "make",
            "limits": {
                "memory_mb": 4096,
                "file_mb": 4096,
                "processes": 1024,
                "seconds": 5,
                "disk_mb": 10240,
            },
        },
        "parameters": [],
    } == told
    assert "template 'none' not found; see list_templates" == await daemon.fault(
        chat, "read_template", template_id="none"
    )


async def test_a_template_that_cannot_be_read_is_left_out_and_says_why(daemon, chat, template):
    template("bad", "limits = 7")
    template("good", 'description = "x"')

    listed = await daemon.call(chat, "list_templates")
    fault = await daemon.fault(chat, "create_workspace", template_id="bad")

    assert ["good"] == [each["id"] for each in listed["templates"]]
    assert fault.startswith("template bad: its settings cannot be read (Expected `object`")


async def test_the_template_that_a_user_is_used_to_is_recommended(daemon, chat, template):
    for name in ("a", "b"):
        template(name, f'description = "{name}"')
    before = await daemon.call(chat, "list_templates")
    await daemon.call(chat, "create_workspace", template_id="b")

    after = await daemon.call(chat, "list_templates")

    assert "ask the user which of them to take" == before["next_step"]
    assert "recommended_template_id" not in before
    assert ("b", "b") == (after["recommended_template_id"], after["templates"][0]["id"])
    assert (1, 1) == (
        after["templates"][0]["active_developers"],
        after["templates"][0]["your_workspace_count"],
    )


async def test_workspaces_that_are_gone_still_say_what_a_user_is_used_to(daemon, chat, template):
    for name in ("a", "b"):
        template(name, f'description = "{name}"')
    await daemon.call(chat, "create_workspace", template_id="b")
    await daemon.store.execute("UPDATE workspaces SET removed_at = now()")

    first, _ = (await daemon.call(chat, "list_templates"))["templates"]

    assert "b" == first["id"]
    assert not {"active_developers", "your_workspace_count"} & set(first)


async def test_a_list_has_pages(daemon, chat, template):
    for number in range(12):
        template(f"t{number:02}", 'description = "x"')

    first = await daemon.call(chat, "list_templates")
    second = await daemon.call(chat, "list_templates", page=2)

    assert (10, 2) == (len(first["templates"]), first["next_page"])
    assert ["t10", "t11"] == [each["id"] for each in second["templates"]]
    assert "next_page" not in second
