"""The place to work in: keys are typed into `promptcorner chat`, and the screen is compared."""

import json
import re
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.daemons import a_daemon
from tests.e2e.processes import free_ports
from tests.e2e.providers import a_provider
from tests.e2e.screens import ScreenTerminal
from tests.e2e.terminal.stories import AT_WORK, ENDLESS, LARGE, LOOK, SMALL, calls, chat_of

pytestmark = pytest.mark.slow


def test_a_chat_is_begun_left_and_taken_up_again(opened, prompts_of):
    terminal = opened()
    terminal.pastes(
        "[[text: # Rivers\n\n| name | km |\n|---|---|\n| Rhine | 1230 |]]\nthree\nlines"
    )
    terminal.until("lines")
    terminal.types(" morf\x1b[Da\x1b[D\x1b[D\x7f\x7f\r")  # arrows and backspace edit the line
    shown = terminal.until("Rhine", "of 128k", gone="thinking")
    code, chat = chat_of(terminal)
    said = prompts_of(chat)

    again = opened(chat, size=LARGE, waits_for="connected")
    seen = again.until("Rhine", "three", "Rivers")
    again.types("\x1b[A")  # up: what was typed in the other run

    assert 0 == code
    assert "Rivers" in shown
    assert "**" not in shown
    assert "| name" not in shown.split("lines")[-1], "a table is drawn"
    assert 1 == len(said), "what was pasted is one message"
    assert "three\nlines" in said[0]
    assert seen.count("Rhine") == 2, "once in what was asked, once in the answer"
    again.until("> [[text: # Rivers")


def test_consent_waits_for_a_pause_keeps_what_is_typed_and_takes_words(opened, size, model):
    terminal = opened(size=size)
    with model.frozen():
        terminal.types(f"{LOOK}\r")
        terminal.until("thinking")
        terminal.types("y and more")  # before it is asked: it is no answer
        terminal.until("> y and more")
    terminal.until("? list_templates, asked by", "May list_templates run?")
    terminal.until("kept for afterwards: y and more", "n denies it")
    terminal.types("n")
    terminal.until("> n")
    terminal.types("not today\r")
    terminal.until("✗ list_templates", "not today", "\nlooked", "> y and more", gone=AT_WORK)
    terminal.types("\x03")
    terminal.until(gone="> y and more")
    for answer in ("y", "a"):
        terminal.types(f"{LOOK.replace('looked', f'seen {answer}')} again\r")
        terminal.until("May list_templates run?", gone="keys answer once")
        terminal.types(answer)
        terminal.until("allow once" if answer == "y" else "allow always", gone="May list")
        terminal.until(f"\nseen {answer}", gone=AT_WORK)
    terminal.types("[[tool-calls: list_templates:{}]] [[text: unasked]] look\r")

    terminal.until("\nunasked", gone="May list_templates")


def test_an_unknown_command_is_asked_about_and_not_sent(opened):
    terminal = opened()
    terminal.types("/modle\r")
    terminal.until("There is no command /modle. Did you mean:", "1  /model", gone="once you pause")
    drawn_alone = re.sub(rb"\x1b\[\?2026h.*?\x1b\[\?2026l", b"", terminal.raw, flags=re.DOTALL)
    assert "──" not in drawn_alone.decode(), "nothing is seen half drawn"
    terminal.types("1")
    terminal.until("Which model")
    terminal.types("\x03")
    terminal.until(gone="Which model")
    terminal.types("\x03")
    terminal.until(
        "ctrl-D leaves, and the chat goes on by itself · /help lists keys and commands\n"
    )
    terminal.types("/etc/hosts is a file [[text: so it is]]\r")

    shown = terminal.until("\nso it is", gone="There is no command")
    assert "> /etc/hosts is a file" in shown


def test_what_waits_is_reordered_reworded_removed_and_steered(opened, size, prompts_of):
    terminal = opened(size=size)
    terminal.types(f"{ENDLESS}\r")
    terminal.until("answering", "Esc stops it")
    for words in ("first wish", "second wish", "third wish"):
        terminal.types(f"{words}\r")
        terminal.until(f"◷ {words}")
    terminal.types("at once\x13")  # ctrl-S
    terminal.until("4 queued")
    terminal.types("\x14")
    terminal.until("What waits, in this order")
    terminal.types("\x0b")  # ctrl-K removes the one that is chosen
    terminal.until("3 queued", "1/3")
    terminal.types("\x1b\x1b[B")  # Alt-Down
    terminal.until("in this order 2/3")
    order = re.findall(r"\w+ wish", terminal.shown.split("in this order")[1])
    terminal.types("\r")
    terminal.until("rewording a message that waits")
    terminal.types("\x15[[text: done]] reworded wish\r")
    terminal.until("◷ [[text: done]] reworded wish", gone="rewording")
    terminal.types("\x1b")
    terminal.until("> [[text: done]] reworded wish", gone=("queued", *AT_WORK))
    _, chat = chat_of(terminal)

    said = prompts_of(chat)
    assert ["second wish", "first wish", "third wish"] == order
    assert {"second wish", "third wish"} <= set(said)
    assert not {"at once", "first wish"} & set(said), "one was removed, one reworded"
    assert any("reworded wish" in each for each in said)


def test_esc_stops_and_esc_esc_edits_an_earlier_message(opened):
    terminal = opened()
    terminal.types(f"{ENDLESS}\r")
    terminal.until("answering")
    terminal.types("\x1b")
    terminal.until("connected", gone=AT_WORK)
    terminal.types("\x1b\x1b")
    terminal.until("Which message shall be another?")
    terminal.types("\r")
    terminal.until("rewording an earlier message")
    terminal.types("\x15[[text: otherwise]] said\r")

    terminal.until("an earlier message was edited", "otherwise", gone="rewording")


def test_questions_and_plans_are_forms(opened, size):
    options = [
        {"label": "Tea", "description": "green"},
        {"label": "Coffee", "description": "black"},
    ]
    question = {"header": "Drink", "question": "Which drink?", "options": options}
    asks = json.dumps({"questions": [question, {**question, "question": "And then?"}]})
    terminal = opened(size=size)
    terminal.types("/plan\r")
    terminal.until("planning")
    terminal.types(f"[[tool-calls: ask_user_question:{asks}]] [[text: noted]] ask me\r")
    terminal.until("Which drink? (1 of 2)", "1  Tea · green", gone="once you pause")
    terminal.types("2")
    terminal.until("And then? (2 of 2)")
    terminal.types("water\r")
    terminal.until("Which drink?\n  Coffee", "And then?\n  water", gone="(2 of 2)")
    plan = json.dumps({"plan": "## First\n\nLook around."})
    terminal.until(gone=AT_WORK)
    terminal.types(f"[[tool-calls: propose_plan:{plan}]] [[text: so]] plan it\r")
    terminal.until("Look around.", "Shall it be carried out?", gone="once you pause")
    terminal.types("y")

    terminal.until("> Carry out the plan.", gone="planning ·")


def test_calls_are_cards_that_tell_how_they_ended_and_open_whole(opened, place):
    lines = "for n in 1 2 3 4 5 6 7 8; do echo row $n; done"
    terminal = opened(size={"columns": 100, "lines": 40})
    made = calls(("create_workspace", {"template_id": "web"}))
    terminal.types(f"[[tool-calls: {made}]] [[text: there]] begin\r")
    terminal.until("✓ create_workspace  web", gone=AT_WORK)
    ran = calls(("execute", {"command": f"{lines}; exit 3"}), ("execute", {"command": lines}))
    terminal.types(f"[[tool-calls: {ran}]] [[text: both ran]] run\r")
    shown = terminal.until("✗ execute", "✓ execute", "… 3 lines · ctrl-O", gone=AT_WORK)
    [file] = Path(place["PROMPTCORNER_DATA_DIR"], "workspaces").rglob("README.md")
    edit = {"path": str(file), "edits": [{"old_text": "a place", "new_text": "home"}]}
    edited = calls(("edit_files", {"files": [edit]}))
    terminal.types(f"[[tool-calls: {edited}]] [[text: edited]] edit\r")
    terminal.until("✓ edit_files", "-a place", "+home", gone=AT_WORK)
    terminal.types("\x0f")
    terminal.until("What shall be opened?", "✗ execute")
    terminal.types("exit 3")
    terminal.until("1/1")
    terminal.types("\r")
    terminal.until("called with", "row 1", gone="What shall be opened?")

    failed = next(line for line in shown.splitlines() if line.startswith("✗ execute"))
    assert "exit 3" in failed
    assert "home" == file.read_text().strip()


def test_what_runs_is_seen_while_it_runs(opened):
    terminal = opened()
    made = calls(("create_workspace", {"template_id": "web"}))
    terminal.types(f"[[tool-calls: {made}]] [[text: there]] begin\r")
    terminal.until("✓ create_workspace", gone=AT_WORK)
    slow = calls(("execute", {"command": "echo early; sleep 600", "timeout": "600s"}))
    terminal.types(f"[[tool-calls: {slow}]] [[text: never]] run\r")
    terminal.until("  early\n", "working")
    terminal.types("\x03")
    terminal.until("✗ execute", gone=("working", *AT_WORK))


def test_commands_change_and_tell_of_the_chat(opened, tmp_path):
    terminal = opened(size=LARGE)
    terminal.types("[[text: well said]] hello\r")
    terminal.until("well said", gone=AT_WORK)
    for typed, shown in (
        ("/cost", ", $0.00"),
        ("/effort low", "effort low"),
        ("/title Rivers", "· Rivers"),
        (f"/export {tmp_path}/rivers.md", "written to"),
        (f"/export {tmp_path}/rivers.md", "name another file"),
        ("/share", "may read it: only you"),
        ("/mcp", "there are no servers of tools"),
        ("/agents", "this chat has no agents"),
        ("/queue", "nothing waits"),
        ("/share nobody", "there is no user nobody"),
    ):
        terminal.types(f"{typed}\r")
        terminal.until(shown)
        terminal.types("\x15")
    terminal.types("/new\r")
    terminal.until("● new chat")
    terminal.types("/resume\r")
    terminal.until("Which chat?", "Rivers")
    terminal.types("Rivers\r")
    terminal.until("── Rivers", "well said", "connected")

    text = (tmp_path / "rivers.md").read_text()
    assert text.startswith("# Rivers\n")
    assert "## User\n\n[[text: well said]] hello\n\nwell said\n" in text


def test_a_file_that_is_named_goes_along(opened, tmp_path):
    (tmp_path / "notes.txt").write_text("the notes")
    terminal = opened()
    terminal.types(f"[[text: read]] look at @{tmp_path}/notes.txt\r")

    terminal.until("▫ notes.txt", "read", gone=AT_WORK)


def test_a_resize_in_mid_word_keeps_the_answer_and_what_is_typed(opened):
    terminal = opened()
    terminal.types("[[deltas: 60]] [[delta-ms: 40]] [[delta-chars: 12]] talk\r")
    terminal.until("answering")
    terminal.types("half a thou")
    terminal.until("> half a thou")
    terminal.resize(**LARGE)
    terminal.read(0.3)
    terminal.resize(columns=60, lines=20)
    terminal.types("ght")
    terminal.until("> half a thought", gone="answering")

    assert 1 == terminal.shown.count("half a thought")
    assert 1 == terminal.shown.count("connected")


def test_no_key_is_lost_while_the_answer_comes_fast(opened):
    terminal = opened()
    terminal.types("[[deltas: 400]] [[delta-ms: 5]] talk\r")
    terminal.until("answering")
    words = "the quick brown fox jumps over the lazy dog, twice over"
    for letter in words:
        terminal.types(letter)
        terminal.read(0.01)

    terminal.until(f"> {words}")


@pytest.mark.parametrize("ends", ["killed", "replaced"])
def test_a_daemon_that_goes_in_mid_word_is_waited_for(database, ends):
    port = free_ports()
    with (
        tempfile.TemporaryDirectory(prefix="promptcorner-tests-") as top,
        a_provider() as provider,
        ExitStack() as stack,
    ):
        home = Path(top) / "home"
        home.mkdir()
        settings = {
            **provider.settings,
            "DATABASE_URL": database,
            "PROMPTCORNER_DRAIN_SECONDS": "0",  # one that is told to go does not end the answer
        }
        client = {
            "PROMPTCORNER_URL": f"http://127.0.0.1:{port}",
            "PROMPTCORNER_DATA_DIR": str(home),
            "XDG_STATE_HOME": f"{top}/state",
        }
        with a_daemon(home, listen=f"127.0.0.1:{port}", **settings) as first:
            first.wait_ready()
            terminal = ScreenTerminal("chat", **SMALL, anew=True, **client)
            stack.callback(terminal.close)
            terminal.until("new chat")
            words = "[[text: the beginning of it and then its very end]]"
            terminal.types(f"{words} [[delta-chars: 1]] [[delta-ms: 80]] talk\r")
            terminal.until("answering")
            terminal.types("kept")
            if ends == "killed":
                first.kill()
            else:
                assert 0 == first.stop()
            terminal.until("no connection, trying again", "> kept")
        with a_daemon(home, listen=f"127.0.0.1:{port}", **settings) as second:
            second.wait_ready()
            terminal.until("its very end\n", "● connected", "> kept", gone=AT_WORK)
            terminal.types("\x03")
            terminal.until(gone="> kept")
            terminal.types("[[text: here again]] and now\r")
            terminal.until("\nhere again\n", gone=AT_WORK)
            assert 0 == second.stop()


def test_plain_lines_draw_nothing_anew(opened):
    terminal = opened("--plain", waits_for="/help lists")
    terminal.types("[[text: # One\n\ntwo]] hello\n".replace("\n\n", " "))
    shown = terminal.until("One two", "Done.")
    assert "You:" not in shown, "what was typed stands there already"
    terminal.types(f"{LOOK}\n")
    terminal.until("May list_templates run?", "n denies it")
    terminal.read(0.7)  # the pause that makes a line an answer
    terminal.types("y\n")
    terminal.until("Done: list_templates", "looked")
    terminal.types("/resume\n")
    terminal.until("Type a number")
    terminal.types("\n")
    terminal.types("/quit\n")

    assert 0 == terminal.ends()
    assert not re.search(rb"[\x1b\b]|\r(?!\n)", terminal.raw)


def test_without_colours_nothing_is_coloured(opened):
    terminal = opened(NO_COLOR="1")
    terminal.types("[[text: **bold** `code`]] hello\r")
    terminal.until("bold code", gone="answering")

    coloured = re.findall(rb"\x1b\[[0-9;]*m", terminal.raw)
    assert {b"3", b"4", b"9"}.isdisjoint({code[2:3] for code in coloured if len(code) > 4})
