"""Mistral over Chat Completions: content that is a list of chunks, and what it refuses.

The samples are written by hand after the vendors' public documentation.
"""

import json
import re

import pytest

from actors.law.parts.deltas import FinishReason
from actors.law.parts.message import JsonText, ReasoningPart, TextPart, ToolCallPart
from actors.law.parts.prompt import (
    AssistantOutput,
    CallSettings,
    Prompt,
    ToolAnswer,
    ToolResults,
    UserInput,
)
from actors.law.parts.vendors import vendor_of
from adapters.models.providers.faults import SkippedKinds
from adapters.models.providers.http import HttpClient
from adapters.models.providers.openai_chat.provider import ChatCompletionsProvider
from adapters.models.providers.openai_chat.request import request_body
from adapters.models.providers.openai_chat.response import ChatDecoder
from tests.adapters.models.providers.replay import answer_of, deltas_of, events
from tests.fakes.network import Network, streamed, whole

COMPATIBLE = vendor_of("openai-compat")
MISTRAL = COMPATIBLE.dialect_at("api.mistral.ai")
PLAIN = COMPATIBLE.dialect_at("localhost")


def thought(text):
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}


def spoken(text):
    return {"type": "text", "text": text}


def chunk(content, finish=None):
    delta = {"role": "assistant", "content": content}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "m1", "object": "chat.completion.chunk", "model": "magistral-medium-latest"}
    return json.dumps({**head, "choices": [choice]}).encode()


STREAM = events(
    chunk(""),
    chunk([thought("2 and 2")]),
    chunk([thought(" make 4.")]),
    chunk([spoken("It is ")]),
    chunk("four"),
    chunk([{"type": "reference", "reference_ids": [1]}]),
    chunk([spoken(".")]),
    chunk("", "stop"),
    b"[DONE]",
)
WHOLE = json.dumps(
    {
        "id": "m1",
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {
                    "role": "assistant",
                    "tool_calls": None,
                    "content": [
                        {
                            "type": "thinking",
                            "thinking": [
                                spoken("2 and 2"),
                                {"type": "reference", "reference_ids": [1]},
                                spoken(" make 4."),
                            ],
                            "closed": True,
                        },
                        spoken("It is four"),
                        {"type": "reference", "reference_ids": [1]},
                        spoken("."),
                    ],
                },
            }
        ],
        "usage": {"prompt_tokens": 9, "total_tokens": 20, "completion_tokens": 11},
    }
).encode()


def words(answer):
    return [(type(part).__name__, part.text) for part in answer.parts]


ANSWERED = [("ReasoningPart", "2 and 2 make 4."), ("TextPart", "It is four.")]


def a_provider(network, base_url="https://api.mistral.ai/v1"):
    client = HttpClient(network.dial)
    return ChatCompletionsProvider(client, "key", vendor=COMPATIBLE, base_url=base_url)


PROMPT = Prompt("magistral-medium-latest", (UserInput((TextPart("2+2?"),)),))


@pytest.mark.parametrize("size", [1, 7, None])
async def test_a_stream_whose_content_is_a_list_is_read(size, autojump_clock, nursery):
    network = Network(nursery, [[streamed(STREAM, size=size)]])

    async with a_provider(network).stream(PROMPT) as batches:
        answer = answer_of([delta async for batch in batches for delta in batch])

    assert ANSWERED == words(answer)
    assert answer.reason is FinishReason.STOP


async def test_a_whole_answer_whose_content_is_a_list_is_read(autojump_clock, nursery):
    network = Network(nursery, [[whole(WHOLE)]])

    answer = await a_provider(network).generate(PROMPT)

    assert ANSWERED == words(answer)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([], []),
        ([{"type": "thinking", "thinking": []}], []),
        ([{"type": "thinking", "thinking": "hm"}], [("ReasoningPart", "hm")]),
        (
            [
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
                spoken("yes"),
            ],
            [("ReasoningPart", "hm"), ("TextPart", "yes")],
        ),
        ([{"type": "reasoning", "text": "hm"}], [("ReasoningPart", "hm")]),
        ([{"type": "output_text", "text": "yes"}], [("TextPart", "yes")]),
    ],
)
def test_lists_of_other_servers_are_read_too(content, expected):
    deltas = deltas_of(ChatDecoder("n"), [events(chunk(content), chunk(None, "stop"), b"[DONE]")])

    assert expected == words(answer_of(deltas))


def test_a_refusal_in_a_list_is_a_refusal():
    said = [{"type": "refusal", "refusal": "I cannot."}]
    deltas = deltas_of(ChatDecoder("n"), [events(chunk(said, "stop"), b"[DONE]")])

    assert deltas[-1].reason is FinishReason.CONTENT_FILTER
    assert deltas[-1].refusal.explanation == "I cannot."


def test_a_kind_of_chunk_that_is_not_known_is_counted_and_costs_nothing_else():
    skipped = SkippedKinds()
    said = [{"type": "hologram", "hologram": {}}, spoken("yes")]
    decoder = ChatDecoder("n", skipped=skipped)

    answer = answer_of(deltas_of(decoder, [events(chunk(said, "stop"), b"[DONE]")]))

    assert [("TextPart", "yes")] == words(answer)
    assert {"content hologram": 1} == skipped.statistics().skipped


def test_a_full_window_cuts_the_answer_like_any_other_limit():
    deltas = deltas_of(ChatDecoder("n"), [events(chunk("half", "model_length"), b"[DONE]")])

    assert deltas[-1].reason is FinishReason.LENGTH


# what it refuses

MOVED = (
    UserInput((TextPart("what time is it?"),)),
    AssistantOutput(
        (
            ReasoningPart("hm"),
            ToolCallPart("toolu_01A-b", "clock", JsonText("{}")),
            ToolCallPart("call_2", "clock", JsonText("{}")),
            ToolCallPart("Abc123XYZ", "clock", JsonText("{}")),
        )
    ),
    ToolResults(
        (
            ToolAnswer("toolu_01A-b", "clock", "12:00"),
            ToolAnswer("call_2", "clock", "12:01"),
            ToolAnswer("Abc123XYZ", "clock", "12:02"),
        )
    ),
    UserInput((TextPart("stop, and say it in words"),)),
)


def sent(dialect, model, messages=MOVED):
    prompt = Prompt(model, messages, settings=CallSettings(max_output_tokens=None))
    return json.loads(request_body(prompt, dialect, stream=False))["messages"]


@pytest.mark.parametrize(
    ("dialect", "model"),
    [
        (MISTRAL, "magistral-medium-latest"),
        (MISTRAL, "ft:our-own:name"),
        (PLAIN, "mistralai/Devstral-Small-2-24B-Instruct-2512"),
        (vendor_of("openrouter").dialect, "mistralai/mistral-small-4"),
    ],
)
def test_a_chat_that_moves_to_mistral_has_ids_of_nine_letters_or_digits(dialect, model):
    messages = sent(dialect, model)

    called = [call["id"] for m in messages for call in m.get("tool_calls", ())]
    answered = [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    assert called == answered
    assert len(set(called)) == 3
    assert all(re.fullmatch("[A-Za-z0-9]{9}", id) for id in called)
    assert called[2] == "Abc123XYZ"
    assert messages == sent(dialect, model)  # the next request has the same ids


def test_no_user_follows_the_result_of_a_tool_at_mistral():
    roles = [message["role"] for message in sent(MISTRAL, "mistral-large-latest")]

    assert roles == ["user", "assistant", "tool", "tool", "tool", "assistant", "user"]


def test_other_models_get_the_conversation_as_it_is():
    messages = sent(PLAIN, "qwen3")

    assert [m["role"] for m in messages] == ["user", "assistant", "tool", "tool", "tool", "user"]
    assert messages[2]["tool_call_id"] == "toolu_01A-b"
