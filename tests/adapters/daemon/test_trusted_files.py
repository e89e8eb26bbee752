"""A token goes to no address that another user may have written, or listens at."""

import fcntl
import os
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest

from adapters.cli.completion import asking
from adapters.daemon.listening.daemons import FOLDER, announced, daemon_here, listening_daemons
from adapters.settings import read_config
from adapters.settings.refusals import CannotStart
from tests.e2e.processes import free_ports

NOBODY = 65534
STRANGER = f"""\
import fcntl, os, socket, sys
file = open(sys.argv[1])
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
fcntl.flock(file, fcntl.LOCK_EX)
with socket.create_server(("127.0.0.1", int(sys.argv[2]))):
    print("there", flush=True)
    input()
"""
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another user")


@pytest.fixture
def config(tmp_path):
    tmp_path.chmod(0o755)
    return read_config({}, {"PROMPTCORNER_DATA_DIR": str(tmp_path)})


@contextmanager
def said_by_a_daemon(config):
    """The file of a daemon that runs, as `announced` writes it."""
    with (
        socket.create_server(("127.0.0.1", free_ports())) as listener,
        announced(config, f"127.0.0.1:{listener.getsockname()[1]}"),
    ):
        [path] = (config.data_dir / FOLDER).iterdir()
        yield path


def writable(path):
    path.chmod(0o664)


def in_a_writable_folder(path):
    path.parent.chmod(0o777)


def of_another_user(path):
    os.chown(path, NOBODY, NOBODY)


def in_a_folder_of_another_user(path):
    os.chown(path.parent, NOBODY, NOBODY)


def a_link(path):
    elsewhere = path.with_name(".elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def a_folder_that_is_a_link(path):
    elsewhere = path.parent.with_name("elsewhere")
    path.parent.rename(elsewhere)
    path.parent.symlink_to(elsewhere)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (writable, "other users may write to"),
        (in_a_writable_folder, "other users may write to"),
        pytest.param(of_another_user, "belongs to another user", marks=as_root),
        pytest.param(in_a_folder_of_another_user, "belongs to another user", marks=as_root),
        (a_link, "is a link"),
        (a_folder_that_is_a_link, "is a link"),
    ],
)
def test_a_file_that_another_user_may_have_written_is_refused(config, spoil, why):
    with said_by_a_daemon(config) as path:
        assert len(listening_daemons(config.data_dir)) == 1
        assert daemon_here(config).url == asking.listening_daemon(config.data_dir)[0]
        spoil(path)

        assert [] == listening_daemons(config.data_dir)
        assert "" == asking.listening_daemon(config.data_dir)[0]
        with pytest.raises(CannotStart, match=why):
            daemon_here(config)


@as_root
def test_a_file_that_was_left_is_not_believed_with_a_stranger_at_its_port(config):
    with said_by_a_daemon(config) as path:
        left = path.read_bytes()
        port = daemon_here(config).url.rpartition(":")[2]
    path.write_bytes(left)
    words = [sys.executable, "-c", STRANGER, str(path), port]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, text=True, **pipes) as stranger:
        assert stranger.stdout.readline() == "there\n"

        with pytest.raises(CannotStart, match=f"another user .* listens at port {port}"):
            daemon_here(config)
        assert "" == asking.listening_daemon(config.data_dir)[0]
        stranger.communicate("\n")


def test_a_pipe_in_place_of_a_file_holds_nobody_up(config):
    (config.data_dir / FOLDER).mkdir()
    pipe = config.data_dir / FOLDER / "0.json"
    os.mkfifo(pipe)
    holder = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.flock(holder, fcntl.LOCK_EX)

    assert [] == listening_daemons(config.data_dir)
    assert "" == asking.listening_daemon(config.data_dir)[0]
    os.close(holder)
