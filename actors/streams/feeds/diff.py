"""What watchers have been told, what has become of the chat → what they are told, in order. Pure.

A snapshot is told in this order: messages (all of them behind a reset, if one they know has gone),
queue, status, error, required action, retry, and a reset of the preview if its attempt is over.
Several snapshots told at once are told in their order, as far as it is known: a message before the
status that came with it or later. So the last answer of a turn comes before the `waiting` that ends
it, and no status is left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from actors.law.chat import Body, Chat, ChatError, Message, Queued, RetryState, Role, Visibility
from actors.law.closing import outstanding_dynamic
from actors.law.ids import WorkerId
from actors.law.parts.message import ToolCallPart
from actors.law.states import Status
from actors.law.store.hints import ChatMoved
from actors.law.store.ports import Applied
from actors.streams.feeds.events import (
    ActionRequired,
    ApprovalsChanged,
    ChatFailed,
    Event,
    HistoryReset,
    MessageChanged,
    PendingApprovals,
    PreviewReset,
    QueueChanged,
    RetryScheduled,
    StatusChanged,
)

# Of these a watcher needs more than the name.
_EXPLAINED = (Status.ERROR, Status.REQUIRES_ACTION)


@dataclass(frozen=True, slots=True)
class Versions:
    """Where a chat stands: what a hint says of it."""

    snapshot_version: int
    history_version: int
    queue_version: int
    retry_state_version: int
    generation_attempt: int
    status: Status
    worker: WorkerId | None = None  # the process that holds it


@dataclass(frozen=True, slots=True)
class Told:
    """What the watchers of a chat have been told."""

    heads: Versions
    error_at: int = 0  # the history version for which an error was told; 0: none
    calls: tuple[str, ...] = ()  # ids of those that the client has to answer


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotChange:
    """What has become of a chat since a snapshot that somebody knows.

    `queue`, `error`, `retry` and `calls` need only be there where they are news.
    """

    heads: Versions
    messages: tuple[Message, ...] = ()  # new or changed, by id
    is_whole: bool = False  # one has gone: these are all that stand
    queue: tuple[Queued, ...] = ()
    statuses: tuple[tuple[int, Status], ...] = ()  # what it became and when, by version
    error: ChatError | None = None
    retry: RetryState | None = None
    calls: tuple[ToolCallPart, ...] = ()


@dataclass(frozen=True, slots=True)
class Position:
    """What somebody has of a chat when he comes: nothing, as a rule."""

    message_id: int = 0  # every message up to this one
    history_version: int = 0  # every message as of it, and what had gone by then
    attempt: int = 0
    seq: int = 0  # so many pieces of that attempt at that history


@dataclass(frozen=True, slots=True)
class ChatSnapshot:
    """All that is stored of a chat, or as much of its history as was asked for."""

    chat: Chat
    messages: tuple[Message, ...]  # that stand, by id
    gone_at: int  # the history version in which a message went last; 0: none ever did
    queue: tuple[Queued, ...]
    statuses: tuple[tuple[int, Status], ...]  # the last changes, by version
    calls: tuple[ToolCallPart, ...]  # that the client has to answer
    asks: tuple[PendingApprovals, ...] = ()  # of the chat and its agents


def diff(known: Told, step: SnapshotChange) -> tuple[Told, tuple[Event, ...]]:
    """What is to be told, and what has been told then. Nothing, if they know it all already."""
    before, after = known.heads, step.heads
    if after.snapshot_version <= before.snapshot_version:
        return known, ()
    has_moved = after.history_version > before.history_version
    told = replace(known, heads=after)
    events = _in_order(before, step)
    if after.status is Status.ERROR and step.error and told.error_at < after.history_version:
        events.append(ChatFailed(step.error))
        told = replace(told, error_at=after.history_version)
    if has_moved or after.status is not before.status:
        calls = tuple([call.id for call in step.calls])
        # The same calls are other ones if the chat has been at work between.
        if calls != known.calls or (calls and StatusChanged(Status.REQUIRES_ACTION) in events):
            if after.status is Status.REQUIRES_ACTION:
                events.append(ActionRequired(step.calls))
            told = replace(told, calls=calls)
    if step.retry is not None and after.retry_state_version > before.retry_state_version:
        events.append(RetryScheduled(step.retry))
    if has_moved or _attempt_begins(before, after):
        events.append(PreviewReset())
    return told, tuple(events)


def first_events(
    found: ChatSnapshot, have: Position, *, goes_on: bool = False
) -> tuple[Event, ...]:
    """What somebody is told who comes with `have`; the pieces of the running attempt follow.
    `goes_on`: of that attempt he has the first pieces, and only the others follow."""
    chat, heads = found.chat, versions_of(found.chat)
    is_whole = found.gone_at > have.history_version
    events: list[Event] = [HistoryReset()] if is_whole else []
    events += [
        MessageChanged(message)
        for message in found.messages
        if is_shown(message) and (is_whole or _is_new(message, have))
    ]
    if heads.queue_version > 0:
        events.append(QueueChanged(found.queue))
    events.append(StatusChanged(heads.status))
    if heads.status is Status.ERROR and chat.last_error is not None:
        events.append(ChatFailed(chat.last_error))
    if heads.status is Status.REQUIRES_ACTION and found.calls:
        events.append(ActionRequired(found.calls))
    if found.asks:  # who comes and is told of none knows that there are none
        events.append(ApprovalsChanged(found.asks))
    if chat.retry_state is not None:
        events.append(RetryScheduled(chat.retry_state))
    if not goes_on:
        events.append(PreviewReset())
    return tuple(events)


def told_of(found: ChatSnapshot) -> Told:
    """What somebody knows who has been told all of it."""
    heads = versions_of(found.chat)
    version = heads.history_version
    return Told(
        heads,
        error_at=version if heads.status is Status.ERROR else 0,
        calls=tuple([call.id for call in found.calls]),
    )


def change_of_snapshot(found: ChatSnapshot, since: Versions) -> SnapshotChange:
    """What was read, as news to somebody who knows `since`."""
    chat = found.chat
    is_whole = found.gone_at > since.history_version
    return SnapshotChange(
        heads=versions_of(chat),
        messages=tuple(
            [m for m in found.messages if is_whole or m.revision > since.history_version]
        ),
        is_whole=is_whole,
        queue=found.queue,
        statuses=found.statuses,
        error=chat.last_error,
        retry=chat.retry_state,
        calls=found.calls,
    )


def change_of_commit(applied: Applied) -> SnapshotChange | None:
    """What this process has committed. None: it does not say enough, and has to be read."""
    change, chat = applied.change, applied.chat
    calls: tuple[ToolCallPart, ...] = ()
    if change.unsaid:
        return None
    if chat.status is Status.REQUIRES_ACTION:
        calls = outstanding_dynamic(change.after)
        if any(call.args is None for call in calls):  # as it is where the tail was read
            return None
    heads = versions_of(chat)
    version = heads.snapshot_version
    return SnapshotChange(
        heads=heads,
        messages=tuple(
            [
                Message(id, version, applied.at, False, body)
                for id, body in zip(applied.message_ids, change.said, strict=True)
            ]
        ),
        queue=applied.stored.queue if heads.queue_version == version else (),
        error=chat.last_error,
        retry=chat.retry_state,
        calls=calls,
    )


def change_of_hint(moved: ChatMoved, known: Versions) -> SnapshotChange | None:
    """What a hint tells by itself. None: it only tells that there is something to read."""
    heads = Versions(
        moved.snapshot_version,
        moved.history_version,
        moved.queue_version,
        moved.retry_state_version,
        moved.generation_attempt,
        moved.status,
        moved.worker_id,
    )
    has_content = (
        heads.snapshot_version != known.snapshot_version + 1
        or heads.history_version != known.history_version
        or heads.queue_version != known.queue_version
        or (heads.status is not known.status and heads.status in _EXPLAINED)
    )
    # A retry that is told is of an attempt that was counted before; a new attempt clears it.
    has_retry = (
        heads.retry_state_version != known.retry_state_version
        and heads.generation_attempt == known.generation_attempt
    )
    return None if has_content or has_retry else SnapshotChange(heads=heads)


def versions_of(chat: Chat) -> Versions:
    return Versions(
        chat.snapshot_version,
        chat.history_version,
        chat.queue_version,
        chat.retry_state_version,
        chat.generation_attempt,
        chat.status,
        None if chat.holder is None else chat.holder.worker,
    )


def is_shown(message: Message) -> bool:
    """Whether users get to see it."""
    return not message.deleted and is_body_shown(message.body)


def is_body_shown(body: Body) -> bool:
    return body.role is not Role.SYSTEM and body.visibility is not Visibility.MODEL


def _in_order(before: Versions, step: SnapshotChange) -> list[Event]:
    """Messages, queue and statuses, each at its version; these three in this order at one."""
    after = step.heads
    events: list[Event] = []
    dated: list[tuple[int, int, Event]] = []
    shown = [MessageChanged(message) for message in step.messages if is_shown(message)]
    if step.is_whole:
        events += [HistoryReset(), *shown]
    else:
        dated += [(stands.message.revision, 0, stands) for stands in shown]
    if after.queue_version > before.queue_version:
        dated.append((after.queue_version, 1, QueueChanged(step.queue)))
    dated += [(at, 2, StatusChanged(status)) for at, status in _statuses(before, step)]
    return events + [event for _, _, event in sorted(dated, key=lambda item: item[:2])]


def _statuses(before: Versions, step: SnapshotChange) -> Iterable[tuple[int, Status]]:
    """What the chat became, one after the other, ending with what it is."""
    last = before.status
    newest = (step.heads.snapshot_version, step.heads.status)
    for at, status in (*step.statuses, newest):
        if at > before.snapshot_version and status is not last:
            last = status
            yield at, status


def _attempt_begins(before: Versions, after: Versions) -> bool:
    return after.generation_attempt not in (0, before.generation_attempt)


def _is_new(message: Message, have: Position) -> bool:
    return message.id > have.message_id and message.revision > have.history_version
