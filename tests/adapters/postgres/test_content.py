"""Stored content: parts to JSON and back, whatever they are, and what is done if that is broken."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.law.closing import unanswered_calls
from actors.law.parts.message import (
    JsonText,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from adapters.postgres.codec.parts import (
    CONTENT_VERSION,
    Unreadable,
    calls_from_json,
    escaped,
    from_json,
    to_json,
    unescaped,
)
from tests.actors.law.chats import assistant, call, result, step, tool
from tests.contracts.given import a_held_chat, applied
from tests.fakes.records import st_of
from tests.fakes.store import with_clean_json
from tests.models.requests import any_parts

# Everything that escaping looks at, and neighbours that look like it.
PIECES = [
    "\\u0000",
    "\\ue000",
    "\ue000",
    "0",
    "e",
    "\\\\",
    "u0000",
    "\\ud83c",
    "\\udfad",
    "\\n",
    "x",
]
escapes = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
paired = escapes.filter(lambda text: '"' + text + '"' == _cleaned('"' + text + '"'))


def _cleaned(raw):
    return with_clean_json(TextPart("", JsonText(raw))).provider_metadata


@pytest.mark.slow
@given(st.lists(st_of(Part), max_size=6))
def test_parts_come_back_with_every_field_that_they_have(parts):
    stored = to_json(tuple(parts))

    assert tuple(parts) == from_json(stored, version=CONTENT_VERSION, where="here")


@pytest.mark.slow
@given(st.lists(any_parts, max_size=6))
def test_of_json_of_others_only_blanks_around_it_and_broken_surrogates_are_not_kept(parts):
    stored = to_json(tuple(parts))

    assert tuple(map(with_clean_json, parts)) == from_json(
        stored, version=CONTENT_VERSION, where="here"
    )


@pytest.mark.slow
@given(st.lists(st_of(Part), max_size=6))
def test_calls_and_results_are_read_whole_without_the_rest(parts):
    found = calls_from_json(to_json(tuple(parts)), version=CONTENT_VERSION, where="here")

    assert tuple(p for p in parts if isinstance(p, ToolCallPart | ToolResultPart)) == found


def test_what_is_no_call_and_no_result_is_not_read_with_them():
    content = b'[{"type": "text", "text": 1}, {"type": "tool-call", "tool_call_id": "a"}]'

    [found] = calls_from_json(content, version=CONTENT_VERSION, where="here")

    assert ("a", ToolCallPart) == (found.id, type(found))


@pytest.mark.slow
@settings(max_examples=500)
@given(escapes)
def test_what_is_stored_has_no_zero_and_no_broken_surrogate(text):
    stored = escaped(f'"{text}"'.encode())

    value = json.loads(stored)
    assert "\x00" not in value
    value.encode()  # a surrogate alone would not


@pytest.mark.slow
@settings(max_examples=500)
@given(paired)
def test_escaping_is_undone_byte_for_byte(text):
    raw = f'"{text}"'.encode()

    assert raw == unescaped(escaped(raw))


@pytest.mark.parametrize(
    ("content", "version", "fault"),
    [
        (b"[]", 2, "message 7: content version 2, this program reads 1"),
        (b"{}", 1, "message 7: Expected `array`, got `object`"),
        (b'[{"type":"poem"}]', 1, "message 7: Invalid value 'poem' - at `$[0].type`"),
    ],
)
def test_content_that_is_none_says_where_and_what(content, version, fault):
    with pytest.raises(Unreadable) as caught:
        from_json(content, version=version, where="message 7")

    assert fault == str(caught.value)


async def test_a_tool_message_that_cannot_be_read_answers_nothing(store):
    chat = await a_held_chat(store)
    made = await applied(store.ledger.apply(chat, [step(assistant(call("a")), tool(result("a")))]))
    await unreadable(store, made.message_ids[1])

    view = await store.reading.view(chat)

    assert ["a"] == [open_.id for open_ in unanswered_calls(view.tail)]


async def test_an_assistants_message_that_cannot_be_read_is_no_silence(store):
    chat = await a_held_chat(store)
    made = await applied(store.ledger.apply(chat, [step(assistant(call("a")))]))
    await unreadable(store, made.message_ids[0])

    with pytest.raises(Unreadable, match=f"message {made.message_ids[0]}: content version 9"):
        await store.reading.view(chat)


async def unreadable(store, message):
    """As a later program might have written it."""
    await store.execute(
        "WITH c AS (UPDATE chats SET snapshot_version = snapshot_version + 1,"
        " history_version = snapshot_version + 1 RETURNING *)"
        " UPDATE messages m SET content_version = 9, revision = c.snapshot_version"
        " FROM c WHERE c.id = m.chat_id AND m.id = %(id)s",
        id=message,
    )


@pytest.mark.parametrize(
    ("said", "kept"),
    [("a\ud800b", "a�b"), ("\udc00", "�"), ("\ud83d\ude00", "😀"), ("plain", "plain")],
)
def test_half_a_character_in_a_text_does_not_keep_the_rest_from_being_stored(said, kept):
    stored = to_json((TextPart(said), ReasoningPart(said)))

    assert (TextPart(kept), ReasoningPart(kept)) == from_json(
        stored, version=CONTENT_VERSION, where="here"
    )
