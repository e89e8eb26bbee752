"""The words of notices, for people: in the inbox, on a device. Pure.

A notice is stored as its kind and the facts of it, and is worded when it is read: a chat that was
renamed is called by its present name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

import msgspec

from actors.law.store.news import Need, NewsKind
from adapters.postgres.codec.parts import unescaped
from adapters.postgres.queries import Record

# Clients tell kinds apart by these ids, which never change.
_TEMPLATES = UUID("5f1ac0de-7d3e-4c55-9a9e-6b1d3c0b9a01")
TEMPLATE_IDS = {kind: uuid5(_TEMPLATES, kind.value) for kind in NewsKind}
KINDS_BY_TEMPLATE = {id: kind for kind, id in TEMPLATE_IDS.items()}
ICON = "DEFAULT_ICON_OTHER"  # what clients of this API draw for what is no workspace or account

UNTITLED = "a chat without a title"
NAMED_MAX = 25  # chats that a digest names; the others are counted
TITLE_CHARACTERS_MAX = 120  # of a chat, in a notice; the rest is left out

_NEEDS = {
    Need.CONSENT.value: ("asks for consent", "asks for your consent"),
    Need.TOOL_RESULTS.value: ("waits for its client", "waits for results of its client's tools"),
    Need.QUESTION.value: ("has a question", "has a question for you"),
    Need.PLAN.value: ("has a plan", "has a plan for you to look at"),
}
_MARKS = re.compile(r"([\\`*_{}\[\]<>()#+.!|~-])")


class NoticeRow(Record, frozen=True):
    """A notice as it is stored, with the present title of its chat."""

    id: UUID
    user_id: UUID
    kind: str
    chat_id: UUID | None
    chat_title: str | None
    detail: bytes
    created_at: datetime
    read_at: datetime | None


@dataclass(frozen=True, slots=True)
class NoticeWords:
    """The words of a notice, and where it leads."""

    title: str
    content: str
    label: str = ""
    path: str = ""


def words_of_row(row: NoticeRow, *, markdown: bool = True) -> NoticeWords:
    return words_of(
        row.kind,
        row.chat_id,
        row.chat_title,
        msgspec.json.decode(unescaped(row.detail)),
        markdown=markdown,
    )


def words_of(
    kind: str,
    chat: UUID | None,
    chat_title: str | None,
    detail: dict[str, Any],
    *,
    markdown: bool = True,
) -> NoticeWords:
    """Return the words of an event. A kind that is not known is of a newer release."""
    name = _cut(str(chat_title or detail.get("title") or UNTITLED))
    shown = f"**{escaped_markdown(name)}**" if markdown else name
    title, content = kind, shown
    match kind:
        case NewsKind.NEEDS_YOU.value:
            short, long = _NEEDS.get(str(detail.get("reason")), ("needs you", "needs you"))
            tools = [str(tool) for tool in detail.get("tools") or ()]
            named = [f"`{tool.replace('`', '')}`" if markdown else tool for tool in tools]
            title = f"{name} {short}"
            content = f"{shown} {long}{': ' if named else ''}{', '.join(named)}"
        case NewsKind.ENDED.value:
            title, content = f"{name} is done", f"The turn of {shown} has ended."
        case NewsKind.FAILED.value:
            why = str(detail.get("message") or "An error stopped it.")
            title = f"{name} has stopped"
            content = f"{shown}: {escaped_markdown(why) if markdown else why}"
        case NewsKind.SHARED.value:
            who = str(detail.get("by") or "A user")
            title = f"{who} has shared a chat with you"
            content = f"You may read {shown} from now on."
        case NewsKind.ARCHIVED.value:
            title, content = _digest(detail, markdown=markdown)
        case NewsKind.WEBHOOK_DISABLED.value:
            url = str(detail.get("url") or "")
            title = "A webhook was switched off"
            where = f"`{url.replace('`', '')}`" if markdown else url
            content = f"{where}: {detail.get('why') or 'it did not answer'}. Its settings show it."
    if kind == NewsKind.WEBHOOK_DISABLED.value:
        return NoticeWords(title, content, "Open the settings", "/settings/webhooks")
    if chat is not None:
        return NoticeWords(title, content, "Open the chat", f"/c/{chat}")
    return NoticeWords(title, content)


def _digest(detail: dict[str, Any], *, markdown: bool) -> tuple[str, str]:
    chats: Sequence[dict[str, Any]] = detail.get("chats") or ()
    count = int(detail.get("count") or len(chats))
    days = detail.get("days")
    lines = []
    for chat in chats[:NAMED_MAX]:
        name = _cut(str(chat.get("title") or UNTITLED))
        lines.append(
            f"- [{escaped_markdown(name)}](/c/{chat.get('id')})" if markdown else f"- {name}"
        )
    if count > len(lines):
        lines.append(f"- and {count - len(lines)} more")
    unused = f" that were not used for {days} days" if days else ""
    subject = "1 chat was" if count == 1 else f"{count} chats were"
    return f"{subject} archived", "\n".join([f"{subject} archived{unused}:", "", *lines])


def escaped_markdown(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= TITLE_CHARACTERS_MAX else f"{text[:TITLE_CHARACTERS_MAX]}…"
