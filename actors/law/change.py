"""The change that a transition makes to a stored chat, as data, and the counters that it moves.
Pure.

A change is whole: the columns and the queue as they are after it, and the rows that it adds to or
takes from the history. Several changes join into one, so that a bundle is one write and one
snapshot.

The counters: `snapshot_version` grows with every bundle (the store has raised it before the law is
asked). A history that moves takes the snapshot as its version and starts counting attempts,
failures of the provider and deaths of processes anew. A queue that moves takes the snapshot as its
version, too. A retry state is about one attempt at one history and is dropped when either moves.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from actors.law.chat import (
    FILES_PER_CHAT_MAX,
    Approval,
    ApprovalDecision,
    Body,
    Chat,
    HistoryRow,
    KnownFiles,
    QueuedMessage,
    RetryState,
    Role,
    StoredChat,
)
from actors.law.closing import advance_tail, unanswered_calls
from actors.law.ids import FileId
from actors.law.parts.message import FilePart, Part
from actors.law.refusals import FilesFull, FilesUnavailable
from actors.law.states import State, Status, state_of


@dataclass(frozen=True, slots=True)
class Change:
    """The whole change of one bundle: what the store writes."""

    before: StoredChat
    chat: Chat
    queue: tuple[QueuedMessage, ...]
    added: tuple[Body, ...] = ()  # inserted, in this order
    deleted: tuple[HistoryRow, ...] = ()  # soft-deleted
    links: frozenset[FileId] = frozenset()  # files new to this chat
    touched: bool = True  # whether `updated_at` moves
    decisions: tuple[ApprovalDecision, ...] = ()  # kept for those who ask later

    @property
    def state(self) -> State:
        """Return the state that the change leads to."""
        chat = self.chat
        return state_of(chat.status, queued=bool(self.queue), archived=chat.archived)

    @property
    def after(self) -> StoredChat:
        """Return the stored chat as it is once the change is written."""
        before, files = self.before, self.before.files
        return StoredChat(
            self.chat,
            before.now,
            queue=self.queue,
            tail=advance_tail(before.tail, self.added),
            suffix=None if self.deleted else before.suffix,
            files=KnownFiles(files.linked | self.links, files.stored) if self.links else files,
        )


def join(first: Change, second: Change) -> Change:
    """Join two changes into one. The second was computed from what holds after the first."""
    assert not (second.deleted and first.added), "nothing is added before an edit in its bundle"
    return Change(
        first.before,
        second.chat,
        second.queue,
        added=first.added + second.added,
        deleted=first.deleted + second.deleted,
        links=first.links | second.links,
        touched=first.touched or second.touched,
        decisions=first.decisions + second.decisions,
    )


def no_change(stored: StoredChat) -> Change:
    """Return the change of an empty bundle: only the snapshot moves."""
    return Change(stored, stored.chat, stored.queue, touched=False)


def change(
    stored: StoredChat,
    *,
    status: Status | None = None,
    queue: tuple[QueuedMessage, ...] | None = None,
    added: tuple[Body, ...] = (),
    deleted: tuple[HistoryRow, ...] = (),
    new_epoch: bool = False,
    **columns: Any,
) -> Change:
    """Return a write of the execution state.

    The deadline and the mark of a requested compaction are cleared unless the transition carries
    them in `columns`.
    """
    chat = stored.chat
    queue = stored.queue if queue is None else queue
    columns = {"requires_action_deadline_at": None, "compaction_requested_at": None} | columns
    columns["status"] = status or chat.status
    approvals = columns.get("approvals", chat.approvals)
    if approvals and added:
        columns["approvals"] = _of_open_calls(approvals, stored, added)
    columns |= _last_choices(added)
    columns |= _counters(
        chat,
        history_moves=bool(added or deleted or new_epoch),
        queue_moves=queue is not stored.queue and queue != stored.queue,
        attempt=columns.get("generation_attempt", chat.generation_attempt),
        retry_state=columns.get("retry_state", chat.retry_state),
    )
    return Change(stored, replace(chat, **columns), queue, added=added, deleted=deleted)


def resume(
    stored: StoredChat,
    added: tuple[Body, ...],
    queue: tuple[QueuedMessage, ...] | None = None,
    **columns: Any,
) -> Change:
    """Add messages and go on running."""
    return add_step(stored, added, queue, status=Status.RUNNING, **columns)


def add_step(
    stored: StoredChat,
    added: tuple[Body, ...],
    queue: tuple[QueuedMessage, ...] | None = None,
    **columns: Any,
) -> Change:
    """Add messages, and behind them the queued messages that steer, if the model is asked next.

    That is a step boundary. A step that does not end with tool results (and rows about them) is
    none: it may be the turn's last, and then `FinishTurn` takes the head of the queue, where the
    steering messages stand first.
    """
    queue = stored.queue if queue is None else queue
    spoken = [body.role for body in added if body.role in (Role.ASSISTANT, Role.TOOL)]
    asks_model = spoken[-1:] == [Role.TOOL]
    if asks_model and not unanswered_calls(advance_tail(stored.tail, added)):
        added = (*added, *(row.message.as_body() for row in queue if row.steers))
        queue = tuple(row for row in queue if not row.steers)
    return change(stored, added=added, queue=queue, **columns)


def change_queue(stored: StoredChat, queue: tuple[QueuedMessage, ...]) -> Change:
    """Return a write of the queue that leaves the execution state, and `updated_at`, alone."""
    chat = stored.chat
    if queue != stored.queue:
        chat = replace(chat, queue_version=chat.snapshot_version)
    return Change(stored, chat, queue, touched=False)


def link_files(made: Change) -> Change | FilesFull | FilesUnavailable:
    """Link files to the chat in the change that first refers to them, or refuse the change."""
    files = made.before.files
    new = newly_referenced_files(made) - files.linked
    missing = new - files.stored
    if missing:
        return FilesUnavailable(tuple(sorted(missing)))
    if len(files.linked | new) > FILES_PER_CHAT_MAX:
        return FilesFull(FILES_PER_CHAT_MAX)
    return replace(made, links=new) if new else made


def referenced_files(added: Iterable[tuple[Part, ...]]) -> frozenset[FileId]:
    return frozenset(
        [
            part.file_id
            for parts in added
            for part in parts
            if isinstance(part, FilePart) and part.file_id is not None
        ]
    )


def newly_referenced_files(made: Change) -> frozenset[FileId]:
    """Return the files that this change is the first to refer to.

    A queued message brought its own files when it was queued.
    """
    added = [body.parts for body in made.added]
    if not (made.queue or made.before.queue):
        return referenced_files(added)
    known = [row.message.parts for row in made.before.queue]
    added += [row.message.parts for row in made.queue]
    return referenced_files(parts for parts in added if parts not in known)


def _of_open_calls(
    approvals: tuple[Approval, ...], stored: StoredChat, added: tuple[Body, ...]
) -> tuple[Approval, ...]:
    """Return the approvals that are still needed once these messages are added.

    A call that has its result needs no consent any more, and a new assistant message has calls of
    its own, whatever their ids are.
    """
    if any(body.role is Role.ASSISTANT for body in added):
        return ()
    open_ids = {call.id for call in unanswered_calls(advance_tail(stored.tail, added))}
    return tuple(approval for approval in approvals if approval.tool_call_id in open_ids)


def _counters(
    chat: Chat,
    *,
    history_moves: bool,
    queue_moves: bool,
    attempt: int,
    retry_state: RetryState | None,
) -> dict[str, Any]:
    snapshot = chat.snapshot_version
    counters: dict[str, Any] = {}
    if history_moves:
        attempt = 0
        counters |= {
            "history_version": snapshot,
            "provider_failures_count": 0,
            "process_deaths_count": 0,
        }
    if queue_moves:
        counters["queue_version"] = snapshot
    if history_moves or attempt != chat.generation_attempt:
        retry_state = None
    if retry_state != chat.retry_state:
        counters["retry_state_version"] = snapshot
    return counters | {"generation_attempt": attempt, "retry_state": retry_state}


def _last_choices(added: tuple[Body, ...]) -> dict[str, Any]:
    """Return the model and effort that the newest message names: the chat's own from then on."""
    chosen: dict[str, Any] = {}
    for body in added:
        if body.model_config_id is not None:
            chosen["last_model_config_id"] = body.model_config_id
        if body.reasoning_effort is not None:
            chosen["last_reasoning_effort"] = body.reasoning_effort
    return chosen
