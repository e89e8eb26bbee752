"""Answers as they grow, and calls as cards: what is printed, once each, and what is not."""

import re
from datetime import UTC, datetime
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from adapters.cli.chat.reading import scrollback
from adapters.cli.chat.reading.blocks import (
    CODE_LINES_MAX,
    TABLE_ROWS_MAX,
    GrowingMarkdown,
    MarkdownBlock,
)
from adapters.cli.chat.reading.cards import CallCard, outcome_of, subject_of, whole_text
from adapters.cli.chat.reading.diffs import changes_of, is_readable_change
from adapters.cli.chat.reading.drawing import (
    Look,
    end_of,
    fitted,
    last_lines,
    live_fragments,
    text_of_items,
    wrapped,
)
from adapters.cli.chat.reading.scrollback import (
    BEGUN_ANEW,
    ChatScrollback,
    ConsentCard,
    NoteLine,
    ThoughtFold,
    Unfinished,
    UserWords,
)
from adapters.cli.chat.reading.status_line import ChatFacts, state_line, window_text
from adapters.cli.harmless import coloured, harmless
from promptcorner_client.transcript import Transcript
from promptcorner_client.wire import (
    ChatApproval,
    ChatMessage,
    ChatMessagePart,
    ChatStreamEvent,
    ChatStreamMessagePart,
)

CHAT = UUID(int=7)
AT = datetime(2030, 1, 1, tzinfo=UTC)
SEQUENCE = re.compile(r"\x1b(?!\[[0-9;]*m)")
MARKS = ("# a", "- item", "  inside", "1. one", "```", "```py", "~~~", "| a | b |", "|---|---|")
LINES = st.sampled_from(["words", "more words", "", "x=1", *MARKS])
TEXTS = st.lists(LINES, max_size=25).map("\n".join)


def grown(text, sizes=(1,)):
    """The blocks of a text that comes in pieces of these sizes, in turn."""
    growing, blocks, at, turn = GrowingMarkdown(), [], 0, 0
    while at < len(text):
        at += sizes[turn % len(sizes)]
        turn += 1
        blocks += growing.take(text[:at])
    return [*blocks, *growing.finish(text)]


@given(text=TEXTS, sizes=st.lists(st.integers(1, 30), min_size=1, max_size=5))
def test_blocks_are_the_same_however_a_text_comes(text, sizes):
    assert grown(text, [10_000]) == grown(text, sizes)


def table(rows, columns=("name", "km")):
    """A table of Markdown with so many rows."""
    head = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    return "\n".join([*head, *(f"| river {n} | {n} |" for n in range(rows))]) + "\n"


@pytest.mark.parametrize("rows", [0, 1, TABLE_ROWS_MAX, TABLE_ROWS_MAX + 1, 500])
@pytest.mark.parametrize("after", ["", "\n", "\nafterwards\n", "# afterwards\n"])
def test_a_long_table_is_printed_in_pieces_with_the_head_on_each(rows, after):
    found = grown(f"before\n{table(rows)}{after}", [7, 200])
    pieces = [block.text for block in found if "| name" in block.text]
    drawn = [re.sub(r"\x1b\[[0-9;]*m", "", text_of_items([each], Look())) for each in found]
    numbers = [int(n) for n in re.findall(r"river (\d+)", "".join(drawn))]

    assert list(range(rows)) == numbers
    assert max(1, -(-rows // TABLE_ROWS_MAX)) == len(pieces)
    assert all(each.count("| river") <= TABLE_ROWS_MAX for each in pieces)
    assert not any("|" in each for each in drawn), "each piece is drawn as a table"
    assert [False] + [True] * (len(pieces) - 1) == [
        block.goes_on for block in found if "| name" in block.text
    ]
    assert after.strip("#\n ") in drawn[-1]


@pytest.mark.parametrize(
    "text", ["a | b\n---\n", "| a | b |\n|---|---|---|\n", "a\n---|---\n", "- | a |\n  |---|\n"]
)
def test_lines_that_are_no_table_are_not_cut_as_one(text):
    [found] = grown(text + "a | b\n" * 100, [50])

    assert 1 == found.text.count("---|---") or 1 == found.text.count("---")


@given(text=TEXTS)
def test_no_line_is_lost_or_told_twice(text):
    def words(found):
        return [line for line in found.splitlines() if line.strip("`~py \n")]

    blocks = [word for block in grown(text) for word in words(block.text)]

    assert words(text) == blocks


def test_a_paragraph_is_finished_when_the_next_one_begins():
    growing = GrowingMarkdown()

    assert [] == growing.take("one\n\n")
    assert [MarkdownBlock("one\n\n")] == growing.take("one\n\nt")
    assert "t" == growing.rest


def test_long_code_is_cut_and_goes_on_as_code():
    text = "```py\n" + "x = 1\n" * (CODE_LINES_MAX + 5) + "```\n"

    first, second = grown(text)

    assert (False, True) == (first.goes_on, second.goes_on)
    for block in (first, second):
        assert block.text.startswith("```py\n")
        assert block.text.endswith("```\n")
    assert CODE_LINES_MAX + 5 == (first.text + second.text).count("x = 1")


def message(id, *parts, role="assistant"):
    return ChatMessage(id=id, chat_id=CHAT, created_at=AT, role=role, content=parts)


def text_part(text, type="text"):
    return ChatMessagePart(type=type, text=text)


class Told:
    """A chat that is told event by event: the items that it prints."""

    def __init__(self):
        self.seen, self.scrollback, self.items = Transcript(), ChatScrollback(), []

    def tell(self, type, **fields):
        event = ChatStreamEvent(type=type, chat_id=CHAT, **fields)
        self.seen.apply(event)
        self.items += self.scrollback.apply(event, self.seen)

    def piece(self, part, seq=1):
        piece = ChatStreamMessagePart("assistant", part, 1, 1, seq)
        self.tell("message_part", message_part=piece)

    def message(self, *args, **kwargs):
        self.tell("message", message=message(*args, **kwargs))


def test_an_answer_is_printed_as_it_comes_and_its_message_adds_only_the_rest():
    told = Told()
    told.piece(text_part("I think", "reasoning"))
    told.piece(text_part("One.\n\nTw"))
    before = list(told.items)
    told.message(1, text_part("I think", "reasoning"), text_part("One.\n\nTwo."))

    assert [ThoughtFold("I think"), MarkdownBlock("One.\n\n")] == before
    assert [MarkdownBlock("Two.")] == told.items[2:]
    assert Unfinished() == told.scrollback.unfinished()


def test_an_answer_that_is_begun_anew_says_so():
    told = Told()
    told.piece(text_part("One.\n\nTw"))
    told.tell("preview_reset")
    told.piece(text_part("Other.\n\nw"))

    assert [MarkdownBlock("One.\n\n"), NoteLine(BEGUN_ANEW, "warning")] == told.items[:2]
    assert MarkdownBlock("Other.\n\n") == told.items[2]


def test_a_message_is_printed_once_also_after_an_edit_elsewhere():
    told = Told()
    told.message(1, text_part("hello"), role="user")
    told.tell("history_reset")
    told.message(1, text_part("hello"), role="user")
    told.message(2, text_part("other"), role="user")

    assert [UserWords("hello"), UserWords("other")] == [
        item for item in told.items if isinstance(item, UserWords)
    ]


def test_a_call_is_a_card_that_runs_until_its_result_is_kept():
    told = Told()
    call = ChatMessagePart(
        type="tool-call",
        tool_call_id="a",
        tool_name="execute",
        args=msgspec.Raw(b'{"command":"ls"}'),
    )
    told.message(1, call)
    told.piece(
        ChatMessagePart(
            type="tool-result", tool_call_id="a", tool_name="execute", result_delta="half"
        )
    )
    [running] = told.scrollback.unfinished().calls
    result = msgspec.Raw(b'{"success":false,"exit_code":3,"output":"no"}')
    done = ChatMessagePart(type="tool-result", tool_call_id="a", tool_name="execute", result=result)
    told.message(2, done, role="tool")

    [card] = told.items
    assert ("half", "⚙") == (running.live, running.mark)
    assert ("✗", "exit 3", "ls") == (card.mark, outcome_of(card), subject_of(card))
    assert () == told.scrollback.unfinished().calls
    assert "command: ls" in whole_text(card)


def test_of_some_results_only_the_words_are_shown():
    sent = {"chat_id": "c", "title": "Digger", "status": "running", "type": "general"}
    summed = {"summary": "We spoke of ships.", "source": "manual", "threshold_percent": 70}
    cards = [
        CallCard("a", "spawn_agent", {"title": "Digger"}, sent, is_done=True),
        CallCard("p", "propose_plan", {"plan": "# One"}, {"ok": True, "path": "P"}, is_done=True),
        CallCard("b", "chat_summarized", {"source": "manual"}, summed, is_done=True),
    ]

    text = text_of_items(cards, Look(has_colour=False, is_plain=True))

    assert [
        "Done: spawn_agent  Digger",
        "Done: propose_plan",
        "Done: chat_summarized  manual",
        "  We spoke of ships.",
    ] == [line for line in text.splitlines() if line]


def test_a_call_that_is_opened_has_its_long_fields_on_lines_of_their_own():
    result = {"page": 1, "templates": [{"id": f"template {n}"} for n in range(9)]}

    text = whole_text(CallCard("a", "list_templates", {}, result, is_done=True))

    assert "called with nothing\n\nresult\n  page: 1\n  templates: \n" in text
    assert '      "id": "template 8"\n' in text


@pytest.mark.parametrize("lines", [3, 5, 9])
def test_the_last_lines_of_an_output_are_shown_and_how_many_are_not(lines):
    output = "".join(f"line {n}\n" for n in range(lines))
    result = {"success": True, "exit_code": 0, "output": output}
    card = CallCard("a", "execute", {"command": "x"}, result, is_done=True)

    text = text_of_items([card], Look(has_colour=False, is_plain=True))

    assert min(lines, 5) == text.count("line ")
    assert f"line {lines - 1}\n" in text
    assert ("… 4 lines" in text) == (lines == 9)


@pytest.mark.parametrize(
    ("result", "is_error", "mark"),
    [
        ({"success": True, "exit_code": 0}, False, "✓"),
        ({"success": False, "exit_code": 1}, False, "✗"),
        ({"error": "no such file"}, False, "✗"),
        ({"ok": True, "error": ""}, False, "✓"),
        ("text", True, "✗"),
        ("text", False, "✓"),
    ],
)
def test_only_what_went_well_bears_a_tick(result, is_error, mark):
    assert mark == CallCard("a", "execute", {}, result, is_done=True, is_error=is_error).mark


def approval(tool, args):
    return ChatApproval(CHAT, "tidy\nup", "c", tool, args, AT, None)


def test_consent_shows_an_edit_as_a_diff_and_a_command_as_it_is():
    edit = '{"files": [{"path": "/a.py", "edits": [{"old_text": "x\\ny", "new_text": "x\\nz"}]}]}'
    shown = text_of_items([ConsentCard(approval("edit_files", edit), True)], Look(has_colour=False))
    command = '{"command": "make test\\nls"}'
    ran = text_of_items([ConsentCard(approval("execute", command), False)], Look(has_colour=False))

    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in shown.splitlines()]
    assert ["? edit_files, asked by the agent “tidy?up”", "/a.py  +1 -1"] == plain[1:3]
    assert ["-y", "+z"] == plain[-2:]
    assert "make test" in ran
    assert "{" not in ran


@pytest.mark.parametrize(
    "arguments",
    [
        {"files": [{"path": "/a", "edits": [{"old_text": "a", "new_text": "b"}], "mode": "777"}]},
        {"files": [{"path": "/a", "edits": "all"}]},
        {"files": [], "more": 1},
        [1],
        "text",
    ],
)
def test_an_edit_that_is_not_understood_is_shown_as_it_came(arguments):
    assert not is_readable_change("edit_files", arguments)


def test_a_result_with_a_diff_is_believed_before_the_arguments():
    result = {"ok": True, "files": [{"path": "/a", "diff": "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n"}]}
    [change] = changes_of("edit_files", {"files": []}, result)

    assert ("/a  +1 -1", ["@@ -1 +1 @@", "-x", "+y"]) == (change.summary, change.lines)


HOSTILE = "\x1b]0;title\x07a\x1b[2Jb\x1b[31mred\x1b[0m\rover\x9b1;1Hx\x07\u202e"


def test_nothing_that_others_have_written_moves_the_cursor():
    approval_ = approval("execute", '{"command": "ls\\u001b[2J"}')
    card = CallCard(
        "a", HOSTILE, {"path": HOSTILE}, {"output": HOSTILE, "error": HOSTILE}, is_done=True
    )
    items = [
        UserWords(HOSTILE, [HOSTILE]),
        MarkdownBlock(f"{HOSTILE}\n\n```\n{HOSTILE}\n```"),
        ThoughtFold(HOSTILE),
        NoteLine(HOSTILE),
        ConsentCard(approval_, False),
        card,
    ]

    text = text_of_items(items, Look())
    live = live_fragments(Unfinished(HOSTILE, HOSTILE, (card,)), Look(), rows=50, spinner="⠋")

    for shown in (text, "".join(part for _, part in live)):
        assert not SEQUENCE.search(shown)
        assert not re.search("[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202e]", shown)
    assert all("\x1b" not in part for _, part in live)


@given(st.text())
def test_text_without_controls_stays_as_it_is_or_becomes_harmless(text):
    assert "\x1b" not in harmless(text)
    assert not SEQUENCE.search(coloured(text))


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_the_line_of_state_fits_and_keeps_the_connection(width):
    facts = ChatFacts(
        "A title", "opus", "high", 8_400, 200_000, "$0.0123", 2, 3, 1, is_planning=True
    )
    line = state_line(facts, width)

    assert len(line) < width
    assert line.startswith("● connected")
    if width == 200:
        assert "8.4k of 200k (4 %)" in line
        assert "1 of 3 agents at work" in line


@given(st.text("a日👍 e\u0301", max_size=60), st.integers(20, 60))
def test_texts_are_fitted_and_wrapped_by_columns(text, columns):
    assert cell_len(fitted(text, columns)) <= columns
    lines = wrapped(text, columns)
    assert all(cell_len(line) <= columns for line in lines)
    assert "".join(text.split()) == "".join("".join(lines).split()), "nothing of it is lost"


def test_a_wide_title_takes_its_columns_of_the_line_of_state():
    facts = ChatFacts(title="日本語の題名" * 3, model="opus")

    assert "日本語" not in state_line(facts, 40)
    assert state_line(facts, 80).endswith("題名")


def test_a_long_name_of_a_model_leaves_room_for_the_rest():
    facts = ChatFacts(model="Rehearsal (not a real model: set up a provider)", cost="$0.0100")

    assert "Rehearsal (not a real model: se… · $0.0100" in state_line(facts, 80)


def test_what_is_not_known_of_the_window_is_not_shown():
    assert ["", "window 128k", "840 tokens"] == [
        window_text(None, 0),
        window_text(None, 128_000),
        window_text(840, 0),
    ]


@pytest.mark.parametrize(
    ("text", "most", "lines", "hidden"),
    [
        ("", 3, "", 0),
        ("a\nb\n", 3, "a\nb", 0),
        ("a\nb\nc\nd\n", 2, "c\nd", 2),
        ("a\nb\nc", 0, "", 3),
        ("a\n" * 100_000 + "b", 1, "b", 100_000),
    ],
)
def test_the_last_lines_of_an_output_are_found_without_the_others(text, most, lines, hidden):
    assert last_lines(text, most) == (lines, hidden)


@pytest.mark.parametrize(
    ("text", "begins", "ends"),
    [
        (
            "| a | b |\n|---|---|\n" + "| c | d |\n" * 500,
            "| a | b |\n|---|---|\n| c | d |",
            "d |\n",
        ),
        ("```js\n" + "var a = 1; " * 9_000, "```js\n", "var a = 1; "),
        ("words " * 9_000 + "end", "words ", "end"),
    ],
)
def test_of_a_long_block_its_end_is_drawn_as_what_it_is(text, begins, ends):
    shown = end_of(text, 400)
    assert shown.startswith(begins)
    assert shown.endswith(ends)
    assert len(shown) < 500


def test_a_long_line_of_code_is_printed_whole_and_without_the_search_for_colours():
    printed = text_of_items([MarkdownBlock("```js\n" + "var a=1;" * 2_000 + "\n```\n")], Look(80))
    assert printed.count("v") == 2_000
    assert "\x1b" not in printed


def test_what_was_printed_long_ago_is_kept_by_the_daemon_alone(monkeypatch):
    monkeypatch.setattr(scrollback, "OPENED_CHARACTERS_MAX", 1_000)
    printed, seen = ChatScrollback(), Transcript(messages_max=3)
    for id in range(1, 41):
        thought = ChatMessagePart(type="reasoning", text=f"{id:100}")
        said = ChatMessage(id=id, chat_id=CHAT, role="assistant", created_at=AT, content=(thought,))
        event = ChatStreamEvent(type="message", chat_id=CHAT, message=said)
        seen.apply(event)
        assert [ThoughtFold(thought.text)] == printed.apply(event, seen)

    assert [38, 39, 40] == list(seen.messages)
    assert [f"{id:100}" for id in range(31, 41)] == [each.text for each in printed.opened]

    long = ThoughtFold("x" * 2_000)
    printed.keep_opened([long])
    assert [long] == list(printed.opened), "the newest can be opened in any case"
