"""What watchers are told of a snapshot, or of several at once: which events, in which order."""

from dataclasses import replace

import pytest

from actors.law import requests as ask
from actors.law.chat import Message, Visibility
from actors.law.ids import MessageId, QueuedId
from actors.law.states import State, Status
from actors.law.store.answers import Applied
from actors.law.store.hints import hints_of
from actors.streams.subscribers.diff import (
    Found,
    Have,
    Heads,
    Known,
    Step,
    diff,
    first,
    known_of,
    step_applied,
    step_found,
    step_heard,
)
from actors.streams.subscribers.events import (
    ActionRequired,
    Asking,
    AsksAre,
    Failed,
    HistoryReset,
    MessageStands,
    PreviewReset,
    QueueIs,
    Retrying,
    StatusIs,
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
THEN = Heads(10, 10, 0, 0, 1, RUNNING)  # what the watchers have been told
QUEUE = (queued(1, "later"),)


def said(id, body, revision=11, *, deleted=False):
    return Message(MessageId(id), revision, NOW, deleted, body)


def to(**heads):
    return replace(THEN, **({"snapshot_version": 11} | heads))


def told(step, known=None):
    return list(diff(known or Known(THEN), step)[1])


ANSWER = said(5, assistant("hi"))
ASKED = said(6, user("and?"), 13)

# What has become of the chat, and what is told.
STEPS = {
    "nothing new": (Step(heads=THEN), []),
    "something old": (Step(heads=to(snapshot_version=9, status=WAITING)), []),
    "only a snapshot": (Step(heads=to()), []),
    "a status": (Step(heads=to(status=WAITING)), [StatusIs(WAITING)]),
    "an attempt": (Step(heads=to(generation_attempt=2)), [PreviewReset()]),
    "the end of a turn": (
        Step(
            heads=to(history_version=11, generation_attempt=0, status=WAITING), messages=(ANSWER,)
        ),
        [MessageStands(ANSWER), StatusIs(WAITING), PreviewReset()],
    ),
    "a step of it": (
        Step(heads=to(history_version=11, generation_attempt=1), messages=(ANSWER,)),
        [MessageStands(ANSWER), PreviewReset()],
    ),
    "what only the model sees": (
        Step(
            heads=to(history_version=11),
            messages=(
                said(5, assistant("psst", visibility=Visibility.MODEL)),
                said(6, system("be kind")),
            ),
        ),
        [PreviewReset()],
    ),
    "a history without something": (
        Step(heads=to(history_version=11), messages=(said(1, user("a"), 1),), is_whole=True),
        [HistoryReset(), MessageStands(said(1, user("a"), 1)), PreviewReset()],
    ),
    "a queue": (Step(heads=to(queue_version=11), queue=QUEUE), [QueueIs(QUEUE)]),
    "a queue that is empty": (Step(heads=to(queue_version=11)), [QueueIs(())]),
    "an error": (
        Step(heads=to(status=Status.ERROR), error=BROKEN),
        [StatusIs(Status.ERROR), Failed(BROKEN)],
    ),
    "a pause": (Step(heads=to(retry_state_version=11), retry=RETRY), [Retrying(RETRY)]),
    "the end of a pause": (
        Step(heads=to(retry_state_version=11, generation_attempt=2)),
        [PreviewReset()],
    ),
    "a call for the client": (
        Step(
            heads=to(history_version=11, status=Status.REQUIRES_ACTION),
            messages=(ANSWER,),
            calls=(call("a", DYNAMIC),),
        ),
        [
            MessageStands(ANSWER),
            StatusIs(Status.REQUIRES_ACTION),
            ActionRequired((call("a", DYNAMIC),)),
            PreviewReset(),
        ],
    ),
    "a turn and the next one, at once": (
        Step(
            heads=to(snapshot_version=13, history_version=13, queue_version=12),
            messages=(ANSWER, ASKED),
            queue=QUEUE,
            statuses=((8, RUNNING), (11, WAITING), (13, RUNNING)),
        ),
        [
            MessageStands(ANSWER),
            StatusIs(WAITING),
            QueueIs(QUEUE),
            MessageStands(ASKED),
            StatusIs(RUNNING),
            PreviewReset(),
        ],
    ),
    "statuses that somebody did not note": (
        Step(heads=to(snapshot_version=14, status=WAITING), statuses=((12, Status.INTERRUPTING),)),
        [StatusIs(Status.INTERRUPTING), StatusIs(WAITING)],
    ),
}


@pytest.mark.parametrize("what", STEPS)
def test_what_has_become_of_the_chat_is_told_in_order(what):
    step, expected = STEPS[what]

    assert expected == told(step)


def test_an_error_is_told_once_for_each_history():
    known, events = diff(Known(THEN), Step(heads=to(status=Status.ERROR), error=BROKEN))
    again = to(snapshot_version=12, status=Status.ERROR)
    known, same = diff(known, Step(heads=again, error=BROKEN))
    moved = replace(again, snapshot_version=13, history_version=13)
    _, other = diff(known, Step(heads=moved, error=BROKEN))

    assert (2, 0) == (len(events), len(same))
    assert [type(events[1]), PreviewReset] == [type(event) for event in other]


def test_a_client_is_told_its_calls_once_as_long_as_the_chat_waits():
    waits, calls = Status.REQUIRES_ACTION, (call("a"),)
    known, events = diff(Known(THEN), Step(heads=to(status=waits), calls=calls))
    decided = replace(to(snapshot_version=12, status=waits), history_version=12)
    known, other = diff(known, Step(heads=decided, calls=calls))
    statuses = ((13, Status.RUNNING), (14, waits))
    once_more = replace(decided, snapshot_version=14, history_version=14)
    _, anew = diff(known, Step(heads=once_more, calls=calls, statuses=statuses))

    assert [StatusIs(waits), ActionRequired(calls)] == list(events)
    assert [PreviewReset()] == list(other)
    assert ActionRequired(calls) in anew


def test_a_client_without_calls_is_not_told_that_a_person_is_waited_for():
    _, events = diff(Known(THEN), Step(heads=to(status=Status.REQUIRES_ACTION)))

    assert [StatusIs(Status.REQUIRES_ACTION)] == list(events)


def test_who_comes_is_told_what_is_asked_where_anything_is():
    asks = (Asking(CHAT, "", (approval("a"),)),)
    asking = replace(found(), asks=asks)

    waiting = replace(found(State.A0), asks=asks, calls=())
    beginning = StatusIs(Status.REQUIRES_ACTION), AsksAre(asks), PreviewReset()

    assert beginning == first(waiting, Have())
    assert AsksAre(asks) in first(asking, Have())
    assert AsksAre(asks) in first(asking, Have(history_version=9, attempt=1, seq=2), goes_on=True)
    assert not [event for event in first(found(), Have()) if isinstance(event, AsksAre)]


# whoever comes


def found(state=State.W, messages=(), *, gone_at=0, **columns):
    stored = a_chat(state, retry_state=None, queue_version=0, **columns)
    calls = (call("a", DYNAMIC),) if state is State.A0 else ()
    return Found(stored.chat, tuple(messages), gone_at, stored.queue, (), calls)


TWO = (said(4, user("hello"), 40), said(5, assistant("hi"), 50))
STANDS = [MessageStands(message) for message in TWO]
REST = [StatusIs(WAITING), PreviewReset()]

COMING = {
    "nothing": (Have(), 0, [*STANDS, *REST]),
    "the first message": (Have(4), 0, [STANDS[1], *REST]),
    "both messages": (Have(5), 0, REST),
    "the history of then": (Have(0, 40), 0, [STANDS[1], *REST]),
    "messages, before something went": (Have(5), 45, [HistoryReset(), *STANDS, *REST]),
    "a history, before something went": (Have(0, 40), 45, [HistoryReset(), *STANDS, *REST]),
    "a history, after something went": (Have(0, 50), 45, REST),
}


@pytest.mark.parametrize("what", COMING)
def test_who_comes_with_something_gets_what_is_new_to_him(what):
    have, gone_at, expected = COMING[what]

    assert expected == list(first(found(messages=TWO, gone_at=gone_at), have))


def test_who_comes_gets_the_state_whatever_he_has():
    stored = found(State.E1, TWO, retry_state_version=20, **{"last_error": BROKEN})
    stored = replace(stored, chat=replace(stored.chat, queue_version=30, retry_state=RETRY))

    assert [QueueIs(stored.queue), StatusIs(Status.ERROR), Failed(BROKEN), Retrying(RETRY)] == list(
        first(stored, Have(5), goes_on=True)
    )
    assert [StatusIs(Status.REQUIRES_ACTION), ActionRequired((call("a", DYNAMIC),))] == list(
        first(found(State.A0), Have(), goes_on=True)
    )


def test_what_somebody_got_when_he_came_is_not_told_again():
    stored = found(State.E0, TWO)
    known = known_of(stored)

    assert [] == told(step_found(stored, known.heads), known)
    next_one = replace(known.heads, snapshot_version=known.heads.snapshot_version + 1)
    assert [] == told(Step(heads=next_one, error=BROKEN), known)


# where news comes from


def applied(state, request, **columns):
    change = done(a_chat(state, **columns), request)
    ids = tuple(MessageId(100 + n) for n in range(len(change.said)))
    fresh = tuple(QueuedId(200 + n) for n, row in enumerate(change.queue) if row.id < 0)
    return Applied(change, NOW, ids, fresh)


def test_a_commit_says_all_that_is_told_of_it():
    made = applied(State.R0, step(assistant("hi")))

    stood = step_applied(made)

    expected = said(100, made.change.said[0], made.chat.snapshot_version)
    assert (expected,) == stood.messages
    assert made.chat.snapshot_version == stood.heads.snapshot_version


def test_a_commit_that_takes_something_back_has_to_be_read():
    made = applied(State.W, edit("new"), suffix=suffix(user("old")))

    assert step_applied(made) is None


def test_calls_whose_arguments_the_committer_never_read_have_to_be_read():
    asked = applied(State.R0, ask.EnterRequiresAction(), tail=(assistant(call("a", DYNAMIC)),))
    whole = replace(call("a", DYNAMIC), args="{}")
    known = applied(State.R0, ask.EnterRequiresAction(), tail=(assistant(whole),))

    assert step_applied(asked) is None
    assert (whole,) == step_applied(known).calls


def hint(**columns):
    then = {name: getattr(THEN, name) for name in THEN.__slots__ if name != "worker"}
    chat = replace(a_chat(State.R0).chat, **(then | {"snapshot_version": 11} | columns))
    return hints_of(chat, holder_is_fresh=True)[0]


def test_a_hint_that_says_everything_need_not_be_read():
    heard = hint(generation_attempt=2, status=WAITING)

    stood = step_heard(heard, THEN)

    assert Step(heads=to(generation_attempt=2, status=WAITING, worker=heard.worker_id)) == stood


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
    assert step_heard(hint(**columns), THEN) is None
