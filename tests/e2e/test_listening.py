"""A data directory says where its daemon listens, and commands on its machine believe it first."""

import json
import re
from pathlib import Path

import pytest

from adapters.cli.completion import asking
from adapters.daemon.listening.certificates import certificate_of
from adapters.daemon.listening.daemons import FOLDER, listening_daemons
from tests.e2e.daemons import a_daemon, run
from tests.e2e.processes import eventually
from tests.e2e.providers import a_provider
from tests.folders import a_folder, in_memory

pytestmark = pytest.mark.slow

QUICK = {"PROMPTCORNER_DRAIN_SECONDS": "1"}
FAKES = Path(__file__).parents[1] / "fakes"
CERTIFICATE = FAKES / "localhost.pem"
OTHER_CERTIFICATE = certificate_of(FAKES / "localhost_rsa.pem")


@pytest.fixture(scope="module")
def top():
    with a_folder(in_memory()) as top:
        yield top


@pytest.fixture(scope="module")
def daemon(top):
    """A daemon on a port that nothing but its data directory tells."""
    with a_provider() as provider, a_daemon(top / "home", **QUICK, **provider.settings) as daemon:
        daemon.wait_ready()
        yield daemon
        assert 0 == daemon.stop()
        assert [] == list((top / "home" / FOLDER).iterdir()), "what is over is told no more"


def test_commands_find_the_daemon_of_the_data_directory(daemon, top):
    here = {"PROMPTCORNER_DATA_DIR": str(top / "home")}
    url = f"http://{daemon.entry('daemon.ready')['listen']}"

    assert (url, daemon.process.pid) == (
        listening_daemons(top / "home")[0].url,
        listening_daemons(top / "home")[0].pid,
    )
    assert 0 == run("users", "list", **here)[0]
    assert (0, "found\n", "") == run("chat", "-m", "[[text: found]] hello", **here)
    assert f"runs at {url} and is ready" in run("doctor", **here)[1]


def test_an_address_that_was_named_comes_first(daemon, top):
    here = {"PROMPTCORNER_DATA_DIR": str(top / "home")}

    assert 4 == run("users", "list", "--url", "http://127.0.0.1:1", **here)[0]
    assert 4 == run("users", "list", PROMPTCORNER_URL="http://127.0.0.1:1", **here)[0]


def test_a_daemon_of_another_directory_is_not_taken_for_ours(daemon, top):
    (top / "other").mkdir()
    (top / "other" / "secret.key").write_text("k" * 64)
    (top / "other" / "secret.key").chmod(0o600)
    listen = daemon.entry("daemon.ready")["listen"]
    here = {"PROMPTCORNER_DATA_DIR": str(top / "other"), "PROMPTCORNER_LISTEN": listen}

    for other in (here, here | {"PROMPTCORNER_DATA_DIR": str(top / "none")}):
        code, out, _ = run("doctor", **other)
        assert 1 == code
        assert re.search(r"WRONG daemon +the daemon at \S+ is not that of ", out)
    code, _, err = run("users", "list", **here)
    assert 1 == code
    assert "it is not the daemon of the data directory here" in err


def test_a_daemon_that_was_killed_is_believed_no_more(top):
    home = top / "killed"
    with a_daemon(home, **QUICK) as daemon:
        daemon.wait_ready()
        [left] = (home / FOLDER).iterdir()
        daemon.process.kill()
        daemon.process.wait()

        assert left.exists()
        eventually(lambda: not listening_daemons(home), "it listens no more")

    with a_daemon(home, **QUICK) as daemon:
        daemon.wait_ready()
        [daemon_here] = listening_daemons(home)
        assert daemon.process.pid == daemon_here.pid
        assert not left.exists(), "the next one removes it"
        assert 0 == daemon.stop()


def test_several_processes_are_told_once_by_their_parent(top):
    home = top / "several"
    with a_daemon(home, PROMPTCORNER_PROCESSES="2", **QUICK) as daemon:
        ready = eventually(lambda: daemon.entry("processes.ready"), "all are ready")
        [found] = listening_daemons(home)

        assert (f"http://{ready['listen']}", daemon.process.pid) == (found.url, found.pid)
        assert 0 == run("users", "list", PROMPTCORNER_DATA_DIR=str(home))[0]
        assert 0 == daemon.stop()
        assert [] == listening_daemons(home)


def test_commands_believe_the_certificate_that_the_data_directory_tells(top):
    home = top / "secure"
    here = {"PROMPTCORNER_DATA_DIR": str(home)}
    secure = {"PROMPTCORNER_TLS_CERT": str(CERTIFICATE), "PROMPTCORNER_TLS_KEY": str(CERTIFICATE)}
    with a_provider() as provider, a_daemon(home, **QUICK, **secure, **provider.settings) as daemon:
        daemon.wait_ready()

        assert 0 == run("users", "list", **here)[0]
        assert (0, "found\n", "") == run("chat", "-m", "[[text: found]] hello", **here)
        assert 0 == run("chats", "--once", **here)[0]
        assert 0 == run("chat", "--list", **here)[0]
        assert ["waiting"] == [chat["status"] for chat in json.loads(run_json("chats", here))]
        assert 1 == len(asking.chats(here))
        assert "and is ready" in run("doctor", **here)[1]

        [file] = (home / FOLDER).iterdir()
        said = json.loads(file.read_text())
        file.write_text(json.dumps({**said, "certificate": OTHER_CERTIFICATE}))
        code, _, told = run("users", "list", **here)
        assert (4, True) == (code, "certificate" in told), told
        assert [] == asking.chats(here)


def run_json(command, here):
    return run(command, "--json", **here)[1]
