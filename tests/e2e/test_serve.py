"""`promptcorner serve` as a person or an init system runs it."""

import os
import signal
import subprocess
from datetime import datetime, timedelta

import psycopg
import pytest

from adapters.daemon.daemon import ECHO_SECONDS
from adapters.settings import SETTINGS
from tests.e2e.daemons import STOP_SECONDS_MAX, a_daemon, command, environment, run
from tests.e2e.processes import belonging_to, eventually, keepers, postmaster

pytestmark = pytest.mark.slow


def test_it_gets_ready_says_so_and_stops_in_good_order(home):
    with a_daemon(home) as daemon:
        ready = daemon.wait_ready()

        assert ("embedded", str(home)) == (ready["database"], ready["data_dir"])
        assert (200, {"status": "ready"}) == daemon.get("/readyz")
        assert (200, {"status": "alive"}) == daemon.get("/livez")
        checks = dict.fromkeys(["database", "schema", "room", "lease", "daemon"], "ok")
        assert checks == daemon.get("/readyz?verbose")[1]["checks"]

        assert 0 == daemon.stop()
        assert "SIGTERM" == daemon.entry("daemon.stopped")["cause"]
        assert [] == belonging_to(home)


def test_it_works_as_an_ordinary_user(ordinary_home):
    with a_daemon(ordinary_home, ordinary=True) as daemon:
        assert daemon.wait_ready()
        status, _ = daemon.get("/readyz")
        owner = os.stat(ordinary_home).st_uid

        assert 200 == status
        assert owner == os.stat(ordinary_home / "postgres").st_uid
        assert 0 == daemon.stop()
        assert [] == belonging_to(ordinary_home)


def test_ctrl_c_stops_it_too(home):
    with a_daemon(home) as daemon:
        daemon.wait_ready()

        assert 0 == daemon.stop(signal.SIGINT)


def test_it_can_be_stopped_while_it_starts(home):
    with a_daemon(home) as daemon:
        eventually(lambda: list(home.glob("postgres.init.*")), "initdb has begun")

        assert 0 == daemon.stop()
        assert None is daemon.entry("daemon.ready")


def test_a_second_start_finds_its_data_and_has_nothing_to_migrate(home):
    with a_daemon(home) as daemon:
        first = daemon.wait_ready()
        daemon.stop()

    with a_daemon(home) as daemon:
        second = daemon.wait_ready()
        daemon.stop()

    assert 0 < first["migrated"]
    assert 0 == second["migrated"]


def test_two_daemons_share_one_server_and_the_last_one_stops_it(home):
    with a_daemon(home) as first, a_daemon(home) as second:
        first.wait_ready()
        second.wait_ready()
        server = postmaster(home)
        assert 1 == len(keepers(home))

        assert 0 == first.stop()

        assert server == postmaster(home)
        assert second.is_ready()
        assert 0 == second.stop()
        assert [] == belonging_to(home)


def test_a_killed_daemon_takes_its_server_with_it(home):
    with a_daemon(home) as daemon:
        daemon.wait_ready()

        daemon.process.kill()

        eventually(lambda: not belonging_to(home), "the keeper has stopped the server")
        assert not (home / "postgres" / "postmaster.pid").exists()


def test_a_killed_server_makes_it_unready_until_the_server_is_back(home):
    with a_daemon(home) as daemon:
        daemon.wait_ready()
        server = postmaster(home)
        (keeper,) = keepers(home)

        os.kill(keeper, signal.SIGSTOP)  # so that nobody brings it back yet
        os.kill(server, signal.SIGKILL)
        eventually(lambda: not daemon.is_ready(), "it has noticed")
        status, answer = daemon.get("/readyz")

        assert (503, ["database", "schema"]) == (status, list(answer["failing"]))
        assert 200 == daemon.get("/livez")[0]
        os.kill(keeper, signal.SIGCONT)
        eventually(daemon.is_ready, "it is ready again")
        assert server != postmaster(home)
        assert 0 == daemon.stop()


def test_a_killed_keeper_is_replaced_and_stops_the_server_in_the_end(home):
    with a_daemon(home) as daemon:
        daemon.wait_ready()
        (keeper,) = keepers(home)

        os.kill(keeper, signal.SIGKILL)

        eventually(lambda: keepers(home) not in ([], [keeper]), "another keeper stands")
        assert daemon.is_ready()
        assert 0 == daemon.stop()
        assert [] == belonging_to(home)


def test_a_keeper_killed_just_before_the_end_leaves_no_process(home):
    with a_daemon(home) as daemon:
        daemon.wait_ready()

        os.kill(*keepers(home), signal.SIGKILL)

        assert 0 == daemon.stop()


def test_a_second_signal_ends_it_at_once(home):
    with a_daemon(home) as daemon:
        daemon.wait_ready()
        os.kill(*keepers(home), signal.SIGSTOP)  # the way out waits for the keeper
        daemon.process.send_signal(signal.SIGTERM)
        eventually(lambda: daemon.get("/readyz")[1] == STOPPING, "it is on its way out")

        assert 128 + signal.SIGINT == daemon.stop(signal.SIGINT)

        assert "SIGINT" == daemon.entry("daemon.aborted")["cause"]
        os.kill(*keepers(home), signal.SIGCONT)


def test_the_same_signal_twice_in_a_moment_is_one(home):
    """As whoever signals a group of processes and then each of them sends it."""
    for _ in range(10):  # on a busy machine it may hear the second one later than in a moment
        with a_daemon(home) as daemon:
            daemon.wait_ready()
            os.kill(*keepers(home), signal.SIGSTOP)  # the way out waits for the keeper
            daemon.process.send_signal(signal.SIGTERM)
            eventually(lambda: daemon.entry("daemon.stopping"), "it has heard the first")

            daemon.process.send_signal(signal.SIGTERM)
            os.kill(*keepers(home), signal.SIGCONT)

            code = daemon.process.wait(STOP_SECONDS_MAX)
            if not (aborted := daemon.entry("daemon.aborted")):
                assert 0 == code
                return
            first, second = map(said_at, (daemon.entry("daemon.stopping"), aborted))
            assert second - first >= timedelta(seconds=ECHO_SECONDS / 2)
        eventually(lambda: not belonging_to(home), "the database has stopped")
    raise AssertionError("it has never heard both in a moment")


def said_at(entry):
    return datetime.fromisoformat(entry["timestamp"])


STOPPING = {"status": "not ready", "failing": {"daemon": "stopping"}}


def test_it_uses_a_server_of_the_users_own(home, database):
    with a_daemon(home, DATABASE_URL=database) as daemon:
        ready = daemon.wait_ready()

        assert daemon.is_ready()
        assert 0 == daemon.stop()
    assert ready["database"].startswith("database /")
    assert "data_dir" not in ready
    assert {"gates", "listening", "secret.key", "workspaces"} == {
        path.name for path in home.iterdir()
    }
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM schema_migrations").fetchone()[0] > 0


@pytest.mark.parametrize("table", ["offered_models", "ai_providers"])
def test_a_database_that_goes_away_during_the_start_is_a_refusal_in_words(home, database, table):
    """It goes away when the schema has been looked at, and a part of the daemon asks for this."""
    run("migrate", DATABASE_URL=database)
    waiting = "SELECT pid FROM pg_locks WHERE NOT granted"
    with (
        psycopg.connect(database) as holder,
        psycopg.connect(database, autocommit=True) as admin,
        a_daemon(home, DATABASE_URL=database, OPENAI_API_KEY="sk-none") as daemon,
    ):
        holder.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")

        def ended():
            for (pid,) in admin.execute(waiting).fetchall():
                admin.execute("SELECT pg_terminate_backend(%s)", (pid,))
            return daemon.process.poll() is not None

        eventually(ended, "the daemon has ended")
        *entries, said = daemon._log.read_text().splitlines()
        assert [] == [entry for entry in daemon.entries if entry["level"] == "error"]

    assert 1 == daemon.process.returncode
    assert said.startswith("promptcorner: postgres"), said
    assert said.endswith("; start the daemon again when the database answers")
    assert all(entry.startswith("{") for entry in entries), entries


def test_migrate_tells_what_is_missing_then_what_it_did(home, database):
    where = {"DATABASE_URL": database}

    code, missing, _ = run("migrate", "--check", **where)
    assert (1, "pending 0001_ground") == (code, missing.splitlines()[0])

    code, applied, _ = run("migrate", **where)
    assert (0, missing.replace("pending", "applied")) == (code, applied)

    assert (0, "the schema is up to date\n", "") == run("migrate", "--check", **where)


def test_migrate_works_on_the_embedded_server(home):
    code, applied, _ = run("migrate", "--data-dir", home)

    assert (0, "applied 0001_ground") == (code, applied.splitlines()[0])
    assert [] == belonging_to(home)


@pytest.mark.parametrize("words", [[], ["bogus"], ["serve", "--bogus"], ["serve", "--list", "x:1"]])
def test_a_word_that_is_not_understood_is_named(words):
    code, out, err = run(*words)

    assert (2, "") == (code, out)
    assert err.startswith("promptcorner")
    assert "--help` says how it is used" in err


def test_help_names_every_setting_of_the_environment():
    code, out, _ = run("serve", "--help")

    assert 0 == code
    assert [] == [name for row in SETTINGS for name in row.variables if name not in out]


def test_whoever_reads_the_first_line_only_is_not_shown_a_traceback():
    words, how = command("config", "show")
    with subprocess.Popen(
        words, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how
    ) as process:
        process.stdout.close()

        assert b"" == process.stderr.read()
        assert 128 + signal.SIGPIPE == process.wait()


def test_version_is_that_of_the_distribution():
    assert (0, "promptcorner 0.1.0\n", "") == run("--version")


def test_it_refuses_to_run_without_assertions():
    code, out, err = run("serve", PYTHONOPTIMIZE="1")

    assert (1, "") == (code, out)
    assert err == (
        "promptcorner: python -O: assertions are off; start without -O and without PYTHONOPTIMIZE\n"
    )


def test_a_port_in_use_is_named(home):
    with a_daemon(home) as daemon:
        address = daemon.wait_ready()["listen"]

        code, _, err = run("serve", "--listen", address, "--data-dir", home)

        assert (1, f"promptcorner: listen {address}: another program listens there already;") == (
            code,
            err[: err.index(";") + 1],
        )
        daemon.stop()


def test_on_a_terminal_the_log_is_for_people(home):
    words, how = command("serve", "--listen", "127.0.0.1:0", "--data-dir", home)
    ours, theirs = os.openpty()
    with subprocess.Popen(words, env=environment(), stderr=theirs, **how) as process:
        os.close(theirs)
        seen = ""
        while "daemon.ready" not in seen:
            seen += os.read(ours, 4096).decode()
        process.send_signal(signal.SIGTERM)
        process.wait()
    os.close(ours)

    assert " info daemon.ready listen=127.0.0.1:" in seen
