"""A daemon with a model for all stories of the terminal, and terminals that are closed again."""

import httpx2
import pytest

from tests.e2e.daemons import a_daemon, run
from tests.e2e.processes import belonging_to, eventually
from tests.e2e.providers import a_provider
from tests.e2e.screens import ScreenTerminal
from tests.e2e.terminal.stories import LARGE, SMALL
from tests.folders import a_folder, in_memory
from tests.patience import PATIENCE_SECONDS


@pytest.fixture(scope="session")
def model():
    """The model of all stories."""
    with a_provider() as provider:
        yield provider


@pytest.fixture(scope="session")
def place(model):
    """A daemon, and a home for what the terminal keeps."""
    with a_folder(in_memory()) as top:
        (top / "templates/web").mkdir(parents=True)
        (top / "templates/web/README.md").write_text("a place")
        settings = {
            "PROMPTCORNER_DRAIN_SECONDS": "0",
            "PROMPTCORNER_SANDBOX": "none",
            "PROMPTCORNER_TEMPLATES_DIR": f"{top}/templates",
            "PROMPTCORNER_APPROVAL_RULES": "list_templates=ask,read_skill=ask",
        }
        home = top / "home"
        with a_daemon(home, **settings, **model.settings) as daemon:
            url = "http://" + daemon.wait_ready()["listen"]
            yield {
                "PROMPTCORNER_URL": url,
                "PROMPTCORNER_DATA_DIR": str(home),
                "XDG_STATE_HOME": f"{top}/state",
                "PAGER": "cat",
            }
            assert 0 == daemon.stop()
        eventually(lambda: not belonging_to(top), "every process of the daemon is gone")


@pytest.fixture(params=[SMALL, LARGE], ids=["80x24", "200x60"])
def size(request):
    """The sizes of a terminal at which a central story is told."""
    return request.param


@pytest.fixture
def opened(place):
    """Open a terminal; all are closed at the end."""
    terminals = []

    def start(*words, size=SMALL, waits_for="new chat", **settings):
        terminal = ScreenTerminal("chat", *words, **size, **{**place, **settings})
        terminals.append(terminal)
        if waits_for:
            terminal.until(waits_for)
        return terminal

    yield start
    for terminal in terminals:
        terminal.close()


@pytest.fixture(scope="session")
def token(place):
    """A token of the daemon's user, for what a story asks the daemon itself."""
    code, out, err = run("tokens", "create", "stories", **place)
    assert 0 == code, err
    return out.strip()


@pytest.fixture
def asking(place, token):
    """A client that asks the daemon itself."""
    headers = {"Coder-Session-Token": token, "X-Coder-Bypass-Ratelimit": "true"}
    url = place["PROMPTCORNER_URL"]
    with httpx2.Client(base_url=url, headers=headers, timeout=PATIENCE_SECONDS) as client:
        yield client


@pytest.fixture
def prompts_of(asking):
    """A function that asks the daemon what a user has said in a chat."""

    def ask(chat):
        path = f"/api/experimental/chats/{chat}/prompts"
        answer = asking.get(path)
        assert 200 == answer.status_code, f"{path}: {answer.text}"
        return [one["text"] for one in answer.json()["prompts"]]

    return ask
