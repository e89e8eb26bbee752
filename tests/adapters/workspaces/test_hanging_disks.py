"""A disk that hangs holds up its own workspace, for a bounded time, and nothing else."""

import errno
import os
import signal
import threading
from functools import partial
from subprocess import Popen

import pytest
import trio

from actors.tools.workspaces import Command, WorkspaceRefusal
from adapters.workspaces import disk as disks
from adapters.workspaces import disk as programs
from adapters.workspaces.commands.bubblewrap import HiddenPaths
from adapters.workspaces.commands.processes import open_processes
from adapters.workspaces.commands.sandbox import Bubblewrap
from adapters.workspaces.disk import FILES, Programs
from adapters.workspaces.files import LocalFiles
from adapters.workspaces.templates import EMPTY, make_directory
from runtime.threads import ThreadLimits, read, statistics
from tests.adapters.workspaces.commands.test_bubblewrap import workspace
from tests.fakes.hanging import HangingDisk, all_ended, leave, use_up_trios_threads

BRIEF = ThreadLimits("brief_files", 8, per_key_max=2, wait_seconds=0.1, answer_seconds=0.3)


@pytest.fixture
async def disk(tmp_path):
    disk = HangingDisk(tmp_path / "disk")
    yield disk
    disk.mend()
    await all_ended()
    disk.close()


@pytest.fixture
def homes(tmp_path):
    made = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
        made.append(str(tmp_path / name))
    return made


@pytest.fixture
def renaming_hangs(disk, monkeypatch):
    """The last step of a write, in the workspace `one`."""
    ours = os.rename

    def rename(source, target, **named):
        if target == "file":
            disk.touch()
        ours(source, target, **named)

    monkeypatch.setattr(os, "rename", rename)


async def test_other_workspaces_are_read_meanwhile(disk, homes):
    use_up_trios_threads()
    one, other = homes
    for _ in range(FILES.per_key_max):
        await leave(disk, partial(read, FILES, disk.touch, key=one))

    with trio.fail_after(20):
        content = await LocalFiles(other).read(f"{other}/file", bytes_max=100)

    assert content == b"other"
    assert FILES.per_key_max == statistics()[FILES.name].left


async def test_who_finds_no_thread_is_told_which_disk_does_not_answer(disk, homes, monkeypatch):
    one, _ = homes
    monkeypatch.setattr(disks.Disk.read, "__defaults__", (BRIEF,))
    for _ in range(BRIEF.per_key_max):
        await leave(disk, partial(read, BRIEF, disk.touch, key=one))

    refused = await LocalFiles(one, name="web").read(f"{one}/file", bytes_max=100)

    assert isinstance(refused, WorkspaceRefusal)
    says = f"{one}/file: the disk of the workspace web does not answer; try again later"
    assert says == refused.says


async def test_a_write_that_hangs_is_left_and_what_comes_next_waits_for_it(
    disk, homes, renaming_hangs, monkeypatch
):
    one, _ = homes
    files = LocalFiles(one)
    monkeypatch.setattr(disks.Disk.write, "__kwdefaults__", {"seconds": 0.05})
    with trio.fail_after(20):
        await leave(disk, partial(files.write, f"{one}/file", b"first"))
    contents = []

    async def look():
        contents.append(await files.read(f"{one}/file", bytes_max=100))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look)
        await trio.sleep(0.05)
        assert not contents
        disk.mend()

    assert [b"first"] == contents
    assert ["file"] == os.listdir(one)


async def test_a_write_that_ends_in_time_is_told_of_although_its_caller_was_cancelled(
    disk, homes, renaming_hangs
):
    one, _ = homes
    results = []

    async def write():
        results.append(await LocalFiles(one).write(f"{one}/file", b"first"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(write)
        await disk.touched.acquire()
        nursery.cancel_scope.cancel()
        disk.mend()

    assert [None] == results
    assert b"first" == await LocalFiles(one).read(f"{one}/file", bytes_max=100)


async def test_a_write_that_takes_too_long_is_said_to_be_undecided(
    disk, homes, renaming_hangs, monkeypatch
):
    one, _ = homes
    monkeypatch.setattr(disks.Disk.write, "__defaults__", (BRIEF,))
    monkeypatch.setattr(disks.Disk.write, "__kwdefaults__", {"seconds": 0.05})

    refused = await LocalFiles(one, name="web").write(f"{one}/file", b"first")

    assert isinstance(refused, WorkspaceRefusal)
    assert "web does not answer; what was to be written may be written later" in refused.says


async def test_a_workspace_that_cannot_be_made_does_not_hold_its_maker_up(
    disk, tmp_path, monkeypatch
):
    ours = os.mkdir

    def mkdir(path, *args, **named):
        if str(path).endswith("home"):
            disk.touch()
        ours(path, *args, **named)

    monkeypatch.setattr(os, "mkdir", mkdir)
    monkeypatch.setattr(disks.Disk.write, "__kwdefaults__", {"seconds": 0.05})
    monkeypatch.setattr("adapters.workspaces.templates.CLEANUP_SECONDS", 0.2)
    began = trio.current_time()

    await leave(disk, partial(make_directory, EMPTY, tmp_path / "w", {}))

    assert trio.current_time() - began < 10, "it hangs for ever"
    assert not (tmp_path / "w").exists()


async def test_templates_that_hang_hold_up_a_command_and_nobody_else(disk, tmp_path, monkeypatch):
    """A sandbox hides them, so it is looked whether they are there."""
    hung, ours = str(tmp_path / "templates"), os.path.isdir
    main = threading.current_thread()

    def isdir(path):
        if path == hung:
            assert threading.current_thread() is not main, "everything waits for it"
            disk.touch()
        return ours(path)

    monkeypatch.setattr(os.path, "isdir", isdir)
    monkeypatch.setattr("adapters.workspaces.commands.sandbox.HIDING", BRIEF)
    sandbox = Bubblewrap("bwrap", hidden=HiddenPaths((hung,)))
    async with open_processes() as table:
        processes = workspace(tmp_path, sandbox, table, {})

        refused = await processes.start(Command("true"))

    assert isinstance(refused, WorkspaceRefusal)
    assert refused.says == "the disk of the server does not answer; try again later"


async def test_a_program_that_takes_too_long_is_ended_with_all_it_has_begun(
    tmp_path, leaping_clock
):
    programs, begun = Programs(), tmp_path / "child"
    script = f"sleep 1000 & echo $! > {begun}; wait"

    async def leap_when_all_has_begun():
        while not (is_counted() and begun.exists() and begun.read_text()):
            await trio.sleep(0.01)
        leaping_clock.jump(1_000)

    def is_counted():  # a program begins in a thread, a moment before its time is counted
        return 900 < trio.lowlevel.current_statistics().seconds_to_next_deadline <= 1_000

    async with trio.open_nursery() as nursery:
        nursery.start_soon(leap_when_all_has_begun)
        assert await programs.run(["sh", "-c", script], key="a", seconds=1_000) is None

    assert programs.running == 0
    child = int(begun.read_text())
    with trio.fail_after(20):
        while _runs(child):
            await trio.sleep(0.01)


def _runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return " Z " not in file.read()
    except (FileNotFoundError, ProcessLookupError):
        return False


async def test_one_that_cannot_be_ended_is_left_and_no_other_is_begun_in_its_place(monkeypatch):
    """As one that waits for a disk: no signal ends it."""
    programs, killed = Programs(), []
    with monkeypatch.context() as deaf:
        deaf.setattr(os, "killpg", lambda *words: killed.append(words))
        deaf.setattr("adapters.workspaces.disk.REAP_SECONDS", 0.1)
        with trio.fail_after(20):
            assert await programs.run(["sleep", "1000"], key="a", seconds=0.1) is None

    assert programs.running == 1
    assert await programs.run(["true"], key="a", seconds=20) is None
    ended = await programs.run(["true"], key="b", seconds=20)
    assert ended is not None
    assert ended.code == 0
    os.killpg(*killed[0])
    with trio.fail_after(20):
        while programs.running:
            await trio.sleep(0.01)
    assert await programs.run(["true"], key="a", seconds=20) is not None


async def test_one_that_has_ended_is_still_heard_to_its_end_whoever_counts_it_meanwhile(tmp_path):
    """What it has begun may write on, and its place is not another's before that."""
    programs, results = Programs(), []
    os.mkfifo(tmp_path / "go")
    script = f"(read line < {tmp_path}/go; echo late) & echo $$ > {tmp_path}/pid"

    async def run():
        results.append(await programs.run(["sh", "-c", script], key="a", seconds=20))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        with trio.fail_after(20):
            while not (tmp_path / "pid").exists() or not (pid := (tmp_path / "pid").read_text()):
                await trio.sleep(0.01)
            while _runs(int(pid)):
                await trio.sleep(0.01)
        assert programs.running == 1
        assert await programs.run(["true"], key="a", seconds=20) is None
        (tmp_path / "go").write_text("\n")

    assert [b"late\n"] == [ended.said for ended in results]
    assert programs.running == 0


async def test_one_that_is_not_wanted_any_more_gives_its_thread_back_even_if_nothing_ends_it(
    disk, monkeypatch
):
    table, killed = programs.Programs(), []

    def begin_late(*words, **named):
        disk.touch()
        return Popen(*words, **named)

    with monkeypatch.context() as deaf:
        deaf.setattr(programs, "Popen", begin_late)
        deaf.setattr(programs, "BEGIN_SECONDS", 0.02)
        deaf.setattr(programs, "REAP_SECONDS", 0.1)
        deaf.setattr(os, "killpg", lambda *words: killed.append(words))
        await leave(disk, partial(table.run, ["sleep", "1000"], key="a", seconds=20))
        disk.mend()
        with trio.fail_after(20):
            while statistics()[programs.BEGINNING.name].running:
                await trio.sleep(0.01)

    assert table.running == 1
    assert await table.run(["true"], key="a", seconds=20) is None
    os.killpg(*killed[0])
    with trio.fail_after(20):
        while table.running:
            await trio.sleep(0.01)


async def test_one_that_is_not_wanted_any_more_is_seen_to_its_end(disk, monkeypatch):
    """Its `Programs` may be gone by then, as at the end of a daemon."""
    table, begun = programs.Programs(), []

    def begin_late(*words, **named):
        disk.touch()
        begun.append(Popen(*words, **named))
        return begun[0]

    monkeypatch.setattr(programs, "Popen", begin_late)
    monkeypatch.setattr(programs, "BEGIN_SECONDS", 0.02)
    await leave(disk, partial(table.run, ["sleep", "1000"], key="a", seconds=20))
    disk.mend()
    await all_ended()

    assert -signal.SIGKILL == begun[0].returncode


async def test_one_that_cannot_be_watched_is_ended(monkeypatch):
    """As when too many files are open."""
    programs = Programs()

    def dup(descriptor):
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(os, "dup", dup)
    with pytest.raises(OSError, match="too many open files"):
        await programs.run(["sleep", "1000"], key="a", seconds=20)

    with trio.fail_after(20):
        while programs.running:
            await trio.sleep(0.01)


async def test_a_program_says_how_it_went_and_what():
    ended = await Programs().run(
        ["sh", "-c", "echo out; echo wrong >&2; exit 3"], key=None, seconds=20, hears_errors=True
    )

    assert ended is not None
    assert (3, b"out\nwrong\n") == (ended.code, ended.said)


async def test_one_that_is_not_there_cannot_be_begun():
    programs = Programs()

    with pytest.raises(FileNotFoundError):
        await programs.run(["promptcorner-no-such-program"], key=None, seconds=20)

    assert programs.running == 0
