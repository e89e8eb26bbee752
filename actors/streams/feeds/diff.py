"""The events that tell watchers how a chat differs from what they know of it. Pure.

A snapshot is told in this order: messages (all of them behind a reset, if one they know has gone),
queue, status, error, required action, retry, and a reset of the preview if its attempt is over.
Several snapshots that are told at once are told in their order, as far as it is known: a message
before the status that came with it or later. So the last answer of a turn comes before the
`waiting` that ends it, and no status is left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from actors.law.chat import (
    Body,
    Chat,
    ChatError,
    Message,
    QueuedMessage,
    RetryState,
    Role,
    Visibility,
)
from actors.law.closing import unanswered_dynamic_calls
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

# A watcher needs more than the name of these.
_EXPLAINED = (Status.ERROR, Status.REQUIRES_ACTION)


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions and the status of a chat: as much of it as a hint says."""

    snapshot_version: int
    history_version: int
    queue_version: int
    retry_state_version: int
    generation_attempt: int
    status: Status
    worker: WorkerId | None = None  # the process that holds it


@dataclass(frozen=True, slots=True)
class ToldState:
    """The state of a chat that its watchers have been told."""

    versions: Versions
    error_at: int = 0  # the history version for which an error was told; 0: none
    calls: tuple[str, ...] = ()  # ids of the calls that the client has to answer


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotChange:
    """The change of a chat since a snapshot that is known.

    `queue`, `error`, `retry` and `calls` need only be there where they are news.
    """

    versions: Versions
    messages: tuple[Message, ...] = ()  # new or changed, by id
    is_whole: bool = False  # a message has gone: these are all that are left
    queue: tuple[QueuedMessage, ...] = ()
    statuses: tuple[tuple[int, Status], ...] = ()  # that it has had, with their versions
    error: ChatError | None = None
    retry: RetryState | None = None
    calls: tuple[ToolCallPart, ...] = ()


@dataclass(frozen=True, slots=True)
class Position:
    """The place up to which a watcher who comes has the chat: nothing of it, as a rule."""

    message_id: int = 0  # they have every message up to this one
    history_version: int = 0  # and every message as of it, and know which had gone by then
    attempt: int = 0
    seq: int = 0  # and so many pieces of that attempt at that history


@dataclass(frozen=True, slots=True)
class ChatSnapshot:
    """All that is stored of a chat, or as much of its history as was asked for."""

    chat: Chat
    messages: tuple[Message, ...]  # that are not deleted, by id
    gone_at: int  # the history version in which a message went last; 0: none ever did
    queue: tuple[QueuedMessage, ...]
    statuses: tuple[tuple[int, Status], ...]  # the last ones, with their versions
    calls: tuple[ToolCallPart, ...]  # that the client has to answer
    approvals: tuple[PendingApprovals, ...] = ()  # of the chat and its agents


def diff(told: ToldState, change: SnapshotChange) -> tuple[ToldState, tuple[Event, ...]]:
    """Return what is known once the change has been told, and the events that tell it.

    There are none if it is known already.
    """
    before, after = told.versions, change.versions
    if after.snapshot_version <= before.snapshot_version:
        return told, ()
    has_moved = after.history_version > before.history_version
    told = replace(told, versions=after)
    events = _in_order(before, change)
    if after.status is Status.ERROR and change.error and told.error_at < after.history_version:
        events.append(ChatFailed(change.error))
        told = replace(told, error_at=after.history_version)
    if has_moved or after.status is not before.status:
        calls = tuple([call.id for call in change.calls])
        # The same calls are other ones if the chat has been at work between.
        if calls != told.calls or (calls and StatusChanged(Status.REQUIRES_ACTION) in events):
            if after.status is Status.REQUIRES_ACTION:
                events.append(ActionRequired(change.calls))
            told = replace(told, calls=calls)
    if change.retry is not None and after.retry_state_version > before.retry_state_version:
        events.append(RetryScheduled(change.retry))
    if has_moved or _attempt_begins(before, after):
        events.append(PreviewReset())
    return told, tuple(events)


def first_events(
    snapshot: ChatSnapshot, have: Position, *, goes_on: bool = False
) -> tuple[Event, ...]:
    """Return the events for a watcher who comes with `have`; the pieces of an attempt follow.

    `goes_on`: they have the first pieces of that attempt already, and only the others follow.
    """
    chat, versions = snapshot.chat, versions_of(snapshot.chat)
    is_whole = snapshot.gone_at > have.history_version
    events: list[Event] = [HistoryReset()] if is_whole else []
    events += [
        MessageChanged(message)
        for message in snapshot.messages
        if is_shown(message) and (is_whole or _is_new(message, have))
    ]
    if versions.queue_version > 0:
        events.append(QueueChanged(snapshot.queue))
    events.append(StatusChanged(versions.status))
    if versions.status is Status.ERROR and chat.last_error is not None:
        events.append(ChatFailed(chat.last_error))
    if versions.status is Status.REQUIRES_ACTION and snapshot.calls:
        events.append(ActionRequired(snapshot.calls))
    if snapshot.approvals:  # a watcher who comes and is told of none knows that there are none
        events.append(ApprovalsChanged(snapshot.approvals))
    if chat.retry_state is not None:
        events.append(RetryScheduled(chat.retry_state))
    if not goes_on:
        events.append(PreviewReset())
    return tuple(events)


def told_of(snapshot: ChatSnapshot) -> ToldState:
    """Return what watchers know who have been told all of a snapshot."""
    versions = versions_of(snapshot.chat)
    return ToldState(
        versions,
        error_at=versions.history_version if versions.status is Status.ERROR else 0,
        calls=tuple([call.id for call in snapshot.calls]),
    )


def change_of_snapshot(snapshot: ChatSnapshot, since: Versions) -> SnapshotChange:
    """Return a snapshot as a change since the one with these versions."""
    chat = snapshot.chat
    is_whole = snapshot.gone_at > since.history_version
    return SnapshotChange(
        versions=versions_of(chat),
        messages=tuple(
            [m for m in snapshot.messages if is_whole or m.revision > since.history_version]
        ),
        is_whole=is_whole,
        queue=snapshot.queue,
        statuses=snapshot.statuses,
        error=chat.last_error,
        retry=chat.retry_state,
        calls=snapshot.calls,
    )


def change_of_commit(applied: Applied) -> SnapshotChange | None:
    """Return what this process has committed. None if that does not say enough: then it is read."""
    change, chat = applied.change, applied.chat
    calls: tuple[ToolCallPart, ...] = ()
    if change.deleted:
        return None
    if chat.status is Status.REQUIRES_ACTION:
        calls = unanswered_dynamic_calls(change.after)
        if any(call.args is None for call in calls):  # as it is where the tail was read
            return None
    versions = versions_of(chat)
    version = versions.snapshot_version
    return SnapshotChange(
        versions=versions,
        messages=tuple(
            [
                Message(id, version, applied.at, False, body)
                for id, body in zip(applied.message_ids, change.added, strict=True)
            ]
        ),
        queue=applied.stored.queue if versions.queue_version == version else (),
        error=chat.last_error,
        retry=chat.retry_state,
        calls=calls,
    )


def change_of_hint(hint: ChatMoved, known: Versions) -> SnapshotChange | None:
    """Return the change that a hint tells by itself. None if it has to be read."""
    versions = Versions(
        hint.snapshot_version,
        hint.history_version,
        hint.queue_version,
        hint.retry_state_version,
        hint.generation_attempt,
        hint.status,
        hint.worker_id,
    )
    has_content = (
        versions.snapshot_version != known.snapshot_version + 1
        or versions.history_version != known.history_version
        or versions.queue_version != known.queue_version
        or (versions.status is not known.status and versions.status in _EXPLAINED)
    )
    # A retry that is told is of an attempt that was counted before; a new attempt clears it.
    has_retry = (
        versions.retry_state_version != known.retry_state_version
        and versions.generation_attempt == known.generation_attempt
    )
    return None if has_content or has_retry else SnapshotChange(versions=versions)


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
    """Return whether users get to see a message."""
    return not message.deleted and is_body_shown(message.body)


def is_body_shown(body: Body) -> bool:
    """Return whether users get to see a message of this body, as long as it is not deleted."""
    return body.role is not Role.SYSTEM and body.visibility is not Visibility.MODEL


def _in_order(before: Versions, change: SnapshotChange) -> list[Event]:
    """Return messages, queue and statuses, each at its version; at one version in this order."""
    after = change.versions
    events: list[Event] = []
    dated: list[tuple[int, int, Event]] = []
    messages = [MessageChanged(message) for message in change.messages if is_shown(message)]
    if change.is_whole:
        events += [HistoryReset(), *messages]
    else:
        dated += [(event.message.revision, 0, event) for event in messages]
    if after.queue_version > before.queue_version:
        dated.append((after.queue_version, 1, QueueChanged(change.queue)))
    dated += [(at, 2, StatusChanged(status)) for at, status in _statuses(before, change)]
    return events + [event for _, _, event in sorted(dated, key=lambda item: item[:2])]


def _statuses(before: Versions, change: SnapshotChange) -> Iterable[tuple[int, Status]]:
    """Yield the statuses that the chat has had one after the other, ending with the one it has."""
    last = before.status
    newest = (change.versions.snapshot_version, change.versions.status)
    for at, status in (*change.statuses, newest):
        if at > before.snapshot_version and status is not last:
            last = status
            yield at, status


def _attempt_begins(before: Versions, after: Versions) -> bool:
    return after.generation_attempt not in (0, before.generation_attempt)


def _is_new(message: Message, have: Position) -> bool:
    return message.id > have.message_id and message.revision > have.history_version
