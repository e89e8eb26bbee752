"""Lines that are typed faster than the daemon answers: none is lost, doubled or said elsewhere."""

import os

import httpx2
import pytest

from tests.e2e.processes import eventually
from tests.e2e.terminal.stories import AT_WORK, CHAT_ID, ENDLESS, chat_of

pytestmark = pytest.mark.slow
FORMS = pytest.mark.parametrize("flags", [(), ("--plain",)], ids=["window", "plain"])


def chats_of(place, token):
    """The ids of all chats of the daemon's user."""
    headers = {"Coder-Session-Token": token, "X-Coder-Bypass-Ratelimit": "true"}
    url = f"{place['PROMPTCORNER_URL']}/api/experimental/chats"
    answer = httpx2.get(url, headers=headers, params={"limit": 200}, timeout=60)
    return {chat["id"] for chat in answer.json()}


@FORMS
def test_lines_that_are_typed_while_the_chat_is_made_are_one_chat(
    opened, place, token, prompts_of, flags
):
    before = chats_of(place, token)
    terminal = opened(*flags, waits_for="/help lists" if flags else "new chat")
    end = "\n" if flags else "\r"
    lines = [f"[[text: answer {n}]] line {n}" for n in (1, 2, 3)]
    terminal.types("".join(line + end for line in lines))
    terminal.until("answer 3\n", gone=() if flags else AT_WORK, all_of_it=True)

    made = chats_of(place, token) - before
    assert 1 == len(made), "they are one chat"
    assert lines == sorted(prompts_of(*made)), "each line was said once"


@FORMS
def test_another_chat_is_opened_behind_a_line_that_is_being_sent(
    opened, place, token, prompts_of, flags
):
    waits_for = "/help lists" if flags else "new chat"
    end = "\n" if flags else "\r"
    other = opened()
    other.types("[[text: of old]] the other one\r")
    other.until("\nof old", gone=AT_WORK)
    _, older = chat_of(other)
    before = chats_of(place, token)
    terminal = opened(*flags, waits_for=waits_for)
    lines = ("[[text: here]] the first one", f"/resume {older}", "[[text: there]] the second one")
    terminal.types("".join(line + end for line in lines))
    terminal.until("── ", "there\n", gone=() if flags else AT_WORK, all_of_it=True)
    terminal.types("\x04")
    terminal.ends()

    [made] = chats_of(place, token) - before
    assert ["[[text: here]] the first one"] == prompts_of(made)
    assert lines[2] in prompts_of(older)
    assert [older] == CHAT_ID.findall(terminal.everything.replace("\n", ""))[-1:]


def test_a_line_that_is_sent_now_stops_what_works(opened, size, prompts_of):
    terminal = opened(size=size)
    terminal.types(f"{ENDLESS}\r")
    terminal.until("answering")
    terminal.types("[[text: later]] in its turn\r")
    terminal.until("1 queued")
    terminal.types("[[text: at once]] now\x07")  # ctrl-G
    terminal.until("> [[text: at once]] now", "later\n", gone=("queued", *AT_WORK), all_of_it=True)
    shown = terminal.everything
    _, chat = chat_of(terminal)

    assert shown.rindex("> [[text: at once]] now") < shown.rindex("> [[text: later]] in its turn")
    assert 3 == len(prompts_of(chat))


def test_what_is_no_file_is_told_and_the_message_is_sent(opened, short_path, prompts_of):
    os.mkfifo(short_path / "pipe")
    (short_path / "secret").write_text("x")
    (short_path / "secret").chmod(0)
    terminal = opened(size={"columns": 200, "lines": 60})
    said = f"[[text: read]] look at @{short_path}/pipe and @{short_path}"
    terminal.types(f"{said}\r")
    terminal.until(
        f"! not attached: {short_path}/pipe is a named pipe, {short_path} is a folder",
        "\nread",
        gone=AT_WORK,
    )
    if os.geteuid():  # root may read it all the same
        terminal.types(f"and @{short_path}/secret\r")
        terminal.until(
            "secret cannot be attached: Permission denied", f"> and @{short_path}/secret"
        )
        terminal.types("\x03")
    _, chat = chat_of(terminal)

    assert [said] == prompts_of(chat)
    eventually(lambda: terminal.process.poll() == 0, "it has left")
