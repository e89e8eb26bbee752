"""Calls of tools as cards: what is called, how it goes, and all of it for a pager. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from msgspec import UNSET

from adapters.cli.chat.reading.diffs import FileChange, changes_of, text_at
from promptcorner_client.wire import ChatMessagePart

FIELD_MAX = (
    72  # characters of a field on one line; a longer one has its parts on lines of their own
)
SUBJECT_MAX = 200  # characters of what a call is about; the rest is in the pager
COMMANDS = frozenset({"execute", "process_output"})
SHOWN = {  # the field of a result that says all, where others would only be in the way
    "create_workspace": "path",
    "spawn_agent": "",
    "propose_plan": "",  # the plan is printed as what is asked
    "ask_user_question": "",  # so are questions
    "chat_summarized": "summary",
}
SUBJECTS = {  # the argument that says what a call is about
    "execute": "command",
    "read_file": "path",
    "write_file": "path",
    "attach_file": "path",
    "process_output": "process_id",
    "process_signal": "process_id",
    "spawn_agent": "title",
    "chat_summarized": "source",
    "message_agent": "message",
    "read_skill": "name",
    "read_skill_file": "path",
    "create_workspace": "template_id",
    "read_template": "template_id",
    "propose_plan": "path",
    "web_search": "query",
    "web_fetch": "url",
    "advisor": "question",
}


@dataclass(frozen=True, slots=True)
class CallCard:
    """A call, and its result as far as there is one."""

    id: str
    name: str
    args: object = None  # as JSON; a text as long as it comes in pieces
    result: object = None
    live: str = ""  # output of a command that runs
    is_done: bool = False
    is_error: bool = False
    result_bytes: int = 0  # of the whole result, where this one is cut
    message_id: int = 0  # that has the result

    @property
    def has_failed(self) -> bool:
        """Tell whether the call came to nothing: an error, or a command that says so itself."""
        if self.is_error:
            return True
        if not isinstance(self.result, Mapping):
            return False
        if self.result.get("success") is False or self.exit_code:
            return True
        return bool(self.result.get("error")) and self.result.get("ok") is not True

    @property
    def exit_code(self) -> int | None:
        """Return the exit code of the command, or None if there is none."""
        code = self.result.get("exit_code") if isinstance(self.result, Mapping) else None
        return code if isinstance(code, int) and not isinstance(code, bool) else None

    @property
    def mark(self) -> str:
        if not self.is_done:
            return "⚙"
        return "✗" if self.has_failed else "✓"

    @property
    def changes(self) -> Sequence[FileChange]:
        """Return what the call changes in files; one that has failed changes nothing."""
        return (
            ()
            if self.is_done and self.has_failed
            else changes_of(self.name, self.args, self.result)
        )


def with_call(card: CallCard | None, part: ChatMessagePart) -> CallCard:
    """Return the card of a call, whole or with the pieces of its arguments so far."""
    name = part.tool_name or "tool"
    pieces = part.args_delta if part.args_delta is not UNSET else ""
    args = value_of(part.args) if part.args is not UNSET else pieces
    if card is None:
        return CallCard(part.tool_call_id or "", name, args)
    return replace(card, args=args)


def with_result(card: CallCard | None, part: ChatMessagePart, *, message_id: int = 0) -> CallCard:
    """Return the card with its result, or with what its command has written so far."""
    card = card or CallCard(part.tool_call_id or "", part.tool_name or "tool")
    if part.result is UNSET:
        return replace(card, live=part.result_delta or "")
    return replace(
        card,
        result=value_of(part.result),
        is_done=True,
        is_error=part.is_error is True,
        result_bytes=part.result_bytes or 0,
        message_id=message_id,
    )


def subject_of(card: CallCard) -> str:
    """Return what a call is about, on one line."""
    args = card.args
    if not isinstance(args, Mapping):
        return cut_line(args if isinstance(args, str) else compact(args))
    if card.name == "edit_files":
        return cut_line(", ".join(change.summary for change in changes_of(card.name, args)))
    if card.name == "write_file":
        return cut_line(next(c.summary for c in changes_of(card.name, args)))
    field = SUBJECTS.get(card.name)
    if field and args.get(field):
        return cut_line(text_at(args, field))
    return cut_line(compact(args) if args and card.name not in SHOWN else "")


def outcome_of(card: CallCard) -> str:
    """Return how a call ended, in a few words: nothing if all went well."""
    if not card.is_done:
        return ""
    result = card.result
    facts = []
    if card.exit_code:
        facts.append("timed out" if card.exit_code < 0 else f"exit {card.exit_code}")
    if isinstance(result, Mapping):
        if result.get("background_process_id") or result.get("backgrounded"):
            facts.append("goes on in the background")
        if isinstance(ms := result.get("wall_duration_ms"), int) and ms >= 1000:
            facts.append(f"{ms / 1000:.1f} s")
        if isinstance(gone := result.get("truncated"), Mapping):
            facts.append(f"{gone.get('omitted_bytes', '?')} bytes left out")
        if card.has_failed and (why := result.get("error")):
            facts.append(cut_line(text_at({"why": why}, "why")))
    elif card.has_failed:
        facts.append(cut_line(compact(result)))
    return " · ".join(facts)


def output_of(card: CallCard) -> str:
    """Return what a command has written, or the text that a call has returned."""
    if not card.is_done:
        return card.live
    result = card.result
    if isinstance(result, str):
        return "" if card.has_failed else result
    if not isinstance(result, Mapping):
        return compact(result)
    if card.name in SHOWN and not card.has_failed:
        return text_at(result, SHOWN[card.name])
    for field in ("output", "content", "body", "report", "advice"):
        if isinstance(text := result.get(field), str):
            return text
    if card.name in COMMANDS or card.changes or card.has_failed:
        return ""
    plain = {name: value for name, value in result.items() if name != "ok"}
    return compact(plain) if plain else ""


def whole_text(card: CallCard) -> str:
    """Return all of a call and its result, for a pager."""
    given = ["called with", indented(pretty(card.args))] if card.args else ["called with nothing"]
    lines = [f"{card.mark} {card.name}", "", *given]
    if card.is_done:
        outcome = outcome_of(card)
        lines += ["", f"result{': ' + outcome if outcome else ''}"]
        result = card.result
        if isinstance(result, Mapping) and isinstance(output := result.get("output"), str):
            rest = {name: value for name, value in result.items() if name != "output"}
            lines += [indented(pretty(rest)), "", output]
        else:
            lines.append(indented(pretty(result)))
    elif card.live:
        lines += ["", "so far", card.live]
    for change in card.changes:
        lines += ["", change.summary, *change.lines]
    return "\n".join(lines) + "\n"


def value_of(value: object) -> object:
    """Return JSON that came raw; what cannot be read stays text."""
    if value is UNSET or value is None:
        return None
    text = bytes(value).decode(errors="replace") if isinstance(value, msgspec.Raw) else str(value)
    try:
        return json.loads(text)
    except ValueError:
        return text


def pretty(value: object) -> str:
    """Return JSON as people read it: fields one below the other, texts with their lines."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False, indent=2)
    return "\n".join(f"{name}: {_field(field)}" for name, field in value.items())


def _field(value: Any) -> str:
    if isinstance(value, str):
        return value if "\n" not in value else "\n" + indented(value)
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) <= FIELD_MAX:
        return flat
    return "\n" + indented(json.dumps(value, ensure_ascii=False, indent=2))


def compact(value: object) -> str:
    """Return JSON on one line, without the quotes around a text."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())


def cut_line(text: str, length: int = SUBJECT_MAX) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1] + "…"


def indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
