"""Draw docs/pictures/terminal.svg: `promptcorner chat` in a real terminal, as a moving picture.

    python docs/pictures/terminal.py docs/pictures/terminal.svg

A daemon is started in a temporary directory, with a model that answers from a script. A person's
keys are typed into a terminal of 84 by 22; whatever the command writes to it is read by pyte, a
terminal in memory, and each screen that differs from the last becomes a frame.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from recording import Recording, picture, save

READY_SECONDS_MAX = 60.0
WAIT_SECONDS_MAX = 30.0
PAUSE_SECONDS = 1.5  # before a picture: keys answer by then, and titles are there

# What the person types, and what the model does then. The model calls its tool in every request
# that offers tools, so that a title, which is asked for beside the turn, gets the text at once.
LATENCIES = "checkout 840\nsearch 270\nlogin 120\n"
TURNS = [
    (
        "Make a workspace from the template “services”.",
        {
            "tool_calls": 'create_workspace:{"template_id":"services"}',
            "text": "The workspace is there.",
            "delta_ms": 60,
            "deltas": 8,
        },
    ),
    (
        "Which of our services is the slowest today?",
        {
            "tool_calls": 'execute:{"command":"sort -k2 -nr p99.txt"}',
            "text": (
                "**checkout** is the slowest: its p99 is 840 ms, three times that of search.\n\n"
                "1. It waits for the card provider, 610 ms of it.\n"
                "2. A retry without a limit makes this worse on busy evenings.\n\n"
                "A bound of two retries would bring it to about 400 ms."
            ),
            "deltas": 60,
            "delta_ms": 45,
        },
    ),
]
ASKED = (
    'create_workspace:{"template_id":"services"} '
    'execute:{"command":"sort -k2 -nr p99.txt | head -n 2","timeout":"30s"}'
)
OLD = """def pay(card):
    while True:
        if answer := ask(card):
            return answer
"""
NEW = """def pay(card, tries=2):
    for _ in range(tries):
        if answer := ask(card):
            return answer
    raise ProviderSilent(card)
"""
PLAN = """## Quicker checkouts

1. Bound the retries at two, in `retries.py`.
2. Ask the card provider and the stock at the same time.
3. Measure the p99 for a day, and compare.
"""
# What the agents are told lets them work on until the pictures are taken.
SLOWLY = "[[tool-calls: ]] [[text: ]] [[deltas: 4000]] [[delta-ms: 60]]"
SLOWLY = SLOWLY.replace("[", r"\u005b").replace("]", r"\u005d")  # it is for them alone
AGENTS = " ".join(
    f'spawn_agent:{{"type":"general","title":"{title}","prompt":"{SLOWLY} {title}"}}'
    for title in ("Bound the retries", "Ask both at once")
)


@contextlib.contextmanager
def a_daemon(top):
    """Run a daemon and its model; yield the environment of its clients, and the model's URL."""
    program = Path(sys.executable).with_name("promptcorner")
    services = top / "templates" / "services"
    services.mkdir(parents=True)
    (services / "p99.txt").write_text(LATENCIES)
    (services / "retries.py").write_text(OLD)
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PROMPT")}
    with contextlib.ExitStack() as stack:
        model = _started(
            stack,
            [program, "fake-provider", "--listen", "127.0.0.1:0"],
            env=plain,
            stdout=subprocess.PIPE,
            text=True,
        )
        url = model.stdout.readline().split()[3]
        home = top / "home"
        settings = {
            **plain,
            "ANTHROPIC_API_KEY": "sk-rehearsal",
            "ANTHROPIC_BASE_URL": url,
            "PROMPTCORNER_CONFIG": os.devnull,
            "PROMPTCORNER_DATA_DIR": str(home),
            "PROMPTCORNER_TEMPLATES_DIR": str(services.parent),
            "PROMPTCORNER_SUMMARIES": "off",
        }
        log = top / "log"
        with log.open("wb") as errors:
            _started(
                stack,
                [program, "serve", "--listen", "127.0.0.1:0"],
                env=settings,
                stderr=errors,
                stdin=subprocess.DEVNULL,
            )
        client = {"PROMPTCORNER_URL": "http://" + _listens(log), "TERM": "xterm-256color"}
        yield {**settings, **client}, url


def behave(url, behaviour):
    """Tell the model what it does from now on."""
    body = json.dumps(behaviour).encode()
    request = urllib.request.Request(f"{url}/_fake/behaviour", body, method="PUT")
    urllib.request.urlopen(request, timeout=WAIT_SECONDS_MAX).close()


def _started(stack, words, **how):
    process = subprocess.Popen(list(map(str, words)), **how)
    stack.callback(process.wait)
    stack.callback(process.terminate)
    return process


def _listens(log):
    end = time.monotonic() + READY_SECONDS_MAX
    while time.monotonic() < end:
        for line in log.read_text().splitlines():
            if line.startswith("{") and (entry := json.loads(line))["event"] == "daemon.ready":
                return entry["listen"]
        time.sleep(0.1)
    raise TimeoutError("the daemon does not start:\n" + log.read_text())


def stills(settings, model, folder):
    """Take pictures of what is asked, of lists that are chosen from, and of all chats."""
    with recorded(settings, "chat", "--approve", "ask") as recording:
        recording.until("new chat")
        behave(model, {"tool_calls": ASKED, "text": "Two of them are slow.", "reasoning": 12})
        recording.types("Sort them by their latency.\r")
        recording.until("May create_workspace run?")
        recording.read(PAUSE_SECONDS)
        recording.types("y")
        recording.until("May execute run?")
        recording.read(PAUSE_SECONDS)
        save(folder / "terminal_consent.svg", recording)
        recording.types("y")
        recording.until("Two of them are slow.")
        titled(recording, "The slowest services")
        recording.types("\x0f")
        recording.until("What shall be opened?")
        recording.read(PAUSE_SECONDS)
        save(folder / "terminal_list.svg", recording)
        recording.types("\x1b")
        edited(recording, settings, model, folder)
    with recorded(settings, "chat", "--approve", "allow") as recording:
        recording.until("new chat")
        planned(recording, model, folder)
        delegated(recording, model, folder)
        board(settings, model, folder)


def edited(recording, settings, model, folder):
    """Let the model ask for an edit, which is shown as a diff."""
    found = Path(settings["PROMPTCORNER_DATA_DIR"], "workspaces").rglob("retries.py")
    file = max(found, key=lambda path: path.stat().st_ctime)  # of this chat
    edits = [{"old_text": OLD, "new_text": NEW}]
    files = json.dumps({"files": [{"path": str(file), "edits": edits}]})
    behave(model, {"tool_calls": f"edit_files:{files}", "text": "Two retries at most now."})
    recording.types("Give the retries a bound.\r")
    recording.until("May edit_files run?")
    recording.read(PAUSE_SECONDS)
    save(folder / "terminal_diff.svg", recording)
    recording.types("y")
    recording.until("Two retries at most now.")


def planned(recording, model, folder):
    """Let the model propose a plan, and carry it out."""
    recording.types("/plan\r")
    recording.until("it plans, and changes nothing")
    plan = json.dumps({"plan": PLAN})
    behave(model, {"tool_calls": f"propose_plan:{plan}", "text": "That is the plan."})
    recording.types("How do we make checkout quicker?\r")
    recording.until("Shall it be carried out?")
    recording.read(PAUSE_SECONDS)
    save(folder / "terminal_plan.svg", recording)
    behave(model, {"tool_calls": AGENTS, "text": "Two agents are at it."})
    recording.types("y")
    recording.until("Two agents are at it.")
    titled(recording, "Quicker checkouts")


def delegated(recording, model, folder):
    """Show the agents that the plan is carried out by."""
    recording.until("2 of 2 agents at work")
    recording.types("/agents\r")
    recording.until("The chat and its agents")
    recording.read(PAUSE_SECONDS)
    save(folder / "terminal_agents.svg", recording)
    recording.types("\x1b")


def titled(recording, title):
    """Give the chat a title, as the rehearsal calls each of them the same."""
    recording.read(PAUSE_SECONDS)
    recording.types(f"/title {title}\r")
    recording.read(PAUSE_SECONDS)


def board(settings, model, folder):
    """Show all chats: one that asks, one that works, those at rest."""
    behave(model, {"tool_calls": ASKED, "text": "Done."})
    with recorded(settings, "chat", "--approve", "ask") as asking:
        asking.until("new chat")
        asking.types("Which services are slow at night?\r")
        asking.until("May create_workspace run?")
        titled(asking, "Services at night")
        with recorded(settings, "chats") as chats:
            chats.until("asks for consent")
            chats.read(2 * PAUSE_SECONDS)
            save(folder / "terminal_board.svg", chats)


@contextlib.contextmanager
def recorded(settings, *words):
    """Record a command of ours until the block ends."""
    program = Path(sys.executable).with_name("promptcorner")
    recording = Recording([str(program), *words], settings)
    try:
        yield recording
    finally:
        recording.close()


def main(target):
    with tempfile.TemporaryDirectory(prefix="promptcorner-picture-") as name:
        top = Path(name)
        top.chmod(0o711)
        with a_daemon(top) as (settings, model):
            with recorded(settings, "chat") as recording:
                recording.until("> ")
                for question, behaviour in TURNS:
                    behave(model, behaviour)
                    recording.read(0.6)
                    recording.types(question)
                    recording.read(0.4)
                    recording.types("\r")
                    recording.until(behaviour["text"].split("\n")[-1])
                    recording.read(PAUSE_SECONDS)
            stills(settings, model, Path(target).parent)
    Path(target).write_text(picture(recording.frames))
    sys.stdout.write(
        f"{target}: {len(recording.frames)} frames, {Path(target).stat().st_size // 1024} KiB\n"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
