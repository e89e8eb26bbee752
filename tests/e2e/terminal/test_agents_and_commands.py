"""Agents that are looked into and spoken to, and the commands that change the chat."""

import re

import pytest

from tests.e2e.daemons import run
from tests.e2e.terminal.stories import AT_WORK, ENDLESS, LARGE, LOOK, chat_of

pytestmark = pytest.mark.slow

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(2_000)


def inside(text):
    """A message for the model of an agent, as a text in JSON within a marker."""
    return text.replace("[", r"\u005b").replace("]", r"\u005d")


def spawning(*agents):
    wanted = (
        f'spawn_agent:{{"type":"general","title":"{title}","prompt":"{inside(prompt)}"}}'
        for title, prompt in agents
    )
    return f"[[tool-calls: {' '.join(wanted)}]] [[text: sent them]] go"


def test_agents_are_looked_into_and_spoken_to(opened, size):
    terminal = opened(size=size)
    slow = "[[deltas: 10000]] [[delta-ms: 50]] dig"
    terminal.types(f"{spawning(('Digger', slow), ('Looker', '[[text: seen]] look'))}\r")
    shown = terminal.until("✓ spawn_agent  Digger", "sent them", "1 of 2 agents at work")
    assert '"chat_id"' not in shown
    terminal.types("/agents\r")
    terminal.until("The chat and its agents", "Digger  at work", "Looker  at rest")
    terminal.types("Look\r")
    terminal.until("── Looker", "\nseen\n", "agent (/agents goes back)")
    terminal.types("[[text: a ship]] what was it?\r")
    terminal.until("\na ship\n", gone=AT_WORK)
    terminal.types("\x18\x01")  # ctrl-X ctrl-A
    terminal.until("The chat and its agents")
    terminal.types("Digger\r")
    terminal.until("── Digger", "answering")
    terminal.types("\x1b")
    terminal.until("Digger", gone=AT_WORK)
    terminal.types("/share all\r")
    terminal.until("may read it: Everyone")  # with the chat that it belongs to
    terminal.types("/agents\r")
    terminal.until("The chat and its agents")
    terminal.types("\x1b[A\x1b[A\r")
    terminal.until("0 of 2 agents at work", gone="agent (/agents")


def test_the_number_of_agents_at_work_is_kept_though_the_chat_rests(opened, asking):
    terminal = opened(size=LARGE)
    terminal.types(f"{spawning(('Digger', ENDLESS))}\r")
    terminal.until("sent them", "1 of 1 agents at work", gone=AT_WORK)
    chats = asking.get("/api/experimental/chats").json()
    agents = [agent for chat in chats for agent in chat["children"]]
    [digger] = [agent["id"] for agent in agents if agent["status"] == "running"]

    assert 200 == asking.post(f"/api/experimental/chats/{digger}/interrupt").status_code
    terminal.until("0 of 1 agents at work")


def test_a_chat_is_summed_up_tried_again_and_shared(opened, place):
    run("users", "create", "reader", **place)
    terminal = opened(size=LARGE)
    terminal.types("[[faults: 429:600@1]] [[text: at last]] try\r")
    terminal.until("attempt 1 failed", "/retry makes it now")
    terminal.types("/retry\r")
    terminal.until("\nat last\n", gone=AT_WORK)
    terminal.types("/retry\r")
    terminal.until("✗ 409")
    terminal.types("/compact\r")  # what was refused does not stand on the line
    terminal.until("✓ chat_summarized  manual", gone=(*AT_WORK, '"threshold'))
    terminal.types("/share reader\r")
    terminal.until("may read it: reader")
    terminal.types("/effort\r")
    terminal.until("How much shall the model think?")
    terminal.types("hi\r")
    terminal.until("effort high")
    terminal.types("/plan [[text: a plan]] how?\r")
    terminal.until("it plans, and changes nothing", "planning ·", "\na plan\n", gone=AT_WORK)
    terminal.types("/plan off\r")
    terminal.until("it no longer plans", gone="planning ·")
    terminal.types("/title Ünterwegs 日本\r")
    terminal.until("· Ünterwegs 日本\n")


def test_a_picture_on_the_clipboard_goes_along(opened, tmp_path):
    picture = tmp_path / "picture.png"
    picture.write_bytes(PICTURE)
    reader = tmp_path / "wl-paste"  # stands for the program that reads the clipboard
    reader.write_text(f"#!/bin/sh\nexec cat {picture}\n")
    reader.chmod(0o755)
    terminal = opened(PATH=f"{tmp_path}:/usr/bin:/bin")
    terminal.types("\x16")
    terminal.until("▫ clipboard-1.png, 1 KiB", "1 attached")
    terminal.types("[[text: seen]] what is this?\r")
    terminal.until("> [[text: seen]] what is this?\n  ▫ clipboard-1.png", "\nseen\n", gone=AT_WORK)
    picture.write_text("words")
    terminal.types("/image\r")
    terminal.until("✗ there is no picture on the clipboard", gone="attached")


@pytest.mark.parametrize(
    ("flags", "settings", "rung"),
    [
        ((), {"TERM_PROGRAM": "WezTerm"}, b"\x07\x1b]9;promptcorner: may list_templates run?\x07"),
        (("--bell", "bell"), {"TERM_PROGRAM": "WezTerm"}, b"\x07"),
        (("--bell", "off"), {"TERM_PROGRAM": "WezTerm"}, b""),
    ],
    ids=["notify", "bell", "off"],
)
def test_it_rings_when_it_needs_its_user(opened, flags, settings, rung):
    terminal = opened("--approve", "ask", *flags, **settings)
    terminal.types(f"{LOOK}\r")
    terminal.until("? list_templates, asked by", "May list_templates run?")
    found = re.findall(rb"\x07(?:\x1b\]9;[^\x07]*\x07)?", terminal.raw)
    terminal.types("\x03")
    terminal.until(gone="May list")

    assert [rung] * bool(rung) == found


CODE = "[[text: ```py\x1b\rx = 'ship' # so\x1b\r```]] code\r"


@pytest.mark.parametrize(
    ("flags", "settings", "is_light"),
    [
        (("--theme", "light"), {}, True),
        ((), {"COLORFGBG": "0;15"}, True),
        (("--theme", "dark"), {"COLORFGBG": "0;15"}, False),
    ],
    ids=["flag", "terminal", "dark"],
)
def test_colours_are_those_for_the_background(opened, flags, settings, is_light):
    terminal = opened(*flags, **settings)
    terminal.types(CODE)
    terminal.until("x = 'ship' # so\n", gone=AT_WORK)
    _, chat = chat_of(terminal)
    assert chat
    of_user, other = (b"\x1b[1;34m", b"\x1b[1;36m") if is_light else (b"\x1b[1;36m", b"\x1b[1;34m")
    assert of_user in terminal.raw
    assert other not in terminal.raw
    assert b"\x1b[97m" not in terminal.raw, "nothing is white on a light background"


def test_who_asks_is_named_and_an_agent_is_denied_with_words(opened, size):
    terminal = opened("--approve", "ask", size=size)
    asks = r"[[tool-calls: execute:{\"command\":\"rm -r harbour\"}]] [[text: well]] tidy up"
    terminal.types(f"{spawning(('Digger', asks))}\r")
    terminal.until("? execute, asked by the agent “Digger”\n  rm -r harbour\n", "May execute run?")
    terminal.until("May execute run?", gone="keys answer once")
    terminal.types("n")
    terminal.until("> n")
    terminal.types("keep the harbour\r")
    terminal.until("execute: deny: keep the harbour", "0 of 1 agents at work", gone="May execute")


def test_thoughts_are_folded_and_open_whole(opened):
    terminal = opened()
    terminal.types("[[reasoning: 400]] [[delta-ms: 5]] [[text: a ship]] think\r")
    terminal.until("∴ thinking, ")
    terminal.until("∴ thought, ", "words · ctrl-O opens it", "\na ship\n", gone=AT_WORK)
    assert "the prompt desk" not in terminal.shown
    terminal.types("\x0f")
    terminal.until("What shall be opened?", "> ∴ They are waiting for the cue")
    terminal.types("\r")
    terminal.until("First the question, then the pause", gone="What shall be opened?")


def test_servers_of_tools_are_listed_with_their_state(opened, asking):
    [organization] = asking.get("/api/v2/users/me").json()["organization_ids"]
    path = f"/api/v2/organizations/{organization}/mcp-servers"
    server = {
        "display_name": "The harbour",
        "slug": "harbour",
        "transport": "streamable_http",
        "url": "http://127.0.0.1:9/mcp",
        "auth_type": "none",
        "availability": "default_off",
        "enabled": True,
    }
    made = asking.post(path, json=server)
    assert 201 == made.status_code, made.text
    try:
        terminal = opened()
        terminal.types("/mcp\r")
        terminal.until("The harbour (harbour): default off")
    finally:
        asking.delete(f"{path}/{made.json()['id']}")
