"""Large results in lists: small, of the same form, and with the size of the whole."""

from datetime import UTC, datetime
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.chats.wire.cutting import RESULT_BYTES_MAX, cut_json, cut_message
from adapters.chats.wire.messages import ChatMessage, ChatMessagePart

LONG = "begin " + "x" * 50_000 + " end"
TEXT = ChatMessagePart(type="text", text=LONG)


def cut(value):
    small = bytes(cut_json(msgspec.Raw(msgspec.json.encode(value))))
    assert len(small) <= RESULT_BYTES_MAX
    return msgspec.json.decode(small)


def result(value):
    return ChatMessagePart(type="tool-result", result=msgspec.Raw(msgspec.json.encode(value)))


def a_message(*parts):
    at = datetime(2030, 1, 1, tzinfo=UTC)
    return ChatMessage(id=1, chat_id=UUID(int=7), created_at=at, role="tool", content=parts)


def test_a_long_text_keeps_both_ends_and_what_stands_beside_it():
    small = cut({"output": LONG, "exit_code": 1, "success": False})

    assert (1, False) == (small["exit_code"], small["success"])
    assert small["output"].startswith("begin xxx")
    assert small["output"].endswith("xxx end")
    assert "bytes of the output are left out here" in small["output"]


def test_many_texts_all_get_shorter():
    small = cut({"files": [{"path": f"{n}.py", "diff": LONG} for n in range(5)]})

    assert [f"{n}.py" for n in range(5)] == [file["path"] for file in small["files"]]


def test_a_long_list_keeps_its_beginning():
    small = cut(list(range(100_000)))

    assert small == list(range(len(small)))
    assert 50 < len(small)


@pytest.mark.parametrize(
    "whole",
    [
        [[[["x" * 90] * 9] * 9] * 9] * 9,
        {"x" * 5_000: 1},
        "[" * 100_000 + "]" * 100_000,
    ],
)
def test_what_cannot_be_made_small_is_left_out(whole):
    encoded = whole.encode() if isinstance(whole, str) else msgspec.json.encode(whole)

    assert b"null" == bytes(cut_json(msgspec.Raw(encoded)))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9**9) | st.text(max_size=3_000),
    lambda inner: (
        st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=9), inner, max_size=9)
    ),
    max_leaves=20,
)


@given(json_values)
def test_whatever_it_is_it_becomes_small(value):
    small = cut(value)

    assert small is None or type(small) is type(value)


def test_a_message_says_how_large_its_results_are_and_keeps_all_else():
    small, large = result({"output": "short"}), result({"output": LONG})

    whole = a_message(small, TEXT, large)
    shown = cut_message(whole)

    assert (small, TEXT) == shown.content[:2]
    assert len(bytes(large.result)) == shown.content[2].result_bytes
    assert len(bytes(shown.content[2].result)) <= RESULT_BYTES_MAX


def test_a_message_without_large_results_stays_the_same():
    message = a_message(TEXT, result("x" * (RESULT_BYTES_MAX - 2)))

    assert message is cut_message(message)
    assert b"result_bytes" not in msgspec.json.encode(message)
