"""An answer on a terminal, and in a pipe."""

from datetime import UTC, datetime
from io import StringIO
from uuid import UUID

from rich.console import Console

from adapters.cli.chat.screen import PipeScreen, parts_view
from promptcorner_client.transcript import Transcript
from promptcorner_client.wire import ChatMessage, ChatMessagePart, ChatStreamEvent

SAID = (
    ChatMessagePart(type="text", text="Half."),
    ChatMessagePart(type="hook-notice", text="The rest was withheld."),
)


def test_a_notice_behind_an_answer_is_shown_on_a_terminal():
    console = Console(width=80, record=True, file=StringIO())

    console.print(parts_view(SAID, width=80))

    assert "! The rest was withheld." in console.export_text()


def test_a_notice_behind_an_answer_is_no_part_of_what_programs_read(capsys):
    at = datetime(2030, 1, 1, tzinfo=UTC)
    kept = ChatMessage(id=2, chat_id=UUID(int=7), created_at=at, role="assistant", content=SAID)

    event = ChatStreamEvent(type="message", chat_id=kept.chat_id, message=kept)
    PipeScreen().show(event, Transcript())

    shown = capsys.readouterr()
    assert shown.out == "Half.\n"
    assert shown.err == "! The rest was withheld.\n"
