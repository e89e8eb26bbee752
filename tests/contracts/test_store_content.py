"""What is said comes back as it was said: every kind of part, every field, every byte of JSON."""

from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import get_args

import pytest

from actors.law import requests as ask
from actors.law.chat import Body, ChatError, RetryState, Role, Visibility
from actors.law.parts.message import (
    UNPRICED,
    ContextFilePart,
    Cost,
    FilePart,
    FileReferencePart,
    HookContextPart,
    HookNoticePart,
    JsonText,
    Part,
    ReasoningPart,
    SkillPart,
    SourcePart,
    TextPart,
    TokenUsage,
    ToolCallPart,
    ToolResultPart,
)
from tests.actors.law.chats import ANN, BOB, assistant, call, result, send, step, tool
from tests.adapters.postgres.stores import new_chat_id, new_file_ids
from tests.contracts.given import a_chat, a_held_chat, applied
from tests.fakes.records import full

AT = datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
WHOLE = tuple(
    full(kind, file_id=None) if kind is FilePart else full(kind) for kind in get_args(Part)
)
BARE = (
    TextPart(""),
    ReasoningPart(""),
    ToolCallPart("", ""),
    ToolResultPart("", "", JsonText("null")),
    SourcePart("", ""),
    FilePart(""),
    FileReferencePart("", 0, 0, ""),
    ContextFilePart(""),
    SkillPart(""),
    HookContextPart(""),
    HookNoticePart(""),
)
TEXTS = [
    "\x00",
    "a\x00b\x000",
    "\ue000",
    "\ue0000 \ue000e \ue000\x00",
    "\\u0000",
    "\\\\u0000 \\ue000",
    "\n\t\r\x1f \x7f\x85\u2028",
    "ü€\U0001f3ad\uffff\ufffd",
    '"; DROP TABLE chats; --',
]
RAW = [
    "null",
    " [ ] ".strip(),
    '"\\u0000"',
    '"\\\\u0000"',
    '"\\\\\\u0000"',
    '"\\ue000 \\uE000 \ue000"',
    '"\\ud83c\\udfad \\uD83C\\uDFAD"',
    '{"\\u0000":"\\u00000","\ue000e":"\ue0000"}',
    '{"a" : 1 ,\n\t"b":[ ]}',
    "-0.0",
    "1E+400",
    "123456789012345678901234567890.10",
    '{"a":1,"a":2}',
]


async def come_back(world, *said):
    """The bodies as history has them, when they are committed as one step."""
    chat = await a_held_chat(world)
    await applied(world.ledger.apply(chat, [step(*said)]))
    return [message.body for message in await world.reading.history(chat)][1:]


def test_the_examples_hold_every_kind_of_part_and_every_field():
    kinds = set(get_args(Part))

    assert kinds == {type(part) for part in WHOLE} == {type(part) for part in BARE}
    for whole, bare in zip(WHOLE, BARE, strict=True):
        same = [f.name for f in fields(whole) if getattr(whole, f.name) == getattr(bare, f.name)]
        assert same == [] or same == ["file_id"], type(whole)


@pytest.mark.parametrize("part", [*WHOLE, *BARE], ids=lambda part: type(part).__name__)
async def test_every_part_comes_back(world, part):
    assert [assistant(part)] == await come_back(world, assistant(part))


async def test_a_stored_file_comes_back_by_its_id(world):
    [file] = new_file_ids(1)
    await world.add_files(file)

    assert [assistant(FilePart("t", file_id=file))] == await come_back(
        world, assistant(FilePart("t", file_id=file))
    )


async def test_every_field_of_a_message_comes_back(world):
    whole = full(
        Body,
        parts=WHOLE,
        visibility=Visibility.MODEL,
        created_by=BOB,
        reasoning_effort="high",
        cost=Cost(1_500_000, "table"),
    )
    unpriced, empty = Body(Role.ASSISTANT, (), cost=UNPRICED), Body(Role.SYSTEM, ())
    assert [] == [f.name for f in fields(Body) if getattr(whole, f.name) == getattr(empty, f.name)]

    assert [whole, unpriced, empty] == await come_back(world, whole, unpriced, empty)


async def test_a_count_of_nothing_is_no_count(world):
    nothing = Body(
        Role.ASSISTANT, (), usage=TokenUsage(0, 0, 0, 0, 0, 0), context_limit=0, runtime_ms=0
    )

    assert [Body(Role.ASSISTANT, ())] == await come_back(world, nothing)


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
async def test_any_text_comes_back(world, text):
    said = assistant(
        text, ToolCallPart(text, text, parsed_commands=((text,),)), SkillPart(text, text)
    )
    chat = await a_held_chat(world)
    await applied(world.ledger.apply(chat, [send(text, text), step(said)]))

    rows = await world.rows(chat)

    assert said == rows.messages[-1].body
    assert (TextPart(text), TextPart(text)) == rows.queue[0].message.parts


@pytest.mark.parametrize("raw", RAW, ids=ascii)
async def test_json_of_others_comes_back_byte_for_byte(world, raw):
    raw = JsonText(raw)
    said = [
        assistant(ToolCallPart("a", "t", raw, provider_metadata=raw), TextPart("", raw)),
        tool(result("a", value=raw)),
    ]

    assert said == await come_back(world, *said)


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        (' \t"x"\n', '"x"'),
        ('"\\ud83c"', '"\\ufffd"'),
        ('"\\udfad\\uD83Cx"', '"\\ufffd\\ufffdx"'),
        ('"\\ud83c\\ud83c\\udfad"', '"\\ufffd\\ud83c\\udfad"'),
        ('"\\\\ud83c"', '"\\\\ud83c"'),
        ('"\\u0000\\ud83c"', '"\\u0000\\ufffd"'),
    ],
    ids=ascii,
)
async def test_blanks_around_json_and_broken_surrogates_are_all_that_is_not_kept(world, raw, kept):
    assert [tool(result("a", value=kept))] == await come_back(world, tool(result("a", value=raw)))


def errors_and_retries(text):
    error = ChatError(text, text, text, True, 529, text)
    return error, RetryState(2, 1, f"{text}!", AT, text, text, 429)


@pytest.mark.parametrize(
    ("error", "retry"),
    [(full(ChatError, of_compaction=False), full(RetryState)), *map(errors_and_retries, TEXTS)],
    ids=["every field", *map(ascii, TEXTS)],
)
async def test_errors_and_retries_come_back(world, error, retry):
    chat = await a_held_chat(world)

    await applied(world.ledger.apply(chat, [ask.RecordRetryState(retry)]))
    retrying = await world.rows(chat)
    await applied(world.ledger.apply(chat, [ask.FinishError(error)]))
    stopped = await world.rows(chat)

    assert retry == retrying.chat.retry_state
    assert error == stopped.chat.last_error
    assert (await world.reading.view(chat)).chat == stopped.chat


async def test_an_error_that_ended_a_summary_comes_back_as_such(world):
    chat = await a_chat(world)
    await applied(world.ledger.apply(chat, [step(assistant("x")), ask.FinishTurn()]))
    await applied(world.ledger.apply(chat, [ask.RequestCompaction()]))

    await applied(world.ledger.apply(chat, [ask.FinishError(full(ChatError))]))

    stopped = await world.rows(chat)
    assert full(ChatError) == stopped.chat.last_error
    assert (await world.reading.view(chat)).chat == stopped.chat


async def test_tools_of_the_client_come_back(world):
    tools = (ask.DynamicTool("a", "\x00\ue000", JsonText('{"z":1, "a":"\\u0000"}')),)
    new = ask.NewChat(new_chat_id(), ANN, dynamic_tools=tools)

    await applied(world.ledger.create(ask.CreateChat(new, (assistant("x"),))))

    assert new == (await world.rows(new.id)).new


async def test_a_queued_message_says_the_same_when_its_turn_comes(world):
    chat = await a_chat(world)
    message = replace(send("x").message, parts=WHOLE)

    await applied(world.ledger.apply(chat, [ask.SendMessage(message)]))
    await applied(world.ledger.apply(chat, [ask.FinishTurn()]))

    assert WHOLE == (await world.reading.history(chat))[-1].body.parts


async def test_a_long_step_comes_back(world):
    long = "ü" * 1_000_000
    said = [assistant(long, call("a")), tool(result("a", value=JsonText(f'"{long}"')))]

    assert said == await come_back(world, *said)
