"""Reads of a chat for its watchers: repeated if they fail, each message encoded once for all."""

from collections.abc import Mapping
from dataclasses import dataclass

import trio

from actors.law.ids import ChatId, MessageId, chat_name
from actors.law.refusals import ChatNotFound
from actors.streams.feeds.diff import ChatSnapshot, Position, is_shown
from actors.streams.feeds.events import Event, MessageChanged
from actors.streams.feeds.log import FeedCounts, FeedEnd
from actors.streams.feeds.ports import EncodeEvent, SnapshotReading
from runtime.backoff import delay_seconds
from runtime.log import emit

READS_MAX = 6  # that fail in a row; then the feed ends
READ_AGAIN_FIRST_SECONDS = 0.1
READ_AGAIN_CAP_SECONDS = 1.0
ENCODED_AT_ONCE = 64  # messages; then other tasks run


@dataclass(frozen=True, slots=True)
class EncodedSnapshot:
    """A snapshot, and those of its messages that users see as watchers get them."""

    snapshot: ChatSnapshot
    encode: EncodeEvent
    messages: Mapping[MessageId, bytes]

    def encoded(self, event: Event) -> bytes:
        """Return the event as watchers get it."""
        if isinstance(event, MessageChanged) and event.message.id in self.messages:
            return self.messages[event.message.id]
        return self.encode(self.snapshot.chat.id, event)


async def read_chat(
    reading: SnapshotReading, encode: EncodeEvent, chat: ChatId, have: Position, counts: FeedCounts
) -> EncodedSnapshot | FeedEnd:
    """Read a chat and encode what is new to a watcher who has `have`."""
    snapshot = await _read(reading, chat, have, counts)
    if not isinstance(snapshot, ChatSnapshot):
        return snapshot
    messages: dict[MessageId, bytes] = {}
    for count, message in enumerate(filter(is_shown, snapshot.messages), 1):
        messages[message.id] = encode(chat, MessageChanged(message))
        if count % ENCODED_AT_ONCE == 0:
            await trio.lowlevel.checkpoint()
    return EncodedSnapshot(snapshot, encode, messages)


async def _read(
    reading: SnapshotReading, chat: ChatId, have: Position, counts: FeedCounts
) -> ChatSnapshot | FeedEnd:
    """Read a chat; a read that fails is repeated, up to READS_MAX in all."""
    failures = 0
    while True:
        counts.reads += 1
        try:
            found = await reading.snapshot(chat, have)
        except Exception as error:  # noqa: BLE001  the edge of a unit of work: it is repeated
            failures += 1
            emit("feed.unread", "warning", chat=chat_name(chat), error=error)
            if failures == READS_MAX:
                return FeedEnd.UNREADABLE
            await trio.sleep(_pause(failures))
            continue
        return FeedEnd.GONE if isinstance(found, ChatNotFound) else found


def _pause(failures: int) -> float:
    return delay_seconds(
        failures, first_seconds=READ_AGAIN_FIRST_SECONDS, cap_seconds=READ_AGAIN_CAP_SECONDS
    )
