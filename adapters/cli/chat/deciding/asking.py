"""Questions to the user in the middle of a chat: consent, forms, plans, commands. Pure.

Each is shown as lines above the prompt, takes keys of its own while the line is empty, and reads a
line that is typed. Keys count only once the user has paused: what was typed before a question was
seen is no answer to it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from adapters.cli.chat.approvals import UserDecision, choices_of, read_decision
from adapters.cli.chat.deciding.slash_commands import SlashLine
from adapters.cli.chat.reading.drawing import deadline_text
from adapters.cli.harmless import harmless, one_line
from promptcorner_client.transcript import text_of
from promptcorner_client.wire import ChatApproval, ChatMessage

PAUSE_SECONDS = 0.5  # without a key, before keys are answers
CARRY_OUT = "Carry out the plan."
Lines = list[tuple[str, str]]


class Ask(Protocol):
    """A question to the user."""

    @property
    def keys(self) -> Mapping[str, str]:
        """Return the keys that answer, and the line that each stands for."""

    @property
    def prefixes(self) -> Mapping[str, str]:
        """Return the keys that begin an answer, and what they write on the line."""

    def lines(self, at: datetime) -> Lines:
        """Return what is shown, as (style, text)."""


@dataclass(frozen=True, slots=True)
class ConsentAsk:
    """The question whether a call may run."""

    approval: ChatApproval
    more: int = 0  # calls that are asked about after this one
    prefixes: Mapping[str, str] = field(default_factory=lambda: {"n": "n "})

    @property
    def keys(self) -> Mapping[str, str]:
        names = "yaru" if self.approval.suggested_rules else "ya"
        return {name: name for name in names}

    def lines(self, at: datetime) -> Lines:
        more = f" · {self.more} more behind it" if self.more else ""
        head = f"May {self.approval.tool_name} run? {deadline_text(self.approval, at)}{more}"
        rows = choices_of(self.approval).splitlines()
        return [("class:ask", one_line(head)), *(("", row) for row in rows)]

    def read(self, line: str) -> UserDecision | None:
        return read_decision(line, self.approval)


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """A question of the model, with the answers that it proposes."""

    text: str
    options: Sequence[tuple[str, str]] = ()  # label, what follows from it


@dataclass(frozen=True, slots=True)
class QuestionsAsk:
    """A form of questions: the answers so far, and the one that is asked now."""

    questions: Sequence[FormQuestion]
    answers: Sequence[str] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict)

    @property
    def current(self) -> FormQuestion:
        return self.questions[len(self.answers)]

    @property
    def keys(self) -> Mapping[str, str]:
        digits = [str(number + 1) for number in range(min(9, len(self.current.options)))]
        return {digit: digit for digit in [*digits, *(["b"] if self.answers else [])]}

    def lines(self, at: datetime) -> Lines:
        place = f" ({len(self.answers) + 1} of {len(self.questions)})" * (len(self.questions) > 1)
        lines: Lines = [("class:ask", one_line(self.current.text) + place)]
        for number, (label, what) in enumerate(self.current.options, 1):
            lines.append(("", one_line(f"  {number}  {label}" + (f" · {what}" if what else ""))))
        back = " · b goes back" if self.answers else ""
        return [*lines, ("class:dim", f"a number, or your own words{back}")]

    def answered(self, line: str) -> "QuestionsAsk | None":
        """Return the form after a line, or None if the line says nothing."""
        words = line.strip()
        if words.lower() == "b" and self.answers:
            return replace(self, answers=self.answers[:-1])
        options = self.current.options
        if words.isdecimal() and 1 <= int(words) <= len(options):
            words = options[int(words) - 1][0]
        return replace(self, answers=(*self.answers, words)) if words else None

    @property
    def is_complete(self) -> bool:
        return len(self.answers) == len(self.questions)

    @property
    def message(self) -> str:
        """Return the answers as a message: words alone for one, each with its question else."""
        if len(self.questions) == 1:
            return self.answers[0]
        pairs = zip(self.questions, self.answers, strict=True)
        return "\n\n".join(f"{question.text}\n{answer}" for question, answer in pairs)


@dataclass(frozen=True, slots=True)
class PlanAsk:
    """A plan that the model proposes. `plan`: its text, or the file that has it."""

    plan: str = ""
    file_id: str = ""
    prefixes: Mapping[str, str] = field(default_factory=dict)

    @property
    def keys(self) -> Mapping[str, str]:
        return {"y": "y"}

    def lines(self, at: datetime) -> Lines:
        return [
            ("class:ask", "The plan stands above. Shall it be carried out?"),
            ("", "y carries it out, and ends the planning · your own words change it"),
        ]


@dataclass(frozen=True, slots=True)
class UnknownCommandAsk:
    """A line that begins like a command, of which there is none."""

    line: str
    slash: SlashLine
    prefixes: Mapping[str, str] = field(default_factory=dict)

    @property
    def keys(self) -> Mapping[str, str]:
        digits = {str(n): str(n) for n in range(1, len(self.slash.meant) + 1)}
        return {**digits, "s": "s", "e": "e"}

    def lines(self, at: datetime) -> Lines:
        meant = [("", f"  {n}  /{name}") for n, name in enumerate(self.slash.meant, 1)]
        head = f"There is no command /{self.slash.word}."
        return [
            ("class:ask", harmless(head + (" Did you mean:" if meant else ""))),
            *meant,
            ("class:dim", "s sends the line as a message · e edits it"),
        ]


def is_armed(*, now: float, shown_at: float, typed_at: float) -> bool:
    """Tell whether keys answer a question already: the user has seen it, and has paused."""
    return now - max(shown_at, typed_at) >= PAUSE_SECONDS


def open_form(messages: Sequence[ChatMessage]) -> QuestionsAsk | PlanAsk | None:
    """Return the form that the last step of a chat asks to be filled in, if it does."""
    for message in reversed(messages):
        if message.role == "user" and text_of(message.content or ()):
            return None
        for part in message.content or ():
            if part.type != "tool-result" or part.is_error is True:
                continue
            result = _document(part.result)
            if part.tool_name == "ask_user_question" and (asked := questions_in(result)):
                return QuestionsAsk(asked)
            if part.tool_name == "propose_plan" and result.get("ok") is True:
                return PlanAsk(_plan_of(messages, part.tool_call_id), str(result.get("file_id")))
    return None


def questions_in(asked: Mapping[str, Any]) -> Sequence[FormQuestion]:
    """Return the questions of a call, without what is no question."""
    found = asked.get("questions")
    rows = [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []
    return [
        FormQuestion(
            str(row.get("question") or row.get("header") or "?"), _options(row.get("options"))
        )
        for row in rows
    ]


def _options(found: object) -> Sequence[tuple[str, str]]:
    rows = [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []
    return [
        (str(row["label"]), str(row.get("description") or "")) for row in rows if row.get("label")
    ]


def _plan_of(messages: Sequence[ChatMessage], call: object) -> str:
    parts = [part for message in messages for part in message.content or ()]
    for part in parts:
        if part.type == "tool-call" and part.tool_call_id == call:
            return str(_document(part.args).get("plan") or "")
    return ""


def _document(raw: object) -> Mapping[str, Any]:
    try:
        found = json.loads(bytes(raw)) if raw else {}  # type: ignore[call-overload]
    except (ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}
