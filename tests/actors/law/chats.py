"""Scenario helpers for the law: a stored chat in any state, and short ways to say things.

`a_chat(State.R1, ...)` has readable defaults: its last step holds one open call of the client's
tool, its queue one row where the state asks for one, its counters values that can be told apart.
"""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from actors.law import requests as ask
from actors.law.change import Change
from actors.law.chat import (
    NO_FILES,
    Approval,
    Body,
    Chat,
    ChatError,
    HistoryRow,
    Message,
    QueuedMessage,
    RetryState,
    Role,
    StoredChat,
    Suffix,
    UserMessage,
    Visibility,
)
from actors.law.ids import (
    ChatId,
    FileId,
    Holder,
    MessageId,
    ModelConfigId,
    QueuedId,
    RunnerId,
    UserId,
    WorkerId,
)
from actors.law.parts.message import FilePart, TextPart, ToolCallPart, ToolResultPart
from actors.law.states import State, Status, state_of
from actors.law.transitions import bundle, transition

NOW = datetime(2030, 5, 17, 12, 0, tzinfo=UTC)
EARLIER = NOW - timedelta(minutes=1)

CHAT = ChatId(UUID(int=1))
ANN = UserId(UUID(int=11))
BOB = UserId(UUID(int=12))
FAST = ModelConfigId(UUID(int=21))
SMART = ModelConfigId(UUID(int=22))
HOLDER = Holder(WorkerId(UUID(int=31)), RunnerId(UUID(int=32)))
OTHER_HOLDER = Holder(WorkerId(UUID(int=33)), RunnerId(UUID(int=34)))

DYNAMIC = "ask_client"  # a tool that the client executes
LOCAL = "shell"  # one that we execute

BROKEN = ChatError("the provider is gone", kind="overloaded")
RETRY = RetryState(2, 2000, "overloaded", NOW + timedelta(seconds=2))

SNAPSHOT, HISTORY, QUEUE, RETRY_VERSION, ATTEMPT = 90, 50, 30, 20, 3
FAILURES, DEATHS = 2, 1

LIVE = tuple(s for s in State if s is not State.INVALID and not s.value.startswith("X"))
ARCHIVED = (State.XW, State.XE0, State.XE1)
IDLE = (State.W, State.E0, State.E1)
RUNNING = (State.R0, State.R1)
INTERRUPTING = (State.I0, State.I1)
ACTION = (State.A0, State.A1)

INVALID = tuple(
    (status, queued, archived)
    for status in Status
    for queued in (False, True)
    for archived in (False, True)
    if state_of(status, queued=queued, archived=archived) is State.INVALID
)

COLUMNS = {
    state_of(status, queued=queued, archived=archived): (status, queued, archived)
    for status in Status
    for queued in (False, True)
    for archived in (False, True)
}


def a_chat(state=State.R0, *, queue=None, tail=None, suffix=None, files=NO_FILES, **columns):
    """A stored chat in `state`; `queue` must fit it. Invalid: `a_broken_chat`."""
    status, is_queued, archived = COLUMNS[state]
    if queue is None:
        queue = (queued(1, "queued"),) if is_queued else ()
    stored = _stored(status, archived, queue, tail, suffix, files, columns)
    assert state is stored.state
    return stored


def a_broken_chat(status, is_queued, archived, *, tail=None, suffix=None, **columns):
    queue = (queued(1, "queued"),) if is_queued else ()
    stored = _stored(status, archived, queue, tail, suffix, NO_FILES, columns)
    assert stored.state is State.INVALID
    return stored


def _stored(status, archived, queue, tail, suffix, files, columns):
    known = {
        "id": CHAT,
        "owner_id": ANN,
        "parent_id": None,
        "status": status,
        "archived": archived,
        "holder": HOLDER,
        "last_error": BROKEN if status is Status.ERROR else None,
        "retry_state": None,
        "requires_action_deadline_at": NOW if status is Status.REQUIRES_ACTION else None,
        "compaction_requested_at": None,
        "snapshot_version": SNAPSHOT,
        "history_version": HISTORY,
        "queue_version": QUEUE,
        "retry_state_version": RETRY_VERSION,
        "generation_attempt": ATTEMPT,
        "provider_failures_count": FAILURES,
        "process_deaths_count": DEATHS,
        "pin_order": 7,
        "last_model_config_id": FAST,
        "last_reasoning_effort": "low",
        "dynamic_tools": frozenset({DYNAMIC}),
    }
    chat = Chat(**(known | columns))
    tail = (assistant(call("a", DYNAMIC)),) if tail is None else tail
    return StoredChat(chat, NOW, queue=tuple(queue), tail=tuple(tail), suffix=suffix, files=files)


# What is said


def call(id, name=LOCAL, *, provider=False):
    return ToolCallPart(id, name, provider_executed=provider)


def result(id, name=LOCAL, value='"done"', *, error=False, provider=False, at=None):
    return ToolResultPart(
        id, name, value, is_error=error, provider_executed=provider, created_at=at
    )


def approval(id, tool=LOCAL, *, by=None, until=None):
    return Approval(id, tool, "{}", EARLIER, until, by)


def assistant(*parts, **fields):
    return Body(Role.ASSISTANT, tuple(map(_part, parts)), **fields)


def tool(*parts, **fields):
    return Body(Role.TOOL, parts, **fields)


def user(*parts, by=ANN, **fields):
    return Body(Role.USER, tuple(map(_part, parts)), created_by=by, **fields)


def system(text, **fields):
    return Body(Role.SYSTEM, (TextPart(text),), **fields)


def message(*parts, by=ANN, model=None, effort=None):
    return UserMessage(tuple(map(_part, parts)), by, model, effort)


def file(number):
    return FilePart("text/plain", file_id=file_id(number))


def file_id(number):
    return FileId(UUID(int=1000 + number))


def cancelled(id, reason, name=LOCAL, *, model=FAST):
    """The row that answers a call nobody will answer any more."""
    return tool(result(id, name, f'"{reason}"', error=True), model_config_id=model)


def interrupted(id, name=LOCAL, *, model=FAST):
    """The same, as an interruption writes it."""
    text = '{"error": "interrupted before the tool produced a result"}'
    return tool(result(id, name, text, error=True, at=NOW), model_config_id=model)


def queued(id, *parts, steers=False, position=None, **who):
    position = id * 10 if position is None else position
    return QueuedMessage(QueuedId(id), position, message(*parts, **who), steers)


def steering(id, *parts, **who):
    return queued(id, *parts, steers=True, **who)


def row(id, body, *, revision=4):
    return Message(MessageId(id), revision, EARLIER, False, body)


def suffix(body, *later, id=40):
    """An edit's target, and the visibilities of the rows that follow it."""
    rows = tuple(HistoryRow(MessageId(id + n), seen) for n, seen in enumerate(later, start=1))
    return Suffix(row(id, body), rows)


def _part(part):
    return TextPart(part) if isinstance(part, str) else part


# What is asked, and what came of it


def send(*parts, busy=ask.BusyBehaviour.QUEUE, **who):
    return ask.SendMessage(message(*parts, **who), busy)


def interrupt_with(*parts, **who):
    return send(*parts, busy=ask.BusyBehaviour.INTERRUPT, **who)


def steer(*parts, **who):
    return send(*parts, busy=ask.BusyBehaviour.STEER, **who)


def edit(*parts, id=40, then=(), **who):
    return ask.EditMessage(MessageId(id), message(*parts, **who), then)


def promote(id):
    return ask.PromoteQueued(QueuedId(id))


def delete(id):
    return ask.DeleteQueued(QueuedId(id))


def reword(id, *parts, **who):
    return ask.EditQueued(QueuedId(id), message(*parts, **who))


def reorder(*ids):
    return ask.ReorderQueued(tuple(map(QueuedId, ids)))


def step(*bodies, consumes=False):
    return ask.CommitStep(bodies, consumes)


def submit(*results, by=ANN, model=None, then=()):
    return ask.CompleteRequiresAction(results, by, model, then)


def answer(id, output='"ok"', *, error=False):
    return ask.DynamicResult(id, output, error)


def done(stored, *requests):
    """The change that the requests make; they must be allowed."""
    made = transition(stored, *requests) if len(requests) == 1 else bundle(stored, requests)
    assert isinstance(made, Change), str(made)
    return made


def refused(stored, *requests):
    made = transition(stored, *requests) if len(requests) == 1 else bundle(stored, requests)
    assert not isinstance(made, Change), f"allowed, led to {made.after.state}"
    return made


def waiting_texts(change):
    """The queue after the change, by what the rows say."""
    return [r.message.parts[0].text for r in change.queue]


def said_texts(change):
    """What the change added to the history: texts, and ids of answered calls."""
    return [getattr(p, "text", None) or p.id for body in change.added for p in body.parts]


USER_ONLY, MODEL_ONLY, BOTH = Visibility.USER, Visibility.MODEL, Visibility.BOTH
