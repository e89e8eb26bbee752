"""Events in, the picture of the chat out."""

from datetime import UTC, datetime

import msgspec
import pytest
from msgspec import UNSET

from promptcorner_client.transcript import Transcript
from promptcorner_client.wire import (
    ChatError,
    ChatMessagePart,
    ChatStreamActionRequired,
    ChatStreamMessagePart,
    ChatStreamRetry,
    ChatStreamStatus,
    ChatStreamToolCall,
)
from tests.client.lives import Life, event


def piece(seq=1, role="assistant", **part):
    said = ChatStreamMessagePart(role, ChatMessagePart(**part), 2, 1, seq)
    return event("message_part", message_part=said)


def status(name):
    return event("status", status=ChatStreamStatus(name))


def seen(*events):
    transcript = Transcript()
    for one in events:
        transcript.apply(one)
    return transcript


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        pytest.param(
            [piece(type="text", text="Hel"), piece(type="text", text="lo")],
            [("text", "Hello")],
            id="text goes on",
        ),
        pytest.param(
            [piece(type="reasoning", text="hm"), piece(type="text", text="yes")],
            [("reasoning", "hm"), ("text", "yes")],
            id="thoughts and text are apart",
        ),
    ],
)
def test_pieces_join_what_they_go_on_with(pieces, expected):
    transcript = seen(*pieces)

    assert expected == [(part.type, part.text) for part in transcript.preview]


def test_the_last_piece_of_an_attempt_that_shows_no_more_adds_nothing():
    cut = ChatStreamMessagePart("assistant", ChatMessagePart(type="text"), 2, 1, 2, truncated=True)
    transcript = seen(
        piece(type="tool-call", tool_call_id="a"), event("message_part", message_part=cut)
    )

    assert (["tool-call"], True) == ([part.type for part in transcript.preview], transcript.is_cut)
    transcript.apply(event("preview_reset"))
    assert not transcript.is_cut


def test_arguments_join_their_call_and_give_way_to_the_whole():
    call = {"type": "tool-call", "tool_call_id": "a", "tool_name": "run"}
    deltas = [piece(**call, args_delta='{"x"'), piece(**call, args_delta=":1}")]

    transcript = seen(*deltas)
    assert '{"x":1}' == transcript.preview[0].args_delta

    transcript.apply(piece(**call, args=msgspec.Raw(b'{"x":1}')))
    assert [UNSET] == [part.args_delta for part in transcript.preview]
    assert b'{"x":1}' == bytes(transcript.preview[0].args)


def test_a_result_that_begins_anew_forgets_what_came_before():
    result = {"type": "tool-result", "tool_call_id": "a", "tool_name": "ask", "role": "tool"}

    transcript = seen(
        piece(**result, result_delta="wrong"),
        piece(**result, result_delta="new", result_reset=True),
    )

    assert ["new"] == [part.result_delta for part in transcript.preview]


def test_an_answer_is_what_is_being_said_or_was_said_last():
    life = Life()
    transcript = seen(*life.send(), *life.commit(), *life.finish())
    assert "message 2" == transcript.answer

    transcript.apply(piece(type="text", text="more"))
    assert "more" == transcript.answer


@pytest.mark.parametrize(
    ("events", "rests"),
    [
        pytest.param([status("running")], False, id="it works"),
        pytest.param([status("waiting")], True, id="it waits"),
        pytest.param([status("error")], False, id="nobody knows in which error yet"),
        pytest.param(
            [status("error"), event("error", error=ChatError(message="no"))], True, id="an error"
        ),
        pytest.param([status("requires_action")], False, id="for which tools is not known yet"),
        pytest.param(
            [
                status("requires_action"),
                event(
                    "action_required",
                    action_required=ChatStreamActionRequired((ChatStreamToolCall("a", "x", "{}"),)),
                ),
            ],
            True,
            id="for its client's tools",
        ),
        pytest.param([status("requires_action"), *Life().ask()], True, id="for consent"),
    ],
)
def test_a_chat_rests_when_somebody_else_has_to_act(events, rests):
    assert rests is seen(*events).rests_since()


def test_a_status_from_before_the_message_means_nothing():
    life = Life()
    life.send()

    assert not seen(status("waiting")).rests_since(message=1)
    assert seen(*life.snapshot(), status("waiting")).rests_since(message=1)


def test_an_error_and_a_retry_are_over_when_the_chat_goes_on():
    retry = ChatStreamRetry(
        attempt=1, delay_ms=5, error="busy", retrying_at=datetime(2026, 1, 1, tzinfo=UTC)
    )
    transcript = seen(status("error"), event("error", error=ChatError(message="no")))
    transcript.apply(status("running"))
    transcript.apply(event("retry", retry=retry))
    assert (None, retry) == (transcript.error, transcript.retry)

    transcript.apply(piece(type="text", text="x"))
    assert transcript.retry is None
