"""Three recipes of docs/recipes.md, followed in a copy: a tool, a setting and an endpoint.

The code blocks of the document are what is applied, so the document and this test cannot disagree.
Each step begins with the file that it touches. Of its blocks, one in Python is the new file, one
marked as a difference is put into the file, and one of the shell is run.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.e2e.daemons import a_daemon, environment, eventually

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "recipes.md"
FOLLOWED = ("A tool", "A setting", "An endpoint")
STEP = re.compile(r"^\d+\. `([^`]+)`", re.MULTILINE)
BLOCK = re.compile(r"^   ```(\w+)\n(.*?)^   ```$", re.MULTILINE | re.DOTALL)
TOKEN = "a-token-of-the-first-admin-for-these-tests"
CHATS = "/api/experimental/chats"


def steps_of(page, recipe):
    """Yield (file, kind of block, its text) of all blocks of a recipe, in their order."""
    _, _, rest = page.partition(f"\n## {recipe}\n")
    section = rest.partition("\n## ")[0]
    begins = [*STEP.finditer(section)]
    ends = [*(step.start() for step in begins[1:]), len(section)]
    for step, end in zip(begins, ends, strict=True):
        for block in BLOCK.finditer(section[step.start() : end]):
            yield step[1], block[1], re.sub("^   ", "", block[2], flags=re.MULTILINE)


def follow(top, recipe):
    """Do what the recipe says, in the tree at `top`; the files that it touches."""
    touched = set()
    for name, kind, text in steps_of(PAGE.read_text(), recipe):
        path = top / name
        touched.add(name)
        if kind == "python":
            assert not path.exists(), f"{recipe}: {name} is there already"
            path.write_text(text)
        elif kind == "diff":
            path.write_text(changed(path.read_text(), text, f"{recipe}: {name}"))
        else:
            [program, *words] = text.split()
            assert (kind, program) == ("sh", "python")
            in_copy = {"cwd": top, "env": {**os.environ, "PYTHONPATH": str(top)}}
            subprocess.run([sys.executable, *words], check=True, **in_copy)
    return touched


def changed(text, difference, where):
    """Return the text with the lines that begin with +, beside those that are there already."""
    lines = difference.splitlines(keepends=True)
    assert all(line[0] in " +\n" for line in lines), f"{where}: a line begins with neither"
    old = "".join(line[1:] or "\n" for line in lines if not line.startswith("+"))
    assert 1 == text.count(old), f"{where}: these lines do not stand there once:\n{old}"
    return text.replace(old, "".join(line[1:] or "\n" for line in lines))


@pytest.fixture(scope="module")
def copy():
    """A copy of the tracked files, in which the recipes have been followed."""
    with tempfile.TemporaryDirectory(prefix="promptcorner-recipes-") as name:
        top = Path(name)
        listed = ["git", "ls-files", "-z", "*.py", "*.sql", "docs/configuration.md", "*.toml"]
        done = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
        for file in filter(None, done.stdout.split("\0")):
            place = top / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes((ROOT / file).read_bytes())
        for recipe in FOLLOWED:
            assert 3 <= len(follow(top, recipe)) <= 6, recipe
        yield top


@pytest.mark.slow
def test_what_the_recipes_add_is_there_in_a_daemon(copy, database, tmp_path):
    paths = {"PYTHONPATH": os.pathsep.join((str(copy), str(copy / "client")))}
    settings = {
        **paths,
        "DATABASE_URL": database,
        "PROMPTCORNER_ADMIN_TOKEN": TOKEN,
        "PROMPTCORNER_CONTACT": "ann@chats.test",
        "PROMPTCORNER_SANDBOX": "none",
    }
    with a_daemon(tmp_path / "home", anew=True, **settings) as daemon:  # its code is the copy's
        ready = daemon.wait_ready()
        url = "http://" + ready["listen"]

        assert "ann@chats.test" == ready["contact"]
        assert "/api/v2/chats/{chat}/family" in ask(url, "/openapi.json")["paths"]
        [organization, *_] = ask(url, "/api/v2/organizations")
        text = '[[tool-calls: roll_dice:{"count": 3}]] [[text: Rolled.]]'
        content = [{"type": "text", "text": text}]
        chat = ask(url, CHATS, {"organization_id": organization["id"], "content": content})["id"]
        assert {"root_chat_id": chat, "parent_chat_id": None} == ask(url, f"{CHATS}/{chat}/family")
        eventually(
            lambda: ask(url, f"{CHATS}/{chat}")["status"] == "waiting", "the chat has its answer"
        )
        messages = ask(url, f"{CHATS}/{chat}/messages")["messages"]

    results = [part for one in messages for part in one["content"] if part["type"] == "tool-result"]
    assert ["roll_dice"] == [part["tool_name"] for part in results]
    assert 3 == len(results[0]["result"]["dice"])
    for command, line in (
        (("config", "show"), r"contact +ann@chats\.test"),
        (("serve", "--help"), r"--contact NAME"),
    ):
        words = [sys.executable, "-m", "promptcorner", *command]
        done = subprocess.run(
            words, env=environment(**settings), cwd="/", capture_output=True, text=True, check=True
        )
        assert re.search(line, done.stdout), done.stdout


@pytest.mark.slow
def test_the_tests_of_what_the_recipes_add_are_green(copy):
    tests = ["tests/adapters/tools/built_in/test_dice.py", "tests/adapters/test_settings.py"]
    tests += ["tests/adapters/tools/built_in/test_sources.py"]
    tests += ["tests/test_maps.py::test_a_folder_maps_all_that_is_in_it"]
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(words, cwd=copy, capture_output=True, text=True, check=False)

    assert 0 == done.returncode, done.stdout


def ask(url, path, document=None):
    body = None if document is None else json.dumps(document).encode()
    request = Request(url + path, body, {"Coder-Session-Token": TOKEN})
    try:
        with urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except HTTPError as refused:
        raise AssertionError((path, refused.code, refused.read())) from None
