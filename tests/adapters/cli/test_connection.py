"""Commands on the daemon's machine tell its secret only to listeners that may know it."""

import argparse
import os
import socket
import subprocess
import sys

import pytest

from adapters.cli.admin.connection import token_of
from adapters.daemon.listening.trusted_files import listening_uids
from adapters.settings.refusals import CannotStart
from adapters.settings.secrets import Vault, local_token

NOBODY = 65534
LISTEN = f"""\
import os, socket
os.setgroups([])
os.setgid({NOBODY})
os.setuid({NOBODY})
with socket.create_server(("127.0.0.1", 0)) as listener:
    print(listener.getsockname()[1], flush=True)
    input()
"""
KEY = "k" * 64


@pytest.fixture
def asking(tmp_path, monkeypatch):
    """What commands say of whom they ask, on a machine with a daemon's secret key."""
    (tmp_path / "secret.key").write_text(KEY)
    (tmp_path / "secret.key").chmod(0o600)
    monkeypatch.setenv("PROMPTCORNER_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PROMPTCORNER_CONFIG", "/dev/null")
    for name in ("PROMPTCORNER_TOKEN", "PROMPTCORNER_TOKEN_FILE", "PROMPTCORNER_SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)

    def at(port, host="127.0.0.1", token=None):
        return argparse.Namespace(url=f"http://{host}:{port}", token=token)

    return at


@pytest.fixture
def strangers_port():
    """A port at which another user listens."""
    words = [sys.executable, "-c", LISTEN]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, text=True, **pipes) as stranger:
        yield int(stranger.stdout.readline())
        stranger.communicate("\n")


def test_the_listeners_of_a_port_are_known():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        assert {os.geteuid()} == listening_uids(port)
    assert set() == listening_uids(port)


def test_who_can_read_the_secret_key_needs_no_token(asking):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        assert local_token(Vault(KEY.encode())) == token_of(asking(port))


def test_a_token_that_is_set_comes_first(asking, monkeypatch):
    monkeypatch.setenv("PROMPTCORNER_TOKEN", "by-variable")

    assert "by-variable" == token_of(asking(1))
    assert "by-flag" == token_of(asking(1, token="by-flag"))


@pytest.mark.parametrize("host", ["chats.example.org", "10.0.0.1"])
def test_another_machine_is_told_nothing_of_this_one(asking, host):
    with pytest.raises(CannotStart, match=r"^token: none is set; "):
        token_of(asking(7390, host))


if os.geteuid() == 0:  # who else could make somebody else listen

    def test_another_user_who_listens_there_is_told_nothing(asking, strangers_port):
        with pytest.raises(CannotStart) as refused:
            token_of(asking(strangers_port))

        assert (
            f"token: none is set, and another user (uid {NOBODY}) listens at port {strangers_port},"
            " who is not told that of this machine; set PROMPTCORNER_TOKEN"
        ) == str(refused.value)
