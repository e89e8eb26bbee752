"""Completion as a person sees it: a key of tab in a real bash, zsh and fish, beside a daemon."""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.e2e.daemons import a_daemon, environment, run
from tests.e2e.providers import a_provider
from tests.folders import a_folder, in_memory
from tests.terminals import ScreenTerminal

pytestmark = pytest.mark.slow

NO_SHELL = "no shell: "  # tests/conftest.py says it in the last lines
PLAIN = {
    "bash": ("--norc", "--noprofile", "-i"),
    "zsh": ("-f", "-i"),
    "fish": ("--no-config", "-i"),
}
BEGIN = {
    "bash": "source {script}; PS1='ready> '\r",
    "zsh": "autoload -Uz compinit; compinit -u -D; source {script}; PROMPT='ready> '\r",
    "fish": "source {script}; function fish_prompt; echo 'ready> '; end\r",
}


@pytest.fixture(scope="module")
def corner():
    """A daemon with a chat: the environment of its machine, and the chat's id."""
    with a_folder(in_memory()) as top:
        home = top / "home"
        with a_provider() as provider, a_daemon(home, **provider.settings) as daemon:
            daemon.wait_ready()
            here = {"PROMPTCORNER_DATA_DIR": str(home)}
            _, out, _ = run("chat", "-m", "Three rivers", "--json", **here)
            chat = json.loads(out.splitlines()[-1])["chat_id"]
            run("chat", "-m", "Another one", "--json", **here)
            yield here, chat, top
            assert 0 == daemon.stop()


@pytest.fixture(params=PLAIN)
def shell(request, corner):
    """A shell that has read our script."""
    here, _, top = corner
    name = request.param
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{NO_SHELL}{name} is not installed: apt-get install {name}")
    script = top / f"promptcorner.{name}"
    script.write_text(run("completion", name)[1])
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    settings = environment(**here, PATH=path, HOME=str(top), XDG_CONFIG_HOME=str(top))
    terminal = ScreenTerminal([program, *PLAIN[name]], settings, columns=100)
    terminal.types(BEGIN[name].format(script=script))
    terminal.until(lambda text: any(line == "ready>" for line in text.splitlines()))
    yield terminal
    terminal.close()


def test_commands_flags_and_chats_with_their_titles_are_completed(shell, corner):
    _, chat, _ = corner
    shell.types("promptcorner prov\tdis\t")
    shell.until("promptcorner providers disable")
    shell.types("\x15promptcorner serve --tls-c\t")
    shell.until("promptcorner serve --tls-cert")
    shell.types(f"\x15promptcorner watch {chat[:13]}\t")
    shell.until(f"promptcorner watch {chat}")
    shell.types("\x15promptcorner watch \t\t\t")  # one more where both ids begin alike
    # A model may have found another title meanwhile.
    shell.until(lambda text: chat in text and re.search("Three rivers|Rehearsal", text))
