"""The board as data: a row for each chat, the order of rows, what is selected. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from math import inf
from uuid import UUID

import msgspec
from msgspec import UNSET

from promptcorner_client.wire import Chat, ChatMessage

AT_WORK = ("running", "interrupting")
SEEN_SECONDS = 0.5  # for which a row is selected before a key acts on it, unless it was moved to
WHYS = {
    "consent": "asks for consent",
    "tool_results": "waits for its client",
    "question": "asks a question",
    "plan": "proposes a plan",
    "error": "failed",
}


class BoardGroup(Enum):
    """A part of the board; the value is its heading."""

    NEEDS = "needs me"
    WORKS = "at work"
    RESTS = "at rest"


class BoardFilter(Enum):
    """A choice of chats; the value is what people see."""

    ALL = "all"
    NEEDS = "needs me"
    WORKS = "at work"
    ARCHIVED = "archived"

    @property
    def next(self) -> "BoardFilter":
        every = list(BoardFilter)
        return every[(every.index(self) + 1) % len(every)]


@dataclass(frozen=True, slots=True)
class ChatDetail:
    """Facts of a chat that lists do not have; None: not known."""

    step: str = ""  # what it does now
    tokens: int | None = None  # of the conversation, as the last answer has counted them
    tokens_max: int | None = None
    cost_micros: int | None = None
    unpriced_count: int = 0  # requests of which nobody knows what they cost


UNKNOWN = ChatDetail()


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A chat as the board shows it."""

    id: UUID
    title: str
    group: BoardGroup
    why: str  # it needs a person, or what it does
    since: datetime
    detail: ChatDetail


@dataclass(frozen=True, slots=True)
class BoardState:
    """Everything that the board shows."""

    chats: Mapping[UUID, Chat] = field(default_factory=dict)
    details: Mapping[UUID, ChatDetail] = field(default_factory=dict)
    filter: BoardFilter = BoardFilter.ALL
    search: str = ""
    typed: str | None = None  # a search that is being typed
    selected: UUID | None = None
    is_loaded: bool = False
    trouble: str = ""  # of the connection
    said: str = ""  # what came of the last key

    @property
    def rows(self) -> Sequence[BoardRow]:
        """Return the rows in their order: who needs a person longest, who works longest, the rest
        by their last change."""
        found = [row_of(chat, self.details.get(chat.id, UNKNOWN)) for chat in self._wanted()]
        groups = list(BoardGroup)

        def place(row: BoardRow) -> tuple[int, float, str]:
            age = row.since.timestamp()
            oldest_first = row.group is not BoardGroup.RESTS
            return groups.index(row.group), age if oldest_first else -age, str(row.id)

        return sorted(found, key=place)

    def _wanted(self) -> Sequence[Chat]:
        groups = {BoardFilter.NEEDS: BoardGroup.NEEDS, BoardFilter.WORKS: BoardGroup.WORKS}
        is_archived = self.filter is BoardFilter.ARCHIVED
        wanted = [each for each in self.chats.values() if each.archived is is_archived]
        if self.filter in groups:
            wanted = [each for each in wanted if group_of(each) is groups[self.filter]]
        return wanted

    def with_chat(self, chat: Chat) -> "BoardState":
        """Return the board after news of a chat. Agents are part of their root's row."""
        if chat.parent_chat_id is UNSET:
            return replace(self, chats={**self.chats, chat.id: chat})
        root = self.chats.get(chat.root_chat_id)
        if root is None:
            return self
        children = [each for each in root.children if each.id != chat.id]
        known = msgspec.structs.replace(root, children=[*children, chat])
        return replace(self, chats={**self.chats, root.id: known})

    def without(self, chat: UUID) -> "BoardState":
        left = {id: each for id, each in self.chats.items() if id != chat}
        return replace(self, chats=left)

    @property
    def current(self) -> BoardRow | None:
        """Return the row that is selected: the first, if the one that was is gone."""
        rows = self.rows
        return next((row for row in rows if row.id == self.selected), rows[0] if rows else None)

    def moved(self, by: int) -> "BoardState":
        """Return the board with another row selected."""
        rows, current = self.rows, self.current
        if current is None:
            return self
        at = max(0, min(len(rows) - 1, rows.index(current) + by))
        return replace(self, selected=rows[at].id, said="")


class RowGate:
    """Lets a key act on the row that the user has seen selected, and once however long it is held.

    Rows come and go by themselves, so that another one may be selected the moment a key is pressed.
    """

    def __init__(self) -> None:
        self._row: UUID | None = None
        self._came_at = self._pressed_at = -inf

    def drawn(self, row: UUID | None, now: float) -> None:
        """Note which row has just been drawn as the selected one."""
        if row != self._row:
            self._row, self._came_at = row, now

    def moved(self, row: UUID | None) -> None:
        """Note which row the user has selected: they know it without having seen it."""
        self._row, self._came_at, self._pressed_at = row, -inf, -inf

    def takes(self, row: UUID, now: float) -> bool:
        """Note a key that acts on a row; return whether it is done."""
        since = max(self._came_at, self._pressed_at)
        self._pressed_at = now
        return row == self._row and now - since >= SEEN_SECONDS


def group_of(chat: Chat) -> BoardGroup:
    """Return who has to act: the user, the chat, or nobody."""
    if any(each.attention is not UNSET for each in (chat, *chat.children)):
        return BoardGroup.NEEDS
    at_work = any(each.status in AT_WORK for each in (chat, *chat.children))
    return BoardGroup.WORKS if at_work else BoardGroup.RESTS


def row_of(chat: Chat, detail: ChatDetail) -> BoardRow:
    """Return the row of a chat with its agents."""
    group = group_of(chat)
    return BoardRow(chat.id, chat.title, group, _why(chat, group, detail), _since(chat), detail)


def _why(chat: Chat, group: BoardGroup, detail: ChatDetail) -> str:
    if group is BoardGroup.NEEDS:
        needing = next(each for each in (chat, *chat.children) if each.attention is not UNSET)
        words = WHYS.get(str(needing.attention), str(needing.attention))
        if needing.attention == "error" and needing.last_error is not UNSET:
            words = f"{words}: {needing.last_error.message}"
        if needing.attention == "question" and needing.question is not UNSET:
            words = f"asks: {needing.question}"
        if needing.attention == "consent" and needing.approvals:
            words = f"{words}: {needing.approvals[0].tool_name}"
        return words if needing is chat else f"agent {words}"
    if group is BoardGroup.WORKS:
        if chat.queued_for_capacity is True:
            return "waits for a free place"
        if chat.status == "interrupting":
            return "stops"
        busy = sum(each.status in AT_WORK for each in chat.children)
        agents = f", {busy} agent{'s' if busy != 1 else ''}" if busy else ""
        return (detail.step or "works") + agents
    return "unread" if chat.has_unread else ""


def _since(chat: Chat) -> datetime:
    return max(each.updated_at for each in (chat, *chat.children))


def step_of(message: ChatMessage | None) -> str:
    """Return what a chat at work does, by its last message: nobody tells it in lists."""
    if message is None or message.role == "user":
        return "thinks"
    calls = [part.tool_name or "tool" for part in message.content or () if part.type == "tool-call"]
    if message.role == "assistant" and calls:
        return "runs " + ", ".join(dict.fromkeys(calls))
    return "goes on" if message.role == "tool" else "answers"


# words


def age_of(since: datetime, at: datetime) -> str:
    """Return how long ago something was, in its largest unit."""
    seconds = max(0, int((at - since).total_seconds()))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def tokens_text(detail: ChatDetail) -> str:
    if detail.tokens is None:
        return "?"
    tokens = str(detail.tokens) if detail.tokens < 1000 else f"{detail.tokens / 1000:.1f}k"
    if detail.tokens_max:
        return f"{tokens} {100 * detail.tokens // detail.tokens_max}%"
    return tokens


def cost_text(detail: ChatDetail) -> str:
    """Return a cost; `?` for one that nobody knows, and `+?` for one that is not all."""
    if detail.cost_micros is None:
        return "?"
    if detail.unpriced_count and not detail.cost_micros:
        return "?"
    known = f"${detail.cost_micros / 1_000_000:.4f}"
    return f"{known}+?" if detail.unpriced_count else known


# keys

_KEYS = {
    b"\x1b[A": "up",
    b"\x1bOA": "up",
    b"\x1b[B": "down",
    b"\x1bOB": "down",
    b"\x1b[5~": "page up",
    b"\x1b[6~": "page down",
    b"\x1b[H": "home",
    b"\x1b[F": "end",
    b"\r": "enter",
    b"\n": "enter",
    b"\x7f": "backspace",
    b"\x08": "backspace",
    b"\x1b": "escape",
}


def keys_of(data: bytes) -> Sequence[str]:
    """Return the keys in the bytes of a terminal; what is not known is left out."""
    found = []
    while data:
        known = next((each for each in _KEYS if len(each) > 1 and data.startswith(each)), None)
        known = known or (data[:1] if data[:1] in _KEYS else None)
        if known == b"\x1b" and len(data) > 1 and data[1:2] in b"[O":
            end = next((at for at in range(2, len(data)) if 0x40 <= data[at] <= 0x7E), len(data))
            data = data[end + 1 :]  # a key that means nothing here
            continue
        if known is not None:
            found.append(_KEYS[known])
            data = data[len(known) :]
            continue
        ends = (at for at in range(len(data)) if data[at : at + 1] in _KEYS)
        text = data[: next(ends, len(data))]
        found += [letter for letter in text.decode("utf-8", "ignore") if letter.isprintable()]
        data = data[len(text) or 1 :]
    return found
