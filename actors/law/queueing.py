"""The queue of a chat: messages that wait, in the order in which they will be taken. Pure.

The order is (position, id). A row is appended behind the last one, a steering row behind the last
one that steers: those enter the running turn, so they come first. New rows have ids below zero
until the store gives them theirs.
"""

from collections.abc import Callable
from dataclasses import replace

from actors.law import requests as ask
from actors.law.change import Change, change_queue
from actors.law.chat import QUEUE_ROWS_MAX, QueuedMessage, StoredChat
from actors.law.ids import QueuedId
from actors.law.refusals import NotAllowed, QueuedNotFound, QueueFull, QueueMoved

CREATION_SNAPSHOT = 1  # the snapshot in which a chat is created; every later bundle has a newer one

Queue = tuple[QueuedMessage, ...]


def append(stored: StoredChat, request: ask.SendMessage) -> Queue | QueueFull | NotAllowed:
    queue = stored.queue
    if stored.chat.snapshot_version == CREATION_SNAPSHOT:
        rule = "a chat is born without a queue; send it once the chat is there"
        return NotAllowed("SendMessage", stored.state, rule)
    if len(queue) >= QUEUE_ROWS_MAX:
        return QueueFull(QUEUE_ROWS_MAX)
    steers = request.busy is ask.BusyBehaviour.STEER
    before = _behind_steering(queue) if steers else len(queue)
    fresh = QueuedId(min((row.id for row in queue), default=0) - 1)
    new = QueuedMessage(QueuedId(min(fresh, -1)), 0, request.message, steers=steers)
    return _placed((*queue[:before], new, *queue[before:]), new.id)


def promote(queue: Queue, id: QueuedId) -> Queue | QueuedNotFound:
    row = _find(queue, id)
    if row is None:
        return QueuedNotFound(id)
    if row is queue[0]:
        return queue
    head = replace(row, position=queue[0].position - 1)
    return (head, *(other for other in queue if other.id != id))


def delete(stored: StoredChat, request: ask.DeleteQueued) -> Change | QueuedNotFound:
    id = request.queued_id
    if _find(stored.queue, id) is None:
        return QueuedNotFound(id)
    return change_queue(stored, tuple(row for row in stored.queue if row.id != id))


def edit(stored: StoredChat, request: ask.EditQueued) -> Change | QueuedNotFound:
    row = _find(stored.queue, request.queued_id)
    if row is None:
        return QueuedNotFound(request.queued_id)
    # Whoever rewords it, it stays the message of the one who sent it.
    new, old = request.message, row.message
    message = replace(
        new,
        created_by=old.created_by,
        model_config_id=new.model_config_id or old.model_config_id,
        reasoning_effort=new.reasoning_effort or old.reasoning_effort,
    )
    return change_queue(
        stored, _mapped(stored.queue, row.id, lambda r: replace(r, message=message))
    )


def reorder(stored: StoredChat, request: ask.ReorderQueued) -> Change | QueueMoved:
    rows = {row.id: row for row in stored.queue}
    if len(request.order) != len(rows) or set(request.order) != rows.keys():
        return QueueMoved(tuple(rows))
    if request.order == tuple(rows):
        return change_queue(stored, stored.queue)
    places = enumerate(request.order, start=stored.queue[0].position)
    return change_queue(stored, tuple(replace(rows[id], position=place) for place, id in places))


def _behind_steering(queue: Queue) -> int:
    """Return where the next row that steers goes. Users may have put other rows before those."""
    return max((at for at, row in enumerate(queue, start=1) if row.steers), default=0)


def _placed(queue: Queue, id: QueuedId) -> Queue:
    """Give the new row `id` a position between its neighbours; the rows before it make room."""
    at = next(index for index, row in enumerate(queue) if row.id == id)
    if at == len(queue) - 1:
        last = queue[at - 1].position if at else 0
        return _mapped(queue, id, lambda row: replace(row, position=last + 1))
    following = queue[at + 1].position
    earlier = (
        replace(row, position=following - 1 - at + index) for index, row in enumerate(queue[:at])
    )
    return (*earlier, replace(queue[at], position=following - 1), *queue[at + 1 :])


def _find(queue: Queue, id: QueuedId) -> QueuedMessage | None:
    return next((row for row in queue if row.id == id), None)


def _mapped(queue: Queue, id: QueuedId, change: Callable[[QueuedMessage], QueuedMessage]) -> Queue:
    return tuple(change(row) if row.id == id else row for row in queue)
