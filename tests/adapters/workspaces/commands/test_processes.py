"""Commands: run, waited for, signalled, ended; and nothing is left of them."""

import os
import signal
import subprocess
import sys
import textwrap
from functools import partial
from uuid import UUID

import pytest
import trio

from actors.law.ids import ChatId
from actors.tools.output import HEAD_BYTES_MAX, TAIL_BYTES_MAX
from actors.tools.workspaces import Command, NotStarted, Signal, WorkspaceRefusal
from adapters.workspaces.commands import processes
from adapters.workspaces.commands.bubblewrap import WorkspacePaths
from adapters.workspaces.commands.processes import (
    RUNNING_PER_CHAT_MAX,
    ProcessSpec,
    open_processes,
)
from adapters.workspaces.commands.sandbox import (
    DEFAULT_LIMITS,
    CommandLimits,
    Unconfined,
    environment,
)
from tests.patience import PATIENCE_SECONDS

CHAT, OTHER = ChatId(UUID(int=1)), ChatId(UUID(int=2))
OURS = {**os.environ, "ANTHROPIC_API_KEY": "secret"}


@pytest.fixture
async def table():
    async with open_processes() as table:
        yield table


@pytest.fixture
def order(tmp_path):
    def order(text, *, chat=CHAT, limits=DEFAULT_LIMITS, seconds=PATIENCE_SECONDS, arguments=None):
        ground = WorkspacePaths(str(tmp_path), str(tmp_path))
        command = Unconfined().command(text, ground, workdir=str(tmp_path), limits=limits)
        return ProcessSpec(
            chat=chat,
            workspace=UUID(int=3),
            command=Command(text),
            workdir=str(tmp_path),
            arguments=arguments or command,
            environment=environment(OURS, chat, ground, tmp=str(tmp_path)),
            seconds_max=seconds,
        )

    return order


async def run(table, order):
    return await table.wait(CHAT, table.start(order), PATIENCE_SECONDS)


async def gone(pid):
    """Of an outside process: that there is none, or nothing of it but its name."""
    with trio.fail_after(PATIENCE_SECONDS):
        while alive(pid):
            await trio.sleep(0.005)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def written(path):
    with trio.fail_after(PATIENCE_SECONDS):
        while not (path.exists() and path.read_text().endswith("\n")):
            await trio.sleep(0.005)
    return path.read_text().strip()


async def test_both_outputs_of_a_command_come_together(table, order):
    done = await run(table, order("echo one; echo two >&2; exit 3"))

    assert ("one\ntwo\n", 3) == (done.output.text, done.exit_code)
    assert done.ended_at >= done.started_at


async def test_it_reads_nothing_and_has_no_secrets(table, order):
    done = await run(table, order("cat; env"))

    told = dict(line.split("=", 1) for line in done.output.text.splitlines())
    assert "ANTHROPIC_API_KEY" not in told
    assert OURS["PATH"] == told["PATH"]
    assert {"true"} == {told[name] for name in ("EDITOR", "GIT_EDITOR", "PROMPTCORNER_CHAT")}
    assert str(CHAT) == told["PROMPTCORNER_CHAT_ID"]
    assert ("dumb", "cat", "0") == (told["TERM"], told["PAGER"], told["GIT_TERMINAL_PROMPT"])


async def test_one_that_hangs_goes_on_when_nobody_waits_any_more(table, order):
    id = table.start(order("echo begun; sleep 1000"))
    with trio.fail_after(PATIENCE_SECONDS):
        while not (now := await table.wait(CHAT, id, 0.01)).output.text:
            pass

    assert ("begun\n", None) == (now.output.text, now.exit_code)
    assert table.signal(CHAT, id, Signal.TERMINATE) is None
    assert 128 + signal.SIGTERM == (await table.wait(CHAT, id, PATIENCE_SECONDS)).exit_code


async def test_those_who_wait_see_what_it_writes_and_get_what_they_got_before(table, order):
    seen, late = [], []
    id = table.start(order("echo one; sleep 1000"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(table.wait, CHAT, id, PATIENCE_SECONDS, show=seen.append))
        with trio.fail_after(PATIENCE_SECONDS):
            while not seen:
                await trio.sleep(0.005)
        nursery.start_soon(partial(table.wait, CHAT, id, PATIENCE_SECONDS, show=late.append))
        with trio.fail_after(PATIENCE_SECONDS):
            while not late:
                await trio.sleep(0.005)
        table.signal(CHAT, id, Signal.KILL)
        await table.wait(CHAT, id, PATIENCE_SECONDS)

    ended = await table.wait(CHAT, id, 0)
    assert "one\n" == "".join(piece.text for piece in seen)[:4]
    assert seen == late, "one who comes later sees it from its beginning"
    assert "".join(piece.text for piece in seen) == ended.output.text
    assert table.statistics().shown_characters_count == 2 * len(ended.output.text)


async def test_one_that_hears_no_wish_is_killed(table, order, tmp_path):
    id = table.start(order("trap '' TERM; echo ready > ready; while :; do sleep 0.05; done"))
    await written(tmp_path / "ready")

    table.signal(CHAT, id, Signal.TERMINATE)
    assert (await table.wait(CHAT, id, 0.1)).is_running
    table.signal(CHAT, id, Signal.KILL)

    assert 128 + signal.SIGKILL == (await table.wait(CHAT, id, PATIENCE_SECONDS)).exit_code


async def test_what_it_has_left_behind_ends_with_it(table, order, tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "DRAIN_SECONDS", PATIENCE_SECONDS)

    done = await run(table, order("sleep 1000 & echo $! > pid; echo done"))

    assert ("done\n", 0) == (done.output.text, done.exit_code)
    assert done.wall_ms < PATIENCE_SECONDS * 1_000  # nobody waits for what it has left
    await gone(int(await written(tmp_path / "pid")))


async def test_a_command_that_forks_is_ended_with_all_its_kind(table, order, tmp_path):
    id = table.start(
        order("for i in $(seq 50); do sleep 1000 & echo $! >> pids; done; echo > all; wait")
    )
    with trio.fail_after(PATIENCE_SECONDS):
        while not (tmp_path / "all").exists():
            await trio.sleep(0.005)

    table.signal(CHAT, id, Signal.KILL)
    await table.wait(CHAT, id, PATIENCE_SECONDS)

    pids = (tmp_path / "pids").read_text().split()
    assert 50 == len(pids)
    for pid in pids:
        await gone(int(pid))


async def test_of_a_flood_both_ends_are_kept(table, order):
    done = await run(
        table, order("echo first; head -c 20000000 /dev/zero | tr '\\0' 'x'; echo last")
    )

    output = done.output
    assert 20_000_000 + len("first\nlast\n") == output.original_bytes
    assert HEAD_BYTES_MAX + TAIL_BYTES_MAX == output.retained_bytes
    assert output.text.startswith("first\n")
    assert output.text.endswith("last\n") or "goes on" in output.text
    assert f"{output.omitted_bytes} bytes of the output are left out" in output.text


async def test_a_flood_leaves_room_for_others(table, order):
    id = table.start(order("yes"))

    with trio.fail_after(PATIENCE_SECONDS):
        done = await run(table, order("echo here"))

    assert "here\n" == done.output.text
    table.signal(CHAT, id, Signal.KILL)


async def test_its_life_has_a_limit(table, order):
    done = await run(table, order("sleep 1000", seconds=0.1))

    assert 128 + signal.SIGKILL == done.exit_code
    assert "ended after 0.1 s, which is its limit" == done.why


@pytest.mark.slow
async def test_its_memory_has_a_limit(table, order):
    program = f"{sys.executable} -I -S -c 'len(bytearray(200 << 20))'"

    done = await run(table, order(program, limits=CommandLimits(memory_mb=100)))

    assert 1 == done.exit_code
    assert "MemoryError" in done.output.text


async def test_its_files_have_a_limit(table, order, tmp_path):
    done = await run(
        table, order("head -c 5000000 /dev/zero > big", limits=CommandLimits(file_mb=1))
    )

    assert done.exit_code != 0
    assert 1024 * 1024 == (tmp_path / "big").stat().st_size


async def test_one_that_closes_its_output_is_still_waited_for(table, order):
    done = await run(table, order("exec >&- 2>&-; sleep 0.1; exit 4"))

    assert 4 == done.exit_code


async def test_nobody_sees_those_of_another_chat(table, order):
    id = table.start(order("sleep 1000"))

    unseen = [await table.wait(OTHER, id, 0), table.signal(OTHER, id, Signal.KILL)]

    assert all(isinstance(each, WorkspaceRefusal) and "not found" in each.says for each in unseen)
    assert [] == table.all(OTHER)
    assert [id] == [each.id for each in table.all(CHAT)]


async def test_those_that_run_are_listed_first_then_the_newest(table, order):
    ended = [table.start(order("true")) for _ in range(2)]
    for id in ended:
        await table.wait(CHAT, id, PATIENCE_SECONDS)
    running = table.start(order("sleep 1000"))
    late = table.start(order("true"))
    await table.wait(CHAT, late, PATIENCE_SECONDS)

    assert [running, late, *reversed(ended)] == [each.id for each in table.all(CHAT)]


async def test_one_that_has_ended_is_not_signalled(table, order):
    done = await run(table, order("exit 2"))

    refused = table.signal(CHAT, done.id, Signal.KILL)

    assert f"process {done.id} is not running any more (exit code 2)" == refused.says


async def test_one_that_has_ended_is_forgotten_after_a_while(order):
    async with open_processes(kept_seconds=0.0) as table:
        done = await run(table, order("true"))

        assert [] == table.all(CHAT)
        assert isinstance(await table.wait(CHAT, done.id, 0), WorkspaceRefusal)


async def test_too_many_are_refused(table, order):
    for _ in range(RUNNING_PER_CHAT_MAX):
        table.start(order("exec sleep 1000", arguments=["sleep", "1000"]))

    refused = table.start(order("true"))
    others = table.start(order("true", chat=OTHER))

    assert "too many commands" in refused.says
    assert isinstance(others, str)


async def test_what_cannot_be_started_is_said(table, order):
    large = table.start(order("x" * 200_000))
    zero = table.start(order("echo a\0b"))

    assert NotStarted("not started: argument list too long") == large
    assert NotStarted("not started: the command has a zero byte in it") == zero


async def test_all_end_with_the_table(order, tmp_path):
    async with open_processes() as table:
        table.start(order("trap '' TERM HUP; sleep 1000 & echo $$ $! > pids; wait"))
        pids = (await written(tmp_path / "pids")).split()

    for pid in pids:
        await gone(int(pid))


async def test_all_end_when_the_table_is_cut_short(order, tmp_path):
    with trio.CancelScope() as scope:
        async with open_processes() as table:
            table.start(order("sleep 1000 & echo $$ $! > pids; wait"))
            pids = (await written(tmp_path / "pids")).split()
            scope.cancel()
            await trio.sleep_forever()

    for pid in pids:
        await gone(int(pid))


@pytest.mark.slow
async def test_all_end_when_the_process_is_killed(tmp_path):
    program = textwrap.dedent(
        f"""
        import os, sys, trio
        from uuid import UUID
        from actors.tools.workspaces import Command
        from adapters.workspaces.commands.processes import ProcessSpec, open_processes
        async def main():
            async with open_processes() as table:
                table.start(ProcessSpec(
                    chat=UUID(int=1), workspace=UUID(int=2), command=Command(""), workdir="/",
                    arguments=["sh", "-c", "sleep 1000 & echo $$ $! > {tmp_path}/pids; wait"],
                    environment=dict(os.environ), seconds_max=1000.0))
                await trio.sleep_forever()
        trio.run(main)
        """
    )
    daemon = begun(program)
    try:
        pids = (await written(tmp_path / "pids")).split()
    finally:
        daemon.kill()
        daemon.wait()

    for pid in pids:
        await gone(int(pid))


def begun(program):
    return subprocess.Popen([sys.executable, "-c", program])
