"""A model operates a real desktop: Xvnc, a window manager, and programs on it."""

import base64
import io
import os
import signal
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest
import trio
import trio.testing
from PIL import Image

from actors.law.chat import FILES_PER_CHAT_MAX
from actors.law.parts.message import FilePart
from actors.tools.desktop.steps import MovePointer, Pause, PressButton, PressKey
from actors.tools.workspaces import WorkspaceRefusal
from adapters.workspaces.commands.sandbox import NoSandbox, display_of, sandbox_of
from adapters.workspaces.desktop.connection import DesktopConnection
from adapters.workspaces.desktop.programs import INSTALL, INSTALL_EXTRA, missing_programs
from tests.adapters.tools.built_in.workspace.conftest import a_daemon
from tests.fakes.screens import needs_desktop
from tests.patience import PATIENCE_SECONDS

pytestmark = [pytest.mark.slow, needs_desktop]

CTRL, RETURN = "0xffe3", "0xff0d"
INSIDE = (300, 250)  # of the windows below, on the pictures
XEV = "xev -geometry 600x400+100+100 > events"


@pytest.fixture(params=["none", "bubblewrap"])
async def daemon(request, store, tmp_path):
    sandbox = await sandbox_of(request.param, os.environ, network=False)
    assert not isinstance(sandbox, NoSandbox), sandbox.why
    async with a_daemon(store, tmp_path, sandbox, has_screens=True) as daemon:
        yield daemon


@pytest.fixture
async def child(daemon):
    """An agent that operates a desktop, in the workspace of its parent."""
    parent = await daemon.chat()
    home = await daemon.home(parent)
    workspace = UUID(home.parent.name)
    return await daemon.chat(parent=parent, mode="computer_use", workspace_id=workspace)


async def until(check):
    with trio.fail_after(PATIENCE_SECONDS):
        while not (seen := check()):
            await trio.sleep(0.02)
        return seen


async def home_of(daemon, chat):
    return Path((await daemon.workspaces.of(chat)).home)


async def begin(daemon, chat, command):
    """Start a program with a bright window on the dark desktop; return when it is there."""
    await shot(daemon, chat)  # which starts the desktop
    await daemon.call(chat, "execute", command=command, run_in_background=True)
    with trio.fail_after(PATIENCE_SECONDS):
        while (255, 255, 255) != (await shot(daemon, chat)).getpixel(INSIDE):
            await trio.sleep(0.02)


async def shot(daemon, chat):
    return image(await daemon.call(chat, "computer", action="wait", duration=0))


def image(result):
    assert "image/png" == result["mime_type"]
    return Image.open(io.BytesIO(base64.b64decode(result["data"])))


def screens(workspace):
    """The processes that are the screen of a workspace."""
    return [pid for pid, words in commands() if words[:2] == ["Xvnc", display_of(workspace)]]


def commands():
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        yield int(path.parent.name), words


async def test_what_a_model_does_reaches_programs_and_it_sees_what_comes_of_it(daemon, child):
    home = await home_of(daemon, child)
    shown = await daemon.run(child, "computer", action="screenshot")
    await begin(daemon, child, XEV)

    clicked = await daemon.run(child, "computer", action="left_click", coordinate=[*INSIDE])
    await daemon.call(child, "computer", action="key", text="ctrl+s")
    await daemon.call(child, "computer", action="type", text="é€\n")
    await daemon.call(child, "computer", action="scroll", coordinate=[*INSIDE], scroll_amount=1)
    where = await daemon.call(child, "computer", action="cursor_position")
    events = await until(
        lambda: text if "button 5" in (text := (home / "events").read_text()) else ""
    )

    [file] = shown.shown
    assert isinstance(file, FilePart)
    assert file.name.startswith("screenshot-20")
    assert shown.is_media
    assert () == clicked.shown
    assert "x=300, y=250" == where["text"]
    assert (1280, 720) == image(where).size
    assert "button 1" in events
    for keysym in (CTRL, "0x73", "0xe9", "0x10020ac", RETURN):
        assert f"(keysym {keysym}," in events
    assert "root:(" in events  # where it was clicked, on the screen itself
    assert "(450,375)" in events.replace("root:", "")  # 300 and 250, one and a half times


async def test_a_desktop_ends_with_its_workspace_and_with_nothing_left(daemon, child):
    await daemon.call(child, "computer", action="screenshot")
    row = await daemon.workspaces.registry.of(child.id)
    assert 1 == len(screens(row.id))

    await daemon.lifecycle.stop(row.id)

    await until(lambda: not screens(row.id))
    fault = await daemon.fault(child, "computer", action="screenshot")
    assert "is stopped" in fault
    assert 0 == daemon.desktops.statistics().operated


async def test_a_desktop_that_was_killed_is_told_and_started_anew(daemon, child):
    await daemon.call(child, "computer", action="screenshot")
    row = await daemon.workspaces.registry.of(child.id)
    [pid] = screens(row.id)

    os.kill(pid, signal.SIGKILL)
    await until(lambda: pid not in screens(row.id))
    fault = await daemon.fault(child, "computer", action="mouse_move", coordinate=[1, 1])
    again = await daemon.call(child, "computer", action="screenshot")

    assert "the desktop has ended" in fault
    assert "a screenshot starts a new one" in fault
    assert (1280, 720) == image(again).size
    assert 2 == daemon.desktops.statistics().started_count


async def test_a_picture_that_was_given_up_is_not_shown_for_a_later_one(daemon, child):
    await shot(daemon, child)
    await daemon.call(child, "computer", action="mouse_move", coordinate=[10, 20])
    await give_up_a_picture(await daemon.desktops.operate(child))
    await daemon.call(child, "execute", command=XEV, run_in_background=True)
    watching = DesktopConnection(await daemon.desktops.dial(child))
    await watching.begin()
    with trio.fail_after(PATIENCE_SECONDS):
        while b"\xff\xff\xff" != pixel(await watching.picture(), 450, 375):
            await trio.sleep(0.02)
    await watching.aclose()

    seen = await shot(daemon, child)
    where = await daemon.call(child, "computer", action="cursor_position")

    assert (255, 255, 255) == seen.getpixel(INSIDE)
    assert "x=10, y=20" == where["text"]


async def give_up_a_picture(desktop):
    """Ask for a picture, and leave before it has come."""
    is_there = True
    while is_there:
        is_there = False

        async def look():
            nonlocal is_there
            await desktop.connection.picture()
            is_there = True

        async with trio.open_nursery() as nursery:
            nursery.start_soon(look)
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()


def pixel(picture, x, y):
    at = (y * picture.size.width + x) * 4
    return picture.pixels[at : at + 3]


async def test_what_is_held_down_is_let_go_when_a_call_is_given_up(daemon, child):
    home = await home_of(daemon, child)
    await begin(daemon, child, XEV)
    screen = (await daemon.desktops.operate(child)).connection
    held = [MovePointer(450, 375), PressButton(1), PressKey(0x61), Pause(600)]

    def says(*words):
        return lambda: set(words) <= set((home / "events").read_text().split())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(screen.perform, held)
        await until(says("ButtonPress", "KeyPress"))
        nursery.cancel_scope.cancel()

    await until(says("ButtonRelease", "KeyRelease"))


async def test_desktops_that_begin_together_are_all_counted(daemon, monkeypatch):
    monkeypatch.setattr("adapters.workspaces.desktop.desktops.OPERATED_MAX", 1)
    chats = [await daemon.chat(), await daemon.chat()]
    for chat in chats:
        await daemon.home(chat)
    found = []

    async def operate(chat):
        found.append(await daemon.desktops.operate(chat))

    async with trio.open_nursery() as together:
        for chat in chats:
            together.start_soon(operate, chat)

    assert 1 == sum(isinstance(each, WorkspaceRefusal) for each in found)


async def test_a_list_of_actions_is_done_whole_and_its_picture_is_kept(daemon, child):
    home = await home_of(daemon, child)
    await begin(daemon, child, XEV)
    actions = [
        {"type": "screenshot"},
        {"type": "click", "x": 400, "y": 300, "button": "right", "keys": ["CTRL"]},
        {"type": "keypress", "keys": ["CTRL", "L"]},
        {"type": "scroll", "x": 400, "y": 300, "scroll_x": 0, "scroll_y": -100},
    ]
    checks = [{"id": "c1", "code": "malicious_instructions", "message": "look twice"}]

    done = await daemon.run(child, "computer", actions=actions, pending_safety_checks=checks)
    events = await until(
        lambda: text if "button 4" in (text := (home / "events").read_text()) else ""
    )

    assert 1 == len(done.shown)
    assert "look twice" in done.result
    assert "state 0x4, button 3" in events  # while Control is held
    assert "(keysym 0x6c, l)" in events


async def test_an_action_that_cannot_be_done_changes_nothing_and_says_why(daemon, child):
    actions = [{"type": "keypress", "keys": ["SHIFT"]}, {"type": "click"}]

    assert "x and y are missing" in await daemon.fault(child, "computer", actions=actions)
    assert "there is no action ''" in await daemon.fault(child, "computer")
    wrong = await daemon.fault(child, "computer", action="left_click", coordinate=[1])
    assert "coordinate" in wrong
    assert 0 == daemon.desktops.statistics().actions_count


@pytest.mark.parametrize("daemon", ["none"], indirect=True)
async def test_text_that_is_typed_into_a_terminal_arrives_as_it_was_written(daemon, child):
    home = await home_of(daemon, child)
    text = "The quick brown fox: [ÄÖÜ] {~} `| \\ <>\n"
    await begin(daemon, child, "xterm -fn fixed -geometry 80x24+100+100 -e sh -c 'cat > typed'")
    await daemon.call(child, "computer", action="left_click", coordinate=[*INSIDE])

    await daemon.call(child, "computer", action="type", text=text)
    await daemon.call(child, "computer", action="key", text="ctrl+d")

    assert text == await until(lambda: (home / "typed").exists() and (home / "typed").read_text())


@pytest.mark.parametrize("daemon", ["bubblewrap"], indirect=True)
async def test_what_a_call_held_down_is_let_go_when_the_call_is_cut_short(daemon, child):
    home = await home_of(daemon, child)
    await begin(daemon, child, XEV)
    await daemon.call(child, "computer", action="left_click", coordinate=[*INSIDE])

    def has(word):
        found = [line for line in (home / "events").read_text().split("\n\n") if word in line]
        return any("keysym 0x61, a" in each for each in found)

    async with trio.open_nursery() as nursery:
        holding = partial(daemon.run, action="hold_key", text="a", duration=60)
        nursery.start_soon(holding, child, "computer")
        await until(lambda: has("KeyPress"))
        assert not has("KeyRelease")
        nursery.cancel_scope.cancel()

    await until(lambda: has("KeyRelease"))


@pytest.mark.parametrize("daemon", ["bubblewrap"], indirect=True)
async def test_a_chat_that_may_have_no_more_files_is_shown_its_screen_all_the_same(
    daemon, child, store
):
    async with store.pool.connection() as connection:
        await connection.execute(
            "WITH made AS (INSERT INTO files (id, owner_id, name, media_type, size_bytes)"
            " SELECT gen_random_uuid(), %(owner)s, 'f', 'text/plain', 0"
            " FROM generate_series(1, %(most)s::int) RETURNING id)"
            " INSERT INTO chat_files (chat_id, file_id) SELECT %(chat)s, id FROM made",
            {"owner": child.owner_id, "most": FILES_PER_CHAT_MAX, "chat": child.id},
        )

    done = await daemon.run(child, "computer", action="screenshot")

    assert (True, ()) == (done.is_media, done.shown)
    assert "attachment" not in done.result


async def test_two_processes_that_want_one_desktop_at_once_share_it(store, tmp_path):
    sandbox = await sandbox_of("bubblewrap", os.environ, network=False)
    how = {"sandbox": sandbox, "has_screens": True}
    async with a_daemon(store, tmp_path, **how) as one, a_daemon(store, tmp_path, **how) as two:
        parent = await one.chat()
        workspace = UUID((await one.home(parent)).parent.name)
        agent = await one.chat(parent=parent, mode="computer_use", workspace_id=workspace)
        shown = []

        async def look(daemon):
            shown.append(image(await daemon.call(agent, "computer", action="screenshot")).size)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(look, one)
            nursery.start_soon(look, two)

        assert [(1280, 720)] * 2 == shown
        assert 1 == len(screens(workspace))


async def test_only_who_operates_a_desktop_is_offered_it_and_nobody_who_plans(store, tmp_path):
    async with a_daemon(store, tmp_path, has_screens=True) as daemon:
        root = await daemon.chat()
        for columns in ({}, {"mode": "explore"}, {"mode": "computer_use", "plan_mode": "plan"}):
            agent = await daemon.chat(parent=root, **columns)
            with pytest.raises(LookupError):
                await daemon.run(agent, "computer", action="screenshot")


async def test_where_there_is_no_desktop_it_is_said_what_to_do(store, tmp_path):
    nowhere = {**os.environ, "PATH": str(tmp_path)}
    async with a_daemon(store, tmp_path, environ=nowhere, has_screens=True) as daemon:
        agent = await daemon.chat(parent=await daemon.chat(), mode="computer_use")
        missing = await daemon.fault(agent, "computer", action="screenshot")
    async with a_daemon(store, tmp_path, NoSandbox("no bwrap"), has_screens=True) as daemon:
        unsafe = await daemon.fault(agent, "computer", action="screenshot")
    async with a_daemon(store, tmp_path) as daemon:
        off = await daemon.fault(agent, "computer", action="screenshot")
    async with a_daemon(store, tmp_path, has_screens=True) as daemon:
        nowhere_to_be = await daemon.fault(agent, "computer", action="screenshot")

    assert "Xvnc and openbox are not installed" in missing
    assert INSTALL in missing
    assert "no bwrap" in unsafe
    assert "chat-virtual-desktop" in off
    assert "this chat has no workspace" in nowhere_to_be


def test_pillow_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    assert INSTALL_EXTRA in missing_programs(os.environ).says
