"""What a transition does to a stored chat, as data, and which counters that moves. Pure.

A change is whole: the columns and the queue as they are after it, and the rows it adds to or
takes from the history. Several changes join into one, so that a bundle is one write and one
snapshot.

The counters: `snapshot_version` grows with every bundle (the store has bumped it before the law
is asked). A history that moves takes the snapshot as its version and starts counting attempts
anew; so does a queue that moves. A retry state speaks of one attempt at one history and is
dropped when either moves.
"""

from dataclasses import dataclass, replace
from typing import Any

from actors.ids import FileId
from actors.machine.chat import Body, Chat, HistoryRow, Queued, Stored
from actors.machine.closing import advance
from actors.machine.states import Status
from actors.parts.model import FilePart, Part


@dataclass(frozen=True, slots=True)
class Change:
    before: Stored
    chat: Chat
    queue: tuple[Queued, ...]
    said: tuple[Body, ...] = ()  # inserted, in this order
    unsaid: tuple[HistoryRow, ...] = ()  # soft-deleted
    links: frozenset[FileId] = frozenset()  # files new to this chat
    touched: bool = True  # whether `updated_at` moves

    @property
    def after(self) -> Stored:
        before = self.before
        return Stored(
            self.chat,
            before.now,
            queue=self.queue,
            tail=advance(before.tail, self.said),
            suffix=None if self.unsaid else before.suffix,
            files=replace(before.files, linked=before.files.linked | self.links),
        )


def join(first: Change, second: Change) -> Change:
    """Both changes as one; the second was computed from what holds after the first."""
    assert not (second.unsaid and first.said), "nothing is said before an edit in its bundle"
    return Change(
        first.before,
        second.chat,
        second.queue,
        said=first.said + second.said,
        unsaid=first.unsaid + second.unsaid,
        links=first.links | second.links,
        touched=first.touched or second.touched,
    )


def unchanged(stored: Stored) -> Change:
    """The empty bundle: only the snapshot moves."""
    return Change(stored, stored.chat, stored.queue, touched=False)


def change(
    stored: Stored,
    *,
    status: Status | None = None,
    queue: tuple[Queued, ...] | None = None,
    said: tuple[Body, ...] = (),
    unsaid: tuple[HistoryRow, ...] = (),
    new_epoch: bool = False,
    **columns: Any,
) -> Change:
    """A write of the execution state.

    Deadline and compaction marker are cleared unless the transition carries them in `columns`.
    """
    chat = stored.chat
    columns = {"requires_action_deadline_at": None, "compaction_requested_at": None} | columns
    after = replace(chat, status=status or chat.status, **columns)
    queue = stored.queue if queue is None else queue
    history_moved = bool(said or unsaid or new_epoch)
    after = _with_counters(chat, after, history=history_moved, queue=queue != stored.queue)
    return Change(stored, _with_last_choices(after, said), queue, said=said, unsaid=unsaid)


def only_queue(stored: Stored, queue: tuple[Queued, ...]) -> Change:
    """A write of the queue that leaves the execution state, and `updated_at`, alone."""
    after = _with_counters(stored.chat, stored.chat, history=False, queue=queue != stored.queue)
    return Change(stored, after, queue, touched=False)


def referenced_files(parts: tuple[Part, ...]) -> frozenset[FileId]:
    return frozenset(p.file_id for p in parts if isinstance(p, FilePart) and p.file_id is not None)


def newly_referenced_files(made: Change) -> frozenset[FileId]:
    """Files that `made` is the first to refer to; what waits in the queue was linked with it."""
    known = (row.message.parts for row in made.before.queue)
    queued = (row.message.parts for row in made.queue)
    said = (body.parts for body in made.said)
    return _files(*said, *queued) - _files(*known)


def _files(*messages: tuple[Part, ...]) -> frozenset[FileId]:
    return frozenset().union(*map(referenced_files, messages))


def _with_counters(before: Chat, after: Chat, *, history: bool, queue: bool) -> Chat:
    snapshot = before.snapshot_version
    attempt = 0 if history else after.generation_attempt
    stale = history or attempt != before.generation_attempt
    retry_state = None if stale else after.retry_state
    retry_moved = retry_state != before.retry_state
    return replace(
        after,
        generation_attempt=attempt,
        history_version=snapshot if history else before.history_version,
        queue_version=snapshot if queue else before.queue_version,
        retry_state=retry_state,
        retry_state_version=snapshot if retry_moved else before.retry_state_version,
    )


def _with_last_choices(chat: Chat, said: tuple[Body, ...]) -> Chat:
    """The model and effort that the newest message names are the chat's own from then on."""
    models = [body.model_config_id for body in said if body.model_config_id is not None]
    efforts = [body.reasoning_effort for body in said if body.reasoning_effort is not None]
    return replace(
        chat,
        last_model_config_id=models[-1] if models else chat.last_model_config_id,
        last_reasoning_effort=efforts[-1] if efforts else chat.last_reasoning_effort,
    )
