"""The line that is typed: keys of emacs and vi, earlier lines, $EDITOR, pastes, completion."""

from unicodedata import normalize

import pytest

from tests.e2e.processes import eventually
from tests.e2e.terminal.stories import AT_WORK, chat_of

pytestmark = pytest.mark.slow

EDITOR = """#!/bin/sh
echo "the editor has: $(cat "$1")"
read answer
printf '\\nwritten outside\\n%s\\n' "$answer" >> "$1"
"""
# Wide letters, letters of two characters each, and figures that several characters make up.
WIDE = (
    "日本語のテスト",
    "e\u0301a\u0308o\u0302 n\u0303",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f44d\U0001f3fd \u2764\ufe0f",
)


def test_a_line_is_edited_as_in_emacs_and_as_in_vi(opened, size):
    terminal = opened(size=size)
    terminal.types("one two three\x01zero \x05 four")  # to its beginning, to its end
    terminal.until("> zero one two three four")
    terminal.types("\x17\x17\x19\x1bb\x0b")  # ctrl-W twice, ctrl-Y, Alt-B, ctrl-K
    terminal.until("> zero one two three\n")
    terminal.types("\x1f")  # ctrl-_ undoes
    terminal.until("> zero one two three four")
    terminal.types("\x12thr")  # a search that is given up leaves nothing behind
    terminal.until("I-search backward: thr")
    terminal.types("\x07\x05\x15/vi\r")
    terminal.until("you type as in vi\n")
    terminal.types("one [[text: so]] three")
    terminal.until("> one [[text: so]] three")
    terminal.types("\x1b0dwA!")
    terminal.until("> [[text: so]] three!")
    terminal.types("\x1b0\r")
    terminal.until("\nso\n", gone=AT_WORK)
    terminal.types("typed at once")  # each line begins in the mode in which one types
    terminal.until("> typed at once")
    terminal.types("\x15[[deltas: 1000]] [[delta-ms: 50]] go on\r")
    terminal.until("answering")
    terminal.types("half\x1b0xx")  # Esc is vi's, and stops nothing
    terminal.until("> lf", "answering")
    terminal.types("\x03")
    terminal.until("> lf", gone=AT_WORK)


def test_earlier_lines_are_searched_and_the_one_that_is_found_is_seen(opened):
    first = opened()
    for number, words in enumerate(("an unusual wish", "another wish", "nothing of the kind")):
        first.types(f"[[text: so {number}]] {words}\r")
        first.until(f"\nso {number}\n", gone=AT_WORK)
    chat_of(first)
    terminal = opened()
    terminal.types("\x12wish")
    terminal.until("I-search backward: wish", "> [[text: so 1]] another wish")
    terminal.types("\x12")
    terminal.until("> [[text: so 0]] an unusual wish")
    terminal.types("\r")  # takes it, and sends nothing yet
    terminal.until("> [[text: so 0]] an unusual wish", "new chat", gone="I-search")
    terminal.types(", twice\x1b[F again\r")
    terminal.until("\nso 0\n", gone=AT_WORK)


def test_a_message_is_written_in_another_program_while_the_answer_comes(opened, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text(EDITOR)
    editor.chmod(0o755)
    terminal = opened(EDITOR=str(editor), VISUAL="")
    terminal.types("[[text: first block\x1b\r\x1b\rlast block]] [[delta-ms: 400]] talk\r")
    terminal.until("answering")
    terminal.types("a draft\x18\x05")
    terminal.until("the editor has: a draft")
    terminal.types("seen by the editor\r")
    terminal.until("written outside", "  seen by the editor", "last block", gone=AT_WORK)
    terminal.types("\x03")
    terminal.until(gone="written outside")
    terminal.types("/vi\r")
    terminal.until("you type as in vi\n")
    terminal.types("in vi\x1b0v")
    terminal.until("the editor has: in vi")
    terminal.types("it is v\r")
    terminal.until("> in vi", "  written outside", "  it is v")


def test_what_is_pasted_is_one_message_however_long(opened, prompts_of):
    terminal = opened()
    lines = [f"line {number}:\tof text" for number in range(1, 41)]
    terminal.types("before ")
    terminal.pastes("\r\n".join(lines))
    terminal.types(" behind")
    terminal.until("line 40:", "behind", "new chat", gone="line 20:")
    terminal.types("\r")
    terminal.until("> before line 1:", "connected", gone=AT_WORK, all_of_it=True)
    _, chat = chat_of(terminal)

    assert ["before " + "\n".join(lines) + " behind"] == prompts_of(chat)


def test_commands_models_chats_and_files_are_completed(opened, tmp_path):
    first = opened()
    first.types("[[text: so]] a chat to come back to\r")
    first.until("so\n", gone=AT_WORK)
    _, chat = chat_of(first)
    (tmp_path / "harbour.txt").write_text("ships")
    terminal = opened()
    terminal.types("/mod")
    terminal.until("choose the model of the next messages")
    terminal.types("\t gemini")
    terminal.until("> /model gemini\n", " gemini-2.5-pro ")
    terminal.types("\t")
    terminal.until("> /model gemini-2.5-pro")
    terminal.types("\r\r")  # the first takes what is proposed
    terminal.until("new chat · gemini-2.5-pro")
    terminal.types(f"/resume {chat[:13]}")
    terminal.until(f" {chat} ")
    terminal.types("\t")
    terminal.until(f"> /resume {chat}")
    terminal.types(f"\x15[[text: read]] look at @{tmp_path}/har")
    terminal.until(" harbour.txt")
    terminal.types("\t\r\r")
    terminal.until("▫ harbour.txt", "\nread", gone=AT_WORK)
    terminal.types("/effort ")
    terminal.until(" minimal")
    terminal.types("\t\t")
    terminal.until("> /effort minimal")
    terminal.types("\x1b")  # closes what is proposed, and takes it back
    terminal.until("> /effort\n", gone="minimal")


def column_behind_the_bar(terminal):
    """The column of the cursor once it stands there; its line may move down meanwhile."""

    def stands():
        terminal.read(0.02)
        return terminal.before_cursor == "|" and not terminal.is_half_drawn

    eventually(stands, "the cursor stands behind the bar")
    return terminal.cursor[1]


def test_wide_letters_stand_where_they_are_typed_and_said(opened, size):
    terminal = opened(size=size)
    for text in WIDE:
        seen = normalize("NFC", text)  # as the screen joins letters
        for letter in text:  # as an input method hands them over, one at a time
            terminal.types(letter)
        terminal.types("|")
        terminal.until(f"> {seen}|")
        column = column_behind_the_bar(terminal)
        terminal.types("\x02\x7f")  # one to the left, and what stands there goes
        terminal.until(f"> {normalize('NFC', text[:-1])}|")
        terminal.types(f"{text[-1]}\x05")
        terminal.until(f"> {seen}|")
        assert column == column_behind_the_bar(terminal)
        terminal.types(f"\x15[[text: **{text}** and after it]] say\r")
        terminal.until(f"\n{seen} and after it\n", gone=AT_WORK)
