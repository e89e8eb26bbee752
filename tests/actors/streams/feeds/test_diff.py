"""What watchers are told of a snapshot, or of several at once: which events, in which order."""

from dataclasses import replace

import pytest

from actors.law import requests as ask
from actors.law.chat import Message, Visibility
from actors.law.ids import MessageId, QueuedId
from actors.law.states import State, Status
from actors.law.store.hints import hints_of_chat
from actors.law.store.ports import Applied
from actors.streams.feeds.diff import (
    ChatSnapshot,
    Position,
    SnapshotChange,
    ToldState,
    Versions,
    change_of_commit,
    change_of_hint,
    change_of_snapshot,
    diff,
    first_events,
    told_of,
)
from actors.streams.feeds.events import (
    ActionRequired,
    ApprovalsChanged,
    ChatFailed,
    HistoryReset,
    MessageChanged,
    PendingApprovals,
    PreviewReset,
    QueueChanged,
    RetryScheduled,
    StatusChanged,
)
from tests.actors.law.chats import (
    BROKEN,
    CHAT,
    DYNAMIC,
    NOW,
    RETRY,
    a_chat,
    approval,
    assistant,
    call,
    done,
    edit,
    queued,
    step,
    suffix,
    system,
    user,
)

RUNNING, WAITING = Status.RUNNING, Status.WAITING
THEN = Versions(10, 10, 0, 0, 1, RUNNING)  # what the watchers have been told
QUEUE = (queued(1, "later"),)


def said(id, body, revision=11, *, deleted=False):
    return Message(MessageId(id), revision, NOW, deleted, body)


def to(**heads):
    return replace(THEN, **({"snapshot_version": 11} | heads))


def told(step, known=None):
    return list(diff(known or ToldState(THEN), step)[1])


ANSWER = said(5, assistant("hi"))
ASKED = said(6, user("and?"), 13)

# What has become of the chat, and what is told.
STEPS = {
    "nothing new": (SnapshotChange(versions=THEN), []),
    "something old": (SnapshotChange(versions=to(snapshot_version=9, status=WAITING)), []),
    "only a snapshot": (SnapshotChange(versions=to()), []),
    "a status": (SnapshotChange(versions=to(status=WAITING)), [StatusChanged(WAITING)]),
    "an attempt": (SnapshotChange(versions=to(generation_attempt=2)), [PreviewReset()]),
    "the end of a turn": (
        SnapshotChange(
            versions=to(history_version=11, generation_attempt=0, status=WAITING),
            messages=(ANSWER,),
        ),
        [MessageChanged(ANSWER), StatusChanged(WAITING), PreviewReset()],
    ),
    "a step of it": (
        SnapshotChange(versions=to(history_version=11, generation_attempt=1), messages=(ANSWER,)),
        [MessageChanged(ANSWER), PreviewReset()],
    ),
    "what only the model sees": (
        SnapshotChange(
            versions=to(history_version=11),
            messages=(
                said(5, assistant("psst", visibility=Visibility.MODEL)),
                said(6, system("be kind")),
            ),
        ),
        [PreviewReset()],
    ),
    "a history without something": (
        SnapshotChange(
            versions=to(history_version=11), messages=(said(1, user("a"), 1),), is_whole=True
        ),
        [HistoryReset(), MessageChanged(said(1, user("a"), 1)), PreviewReset()],
    ),
    "a queue": (SnapshotChange(versions=to(queue_version=11), queue=QUEUE), [QueueChanged(QUEUE)]),
    "a queue that is empty": (SnapshotChange(versions=to(queue_version=11)), [QueueChanged(())]),
    "an error": (
        SnapshotChange(versions=to(status=Status.ERROR), error=BROKEN),
        [StatusChanged(Status.ERROR), ChatFailed(BROKEN)],
    ),
    "a pause": (
        SnapshotChange(versions=to(retry_state_version=11), retry=RETRY),
        [RetryScheduled(RETRY)],
    ),
    "the end of a pause": (
        SnapshotChange(versions=to(retry_state_version=11, generation_attempt=2)),
        [PreviewReset()],
    ),
    "a call for the client": (
        SnapshotChange(
            versions=to(history_version=11, status=Status.REQUIRES_ACTION),
            messages=(ANSWER,),
            calls=(call("a", DYNAMIC),),
        ),
        [
            MessageChanged(ANSWER),
            StatusChanged(Status.REQUIRES_ACTION),
            ActionRequired((call("a", DYNAMIC),)),
            PreviewReset(),
        ],
    ),
    "a turn and the next one, at once": (
        SnapshotChange(
            versions=to(snapshot_version=13, history_version=13, queue_version=12),
            messages=(ANSWER, ASKED),
            queue=QUEUE,
            statuses=((8, RUNNING), (11, WAITING), (13, RUNNING)),
        ),
        [
            MessageChanged(ANSWER),
            StatusChanged(WAITING),
            QueueChanged(QUEUE),
            MessageChanged(ASKED),
            StatusChanged(RUNNING),
            PreviewReset(),
        ],
    ),
    "statuses that somebody did not note": (
        SnapshotChange(
            versions=to(snapshot_version=14, status=WAITING), statuses=((12, Status.INTERRUPTING),)
        ),
        [StatusChanged(Status.INTERRUPTING), StatusChanged(WAITING)],
    ),
}


@pytest.mark.parametrize("what", STEPS)
def test_what_has_become_of_the_chat_is_told_in_order(what):
    step, expected = STEPS[what]

    assert expected == told(step)


def test_an_error_is_told_once_for_each_history():
    known, events = diff(
        ToldState(THEN), SnapshotChange(versions=to(status=Status.ERROR), error=BROKEN)
    )
    again = to(snapshot_version=12, status=Status.ERROR)
    known, same = diff(known, SnapshotChange(versions=again, error=BROKEN))
    moved = replace(again, snapshot_version=13, history_version=13)
    _, other = diff(known, SnapshotChange(versions=moved, error=BROKEN))

    assert (2, 0) == (len(events), len(same))
    assert [type(events[1]), PreviewReset] == [type(event) for event in other]


def test_a_client_is_told_its_calls_once_as_long_as_the_chat_waits():
    waits, calls = Status.REQUIRES_ACTION, (call("a"),)
    known, events = diff(ToldState(THEN), SnapshotChange(versions=to(status=waits), calls=calls))
    decided = replace(to(snapshot_version=12, status=waits), history_version=12)
    known, other = diff(known, SnapshotChange(versions=decided, calls=calls))
    statuses = ((13, Status.RUNNING), (14, waits))
    once_more = replace(decided, snapshot_version=14, history_version=14)
    _, anew = diff(known, SnapshotChange(versions=once_more, calls=calls, statuses=statuses))

    assert [StatusChanged(waits), ActionRequired(calls)] == list(events)
    assert [PreviewReset()] == list(other)
    assert ActionRequired(calls) in anew


def test_a_client_without_calls_is_not_told_that_a_person_is_waited_for():
    _, events = diff(ToldState(THEN), SnapshotChange(versions=to(status=Status.REQUIRES_ACTION)))

    assert [StatusChanged(Status.REQUIRES_ACTION)] == list(events)


def test_who_comes_is_told_what_is_asked_where_anything_is():
    asks = (PendingApprovals(CHAT, "", (approval("a"),)),)
    asking = replace(found(), approvals=asks)

    waiting = replace(found(State.A0), approvals=asks, calls=())
    beginning = StatusChanged(Status.REQUIRES_ACTION), ApprovalsChanged(asks), PreviewReset()

    assert beginning == first_events(waiting, Position())
    assert ApprovalsChanged(asks) in first_events(asking, Position())
    assert ApprovalsChanged(asks) in first_events(
        asking, Position(history_version=9, attempt=1, seq=2), goes_on=True
    )
    assert not [
        event for event in first_events(found(), Position()) if isinstance(event, ApprovalsChanged)
    ]


# whoever comes


def found(state=State.W, messages=(), *, gone_at=0, **columns):
    stored = a_chat(state, retry_state=None, queue_version=0, **columns)
    calls = (call("a", DYNAMIC),) if state is State.A0 else ()
    return ChatSnapshot(stored.chat, tuple(messages), gone_at, stored.queue, (), calls)


TWO = (said(4, user("hello"), 40), said(5, assistant("hi"), 50))
STANDS = [MessageChanged(message) for message in TWO]
REST = [StatusChanged(WAITING), PreviewReset()]

COMING = {
    "nothing": (Position(), 0, [*STANDS, *REST]),
    "the first message": (Position(4), 0, [STANDS[1], *REST]),
    "both messages": (Position(5), 0, REST),
    "the history of then": (Position(0, 40), 0, [STANDS[1], *REST]),
    "messages, before something went": (Position(5), 45, [HistoryReset(), *STANDS, *REST]),
    "a history, before something went": (Position(0, 40), 45, [HistoryReset(), *STANDS, *REST]),
    "a history, after something went": (Position(0, 50), 45, REST),
}


@pytest.mark.parametrize("what", COMING)
def test_who_comes_with_something_gets_what_is_new_to_him(what):
    have, gone_at, expected = COMING[what]

    assert expected == list(first_events(found(messages=TWO, gone_at=gone_at), have))


def test_who_comes_gets_the_state_whatever_he_has():
    stored = found(State.E1, TWO, retry_state_version=20, **{"last_error": BROKEN})
    stored = replace(stored, chat=replace(stored.chat, queue_version=30, retry_state=RETRY))

    assert [
        QueueChanged(stored.queue),
        StatusChanged(Status.ERROR),
        ChatFailed(BROKEN),
        RetryScheduled(RETRY),
    ] == list(first_events(stored, Position(5), goes_on=True))
    assert [StatusChanged(Status.REQUIRES_ACTION), ActionRequired((call("a", DYNAMIC),))] == list(
        first_events(found(State.A0), Position(), goes_on=True)
    )


def test_what_somebody_got_when_he_came_is_not_told_again():
    stored = found(State.E0, TWO)
    known = told_of(stored)

    assert [] == told(change_of_snapshot(stored, known.versions), known)
    next_one = replace(known.versions, snapshot_version=known.versions.snapshot_version + 1)
    assert [] == told(SnapshotChange(versions=next_one, error=BROKEN), known)


# where news comes from


def applied(state, request, **columns):
    change = done(a_chat(state, **columns), request)
    ids = tuple(MessageId(100 + n) for n in range(len(change.added)))
    fresh = tuple(QueuedId(200 + n) for n, row in enumerate(change.queue) if row.id < 0)
    return Applied(change, NOW, ids, fresh)


def test_a_commit_says_all_that_is_told_of_it():
    made = applied(State.R0, step(assistant("hi")))

    stood = change_of_commit(made)

    expected = said(100, made.change.added[0], made.chat.snapshot_version)
    assert (expected,) == stood.messages
    assert made.chat.snapshot_version == stood.versions.snapshot_version


def test_a_commit_that_takes_something_back_has_to_be_read():
    made = applied(State.W, edit("new"), suffix=suffix(user("old")))

    assert change_of_commit(made) is None


def test_calls_whose_arguments_the_committer_never_read_have_to_be_read():
    asked = applied(State.R0, ask.EnterRequiresAction(), tail=(assistant(call("a", DYNAMIC)),))
    whole = replace(call("a", DYNAMIC), args="{}")
    known = applied(State.R0, ask.EnterRequiresAction(), tail=(assistant(whole),))

    assert change_of_commit(asked) is None
    assert (whole,) == change_of_commit(known).calls


def hint(**columns):
    then = {name: getattr(THEN, name) for name in THEN.__slots__ if name != "worker"}
    chat = replace(a_chat(State.R0).chat, **(then | {"snapshot_version": 11} | columns))
    return hints_of_chat(chat, holder_is_fresh=True)[0]


def test_a_hint_that_says_everything_need_not_be_read():
    heard = hint(generation_attempt=2, status=WAITING)

    stood = change_of_hint(heard, THEN)

    assert (
        SnapshotChange(versions=to(generation_attempt=2, status=WAITING, worker=heard.worker_id))
        == stood
    )


@pytest.mark.parametrize(
    "columns",
    [
        {"snapshot_version": 12},
        {"history_version": 11},
        {"queue_version": 11},
        {"status": Status.ERROR},
        {"status": Status.REQUIRES_ACTION},
        {"retry_state_version": 11},
    ],
)
def test_a_hint_that_leaves_something_out_has_to_be_read(columns):
    assert change_of_hint(hint(**columns), THEN) is None
