"""The histories that this process has read, kept for the next turns of their chats.

A history is read once and grows by what this process commits. It is found again only at the
version that the chat has then, so a commit of another process, an edit, or a commit whose answer
was lost costs one more read and nothing else. The version is compared with what the chat's row
said under its lock: nothing here is trusted without it.

With the history of a chat at rest its last state is kept. What a user sends next is decided from
that, and written only if the chat is still in that state.
"""

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Annotated

from actors.law.chat import Chat, Message, StoredChat
from actors.law.closing import unanswered_calls
from actors.law.ids import ChatId
from actors.law.states import State
from actors.law.store.ports import Applied
from actors.prompts.growing import row_bytes
from runtime.clock import now
from runtime.statistics import CounterMetric, GaugeMetric

# Of all histories together, unless said otherwise. The one that was unused for longest is
# forgotten, and read again.
KEPT_BYTES_MAX = 128 << 20
KEPT_SECONDS = 900.0  # since its last use; then it is forgotten when the next one is kept


@dataclass(frozen=True, slots=True)
class HistoryStatistics:
    """Counts of the histories that are kept."""

    histories: Annotated[int, GaugeMetric("Histories of chats that are kept for their next turns.")]
    bytes_count: Annotated[int, GaugeMetric("Bytes of these histories, about.")]
    found_count: Annotated[int, CounterMetric("Histories that were kept when a turn needed them.")]
    missed_count: Annotated[int, CounterMetric("Histories that had to be read for a turn.")]
    forgotten_count: Annotated[
        int, CounterMetric("Histories that were forgotten for want of room, or unused for long.")
    ]


@dataclass(frozen=True, slots=True)
class _Kept:
    version: int
    rows: tuple[Message, ...]
    bytes_count: int
    used_at: float
    resting: StoredChat | None = None


class KnownHistories:
    """The histories of one process. Its functions never wait."""

    def __init__(self, bytes_max: int = KEPT_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._kept: OrderedDict[ChatId, _Kept] = OrderedDict()  # the longest unused one first
        self._bytes_count = 0
        self._found_count = self._missed_count = self._forgotten_count = 0

    def find(self, chat: Chat) -> tuple[Message, ...] | None:
        """Return the chat's history at its version, or None if it has to be read."""
        kept = self._kept.get(chat.id)
        if kept is None or kept.version != chat.history_version:
            self._missed_count += 1
            return None
        self._found_count += 1
        return kept.rows

    def keep(self, chat: Chat, rows: tuple[Message, ...]) -> None:
        """Keep a history that was read at the chat's version."""
        self._put(chat.id, chat.history_version, rows, sum(map(row_bytes, rows)))

    def at_rest(self, chat: ChatId) -> StoredChat | None:
        """Return the state of a chat that this process has left at rest. It may have moved on."""
        kept = self._kept.get(chat)
        return None if kept is None else kept.resting

    def note_commit(self, applied: Applied) -> None:
        """Let a history that is kept grow by what was committed, and begin that of a new chat."""
        self._grow(applied)
        chat = applied.chat.id
        if (kept := self._kept.get(chat)) is not None:
            stored = applied.stored
            self._kept[chat] = replace(kept, resting=stored if _is_at_rest(stored) else None)

    def _grow(self, applied: Applied) -> None:
        change = applied.change
        before, after = change.before.chat.history_version, change.chat.history_version
        if before == after:
            return
        kept = self._kept.get(change.chat.id)
        rows: tuple[Message, ...] = ()
        size = 0
        if before:  # the chat is not new
            if kept is None or kept.version != before or change.deleted:
                self._forget(change.chat.id)
                return
            rows, size = kept.rows, kept.bytes_count
        said = applied.messages
        self._put(change.chat.id, after, rows + said, size + sum(map(row_bytes, said)))

    def statistics(self) -> HistoryStatistics:
        return HistoryStatistics(
            len(self._kept),
            self._bytes_count,
            self._found_count,
            self._missed_count,
            self._forgotten_count,
        )

    def _put(self, chat: ChatId, version: int, rows: tuple[Message, ...], size: int) -> None:
        self._forget(chat)
        if size > self._bytes_max:
            return
        at = now()
        self._kept[chat] = _Kept(version, rows, size, at)
        self._bytes_count += size
        while True:
            oldest, kept = next(iter(self._kept.items()))
            if self._bytes_count <= self._bytes_max and kept.used_at >= at - KEPT_SECONDS:
                return
            self._forget(oldest)
            self._forgotten_count += 1

    def _forget(self, chat: ChatId) -> None:
        if (kept := self._kept.pop(chat, None)) is not None:
            self._bytes_count -= kept.bytes_count


def _is_at_rest(stored: StoredChat) -> bool:
    """Return whether nothing is under way, and nothing of a turn is left to be closed."""
    chat = stored.chat
    return (
        stored.state is State.W
        and chat.holder is None
        and not chat.approvals
        and not unanswered_calls(stored.tail)
    )


NO_HISTORIES = KnownHistories(bytes_max=0)  # keeps nothing: every row takes room
