"""What others have written reaches no terminal as anything but letters, in whichever command."""

import io
import json
import re
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from uuid import UUID

import msgspec
import pytest
from rich.console import Console

from adapters.cli import main
from adapters.cli.admin.connection import print_line
from adapters.cli.board.drawing import encoded, frame, table_rows
from adapters.cli.board.rows import BoardGroup, BoardRow, BoardState, ChatDetail
from adapters.cli.chat import screen
from adapters.cli.chat.approvals import choices_of
from adapters.cli.chat.deciding.asking import ConsentAsk
from adapters.cli.chat.place.devices import bell_text
from adapters.cli.chat.reading.blocks import MarkdownBlock
from adapters.cli.chat.reading.cards import CallCard
from adapters.cli.chat.reading.drawing import Look, live_fragments, text_of_items
from adapters.cli.chat.reading.scrollback import (
    ConsentCard,
    NoteLine,
    ThoughtFold,
    Unfinished,
    UserWords,
)
from adapters.cli.chat.reading.status_line import ChatFacts, state_line
from adapters.cli.command_line import table
from adapters.cli.completion.candidates import as_lines
from adapters.cli.doctor.command import _line
from adapters.cli.doctor.findings import warning
from adapters.cli.pipes.printing import FollowPrinter, TextPrinter
from adapters.cli.pipes.records import CallRecord, MessageRecord, ResultRecord, TextRecord
from adapters.settings import logs
from promptcorner_client.wire import ChatApproval, ChatMessage, ChatMessagePart

AT = datetime(2030, 1, 1, tzinfo=UTC)
CORPUS = {
    "clears the screen": "a\x1b[2Jb",
    "clipboard": "a\x1b]52;c;ZXZpbA==\x07b",
    "title": "a\x1b]0;title\x1b\\b",
    "link": "a\x1b]8;;https://evil.example\x07b",
    "cut sequence": "a\x1b",
    "C0": "a\x00\x07\x08\x0b\x0c\x0eb",
    "returns": "a\rb",
    "C1": "a\x9b2J\x90\x9d52;c;x\x9cb",
    "delete": "a\x7fb",
    "bidi": "a\u202e\u2066\u2069\u200f\u061cb",
    "separators": "a\u2028\u2029\x85b",
    "invisible": "a\u200b\u2060\ufeff\U000e0041b",
    "surrogate": "a\ud800b",
}
OURS = re.compile(r"\x1b\[[0-9;]*m")  # colours that we draw
HARMFUL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    r"\ud800-\udfff\U000e0000-\U000e007f]"
)


def approval(text):
    return ChatApproval(
        chat_id=UUID(int=1),
        chat_title=text,
        tool_call_id="1",
        tool_name=text,
        args=json.dumps({"command": text, text: text}),
        requested_at=AT,
        expires_at=None,
        suggested_rules=[text],
    )


def window(text):
    card = CallCard("1", text, {text: text}, result=text, is_done=True)
    output = CallCard("1", "execute", {"command": text}, result={"output": text}, is_done=True)
    failed = CallCard("1", text, text, result={"error": text}, is_done=True, is_error=True)
    items = [
        UserWords(text, (text,)),
        MarkdownBlock(text),
        MarkdownBlock(f"```{text}\n{text}\n```"),
    ]
    items += [MarkdownBlock(f"| {text} |\n|---|\n| {text} |"), ThoughtFold(text), NoteLine(text)]
    return [*items, ConsentCard(approval(text), is_agents=True), card, output, failed]


def of_window(text):
    return text_of_items(window(text), Look(100))


def of_plain(text):
    return text_of_items(window(text), Look(100, has_colour=False, is_plain=True))


def of_what_grows(text):
    live = Unfinished(text, text, (CallCard("1", text, text, live=text),))
    return "".join(said for _, said in live_fragments(live, Look(100), rows=16, spinner="x"))


def of_line_of_state(text):
    return state_line(ChatFacts(title=text, model=text, effort=text, cost=text), 200)


def of_question(text):
    return "\n".join(said for _, said in ConsentAsk(approval(text), 0).lines(AT))


def of_bell(text):
    return (
        bell_text(text, "notify", {"TERM_PROGRAM": "kitty", "KITTY_PID": "1"})[1:]
        .replace("\x1b]9;", "", 1)
        .removesuffix("\x07")
    )


def of_message_screen(text):
    parts = [
        ChatMessagePart(type="text", text=text),
        ChatMessagePart(type="reasoning", text=text),
        ChatMessagePart(type="hook-notice", text=text),
        ChatMessagePart(type="source", title=text, url=text),
        ChatMessagePart(type="file", name=text),
        ChatMessagePart(type="tool-call", tool_name=text, args_delta=text),
        ChatMessagePart(type="tool-result", tool_name=text, result_delta=text),
    ]
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    console.print(screen.parts_view(parts, width=100))
    said = ChatMessage(id=1, chat_id=UUID(int=1), role="user", created_at=AT, content=parts[:1])
    console.print(screen.message_view(said, width=100))
    console.print(screen.approval_view(approval(text)))
    console.print(choices_of(approval(text)), markup=False)
    return console.file.getvalue()


def of_pipe(printer, text):
    raw = msgspec.Raw(json.dumps(text).encode())
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        printer.show(TextRecord(text=text))
        printer.show(CallRecord(call_id="1", tool=text, arguments=raw))
        printer.show(ResultRecord(call_id="1", tool=text, result=raw, is_error=True))
        record = MessageRecord(
            id=1,
            role="assistant",
            text=text,
            reasoning=text,
            files=(),
            sources=(),
            notices=(text,),
            input_tokens=None,
            output_tokens=None,
            created_at=AT,
        )
        printer.show(record)
    return out.getvalue()


def of_board(text):
    row = BoardRow(UUID(int=1), text, BoardGroup.RESTS, text, AT, ChatDetail(step=text))

    class OneRow(BoardState):
        rows = (row,)

    state = OneRow(search=text, trouble=text)
    drawn = encoded(frame(state, AT, width=100, height=10), width=100, has_colours=True)
    return "".join(drawn) + table(["a"] * 7, table_rows(state, AT))


def of_completion(text):
    found = [(text, text)]
    return "".join(as_lines(found, shell, "") for shell in ("bash", "zsh", "fish"))


def of_refusal(text):
    out = io.StringIO()
    with redirect_stderr(out):
        main._refuse(text)
    return out.getvalue()


def of_line(text):
    out = io.StringIO()
    with redirect_stdout(out):
        print_line(type("Options", (), {"json": False})(), {}, text)
    return out.getvalue()


def of_log(text):
    entry = {"timestamp": "1", "level": "info", "event": text, "field": text, "exception": text}
    return logs._text(None, "", entry)


SHOWN = {
    "window": of_window,
    "what grows": of_what_grows,
    "line of state": of_line_of_state,
    "question": of_question,
    "bell": of_bell,
    "--plain": of_plain,
    "-m, on a terminal": of_message_screen,
    "-m, from a pipe": lambda text: of_pipe(TextPrinter(is_terminal=True), text),
    "watch": lambda text: of_pipe(FollowPrinter(), text),
    "board": of_board,
    "tables": lambda text: table(["name"], [[text]]),
    "completion": of_completion,
    "doctor": lambda text: _line(warning("s", text, text)),
    "error": of_refusal,
    "answer on a line": of_line,
    "log": of_log,
}


@pytest.mark.parametrize("where", SHOWN)
@pytest.mark.parametrize("what", CORPUS)
def test_nothing_but_letters_reaches_the_terminal(where, what):
    text = SHOWN[where](CORPUS[what])
    text.encode()
    found = HARMFUL.search(OURS.sub("", text))
    assert found is None, f"{found} in {text!r}"
