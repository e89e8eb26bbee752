"""The words that shells offer: from a table that is true, and of a daemon only at once."""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from adapters import settings as config
from adapters.cli.completion import asking
from adapters.cli.completion.candidates import WORDS_FILE, as_lines, candidates
from adapters.cli.completion.table import table_text
from adapters.daemon.listening.daemons import announced, daemon_here
from adapters.settings.secrets import Vault, local_token

TABLE = json.loads(WORDS_FILE.read_text())
CHATS = [("4f9c", "Three rivers"), ("5a2b", "Tidy up")]
STARTS_OF_PYTHON_MAX = 15  # it is 6, and 50 for a command that imports the daemon


def offered(line, ask=lambda kind: []):
    return [word for word, _ in candidates(TABLE, line.split(" "), ask)]


def test_the_table_is_made_of_the_parsers_as_they_are():
    assert WORDS_FILE.read_text() == table_text(), (
        "run: python -m adapters.cli.completion.table adapters/cli/completion/words.json"
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ser", ["serve"]),
        ("providers di", ["disable"]),
        ("serve --list", ["--listen"]),
        ("chat --approve ", ["allow", "ask", "deny"]),
        ("chat --approve=d", ["--approve=deny"]),
        ("chat --output-schema ", [":file"]),
        ("chat -m hello --js", ["--json"]),
        ("completion z", ["zsh"]),
        ("nothing ", []),
        ("chat -m ", []),
    ],
)
def test_what_may_come_next_is_offered(line, words):
    assert words == [each for each in offered(line) if each in words or len(words) < 3]


def test_chats_and_models_are_asked_of_the_daemon_where_they_may_stand():
    asked = {"chat": CHATS, "model_id": [("7e", "Claude")], "model_name": [("lab/qwen3:8b", "")]}
    ask = lambda kind: asked[kind]  # noqa: E731

    assert ["4f9c", "5a2b"] == offered("watch ", ask)
    assert ["4f9c"] == offered("chat --json 4", ask)
    assert [] == offered("watch 4f9c ", ask), "a second chat would be refused"
    assert ["7e"] == offered("chat --model ", ask)
    assert ["lab/qwen3:8b"] == offered("providers default ", ask)


def test_a_title_is_one_line_and_moves_no_cursor():
    found = [("4f9c", "a\ttitle\n\x1b[2J")]

    assert "4f9c\ta title  [2J\n" == as_lines(found, "fish", "")
    assert "8b\tQwen\n" == as_lines([("lab/qwen3:8b", "Qwen")], "bash", "lab/qwen3:")
    assert "lab/qwen3:8b\tQwen\n" == as_lines([("lab/qwen3:8b", "Qwen")], "zsh", "lab/qwen3:")


def test_the_short_way_to_a_daemon_is_that_of_other_commands(tmp_path):
    key = "k" * 64
    (tmp_path / "secret.key").write_text(key + "\n")
    here = {"PROMPTCORNER_DATA_DIR": str(tmp_path)}
    settings = config.read_config({}, here)
    with announced(settings, "127.0.0.1:4321"):
        assert daemon_here(settings).url == asking.listening_daemon(tmp_path)[0]
    assert "" == asking.listening_daemon(tmp_path)[0]

    assert settings.data_dir == asking.data_dir(here)
    plain = {"PROMPTCORNER_CONFIG": str(tmp_path / "none.toml")}
    assert config.read_config({}, {}).data_dir == asking.data_dir(plain)
    (tmp_path / "c.toml").write_text('data_dir = "home"')
    by_file = {"PROMPTCORNER_CONFIG": str(tmp_path / "c.toml")}
    assert config.read_config({}, by_file).data_dir == asking.data_dir(by_file)
    assert local_token(Vault(key.encode())) == asking.token_of({}, tmp_path, is_named=False)
    assert "" == asking.token_of({}, tmp_path, is_named=True), "another user may listen there"


@pytest.mark.parametrize("answer", [b"", b"nonsense", b"HTTP/1.1 401 No\r\n\r\n[]"])
def test_a_daemon_that_answers_nonsense_is_not_heard(answer):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            stream, _ = listener.accept()
            with stream:
                stream.recv(65_536)
                stream.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        environ = {"PROMPTCORNER_URL": f"http://127.0.0.1:{listener.getsockname()[1]}"}
        assert [] == asking.chats(environ)
        thread.join()


def test_a_daemon_that_is_silent_keeps_nobody_and_costs_little():
    program = Path(sys.executable).with_name("promptcorner")
    words = [program, "completion", "words", "bash", "--", "watch", ""]
    with socket.create_server(("127.0.0.1", 0)) as listener:  # nothing is ever answered
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        settings = {**os.environ, "PROMPTCORNER_URL": url, "PROMPTCORNER_TOKEN": "x"}
        spent = min(cpu_seconds(words, settings) for _ in range(3))

    assert spent < STARTS_OF_PYTHON_MAX * min(
        cpu_seconds([sys.executable, "-c", "pass"], settings) for _ in range(3)
    )


def cpu_seconds(words, settings):
    """Run a program that says nothing, and return what it took of the processor."""
    pipe = subprocess.PIPE
    with subprocess.Popen(words, env=settings, stdout=pipe, stderr=pipe) as program:
        said = program.stdout.read() + program.stderr.read()
        _, code, usage = os.wait4(program.pid, 0)
        program.returncode = code
    assert (b"", 0) == (said, code)
    return usage.ru_utime + usage.ru_stime
