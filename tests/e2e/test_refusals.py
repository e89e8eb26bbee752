"""Every reason not to start: one line that says what is wrong and what to do, and exit code 1."""

import contextlib
import os
import resource
import socket
import subprocess

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.e2e.daemons import a_daemon, run
from tests.e2e.old_server import a_server_that_says
from tests.e2e.processes import eventually, ordinary_user, postmaster

pytestmark = pytest.mark.slow


def refusal(*words, **how):
    """What the command says when it refuses to serve; nothing else, nowhere else."""
    code, out, err = run("serve", "--listen", "127.0.0.1:0", *words, **how)
    assert (1, "", 1) == (code, out, err.count("\n")), err
    assert err.startswith("promptcorner: ")
    return err.removeprefix("promptcorner: ").rstrip("\n")


def made(home, **how):
    """Let a daemon make its cluster in `home`, and leave."""
    with a_daemon(home, **how) as daemon:
        daemon.wait_ready()
        assert daemon.stop() == 0


# configuration


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"PROMPTCORNER_POOL_SIZE": "0"}, "PROMPTCORNER_POOL_SIZE=0, must be 1..64"),
        ({"PROMPTCORNER_POOL_SIZE": "many"}, "PROMPTCORNER_POOL_SIZE=many, must be 1..64"),
        ({"PROMPTCORNER_LOG": "xml"}, "PROMPTCORNER_LOG=xml, must be auto, text or json"),
        (
            {"DATABASE_URL": "postgresql://ann:secret@[::1/x"},
            "DATABASE_URL is not a PostgreSQL address;"
            " write postgresql://user:password@host:5432/database",
        ),
    ],
)
def test_a_setting_out_of_its_bounds(settings, expected):
    assert f"config: {expected}" == refusal(**settings)


@pytest.mark.parametrize("address", ["7390", "127.0.0.1:", "127.0.0.1:70000", ":7390"])
def test_an_address_that_is_none(address):
    expected = f"config: --listen={address}, must be HOST:PORT with a port of 0..65535"
    assert expected == refusal("--listen", address)


# the directory


def test_a_file_stands_where_the_directory_should(home):
    home.write_text("")

    expected = (
        f"embedded database: {home} is not a directory; choose another directory with --data-dir"
    )
    assert expected == refusal("--data-dir", home)


def test_a_file_stands_on_the_way_to_the_directory(home):
    home.write_text("")

    expected = (
        f"embedded database: {home}/deeper is not a directory;"
        " choose another directory with --data-dir"
    )
    assert expected == refusal("--data-dir", home / "deeper")


def test_a_directory_that_is_not_writable(ordinary_home):
    ordinary_home.chmod(0o500)

    who = ordinary_user()[2]
    expected = (
        f"embedded database: {ordinary_home} is not writable by {who};"
        " choose another directory with --data-dir"
    )
    assert expected == refusal("--data-dir", ordinary_home, ordinary=True)


def test_a_directory_of_something_else(home):
    (home / "postgres").mkdir(parents=True)
    (home / "postgres" / "letters").write_text("")
    home.chmod(0o711)

    expected = (
        f"embedded database: {home} cannot be used (Directory not empty);"
        " choose another directory with --data-dir"
    )
    assert expected == refusal("--data-dir", home)


def test_a_cluster_that_others_may_enter(home):
    made(home)
    (home / "postgres").chmod(0o755)

    expected = (
        f"embedded database: {home}/postgres is open to other users (mode 0755);"
        f" run: chmod 700 {home}/postgres"
    )
    assert expected == refusal("--data-dir", home)


def test_a_cluster_of_another_version(home):
    made(home)
    (home / "postgres" / "PG_VERSION").write_text("17\n")

    expected = (
        f"embedded database: {home}/postgres was made by PostgreSQL 17, this is PostgreSQL 18;"
        " upgrade it with pg_upgrade or choose another --data-dir"
    )
    assert expected == refusal("--data-dir", home)


def test_a_cluster_that_is_damaged(home):
    made(home)
    (home / "postgres" / "global" / "pg_control").unlink()

    said = refusal("--data-dir", home)

    assert said.startswith("embedded database: it does not start (")
    assert said.endswith(
        f"; read {home}/postgres.log, or set DATABASE_URL to a PostgreSQL server of your own"
    )


# no room


@contextlib.contextmanager
def a_disk_of(megabytes, path):
    path.mkdir(mode=0o711)
    options = f"size={megabytes}m,mode=0711"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", path], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)


def fill(path):
    """Leave no room for a single block more."""
    with contextlib.suppress(OSError), open(path, "wb", 0) as ballast:
        while True:
            ballast.write(bytes(4096))


def may_mount():
    probe = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


if os.geteuid() == 0 and may_mount():  # a disk that is really full

    def full(home):
        return (
            f"embedded database: the disk of {home} is full;"
            " free some space or choose another --data-dir"
        )

    @pytest.mark.parametrize("megabytes", [1, 20, 35])
    def test_a_disk_too_small_for_a_cluster(home, megabytes):
        with a_disk_of(megabytes, home):
            assert full(home / "postgres") == refusal("--data-dir", home)

            assert [] == list(home.glob("postgres.init.*"))

    def test_a_disk_without_room_for_a_single_file(home):
        with a_disk_of(1, home):
            fill(home / "ballast")

            assert refusal("--data-dir", home) in (full(home), full(home / "postgres"))

    def test_a_disk_that_became_full_since(home):
        with a_disk_of(120, home):
            made(home)
            fill(home / "ballast")

            assert full(home / "postgres") == refusal("--data-dir", home)

            (home / "ballast").unlink()
            made(home)


def test_a_limit_on_the_size_of_files(home):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        said = refusal("--data-dir", home, anew=True)  # which has our limits
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    expected = (
        f"embedded database: the limit on file sizes is too small for {home}/postgres;"
        " raise it (ulimit -f)"
    )
    assert expected == said


# a server of the user's own


def test_nobody_listens():
    with socket.socket() as taken:  # so that nobody else comes to listen there meanwhile
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]

        said = refusal(DATABASE_URL=f"postgresql://ann:secret@127.0.0.1:{port}/chats")

    assert said == (
        f"database 127.0.0.1:{port}/chats: the server cannot be reached (Connection refused);"
        " start it or correct DATABASE_URL"
    )


def test_nobody_answers():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        said = refusal(DATABASE_URL=f"postgresql://ann@127.0.0.1:{port}/chats?connect_timeout=2")

    assert said == (
        f"database 127.0.0.1:{port}/chats: the server cannot be reached"
        " (connection timeout expired); start it or correct DATABASE_URL"
    )


@pytest.fixture
def locked(server):
    """(address, subject of messages) for a user of the server who needs a password."""
    host = conninfo_to_dict(server)["host"]
    hba = os.path.join(host, "pg_hba.conf")
    with open(hba) as file:
        before = file.read()
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
        with open(hba, "w") as file:
            file.write("local all locked scram-sha-256\n" + before)
        connection.execute("SELECT pg_reload_conf()")
        address = make_conninfo(server, user="locked", password="right")
        eventually(lambda: _needs_password(address), "the server has read its rules")
        yield address, f"database {host}:5432/postgres"
        with open(hba, "w") as file:
            file.write(before)
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("DROP ROLE locked")


def _needs_password(address):
    with psycopg.connect(address) as connection:
        return connection.pgconn.used_password


@pytest.mark.parametrize("password", ["wrong", ""])
def test_a_wrong_password(locked, password):
    address, subject = locked

    said = refusal(DATABASE_URL=make_conninfo(address, password=password))

    assert said == (
        f"{subject}: the server does not accept the password; correct it in DATABASE_URL"
    )


def test_a_user_who_may_not_create_tables(locked):
    address, subject = locked

    said = refusal(DATABASE_URL=address)

    assert said == (
        f"{subject}: permission denied for schema public;"
        " let the user create tables (GRANT ALL ON SCHEMA public TO ...)"
    )


def test_an_unknown_database(server):
    host = conninfo_to_dict(server)["host"]

    said = refusal(DATABASE_URL=make_conninfo(server, dbname="nowhere"))

    assert said == (
        f'database {host}:5432/nowhere: there is no database "nowhere" on the server;'
        " create it (createdb nowhere) or correct DATABASE_URL"
    )


def test_an_unknown_user(server):
    host = conninfo_to_dict(server)["host"]

    said = refusal(DATABASE_URL=make_conninfo(server, user="nobody"))

    assert said == (
        f'database {host}:5432/postgres: there is no role "nobody" on the server;'
        " create it (createuser nobody) or correct DATABASE_URL"
    )


def test_a_server_that_is_too_old():
    with a_server_that_says(server_version="14.12") as port:
        said = refusal(DATABASE_URL=f"postgresql://ann:secret@127.0.0.1:{port}/chats")

    assert said == (
        f"database 127.0.0.1:{port}/chats: it is PostgreSQL 14.12, must be 15 or newer;"
        " upgrade it, or unset DATABASE_URL to use the embedded server"
    )


def test_a_standby():
    with a_server_that_says(server_version="16.3", in_hot_standby="on") as port:
        said = refusal(DATABASE_URL=f"postgresql://ann:secret@127.0.0.1:{port}/chats")

    assert said == (
        f"database 127.0.0.1:{port}/chats: it is a standby and takes no writes; name the primary"
    )


def test_a_schema_from_the_future(database):
    run("migrate", DATABASE_URL=database)
    with psycopg.connect(database) as connection:
        connection.execute(
            "INSERT INTO schema_migrations (version, name, checksum)"
            " SELECT n, 'later', '' FROM generate_series(2, 99) AS n"
            " ON CONFLICT DO NOTHING"
        )

    said = refusal(DATABASE_URL=database)

    assert said.startswith("database: schema is at step 99, this program knows ")
    assert "start a newer version of promptcorner" in said


def test_a_running_servers_refusals_do_not_stop_it(home):
    """Whoever arrives with a wrong wish leaves those who are there alone."""
    with a_daemon(home) as daemon:
        daemon.wait_ready()
        server = postmaster(home)

        assert "another program listens" in refusal(
            "--data-dir", home, "--listen", daemon.wait_ready()["listen"]
        )

        assert server == postmaster(home)
        assert daemon.is_ready()
        assert 0 == daemon.stop()
