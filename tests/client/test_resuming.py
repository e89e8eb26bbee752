"""A follower loses nothing and repeats nothing, wherever his connections break."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptcorner_client.resuming import ResumableStream
from promptcorner_client.transcript import Transcript
from promptcorner_client.wire import (
    ChatError,
    ChatStreamActionRequired,
    ChatStreamStatus,
    ChatStreamToolCall,
)
from tests.client import lives
from tests.client.lives import Life

VERBS = ("send", "begin", "piece", "piece", "piece", "commit", "finish", "edit", "cut", "cut")
VERBS += ("ask", "decide")


class Follower:
    """Follows a life through connections that break; keeps what it was passed on."""

    def __init__(self, life):
        self.life = life
        self.following = ResumableStream()
        self.transcript = Transcript()
        self.passed_on = []
        self.is_connected = False
        self.connect()

    def connect(self):
        self.is_connected = True
        self.hear(self.life.snapshot(**self.following.resume_parameters))

    def hear(self, events):
        for event in self.following.feed(events):
            self.passed_on.append(event)
            self.transcript.apply(event)

    def cut(self):
        self.is_connected = False
        self.following.disconnected()


@settings(max_examples=300)
@given(st.lists(st.sampled_from(VERBS), min_size=30, max_size=60), st.booleans())
def test_a_follower_sees_the_truth_and_nothing_twice(verbs, honours_places):
    life = Life(honours_places)
    follower = Follower(life)

    for verb in verbs:
        live(life, follower, verb)
    if not follower.is_connected:
        follower.connect()
    follower.hear([])

    shown = follower.transcript
    assert life.messages == shown.messages
    assert life.status == shown.status
    assert life.approvals == shown.approvals
    assert "".join(life.pieces) == "".join(part.text for part in shown.preview)
    assert_nothing_came_twice(follower.passed_on)


def live(life, follower, verb):
    if verb == "cut":
        follower.cut() if follower.is_connected else follower.connect()
        return
    told = getattr(life, verb)()
    if follower.is_connected and told:
        follower.hear(told)


def assert_nothing_came_twice(events):
    shown, pieces = {}, set()
    for event in events:
        match event.type:
            case "history_reset":
                shown.clear()
            case "message":
                assert shown.get(event.message.id) != event.message, "a message came twice"
                shown[event.message.id] = event.message
            case "preview_reset":
                pieces.clear()
            case "message_part":
                piece = event.message_part
                place = piece.history_version, piece.generation_attempt, piece.seq
                assert place not in pieces, "a piece came twice"
                pieces.add(place)


def test_a_stream_that_goes_on_asks_for_what_is_missing():
    life = Life()
    follower = Follower(life)
    for verb in ("send", "begin", "piece", "piece"):
        live(life, follower, verb)

    follower.cut()

    assert {"after_id": "1", "after_part": "2.1.2"} == follower.following.resume_parameters


def test_who_knows_the_version_of_a_page_is_not_sent_all_because_of_an_earlier_edit():
    life = Life()
    for told in (life.send(), life.commit(), life.edit(), life.commit()):
        assert told
    stream = ResumableStream(max(life.messages), life.version)
    life.commit()

    told = stream.feed(life.snapshot(**stream.resume_parameters))

    assert ["message", "status"] == [event.type for event in told]
    assert max(life.messages) == told[0].message.id


def test_a_history_that_comes_again_is_not_told_again():
    life = Life()
    follower = Follower(life)
    for verb in ("send", "edit", "cut"):
        live(life, follower, verb)
    before = len(follower.passed_on)

    follower.connect()

    assert [] == follower.passed_on[before:]


def test_an_attempt_that_is_over_is_dropped_when_it_stays_quiet():
    life = Life(honours_places=False)
    follower = Follower(life)
    for verb in ("send", "begin", "piece", "cut", "begin"):
        live(life, follower, verb)

    follower.connect()
    follower.hear([])

    assert [] == follower.transcript.preview


@pytest.mark.parametrize("meanwhile", [["commit"], ["begin", "finish"], ["commit", "finish"]])
def test_what_ended_while_nobody_listened_is_not_shown_until_it_is_quiet(meanwhile):
    life = Life()
    follower = Follower(life)
    for verb in ("send", "begin", "piece", "cut", *meanwhile):
        live(life, follower, verb)

    follower.connect()

    assert [] == follower.transcript.preview


def test_the_same_calls_again_are_told_again_whether_or_not_the_status_was_seen_to_change():
    asked = ChatStreamActionRequired((ChatStreamToolCall("call_0", "look", "{}"),))
    waits = [
        lives.event("status", status=ChatStreamStatus("requires_action")),
        lives.event("action_required", action_required=asked),
    ]
    following, life = ResumableStream(), Life()
    told = following.feed([*life.send(), *waits])

    following.disconnected()  # meanwhile the calls are answered, and the model calls anew
    again = following.feed([*life.commit(), *waits])
    following.disconnected()
    unchanged = following.feed(waits)

    assert "action_required" == told[-1].type
    assert ["message", "action_required"] == [e.type for e in again if e.type != "preview_reset"]
    assert [] == unchanged


def test_an_error_is_told_again_when_the_chat_has_run_between():
    failed = [
        lives.event("status", status=ChatStreamStatus("error")),
        lives.event("error", error=ChatError(message="The provider is overloaded.")),
    ]
    running = [lives.event("status", status=ChatStreamStatus("running"))]
    following = ResumableStream()

    told = [following.feed(events) for events in (failed, failed, running, failed)]

    assert [failed, [], running, failed] == told


def test_what_was_decided_while_nobody_listened_is_told_once():
    life = Life()
    follower = Follower(life)
    follower.hear(life.ask())
    follower.cut()
    life.decide()

    follower.connect()
    follower.hear([])

    assert () == follower.transcript.approvals
    told = [event.approvals for event in follower.passed_on if event.type == "approvals"]
    assert [1, 0] == list(map(len, told))


def test_what_still_waits_is_not_told_twice():
    life = Life()
    follower = Follower(life)
    follower.hear(life.ask())
    follower.cut()

    follower.connect()
    follower.hear([])

    assert life.approvals == follower.transcript.approvals
    assert 1 == [event.type for event in follower.passed_on].count("approvals")
