"""What bwrap is told; and that commands really go through it, by a bwrap that writes it down."""

import json
import os
import sys
from dataclasses import replace
from uuid import UUID

import pytest

from actors.tools.workspaces import Command, Signal
from adapters.workspaces.commands.bubblewrap import HiddenPaths, Layout, WorkspacePaths, arguments
from adapters.workspaces.commands.peers import Peers
from adapters.workspaces.commands.processes import open_processes
from adapters.workspaces.commands.sandbox import (
    UNCOUNTED,
    Bubblewrap,
    NoSandbox,
    Unconfined,
    log_sandbox,
    program_of,
    sandbox_of,
)
from adapters.workspaces.local import LocalProcesses
from adapters.workspaces.store import WorkspaceRow
from runtime.log import LOGGER_NAME
from tests.actors.law.chats import a_chat
from tests.patience import PATIENCE_SECONDS

GROUND = WorkspacePaths("/data/workspaces/7/home", "/data/workspaces/7/tmp")
LAYOUT = Layout({"/bin": "usr/bin"}, ("/lib64",))
CHAT = a_chat().chat

STAND_IN = """\
#!{python} -IS
import json, os, sys
with open({log!r}, "a") as file:
    file.write(json.dumps([sys.argv, dict(os.environ)]) + "\\n")
command = sys.argv[sys.argv.index("--") + 1:]
os.chdir(sys.argv[sys.argv.index("--chdir") + 1])
pid = os.fork()
if not pid:
    os.execvp(command[0], command)
_, status = os.waitpid(pid, 0)
sys.exit({answer} or os.waitstatus_to_exitcode(status) % 256)
"""


def told(*, network=False, hidden=HiddenPaths(("/data",)), ground=GROUND):  # noqa: B008 (frozen)
    return arguments(
        "bwrap", ground, workdir=ground.home, network=network, layout=LAYOUT, hidden=hidden
    )


def pairs(words, option):
    return [tuple(words[i + 1 : i + 3]) for i, word in enumerate(words) if word == option]


def test_only_the_workspace_and_its_tmp_can_be_written():
    words = told()

    assert [(GROUND.tmp, "/tmp"), (GROUND.home, GROUND.home)] == pairs(words, "--bind")
    assert not {"--dev-bind", "--bind-try", "--overlay"} & set(words)


def test_the_way_to_forges_can_be_used_and_not_changed():
    words = told(ground=replace(GROUND, gate="/data/gates/7"))

    assert [("/data/gates/7", "/run/promptcorner")] == pairs(words, "--ro-bind")
    assert len(pairs(told(), "--bind")) == len(pairs(words, "--bind"))


def test_nothing_but_programs_and_their_settings_is_seen():
    read_only = pairs(told(), "--ro-bind-try")

    assert all(source == target for source, target in read_only)
    seen = [source for source, _ in read_only]
    assert {"/usr", "/lib64"} <= set(seen)
    assert [] == [path for path in seen if path in ("/", "/etc", "/home", "/root", "/data", "/var")]
    assert ("usr/bin", "/bin") in pairs(told(), "--symlink")


def test_what_is_hidden_is_hidden_wherever_it_lies_and_nothing_around_it_is_writable():
    words = told(hidden=HiddenPaths(("/opt/data", "/opt/templates")))

    home = words.index(GROUND.home)
    assert words.index("/opt") < words.index("/opt/data")
    assert ["--tmpfs", "/opt/data", "--tmpfs", "/opt/templates", "--bind"] == words[home - 5 : home]
    assert ["--remount-ro", "/opt/data", "--remount-ro", "/opt/templates", "--remount-ro", "/"] == (
        words[home + 2 : home + 8]
    )


def test_everything_is_its_own_and_ends_with_us():
    words = told()

    assert {"--unshare-all", "--die-with-parent"} <= set(words)
    assert "ALL" == words[words.index("--cap-drop") + 1]
    assert GROUND.home == words[words.index("--chdir") + 1]
    assert "--" == words[-1]


def test_there_is_no_network_unless_it_is_allowed():
    resolv = ("/etc/resolv.conf", "/etc/resolv.conf")

    assert "--share-net" not in told()
    assert resolv not in pairs(told(), "--ro-bind-try")
    assert "--share-net" in told(network=True)
    assert resolv in pairs(told(network=True), "--ro-bind-try")


@pytest.fixture
def stand_in(tmp_path):
    """Puts a bwrap into a directory of programs; says what it was told."""
    programs, log = tmp_path / "programs", tmp_path / "log"
    programs.mkdir()

    def put(answer=0):
        program = programs / "bwrap"
        text = STAND_IN.format(python=sys.executable, log=str(log), answer=answer)
        program.write_text(text)
        program.chmod(0o755)
        return {"PATH": f"{programs}:{os.environ['PATH']}", "SECRET": "x"}

    put.log = lambda: [json.loads(line) for line in log.read_text().splitlines()]
    return put


def workspace(tmp_path, sandbox, table, environ):
    home, tmp = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    tmp.mkdir()
    row = WorkspaceRow(UUID(int=7), "w", "empty", 512, 64, 99, 60)
    ground = WorkspacePaths(str(home), str(tmp))
    peers = Peers(tmp_path / "peers", table)
    return LocalProcesses(table, peers, sandbox, environ, CHAT, row, ground)


async def test_commands_really_go_through_it(stand_in, tmp_path):
    environ = stand_in()
    sandbox = await sandbox_of("bubblewrap", environ, network=False)
    async with open_processes() as table:
        processes = workspace(tmp_path, sandbox, table, environ)
        (tmp_path / "home" / "sub").mkdir()

        begun = await processes.start(Command("pwd; echo $TMPDIR", "sub"))
        done = await processes.wait(begun.id, PATIENCE_SECONDS)

    assert (f"{tmp_path}/home/sub\n/tmp\n", 0) == (done.output.text, done.exit_code)
    argv, environment = stand_in.log()[-1]
    assert [(f"{tmp_path}/home",) * 2] == pairs(argv, "--bind")
    assert "SECRET" not in environment
    assert "pwd; echo $TMPDIR" == argv[-1]
    assert "ulimit -d 524288" in argv[-3]
    assert "ulimit -u 99" in argv[-3]


async def test_a_wish_to_end_reaches_the_command_through_it(stand_in, tmp_path):
    """A real one would die of it, and take the command with it before it could tidy up."""
    environ = stand_in()
    sandbox = await sandbox_of("bubblewrap", environ, network=False)
    async with open_processes() as table:
        processes = workspace(tmp_path, sandbox, table, environ)
        text = "trap 'echo tidied; exit 5' TERM; echo ready; while :; do sleep 0.02; done"
        begun = await processes.start(Command(text))
        while not (await processes.wait(begun.id, 0.01)).output.text:
            pass

        await processes.signal(begun.id, Signal.TERMINATE)
        done = await processes.wait(begun.id, PATIENCE_SECONDS)

    assert 5 == done.exit_code
    assert done.output.text.endswith("tidied\n")


async def test_without_it_commands_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [])  # nor is there the one that came with us
    sandbox = await sandbox_of("bubblewrap", {"PATH": str(tmp_path)}, network=False)
    async with open_processes() as table:
        refused = await workspace(tmp_path, sandbox, table, {}).start(Command("true"))

        assert isinstance(sandbox, NoSandbox)
        assert "commands cannot be run here: bubblewrap (bwrap) is not installed" in refused.says
        assert 'sandbox = "none"' in refused.says
        assert () == tuple(table.all(CHAT.id))


async def test_one_that_does_not_work_is_none(stand_in):
    environ = stand_in(answer=1)
    sandbox = await sandbox_of("bubblewrap", environ, network=False)

    assert NoSandbox(f"{program_of(environ)} does not work: exit code 1") == sandbox


async def test_where_the_kernel_lets_nobody_make_namespaces_it_is_said_and_commands_are_refused(
    tmp_path,
):
    said = "bwrap: No permissions to create new namespace"
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    program.chmod(0o755)

    sandbox = await sandbox_of("bubblewrap", {"PATH": str(tmp_path)}, network=False)
    async with open_processes() as table:
        refused = await workspace(tmp_path, sandbox, table, {}).start(Command("true"))

    assert NoSandbox(f"{program} does not work: {said}") == sandbox
    assert f"commands cannot be run here: {program} does not work: {said}. Reading" in refused.says


@pytest.mark.parametrize(
    ("sandbox", "is_root", "entry"),
    [
        (
            NoSandbox("not installed"),
            True,
            ("sandbox.missing", "warning", "not installed", "commands of chats are refused"),
        ),
        (
            Unconfined(),
            True,
            ("sandbox.none", "warning", None, "commands of chats can do all that the daemon can"),
        ),
        (Bubblewrap("/bin/bwrap"), False, ("sandbox.found", "info", None, None)),
        (Bubblewrap("/bin/bwrap"), True, ("sandbox.found", "info", None, UNCOUNTED)),
    ],
)
def test_the_log_says_what_commands_can_do(sandbox, is_root, entry, caplog):
    caplog.set_level("INFO", LOGGER_NAME)

    log_sandbox(sandbox, is_root=is_root)

    [told] = caplog.records
    fields = told.fields.get("why"), told.fields.get("says")
    assert entry == (told.message, told.levelname.lower(), *fields)


def test_files_in_which_settings_stand_are_covered_where_they_would_be_seen():
    words = told(hidden=HiddenPaths(files=("/opt/us/key", "/etc/us/key", "/usr/local/etc/us.toml")))

    covered = [("/dev/null", "/opt/us/key"), ("/dev/null", "/usr/local/etc/us.toml")]
    assert covered == pairs(words, "--ro-bind")


def test_nothing_is_laid_over_what_is_not_there(tmp_path):
    (tmp_path / "key").touch()
    there, key = str(tmp_path), str(tmp_path / "key")

    found = HiddenPaths((there, "/opt/none", key), (key, "/opt/none/key", there)).existing

    assert HiddenPaths((there,), (key,)) == found


def test_commands_tmp_is_their_own_where_something_of_ours_lies_below_it():
    elsewhere = told()
    below = told(ground=WorkspacePaths("/tmp/data/w/home", "/tmp/data/w/tmp"))
    beside = told(hidden=HiddenPaths(("/var/tmp/templates",)))

    assert (GROUND.tmp, "/tmp") in pairs(elsewhere, "--bind")
    for words in (below, beside):
        assert "/tmp" not in [to for _, to in pairs(words, "--bind")]
        assert "/tmp" in [to for to, _ in pairs(words, "--tmpfs")]


async def test_it_is_left_out_where_somebody_has_said_so(stand_in, tmp_path):
    sandbox = await sandbox_of("none", stand_in(), network=False)
    async with open_processes() as table:
        processes = workspace(tmp_path, sandbox, table, os.environ)
        begun = await processes.start(Command("echo $HOME $TMPDIR"))
        done = await processes.wait(begun.id, PATIENCE_SECONDS)

    assert Unconfined() == sandbox
    assert f"{tmp_path}/home {tmp_path}/tmp\n" == done.output.text


async def test_what_is_found_knows_how_this_machine_is_laid_out(stand_in):
    sandbox = await sandbox_of("bubblewrap", stand_in(), network=True)

    assert isinstance(sandbox, Bubblewrap)
    assert {*sandbox.layout.links, *sandbox.layout.directories} >= {"/bin", "/lib"}
    assert "--share-net" in stand_in.log()[0][0]
