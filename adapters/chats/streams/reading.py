"""The reads of watchers: each answer is one statement, which sees one snapshot."""

from collections.abc import Mapping, Sequence, Set
from uuid import UUID

import msgspec
import trio
from msgspec import Raw

from actors.law.chat import Message, StoredChat
from actors.law.closing import unanswered_dynamic_calls
from actors.law.ids import ChatId
from actors.law.parts.message import ToolCallPart
from actors.law.refusals import ChatNotFound
from actors.law.states import Status
from actors.law.store.hints import ListChange
from actors.streams.feeds.diff import ChatSnapshot, Position
from actors.streams.feeds.events import PendingApprovals
from adapters.chats.overview_rows import ChatOverview
from adapters.chats.overviews import OverviewStore
from adapters.chats.streams.events import ChatWatchEvent, WatchKind, encode_json
from adapters.chats.wire.chats import watched_chat
from adapters.postgres.codec import rows
from adapters.postgres.codec.rows import ChatRow
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL

DECODED_AT_ONCE = 64  # messages; then other tasks run

_messages = msgspec.json.Decoder(tuple[rows.MessageRow, ...]).decode
_approvals = msgspec.json.Decoder(tuple[tuple[UUID, str, msgspec.Raw], ...]).decode
_queue = msgspec.json.Decoder(tuple[rows.QueuedRow, ...]).decode


class WatchedRow(ChatRow, frozen=True):
    """A chat with all that its watchers have to know."""

    gone_at: int  # the history version in which a message went last; 0: none ever did
    status_trail: tuple[str, ...]
    messages: bytes | None
    queue: bytes | None
    tail: bytes | None
    family_approvals: bytes | None


class WatcherReading:
    """The reads of feeds. Fulfils `actors.streams.feeds.ports.SnapshotReading`."""

    def __init__(self, pool: Pool, *, lease_seconds: float) -> None:
        self._pool = pool
        self._lease_seconds = lease_seconds

    async def snapshot(self, chat: ChatId, have: Position) -> ChatSnapshot | ChatNotFound:
        """Return a chat as it is, with the messages that a watcher at this position has not got."""
        asked = {
            "chat": chat,
            "lease_seconds": self._lease_seconds,
            "message_id": have.message_id,
            "history_version": have.history_version,
        }
        async with self._pool.connection() as connection:
            stored = await connection.execute(SQL["watched_chat"], asked)
        if not stored:
            return ChatNotFound(chat)
        row = WatchedRow.of(stored[0])
        return ChatSnapshot(
            rows.chat_of(row),
            await _messages_of(_messages(row.messages or b"[]")),
            row.gone_at,
            tuple(map(rows.queued_of, _queue(row.queue or b"[]"))),
            _statuses_of(row.status_trail),
            _calls_of(row, _messages(row.tail or b"[]")),
            _approvals_of(_approvals(row.family_approvals or b"[]")),
        )

    async def awaiting_consent(self, chats: Sequence[ChatId]) -> Set[ChatId]:
        """Return the chats that wait for a user among these and their agents, and their roots."""
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["asking_of"], {"chats": list(chats)})
        return frozenset(id for row in found for id in row)

    async def newer_snapshots(self, known: Mapping[ChatId, int]) -> Mapping[ChatId, int]:
        """Return the versions of those of these chats that have another one by now."""
        asked = {"chats": list(known), "versions": list(known.values())}
        async with self._pool.connection() as connection:
            return dict(await connection.execute(SQL["moved_on"], asked))


async def _messages_of(found: Sequence[rows.MessageRow]) -> tuple[Message, ...]:
    """Decode a history, a part at a time, so that other tasks go on."""
    messages: list[Message] = []
    for begin in range(0, len(found), DECODED_AT_ONCE):
        if begin:
            await trio.lowlevel.checkpoint()
        messages += map(rows.message_of, found[begin : begin + DECODED_AT_ONCE])
    return tuple(messages)


def _statuses_of(trail: Sequence[str]) -> tuple[tuple[int, Status], ...]:
    changes = (change.split(" ") for change in trail)
    return tuple([(int(version), Status(status)) for version, status in changes])


def _calls_of(read: ChatRow, tail: Sequence[rows.MessageRow]) -> tuple[ToolCallPart, ...]:
    if not tail:
        return ()
    bodies = tuple([rows.message_of(row).body for row in tail])
    return unanswered_dynamic_calls(StoredChat(rows.chat_of(read), read.now, tail=bodies))


def _approvals_of(family: Sequence[tuple[UUID, str, msgspec.Raw]]) -> tuple[PendingApprovals, ...]:
    members = [
        PendingApprovals(
            ChatId(id), title, tuple(a for a in rows.approvals_of(bytes(raw)) if a.is_open)
        )
        for id, title, raw in family
    ]
    return tuple([member for member in members if member.approvals])


_KINDS: Mapping[ListChange, WatchKind] = {
    ListChange.CREATED: "created",
    ListChange.DELETED: "deleted",
    ListChange.STATUS: "status_change",
    ListChange.ACTION: "action_required",
    ListChange.TITLE: "title_change",
    ListChange.TURN_SUMMARY: "summary_change",
    ListChange.SUMMARY: "chat_summary_change",
    ListChange.CONTEXT: "context_dirty",
    ListChange.DIFF: "diff_status_change",
    ListChange.SHARED: "shared",
    ListChange.UNSHARED: "unshared",
}


class ListReading:
    """The reads of feeds of lists. Fulfils `actors.streams.feeds.owner_feed.ListEvents`."""

    def __init__(self, overviews: OverviewStore, *, organization: UUID) -> None:
        self._overviews = overviews
        self._organization = organization

    async def events(self, news: Sequence[tuple[ListChange, ChatId]]) -> Sequence[bytes]:
        """Return the events for news of chats, encoded; chats that are gone have none. Of a chat
        that is shared no more only the id is told."""
        wanted = dict.fromkeys(chat for became, chat in news if became is not ListChange.UNSHARED)
        chats = {chat: await self._overviews.chat(chat) for chat in wanted}
        shown = (
            (
                became,
                _only_id(chat)
                if became is ListChange.UNSHARED
                else self._shown(chats[chat], became),
            )
            for became, chat in news
        )
        return [
            encode_json(ChatWatchEvent(_KINDS[became], chat))
            for became, chat in shown
            if chat is not None
        ]

    def _shown(self, chat: ChatOverview | None, became: ListChange) -> Raw | None:
        if chat is None:
            return None
        with_diff = became is ListChange.DIFF
        shown = watched_chat(chat, organization=self._organization, with_diff=with_diff)
        return Raw(encode_json(shown))


def _only_id(chat: ChatId) -> Raw:
    return Raw(encode_json({"id": chat}))
