"""What users may type and press: commands, keys, lists, answers."""

import json
import os
from datetime import UTC, datetime
from uuid import UUID

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from adapters.cli.chat.deciding.asking import (
    ConsentAsk,
    FormQuestion,
    PlanAsk,
    QuestionsAsk,
    open_form,
)
from adapters.cli.chat.deciding.key_table import (
    KEYS,
    Action,
    InterruptMeaning,
    keys_text,
    meaning_of_interrupt,
)
from adapters.cli.chat.deciding.lists import chats_list
from adapters.cli.chat.deciding.mentions import FILE_BYTES_MAX, mention_before, mentions_in
from adapters.cli.chat.deciding.pace import (
    REDRAWS_MAX,
    SLEEP_SECONDS,
    AskGate,
    RedrawPace,
    SleepWatch,
)
from adapters.cli.chat.deciding.picking import ListRow, PickList, moved_in_order
from adapters.cli.chat.deciding.slash_commands import SLASH_COMMANDS, commands_text, read_slash
from adapters.cli.chat.place.attaching import (
    OTHERS_TOLD_MAX,
    CannotAttach,
    content_of,
    read_mentions,
)
from adapters.cli.chat.place.commands import DeskCommands
from adapters.cli.chat.place.completing import file_completions
from adapters.cli.chat.place.devices import HISTORY_BYTES_MAX, bell_text, is_light, shorten
from promptcorner_client.wire import ChatApproval, ChatMessage, ChatMessagePart
from tests.adapters.cli.test_conversation import CHAT
from tests.e2e.processes import ROOT

AT = datetime(2030, 1, 1, tzinfo=UTC)
APPROVAL = ChatApproval(UUID(int=1), "", "c", "execute", "{}", AT, None)


@pytest.mark.parametrize(
    ("line", "name", "rest"),
    [
        ("/help", "help", ""),
        ("  /MODEL  opus ", "model", "opus"),
        ("/exit", "quit", ""),
        ("/plan first\nlook", "plan", "first\nlook"),
    ],
)
def test_a_command_is_read_with_what_it_takes(line, name, rest):
    slash = read_slash(line)

    assert (name, rest) == (slash.command.name, slash.rest)


@pytest.mark.parametrize("line", ["/etc/hosts", "/ help", "hello /help", "/1", "", "//"])
def test_a_message_is_no_command(line):
    assert read_slash(line) is None


@pytest.mark.parametrize(
    ("word", "meant"), [("modle", "model"), ("comp", "compact"), ("exi", "quit")]
)
def test_an_unknown_command_comes_with_what_was_meant(word, meant):
    slash = read_slash(f"/{word}")

    assert slash.command is None
    assert meant in slash.meant


def test_every_command_and_every_key_has_its_deed_and_its_line_in_the_docs():
    text = (ROOT / "docs" / "terminal.md").read_text()

    for command in SLASH_COMMANDS:
        assert hasattr(DeskCommands, f"do_{command.name}")
        assert f"/{command.name}" in text
        assert f"/{command.name}" in commands_text()
    for key in KEYS:
        for shown in key.shown.split(", "):
            assert shown in text
    assert set(Action) == {key.action for key in KEYS}
    assert "ctrl-R" in keys_text()


@pytest.mark.parametrize(
    ("works", "has_text", "meaning"),
    [
        (True, True, InterruptMeaning.STOP_MODEL),
        (True, False, InterruptMeaning.STOP_MODEL),
        (False, True, InterruptMeaning.DROP_TEXT),
        (False, False, InterruptMeaning.SAY_HOW),
    ],
)
def test_ctrl_c_never_leaves(works, has_text, meaning):
    assert meaning == meaning_of_interrupt(works=works, has_text=has_text)


def test_a_question_takes_keys_only_after_a_pause():
    gate, asked = AskGate(), ConsentAsk(APPROVAL)
    gate.typed(9.9)

    assert not gate.look(asked, 10.0)
    gate.typed(10.3)
    assert not gate.look(asked, 10.6)
    assert gate.look(asked, 10.9)
    assert gate.is_open
    assert not gate.look(ConsentAsk(msgspec.structs.replace(APPROVAL, tool_call_id="d")), 11.0)
    assert not gate.is_open, "the next call is another question"


def test_a_key_answers_no_question_that_has_come_into_the_place_of_the_one_before():
    gate, asked = AskGate(), ConsentAsk(APPROVAL)
    gate.look(asked, 1.0)
    gate.look(asked, 2.0)

    assert gate.opens(asked)
    assert not gate.opens(ConsentAsk(msgspec.structs.replace(APPROVAL, tool_call_id="d")))


def test_the_next_question_of_a_form_is_open_at_once():
    form = QuestionsAsk([FormQuestion("a"), FormQuestion("b")])
    gate = AskGate()
    gate.look(form, 1.0)
    gate.look(form, 2.0)
    gate.look(form.answered("x"), 2.1)

    assert gate.is_open


def test_an_answer_is_given_once():
    gate = AskGate()
    gate.look(ConsentAsk(APPROVAL), 1.0)
    gate.look(ConsentAsk(APPROVAL), 2.0)
    gate.answered(2.1)

    assert not gate.look(ConsentAsk(APPROVAL), 2.2)
    assert gate.look(ConsentAsk(APPROVAL), 2.7), "it was no answer: the question stays"


@given(st.lists(st.floats(0, 0.2), min_size=1, max_size=400))
@example([0.001] * 400)
@example([0.02] * 400)
@example(([0.001] * 25 + [0.9]) * 15)
def test_redraws_stay_under_their_bound(pauses):
    pace, now, wait, drawn = RedrawPace(), 0.0, 0.0, []
    for pause in pauses:
        now += max(pause, wait)  # a redraw is asked for after the pause, and comes when it may
        wait = pace.drawn(now)
        drawn.append(now)

    for first in range(len(drawn) - REDRAWS_MAX):
        assert drawn[first + REDRAWS_MAX] - drawn[first] > 0.999


def test_a_sleep_is_noticed_once_and_a_slow_tick_is_none():
    sleeps = SleepWatch()
    looks = [100.0, 100.1, 103.0, 103.0 + SLEEP_SECONDS, 107.2, 20.0]

    assert [False, False, False, True, False, True] == [sleeps.look(at) for at in looks]


def test_a_form_takes_numbers_and_words_and_goes_back():
    form = QuestionsAsk([FormQuestion("One?", [("Tea", ""), ("Milk", "")]), FormQuestion("Two?")])
    second = form.answered("2")

    assert form.answered("  ") is None
    assert ("Milk",) == tuple(second.answers)
    assert () == second.answered("b").answers
    assert "One?\nMilk\n\nTwo?\n9" == second.answered("9").message


def call(name, result, args=b"{}"):
    parts = [
        ChatMessagePart(type="tool-call", tool_call_id="a", tool_name=name, args=msgspec.Raw(args)),
        ChatMessagePart(
            type="tool-result",
            tool_call_id="a",
            tool_name=name,
            result=msgspec.Raw(json.dumps(result).encode()),
        ),
    ]
    return [said(n, part) for n, part in enumerate(parts)]


def said(id, part, role="tool"):
    return ChatMessage(id=id, chat_id=UUID(int=1), created_at=AT, role=role, content=(part,))


def test_a_form_is_open_until_the_user_says_something():
    asks = call(
        "ask_user_question", {"questions": [{"question": "Why?", "options": [{"label": "x"}]}]}
    )
    plan = call("propose_plan", {"ok": True, "file_id": "f"}, b'{"plan": "Look."}')
    words = said(9, ChatMessagePart(type="text", text="hm"), "user")

    assert QuestionsAsk([FormQuestion("Why?", [("x", "")])]) == open_form(asks)
    assert PlanAsk("Look.", "f") == open_form(plan)
    assert open_form([*asks, words]) is None
    assert open_form(call("ask_user_question", {"questions": ["?", 3]})) is None
    assert open_form(call("ask_user_question", [1])) is None


def test_a_list_is_narrowed_moved_through_and_stops_at_its_ends():
    rows = PickList(
        "Which?", [ListRow(str(n), f"row {n}", preview="even" * (n % 2 == 0)) for n in range(30)]
    )

    assert "29" == rows.moved(99).chosen.id
    assert "0" == rows.moved(99).moved(-99).chosen.id
    assert 15 == len(rows.narrowed("EVEN row").found)
    assert rows.narrowed("nothing").chosen is None
    assert all(len(text) <= 40 for _, text in rows.moved(20).lines(40))
    assert any(text.startswith("> row 20") for _, text in rows.moved(20).lines(40))


def test_wide_letters_take_two_columns_of_a_list():
    rows = PickList("どの話ですか" * 9, [ListRow("1", "日本語の長い題名" * 9, "題")])

    assert all(cell_len(text) <= 40 for _, text in rows.lines(40))


@given(st.permutations(range(5)), st.integers(0, 5), st.integers(-3, 3))
def test_an_order_keeps_its_members(order, id, by):
    assert sorted(order) == sorted(moved_in_order(order, id, by))


def test_files_that_are_named_are_found_and_other_words_stay_words(tmp_path):
    for name in ("a.txt", "b c.png"):
        (tmp_path / name).write_text("x")
    text = 'look at @a.txt, @"b c.png" and @a.txt; not at me@a.txt or @missing'

    found = mentions_in(text, tmp_path)

    assert [("a.txt", "text/plain"), ("b c.png", "image/png")] == [
        (each.path.name, each.media_type) for each in found
    ]
    assert ["a.t", None] == [mention_before("look @a.t"), mention_before("me@a.t")]


def test_names_are_completed_folders_first_and_hidden_ones_if_asked_for(tmp_path):
    (tmp_path / "src").mkdir()
    for name in ("some.txt", ".secret", "other"):
        (tmp_path / name).write_text("")

    assert ["src/", "some.txt"] == [each.text for each in file_completions("s", tmp_path)]
    assert [".secret"] == [each.text for each in file_completions(".", tmp_path)]
    assert [] == list(file_completions("missing/x", tmp_path))


def test_the_bell_says_no_more_than_it_may():
    loud = {"TERM_PROGRAM": "WezTerm"}

    assert "\a\x1b]9;promptcorner: may xrun?\x07" == bell_text("may x\x07run?", "notify", loud)
    assert "\a" == bell_text("x", "notify", {})
    assert ("\a", "") == (bell_text("x", "bell", loud), bell_text("x", "off", loud))


def test_the_background_is_as_the_user_or_the_terminal_says():
    assert is_light("light", {})
    assert not is_light("dark", {"COLORFGBG": "0;15"})
    assert is_light("auto", {"COLORFGBG": "0;15"})
    assert not is_light("auto", {})


def test_a_history_that_has_grown_too_long_keeps_whole_entries_of_its_end(tmp_path):
    path = tmp_path / "history"
    path.write_text("".join(f"\n# 2030\n+line {n}\n" for n in range(HISTORY_BYTES_MAX // 10)))
    shorten(path)

    kept = path.read_text()
    assert len(kept) <= HISTORY_BYTES_MAX
    assert kept.startswith("# 2030\n+line")
    assert kept.endswith(f"+line {HISTORY_BYTES_MAX // 10 - 1}\n")


def test_chats_that_need_their_user_come_first_and_say_what_for():
    rests = msgspec.structs.replace(CHAT, title="Ships", updated_at=AT)
    more = {"title": "Harbours", "attention": "question", "question": "Which one?"}
    asks = msgspec.structs.replace(rests, **more)
    rows = chats_list([rests, asks], AT).rows

    assert [("Harbours", "Which one?"), ("Ships", "")] == [(row.text, row.preview) for row in rows]
    assert rows[0].note.startswith("asks a question")


@pytest.mark.parametrize("name", ["~nobody-of-that-name/a", "x" * 300, "a/" * 3_000, "a\0b"])
def test_a_name_that_can_be_no_file_stays_a_word(tmp_path, name):
    assert ([], "") == read_mentions(f"look at @{name}", tmp_path)
    list(file_completions(f"{name}/", tmp_path))  # while it is typed


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("loop", "a link that leads nowhere"),
        ("gone", "a link that leads nowhere"),
        ("folder/", "a folder"),
        ("pipe", "a named pipe"),
        ("/dev/zero", "a device"),
    ],
)
def test_what_is_no_file_stays_a_word_and_is_told(tmp_path, name, kind):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "gone").symlink_to("nowhere")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "notes").write_text("of it")

    [notes], words = read_mentions(f"look at @{name}, and @notes, and @{name}", tmp_path)

    assert f"not attached: {tmp_path / name} is {kind}" == words
    assert b"of it" == notes.content
    list(file_completions(f"{name}/", tmp_path))  # while it is typed


def test_a_message_that_names_many_folders_has_one_line_about_them(tmp_path):
    names = [f"folder-{n}" for n in range(OTHERS_TOLD_MAX + 3)]
    for name in names:
        (tmp_path / name).mkdir()

    found, words = read_mentions(" ".join(f"@{name}" for name in names), tmp_path)

    assert [] == found
    assert words.endswith(f"{names[OTHERS_TOLD_MAX - 1]} is a folder, and 3 more")


def test_a_file_that_is_too_long_or_no_longer_one_is_refused(tmp_path):
    with (tmp_path / "long").open("wb") as file:
        file.truncate(FILE_BYTES_MAX + 1)
    with pytest.raises(CannotAttach, match="long is larger than 10 MiB"):
        read_mentions("@long", tmp_path)

    os.mkfifo(tmp_path / "pipe")
    assert ["a named pipe"] == [each.kind for each in mentions_in("@pipe", tmp_path)]
    with pytest.raises(OSError, match="it is no file"):
        content_of(tmp_path / "pipe")  # which was a file when it was looked at
