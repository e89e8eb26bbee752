"""Records on standard output and standard error: as lines of JSON, or as text."""

import json
import sys
from typing import Protocol

import msgspec

from adapters.cli.command_line import printable
from adapters.cli.pipes.outcomes import Outcome
from adapters.cli.pipes.records import (
    BeginRecord,
    CallRecord,
    DroppedRecord,
    EndRecord,
    MessageRecord,
    NeedsRecord,
    PipeRecord,
    ResultRecord,
    RetryRecord,
    TextRecord,
)

ARGUMENTS_MAX = 72  # characters of a call's arguments on its line; the rest is cut
RESULT_MAX = 100

ANSWERED = (Outcome.DONE.value, Outcome.INTERRUPTED.value, Outcome.NEEDS_PERSON.value)


class RecordPrinter(Protocol):
    """A form in which a script or a person reads a turn."""

    def show(self, record: PipeRecord) -> None:
        """Print a record, or keep it until more is known."""


class JsonPrinter:
    """Lines of JSON on standard output, one for each record, each as soon as it is known."""

    def show(self, record: PipeRecord) -> None:
        sys.stdout.write(msgspec.json.encode(record).decode() + "\n")
        sys.stdout.flush()


class TextPrinter:
    """The last answer on standard output, and all else on standard error.

    An answer is the last one only when the turn has ended, so a pipe gets it then. On a terminal
    all answers appear as they are written, without characters that would move its cursor.
    """

    def __init__(self, *, is_terminal: bool, wants_document: bool = False) -> None:
        self._is_terminal = is_terminal and not wants_document
        self._wants_document = wants_document
        self._is_in_line = False  # something was written on the terminal without an end of line
        self._has_pieces = False  # were written there, of the message that is next
        self._last = ""  # answer that was not printed yet
        self._chat = ""

    def show(self, record: PipeRecord) -> None:
        match record:
            case BeginRecord():
                self._chat = str(record.chat_id)
            case TextRecord() if self._is_terminal:
                self._write(safe(record.text))
                self._has_pieces = True
                self._is_in_line = not record.text.endswith("\n")
            case DroppedRecord() if self._has_pieces:
                self._has_pieces = False
                self._note("… this attempt broke off, and is made again")
            case MessageRecord(role="assistant", text=text, notices=notices):
                self._show_answer(text)
                for notice in notices:
                    self._note(f"! {notice}")
            case CallRecord():
                self._show_earlier()
                self._note(f"⚙ {record.tool} {_cut(_flat(record.arguments), ARGUMENTS_MAX)}")
            case ResultRecord():
                mark = "✗" if record.is_error else "✓"
                self._note(f"{mark} {record.tool} {_cut(_flat(record.result), RESULT_MAX)}")
            case RetryRecord():
                self._note(f"attempt {record.attempt} failed, it is tried again: {record.error}")
            case EndRecord():
                self._end(record)

    def _show_answer(self, text: str) -> None:
        if not self._is_terminal:
            self._show_earlier()
            self._last = text
        elif self._has_pieces:
            self._write("\n" if self._is_in_line else "")
            self._has_pieces = self._is_in_line = False
        elif text:  # its pieces came before this terminal
            self._write(safe(text) + "\n")

    def _show_earlier(self) -> None:
        """Print an answer that was not the last one: it is not what a script asked for."""
        if self._last:
            sys.stderr.write(safe(self._last) + "\n")
        self._last = ""

    def _end(self, record: EndRecord) -> None:
        if self._is_in_line:
            self._write("\n")
            self._is_in_line = False
        if self._wants_document and record.outcome == Outcome.DONE.value:
            self._write(bytes(record.document).decode() + "\n")
        elif record.outcome in ANSWERED and self._last and not self._wants_document:
            self._write(self._last + "\n")
        else:
            self._show_earlier()
        if record.error is not None:
            detail = f"\n  {record.error.detail}" if record.error.detail else ""
            mark = "✗" if self._chat else "promptcorner:"  # without a chat, nothing has begun
            self._note(f"{mark} {record.error.message}{detail}")
        if record.needs is not None:
            self._note(self._needs(record))

    def _needs(self, record: EndRecord) -> str:
        kinds = {
            "consent": "waits for a person's consent",
            "tool_results": "waits for results of its client's tools",
            "question": f"asks: {record.question}",
            "plan": "proposes a plan, and waits for a person to look at it",
        }
        return f"{kinds[str(record.needs)]}; go on with: promptcorner chat {self._chat}"

    def _note(self, text: str) -> None:
        if self._is_in_line:
            self._write("\n")
            self._is_in_line = False
        sys.stderr.write("\n".join(map(printable, text.rstrip().split("\n"))) + "\n")
        sys.stderr.flush()

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


class FollowPrinter(TextPrinter):
    """A chat that others talk to, as text: every message with its role, as it is kept."""

    def __init__(self) -> None:
        super().__init__(is_terminal=False)

    def show(self, record: PipeRecord) -> None:
        match record:
            case MessageRecord() if record.text:
                mark = "> " if record.role == "user" else ""
                self._write(f"{mark}{safe(record.text)}\n")
            case NeedsRecord() if record.calls:
                names = ", ".join(dict.fromkeys(call.tool for call in record.calls))
                self._note(f"waits for {record.why.replace('_', ' ')}: {names}")
            case MessageRecord():
                pass
            case _:
                super().show(record)


def safe(text: str) -> str:
    """Replace what would move the cursor of a terminal, except ends of lines and tabs."""
    return "".join(each if each.isprintable() or each in "\n\t" else "?" for each in text)


def _flat(value: msgspec.Raw) -> str:
    """Return JSON on one line, without the quotes around a text; null is nothing."""
    found = json.loads(bytes(value))
    if found is None:
        return ""
    flat = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    return " ".join(flat.split())


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length] + "…"
