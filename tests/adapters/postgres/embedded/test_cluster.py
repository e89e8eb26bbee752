"""One server for all who use it: it starts with the first, stops with the last, and survives.

The users are real processes: what counts is what the kernel does with the locks of a dead one.
"""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import psycopg
import pytest
import trio

from adapters.postgres.embedded import (
    Cluster,
    ClusterOptions,
    join,
    locks,
    replace_keepers,
    use,
    using,
)
from adapters.postgres.embedded import keeper as keeper_module
from adapters.settings.refusals import CannotStart
from tests.e2e.processes import (
    ROOT,
    belonging_to,
    eventually,
    keepers,
    kill_all,
    postmaster,
)
from tests.fakes.hanging import HangingDisk, all_ended, leave

pytestmark = pytest.mark.slow

USER = """
import sys
from pathlib import Path
from adapters.postgres.embedded import ClusterOptions, using
with using(ClusterOptions(Path(sys.argv[1]), settings={"fsync": "off"})) as cluster:
    print(cluster.conninfo, flush=True)
    sys.stdin.read()
"""

VISITOR = """
import sys, psycopg
from pathlib import Path
from adapters.postgres.embedded import ClusterOptions, using
for _ in range(int(sys.argv[2])):
    with using(ClusterOptions(Path(sys.argv[1]), settings={"fsync": "off"})) as cluster:
        with psycopg.connect(cluster.conninfo, autocommit=True) as connection:
            connection.execute("INSERT INTO visits VALUES (1)")
"""


def start(program, *arguments):
    command = [sys.executable, "-c", program, *map(str, arguments)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen(command, cwd=ROOT, text=True, **pipes)


@contextlib.contextmanager
def a_user(home):
    """Another process that uses the cluster until the block ends."""
    with start(USER, home) as process:
        yield process
        process.stdin.close()
        process.wait()


def ask(conninfo, query):
    with psycopg.connect(conninfo, autocommit=True) as connection:
        cursor = connection.execute(query)
        return cursor.fetchall() if cursor.description else None


def answers(conninfo):
    with contextlib.suppress(psycopg.OperationalError):
        return ask(conninfo, "SELECT 1")


def test_the_server_runs_for_its_first_user_and_stops_with_its_last(wanted):
    with using(wanted) as cluster:
        assert [(1,)] == ask(cluster.conninfo, "SELECT 1")

    assert [] == belonging_to(wanted.home)


def test_only_its_owner_reads_what_is_kept(wanted):
    with using(wanted):
        modes = {path.name: path.stat().st_mode & 0o077 for path in wanted.home.iterdir()}

    assert dict.fromkeys(modes, 0) == modes


def test_what_was_written_is_there_for_the_next_user(wanted):
    with using(wanted) as cluster:
        ask(cluster.conninfo, "CREATE TABLE kept AS SELECT 42 AS answer")

    with using(wanted) as cluster:
        assert [(42,)] == ask(cluster.conninfo, "SELECT answer FROM kept")


async def test_trio_code_waits_without_holding_up_the_loop(wanted):
    turns = 0

    async def count():
        nonlocal turns
        while True:
            await trio.sleep(0.001)
            turns += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(count)
        async with use(wanted) as cluster:
            assert turns > 10
            assert [(1,)] == ask(cluster.conninfo, "SELECT 1")
        nursery.cancel_scope.cancel()


async def test_a_cancelled_arrival_leaves_nothing_behind(wanted):
    with trio.move_on_after(0.05) as scope:
        async with use(wanted):
            pass

    assert scope.cancelled_caught
    eventually(lambda: not belonging_to(wanted.home), "nobody is left")


def test_two_processes_share_one_server_and_the_second_keeps_it(wanted):
    with a_user(wanted.home) as other:
        conninfo = other.stdout.readline()
        with using(wanted) as cluster:
            first = postmaster(wanted.home)
            assert conninfo.strip() == cluster.conninfo

        assert first == postmaster(wanted.home)
        assert [(1,)] == ask(conninfo, "SELECT 1")

    assert [] == belonging_to(wanted.home)


def test_processes_that_arrive_at_once_on_an_empty_directory_share_one_server(wanted):
    with contextlib.ExitStack() as stack:
        users = [stack.enter_context(a_user(wanted.home)) for _ in range(4)]

        conninfos = {user.stdout.readline() for user in users}

        assert 1 == len(conninfos)
        assert 1 == len(keepers(wanted.home))
        assert [(1,)] == ask(conninfos.pop(), "SELECT 1")


def test_arriving_while_the_last_one_leaves_always_finds_a_server(wanted):
    with using(wanted) as cluster:
        ask(cluster.conninfo, "CREATE TABLE visits (n int)")

    visitors = [start(VISITOR, wanted.home, 8) for _ in range(3)]
    codes = [visitor.wait() for visitor in visitors]
    for visitor in visitors:
        visitor.communicate()

    assert [0, 0, 0] == codes
    with using(wanted) as cluster:
        assert [(24,)] == ask(cluster.conninfo, "SELECT count(*) FROM visits")


def test_a_killed_user_takes_the_server_with_it(wanted):
    with start(USER, wanted.home) as process:
        process.stdout.readline()
        process.kill()

    eventually(lambda: not belonging_to(wanted.home), "the keeper has stopped the server")
    assert not (wanted.data / "postmaster.pid").exists()


def test_a_killed_server_is_started_again_under_its_users(wanted):
    with using(wanted) as cluster:
        ask(cluster.conninfo, "CREATE TABLE kept AS SELECT 42 AS answer")
        first = postmaster(wanted.home)

        os.kill(first, signal.SIGKILL)

        eventually(lambda: answers(cluster.conninfo), "the server is back")
        assert first != postmaster(wanted.home)
        assert [(42,)] == ask(cluster.conninfo, "SELECT answer FROM kept")


def test_a_server_that_is_killed_while_busy_is_started_again(wanted):
    """Its orphan computes on and does not see that its parent is gone; it has to be ended."""
    busy = "SELECT count(*) FROM generate_series(1, 1000000000)"
    running = f"SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query = '{busy}'"
    with using(wanted) as cluster, contextlib.closing(psycopg.connect(cluster.conninfo)) as one:
        one.pgconn.send_query(busy.encode())
        eventually(lambda: ask(cluster.conninfo, running), "the query runs")

        os.kill(postmaster(wanted.home), signal.SIGKILL)

        eventually(lambda: answers(cluster.conninfo), "the server is back")


async def test_a_killed_keeper_is_replaced_over_the_same_server(wanted):
    async with use(wanted) as cluster, trio.open_nursery() as nursery:
        nursery.start_soon(replace_keepers, cluster)
        (first,) = keepers(wanted.home)
        server = postmaster(wanted.home)

        os.kill(first, signal.SIGKILL)

        def replaced():
            return keepers(wanted.home) not in ([], [first]) and cluster.has_keeper()

        await trio.to_thread.run_sync(eventually, replaced, "another keeper stands")

        assert server == postmaster(wanted.home)
        assert [(1,)] == ask(cluster.conninfo, "SELECT 1")
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_keeper_that_is_told_to_stop_stays_for_its_users(wanted, number):
    """An init system tells every process of a service; the daemon still needs its database."""
    with using(wanted) as cluster:
        keeper = keepers(wanted.home)

        os.kill(*keeper, number)
        os.kill(postmaster(wanted.home), signal.SIGINT)  # it has to see to this afterwards

        eventually(lambda: answers(cluster.conninfo), "the server is back")
        assert keeper == keepers(wanted.home)


def test_a_server_that_does_not_stay_up_is_given_up_and_tried_again_by_who_asks(wanted):
    with using(wanted) as cluster:
        control = wanted.data / "global" / "pg_control"
        hidden = control.rename(control.with_name("hidden"))
        os.kill(postmaster(wanted.home), signal.SIGKILL)
        eventually(lambda: not cluster.has_keeper(), "the keeper has given up")
        restarts = wanted.log.read_text().count("started") - 1

        with pytest.raises(CannotStart, match=r"^embedded database: it does not start \("):
            cluster.restore_keeper()
        hidden.rename(control)
        cluster.restore_keeper()

        assert keeper_module.RESTARTS_MAX == restarts
        assert [(1,)] == ask(cluster.conninfo, "SELECT 1")


def test_an_adopted_server_is_started_again_too(wanted):
    with using(wanted) as cluster:
        os.kill(*keepers(wanted.home), signal.SIGKILL)
        eventually(lambda: not cluster.has_keeper(), "the keeper is gone")
        cluster.restore_keeper()

        os.kill(postmaster(wanted.home), signal.SIGKILL)

        eventually(lambda: answers(cluster.conninfo), "the server is back")


def test_an_arrival_takes_over_what_a_killed_keeper_left(wanted):
    with a_user(wanted.home) as other:
        other.stdout.readline()
        server = postmaster(wanted.home)
        os.kill(*keepers(wanted.home), signal.SIGKILL)
        eventually(lambda: locks.is_free(wanted.keeper), "the keeper is gone")

        with using(wanted):
            assert server == postmaster(wanted.home)
            assert 1 == len(keepers(wanted.home))


def test_leaving_after_the_keeper_was_killed_stops_the_server_all_the_same(wanted):
    cluster = join(wanted)
    os.kill(*keepers(wanted.home), signal.SIGKILL)
    eventually(lambda: not cluster.has_keeper(), "the keeper is gone")

    cluster.leave()

    assert [] == belonging_to(wanted.home)


def test_leaving_while_a_killed_keeper_still_dies_stops_the_server_too(wanted):
    """For a moment the dead hold their locks; here one is stopped in that moment."""
    cluster = join(wanted)
    dying = locks.take(wanted.home / "elsewhere", fcntl.LOCK_EX, seconds=1, patience=locks.patient)
    os.kill(*keepers(wanted.home), signal.SIGKILL)
    eventually(lambda: not cluster.has_keeper(), "the keeper is gone")
    (wanted.home / "elsewhere").replace(wanted.keeper)  # its lock is still held

    with ThreadPoolExecutor() as threads:
        leaving = threads.submit(cluster.leave)
        eventually(lambda: locks.is_free(wanted.users), "we are on our way out")
        os.close(dying)
        leaving.result()

    assert [] == belonging_to(wanted.home)


def test_a_cluster_whose_every_process_was_killed_recovers_by_itself(wanted):
    with start(USER, wanted.home) as process:
        ask(process.stdout.readline(), "CREATE TABLE kept AS SELECT 42 AS answer")
        kill_all(wanted.home)

    with using(wanted) as cluster:
        assert [(42,)] == ask(cluster.conninfo, "SELECT answer FROM kept")


def test_a_pid_file_whose_number_is_a_strangers_does_not_stop_the_server(wanted):
    """After a reboot the number in a stale file may be anybody's."""
    with using(wanted):
        lines = (wanted.data / "postmaster.pid").read_text().splitlines()
        kept_open = os.stat(wanted.data)
        kill_all(wanted.home)
    stranger_of_the_servers_user = {"user": kept_open.st_uid} if os.geteuid() == 0 else {}
    with subprocess.Popen(["sleep", "60"], **stranger_of_the_servers_user) as stranger:
        lines[0] = str(stranger.pid)
        (wanted.data / "postmaster.pid").write_text("\n".join(lines) + "\n")

        with using(wanted) as cluster:
            assert [(1,)] == ask(cluster.conninfo, "SELECT 1")

        assert stranger.poll() is None
        stranger.kill()


def test_an_interrupted_initdb_leaves_no_half_cluster(wanted):
    with start(USER, wanted.home) as process:
        eventually(lambda: list(wanted.home.glob("postgres.init.*")), "initdb has begun")
        kill_all(wanted.home)
        process.wait()
    assert not wanted.data.exists()

    with using(wanted) as cluster:
        assert [(1,)] == ask(cluster.conninfo, "SELECT 1")
        assert [] == list(wanted.home.glob("postgres.init.*"))


def test_a_deep_directory_gets_its_socket_elsewhere(wanted):
    deep = ClusterOptions(wanted.home.parent / ("deep" * 25) / "home", settings=wanted.settings)

    with using(deep) as cluster:
        elsewhere = deep.socket_dir
        assert deep.data != elsewhere
        assert 0o700 == elsewhere.stat().st_mode & 0o777
        assert [(1,)] == ask(cluster.conninfo, "SELECT 1")

    assert not elsewhere.exists()


def test_a_keeper_holds_nothing_of_the_process_that_started_it(wanted):
    files = {"null", "postgres.log", "postgres.keeper", "postgres.lock", "postgres.users"}
    expected = {"pipe", "anon_inode"} | files
    with open(ROOT / "pyproject.toml") as ours:
        os.set_inheritable(ours.fileno(), True)
        with using(wanted):
            eventually(lambda: held(keepers(wanted.home)) == expected, "it holds only its own")


def held(pids):
    """The kinds of what processes have open at this moment, for a moment some files as well."""
    links = []
    for fd in (f"/proc/{pid}/fd/{fd}" for pid in pids for fd in os.listdir(f"/proc/{pid}/fd")):
        with contextlib.suppress(FileNotFoundError):
            links.append(os.readlink(fd))
    return {os.path.basename(link).partition(":")[0] for link in links}


def test_a_log_at_its_bound_begins_anew(tmp_path):
    log = tmp_path / "postgres.log"
    log.write_bytes(b"x" * keeper_module.LOG_BYTES_MAX)

    keeper_module.trim(str(log))
    assert keeper_module.LOG_BYTES_MAX == log.stat().st_size

    with log.open("ab") as writer:
        writer.write(b"x")
    keeper_module.trim(str(log))
    assert 0 == log.stat().st_size


async def test_a_disk_that_hangs_holds_up_who_tends_the_server_and_nobody_else(
    tmp_path, monkeypatch
):
    wanted, disk, ours = ClusterOptions(tmp_path), HangingDisk(tmp_path / "disk"), os.open
    cluster, main = Cluster(wanted, os.open(os.devnull, os.O_RDONLY)), threading.current_thread()

    def hanging(path, *words, **named):
        if path == str(wanted.keeper):
            assert threading.current_thread() is not main, "everything waits for it"
            disk.touch()
        return ours(path, *words, **named)

    monkeypatch.setattr(os, "open", hanging)
    monkeypatch.setattr("adapters.postgres.embedded.cluster.TEND_SECONDS", 0.01)
    with trio.fail_after(20):
        await leave(disk, partial(replace_keepers, cluster))

    disk.mend()
    await all_ended()
    disk.close()
    os.close(cluster._users)
