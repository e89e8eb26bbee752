"""Commands in a real sandbox: what they see, what they can do, and that nothing is left of them."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

import pytest
import trio

from actors.law.ids import ChatId
from actors.tools.output import HEAD_BYTES_MAX, TAIL_BYTES_MAX
from actors.tools.workspaces import Command, Signal
from adapters.workspaces.commands.bubblewrap import (
    MEMORY_DISK_BYTES_MAX,
    HiddenPaths,
    WorkspacePaths,
)
from adapters.workspaces.commands.processes import ProcessSpec, open_processes
from adapters.workspaces.commands.sandbox import (
    DEFAULT_LIMITS,
    PACKAGE,
    Bubblewrap,
    CommandLimits,
    environment,
    program_of,
)
from tests.patience import PATIENCE_SECONDS

CHAT = ChatId(UUID(int=1))
NOBODY = 65534
OURS = {"PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": "secret"}
# A directory of our own in memory; not below /tmp, which is another case.
ELSEWHERE = "/dev/shm"


@dataclass
class Machine:
    """A data directory with a workspace in it, and the commands of a chat."""

    data: Path
    table: object = None

    @property
    def ground(self):
        return WorkspacePaths(
            str(self.data / "workspaces/7/home"), str(self.data / "workspaces/7/tmp")
        )

    @property
    def home(self):
        return Path(self.ground.home)

    def words(self, text, *, network=False, limits=DEFAULT_LIMITS, files=(), program=None):
        sandbox = Bubblewrap(
            program or program_of(OURS), network, hidden=HiddenPaths((str(self.data),), files)
        )
        return sandbox.command(text, self.ground, workdir=str(self.home), limits=limits)

    def start(self, text, *, seconds=PATIENCE_SECONDS, **more):
        order = ProcessSpec(
            chat=CHAT,
            workspace=UUID(int=7),
            command=Command(text),
            workdir=str(self.home),
            arguments=self.words(text, **more),
            environment=environment(OURS, CHAT, self.ground, tmp="/tmp"),
            seconds_max=seconds,
        )
        started = self.table.start(order)
        assert isinstance(started, str), started
        return started

    async def run(self, text, **more):
        return await self.table.wait(CHAT, self.start(text, **more), PATIENCE_SECONDS)

    async def says(self, text, **more):
        return (await self.run(text, **more)).output.text


@contextmanager
def a_data_dir(top):
    data = Path(tempfile.mkdtemp(prefix="promptcorner-", dir=top))
    try:
        for name in ("workspaces/7/home", "workspaces/7/tmp", "workspaces/8/home", "templates/web"):
            (data / name).mkdir(parents=True)
        for name in ("secret.key", "workspaces/8/home/theirs", "templates/web/ours"):
            (data / name).write_text("SECRET")
        yield Machine(data)
    finally:
        shutil.rmtree(data)


@asynccontextmanager
async def a_machine(top=ELSEWHERE):
    with a_data_dir(top) as machine:
        async with open_processes() as machine.table:
            yield machine


@pytest.fixture
async def machine():
    async with a_machine() as machine:
        yield machine


@pytest.fixture
def marker():
    """Seconds to sleep, by which a process is known from outside."""
    return f"100000.{uuid4().int % 10**12}"


def sleepers(marker):
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if words[:2] == [b"sleep", marker.encode()]:
            found.append(int(path.parent.name))
    return found


def text_of(path):
    return Path(path).read_text()


def begun(words, **more):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(words, **pipes, **more)


async def until(holds):
    with trio.fail_after(PATIENCE_SECONDS):
        while not holds():
            await trio.sleep(0.005)


# what it sees


@pytest.mark.slow
async def test_nothing_can_be_written_but_the_workspace_and_disks_in_memory(machine):
    text = "find / -path /proc -prune -o ! -type l -writable -print 2> /dev/null"

    written = (await machine.says(f"echo mine > a; {text}")).splitlines()

    ours = {machine.ground.home, f"{machine.home}/a", "/tmp", "/dev/shm"}
    # In the first, names are made by the kernel alone.
    names = ("pts", "pts/ptmx", "full", "null", "random", "tty", "urandom", "zero")
    devices = {f"/dev/{name}" for name in names}
    assert ours <= set(written) <= ours | devices


async def test_the_kernel_cannot_be_told_anything_even_by_root(machine):
    text = "find /proc/sys /proc/sys* /proc/irq /proc/bus /proc/fs -writable 2> /dev/null; cat"

    value = await machine.says(
        f"{text} /proc/sys/vm/swappiness; echo 7 > /proc/sys/vm/swappiness || echo no"
    )

    assert [text_of("/proc/sys/vm/swappiness").strip(), "no"] == [
        line for line in value.splitlines() if "Read-only" not in line
    ]


async def test_nothing_of_the_data_directory_is_there(machine):
    (machine.home / "mine").write_text("mine")
    listed = await machine.says(f"find {machine.data} -mindepth 1; cat {machine.home}/mine")

    assert [
        str(machine.data / name)
        for name in ("workspaces", "workspaces/7", "workspaces/7/home", "workspaces/7/home/mine")
    ] == listed.splitlines()[:-1]
    assert "mine" == listed.splitlines()[-1]


async def test_a_link_out_of_the_workspace_leads_to_nothing(machine):
    (machine.home / "key").symlink_to(machine.data / "secret.key")
    (machine.home / "up").symlink_to("../../../secret.key")
    (machine.home / "shadow").symlink_to("/etc/shadow")

    done = await machine.run("cat key up shadow")

    assert 1 == done.exit_code
    assert 3 == done.output.text.count("No such file")
    assert "SECRET" not in done.output.text


async def test_homes_sockets_and_files_of_the_system_are_not_there(machine):
    away = ("/root", "/home", "/run/docker.sock", "/var/run", "/var/lib", "/sys", "/etc/shadow")

    seen = await machine.says(f"ls -d {' '.join(away)} 2> /dev/null; ls /etc/passwd")

    assert "/etc/passwd\n" == seen


async def test_a_file_in_which_settings_stand_is_seen_by_nobody(machine):
    missing = "/usr/share/promptcorner.toml"

    done = await machine.run("cat /usr/bin/env", files=("/usr/bin/env", "/etc/other", missing))

    assert 1 == done.exit_code
    assert "Permission denied" in done.output.text


async def test_it_has_no_secrets_in_its_surroundings(machine):
    said = await machine.says("cat /proc/1/environ /proc/*/environ | tr '\\0' '\\n'; env")

    assert f"HOME={machine.home}" in said.splitlines()
    assert "ANTHROPIC_API_KEY" not in said


async def test_nothing_that_we_hold_open_is_passed_on(machine):
    with (machine.data / "secret.key").open() as file:
        os.set_inheritable(file.fileno(), True)

        said = await machine.says("ls /proc/self/fd")

    assert {"0", "1", "2", "3"} >= set(said.split())  # the last is the directory itself


async def test_it_sees_no_process_but_its_own(machine):
    said = await machine.says(
        f"ls /proc | grep -c '^[0-9]'; kill -0 {os.getpid()} 2>&1 || echo gone"
    )

    count, *_, last = said.splitlines()
    assert int(count) <= 5
    assert "gone" == last


async def test_it_is_root_of_nothing_and_cannot_become_it(machine):
    done = await machine.run(
        "grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status;"
        " for try in 'mount -o remount,rw /usr' 'umount -l /proc/sys' 'unshare -U true'"
        " 'unshare -m true' 'chroot / true'; do $try 2> /dev/null && echo \"did $try\"; done; :"
    )

    values = dict(line.split(":\t") for line in done.output.text.splitlines())
    assert {"CapBnd": "0" * 16, "CapEff": "0" * 16, "NoNewPrivs": "1"} == values


# the network


@contextmanager
def a_listener():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.parametrize(("network", "answer"), [(False, "no\n"), (True, "yes\n")])
async def test_there_is_a_network_only_where_it_is_allowed(machine, network, answer):
    with a_listener() as port:
        text = f"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' 2> /dev/null && echo yes || echo no"

        assert answer == await machine.says(text, network=network)


async def test_without_a_network_there_is_no_way_out(machine):
    text = "tail -n +3 /proc/net/dev | cut -d: -f1; tail -q -n +2 /proc/net/route /proc/net/unix"

    said = await machine.says(text)

    assert ["lo"] == said.split()


# what is left of it


DAEMON = "(setsid sh -c 'sleep {marker} & sleep {marker}' > /dev/null 2>&1 &) ; "


async def test_a_daemon_of_its_own_ends_with_it(machine, marker):
    text = DAEMON.format(marker=marker) + "while ! pgrep sleep; do :; done > /dev/null; echo done"

    done = await machine.run(text)

    assert ("done\n", 0) == (done.output.text, done.exit_code)
    await until(lambda: not sleepers(marker))


async def test_a_daemon_of_its_own_is_killed_with_it(machine, marker):
    id = machine.start(DAEMON.format(marker=marker) + "trap '' TERM; sleep " + marker)
    await until(lambda: len(sleepers(marker)) == 3)

    machine.table.signal(CHAT, id, Signal.KILL)

    assert 137 == (await machine.table.wait(CHAT, id, PATIENCE_SECONDS)).exit_code
    await until(lambda: not sleepers(marker))


async def test_a_daemon_of_its_own_ends_with_the_table(marker):
    async with a_machine() as machine:
        machine.start(DAEMON.format(marker=marker) + "sleep " + marker)
        await until(lambda: len(sleepers(marker)) == 3)

    await until(lambda: not sleepers(marker))


async def test_its_life_has_a_limit(machine, marker):
    id = machine.start(DAEMON.format(marker=marker) + "sleep " + marker, seconds=0.1)

    done = await machine.table.wait(CHAT, id, PATIENCE_SECONDS)

    assert ("ended after 0.1 s, which is its limit", 137) == (done.why, done.exit_code)
    await until(lambda: not sleepers(marker))


@pytest.mark.slow
async def test_all_of_it_ends_when_the_process_is_killed(marker):
    with a_data_dir(ELSEWHERE) as machine:
        with begun([sys.executable, "-c", a_program(machine, marker)]) as daemon:
            try:
                await until(lambda: len(sleepers(marker)) == 3)
            finally:
                daemon.kill()

        await until(lambda: not sleepers(marker))


def a_program(machine, marker):
    words = list(machine.words(DAEMON.format(marker=marker) + "sleep " + marker))
    return textwrap.dedent(
        f"""
        import os, trio
        from uuid import UUID
        from actors.tools.workspaces import Command
        from adapters.workspaces.commands.processes import ProcessSpec, open_processes
        async def main():
            async with open_processes() as table:
                table.start(ProcessSpec(
                    chat=UUID(int=1), workspace=UUID(int=2), command=Command(""), workdir="/",
                    arguments={words!r}, environment=dict(os.environ), seconds_max=1000.0))
                await trio.sleep_forever()
        trio.run(main)
        """
    )


async def test_one_that_hears_no_wish_is_killed(machine):
    id = machine.start("trap '' TERM; echo ready; while :; do sleep 0.05; done")
    await until(lambda: machine.table.all(CHAT)[0].output.text)

    machine.table.signal(CHAT, id, Signal.TERMINATE)
    assert (await machine.table.wait(CHAT, id, 0.1)).is_running
    machine.table.signal(CHAT, id, Signal.KILL)

    assert 137 == (await machine.table.wait(CHAT, id, PATIENCE_SECONDS)).exit_code


async def test_a_wish_to_end_is_heard(machine):
    text = "trap 'echo tidied; exit 5' TERM; echo ready; while :; do sleep 0.02; done"
    id = machine.start(text)
    await until(lambda: machine.table.all(CHAT)[0].output.text)

    machine.table.signal(CHAT, id, Signal.TERMINATE)
    done = await machine.table.wait(CHAT, id, PATIENCE_SECONDS)

    assert 5 == done.exit_code
    assert done.output.text.endswith("tidied\n")


async def test_one_that_is_ended_says_by_which_signal(machine):
    id = machine.start("echo ready; exec sleep 1000")
    await until(lambda: machine.table.all(CHAT)[0].output.text)

    machine.table.signal(CHAT, id, Signal.TERMINATE)

    assert 143 == (await machine.table.wait(CHAT, id, PATIENCE_SECONDS)).exit_code


# limits


async def test_of_a_flood_both_ends_are_kept(machine):
    done = await machine.run("echo first; head -c 5000000 /dev/zero | tr '\\0' 'x'; echo last >&2")

    assert 5_000_000 + len("first\nlast\n") == done.output.original_bytes
    assert HEAD_BYTES_MAX + TAIL_BYTES_MAX == done.output.retained_bytes


@pytest.mark.slow
async def test_its_memory_has_a_limit(machine):
    text = "head -c 100000000 /dev/zero | tail -c 90000000 | wc -c"

    assert "90000000\n" == await machine.says(text)
    assert "90000000\n" != await machine.says(text, limits=CommandLimits(memory_mb=50))


async def test_its_files_have_a_limit(machine):
    await machine.run("head -c 5000000 /dev/zero > big", limits=CommandLimits(file_mb=1))

    assert 1024 * 1024 == (machine.home / "big").stat().st_size


@pytest.mark.slow
async def test_disks_in_memory_are_full_at_some_time(machine):
    size = MEMORY_DISK_BYTES_MAX + 1024

    said = await machine.says(
        f"head -c {size} /dev/zero > /dev/shm/x; stat -c %s /dev/shm/x; echo x > /dev/x"
    )

    assert "No space left on device" in said
    assert str(MEMORY_DISK_BYTES_MAX) in said.splitlines()
    assert "Read-only file system" in said


@pytest.mark.slow
async def test_a_fork_bomb_has_a_bound(marker):
    """The kernel counts by user, and never for root."""
    with a_data_dir(ELSEWHERE) as machine:
        machine.data.chmod(0o755)
        text = f"sh -c 'for i in $(seq 200); do sleep {marker} & done'; echo full; exec sleep 1000"
        words = machine.words(
            text, limits=CommandLimits(processes=40), program=reachable(machine.data)
        )
        user = NOBODY if os.geteuid() == 0 else None
        with begun(words, user=user) as bomb:
            said = bomb.stdout.readline()
            await until(
                lambda: sleepers(marker)
            )  # the first is forked, and becomes one in a moment
            count = len(sleepers(marker))
            bomb.kill()

        assert b"full\n" == said
        assert 0 < count < 40
        await until(lambda: not sleepers(marker))


def reachable(place):
    """The program, where everybody may go; if it came with the package, with what it needs."""
    program = Path(program_of(OURS))
    if program.parents[1].name != PACKAGE:
        return str(program)
    for name in (PACKAGE, f"{PACKAGE}.libs"):
        if (program.parents[2] / name).is_dir():
            shutil.copytree(program.parents[2] / name, place / "programs" / name)
    return str(place / "programs" / PACKAGE / "_bin" / "bwrap")


# where the workspace lies


async def test_what_is_passed_on_in_tmp_stays_as_long_as_the_workspace(machine):
    await machine.run("echo one > $TMPDIR/a; echo two > /var/tmp/b")

    assert "one\ntwo\n" == await machine.says("cat /tmp/a /tmp/b")
    assert "one\n" == text_of(f"{machine.ground.tmp}/a")


async def test_below_tmp_each_command_has_one_of_its_own(marker):
    """What it leaves there could lead whatever is laid into it next elsewhere."""
    async with a_machine("/tmp") as machine:
        top = machine.data.name
        left = await machine.says(f"echo x > /tmp/a; mv /tmp/{top} /tmp/b 2>&1; ls /tmp; pwd")
        again = await machine.says("ls /tmp; cat ~/../../../secret.key")

        assert "busy" in left
        assert left.endswith(f"{top}\n{machine.home}\n")
        assert again.startswith(f"{top}\n")
        assert "SECRET" not in again
        assert [] == os.listdir(machine.ground.tmp)


def test_the_systems_own_comes_before_the_one_that_came_with_us(tmp_path):
    own = tmp_path / "bwrap"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)

    assert str(own) == program_of({"PATH": str(tmp_path)})
    assert PACKAGE in program_of({"PATH": "/nowhere"})


def test_without_either_there_is_none(monkeypatch):
    monkeypatch.setattr(sys, "path", [])

    assert program_of({"PATH": "/nowhere"}) is None
