"""Recorded traffic: every stream read byte for byte, every request compared with the recorded one.

Where our request deliberately differs from the recorded client's, `DIFFERENCES` says why.
"""

import copy
import json
import random
from dataclasses import replace

import pytest

from actors.law.parts.deltas import FinishReason
from actors.law.parts.message import ReasoningPart, TextPart, TokenUsage, ToolCallPart
from adapters.models.providers.openai_chat.request import answer_tool, request_body
from adapters.models.providers.openai_chat.response import ChatDecoder
from tests.adapters.models.providers.openai_chat.recorded import (
    conversations,
    dialect,
    first_prompt,
    tool_texts,
)
from tests.adapters.models.providers.replay import answer_of, answered_by, deltas_of, replayed
from tests.fakes.recordings import cuts

CUTS = 4


def drop_defaults(request, name):
    """What is said and what is left to the default mean the same."""
    if request.get("tool_choice") == "auto":
        del request["tool_choice"]
    for tool in request.get("tools", ()):
        if tool["function"].get("strict") is False:
            del tool["function"]["strict"]


def drop_replayed_thoughts(request, name):
    for message in request["messages"]:
        for field in ("reasoning", "reasoning_details"):
            message.pop(field, None)


def drop_cache_marks(request, name):
    for message in request["messages"]:
        message.pop("cache_control", None)
        for call in message.get("tool_calls", ()):
            call.pop("cache_control", None)


def drop_text_between_calls(request, name):
    if "/avian-kimi/" in name:
        for message in request["messages"]:
            if message["role"] == "assistant":
                message.pop("content", None)


DIFFERENCES = {
    drop_defaults: "the recorded client spells defaults out; some servers refuse what they do not"
    " know, so we send no more than is needed",
    drop_replayed_thoughts: "the recorded client rebuilds reasoning_details, and loses the first"
    " piece, summaries and encrypted thoughts on the way; we send back exactly what came, and not"
    " the same text a second time as reasoning (checked on its own below)",
    drop_cache_marks: "the recorded client marks what its caller points at, and loses marks on"
    " tool messages; we mark the last system text and the two newest messages (checked in"
    " test_requests)",
    drop_text_between_calls: "of texts before, between and after calls the recorded client keeps"
    " the last; we keep all",
}


def meaning(request, name):
    request = copy.deepcopy(request)
    for drop in DIFFERENCES:
        drop(request, name)
    for message in request["messages"]:
        for call in message.get("tool_calls", ()):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return request


def streamed_chunks(body):
    lines = body.decode().splitlines()
    data = (line.removeprefix("data:").strip() for line in lines if line.startswith("data:"))
    return [json.loads(each) for each in data if each != "[DONE]"]


def recorded_text(deltas, name):
    return "".join(delta.get(name) or "" for delta in deltas)


def recorded_usage(counts):
    prompt = counts.get("prompt_tokens_details") or {}
    details = counts.get("completion_tokens_details") or {}
    cached = prompt.get("cached_tokens")
    written = prompt.get("cache_write_tokens", counts.get("cache_creation_input_tokens"))
    return TokenUsage(
        counts["prompt_tokens"] - (cached or 0) - (written or 0),
        counts["total_tokens"] - counts["prompt_tokens"],
        counts["total_tokens"],
        details.get("reasoning_tokens"),
        written,
        cached,
    )


def steps(recording, read):
    """Each exchange with the prompt we would have sent for it, and our reading of its answer."""
    prompt = first_prompt(recording)
    answer = None
    for exchange in recording.exchanges:
        if answer is not None:
            said = (replayed(answer), answered_by(answer, tool_texts(exchange)))
            prompt = replace(prompt, messages=(*prompt.messages, *said))
        deltas = read(exchange, prompt)
        answer = answer_of(deltas)
        yield exchange, prompt, answer


def check_answer(answer, said, usage, asked):
    """`said`: the recorded deltas, or the one recorded message."""
    text = "".join(part.text for part in answer.parts if isinstance(part, TextPart))
    thoughts = "".join(part.text for part in answer.parts if isinstance(part, ReasoningPart))
    calls = [part for part in answer.parts if isinstance(part, ToolCallPart)]
    pieces = [piece for delta in said for piece in delta.get("tool_calls") or ()]
    arguments = "".join(piece["function"].get("arguments") or "" for piece in pieces)
    if asked:
        assert text == arguments
        assert not calls
        assert answer.reason is FinishReason.STOP
    else:
        assert text == recorded_text(said, "content")
        assert "".join(call.args for call in calls) == arguments
        assert [call.id for call in calls] == [piece["id"] for piece in pieces if piece.get("id")]
    assert thoughts == (
        recorded_text(said, "reasoning_content") or recorded_text(said, "reasoning")
    )
    assert answer.usage == recorded_usage(usage)


def check_replayed_thoughts(recording, prompt, said):
    """The request after an answer carries every piece of its reasoning_details."""
    spoken = dialect(recording.exchanges[0])
    pieces = [piece for delta in said for piece in delta.get("reasoning_details") or ()]
    if spoken.thoughts != "reasoning_details" or not pieces:
        return
    request = json.loads(request_body(prompt, spoken, stream=True))
    details = next(m for m in request["messages"] if m["role"] == "assistant")["reasoning_details"]
    for name in ("text", "summary", "data", "signature"):
        sent = "".join(detail.get(name) or "" for detail in details)
        assert sent == recorded_text(pieces, name)


@pytest.mark.slow
def test_every_recorded_stream_gives_the_same_parts_however_it_is_cut():
    chance = random.Random(7)
    ran = 0

    for recording in conversations(streamed=True):
        for exchange in recording.exchanges:
            tool = answer_tool(first_prompt(recording), dialect(exchange))
            whole = deltas_of(ChatDecoder("n", answer_tool=tool), [exchange.body])
            for _ in range(CUTS):
                pieces = cuts(exchange.body, chance, chance.randrange(2, 200))
                assert deltas_of(ChatDecoder("n", answer_tool=tool), pieces) == whole
            ran += 1

    print(f"chat completions: {ran} streams, each whole and cut in {CUTS} ways")


@pytest.mark.slow
def test_every_recorded_stream_is_read_and_asked_for_as_recorded():
    ran = 0

    def read(exchange, prompt):
        tool = answer_tool(prompt, dialect(exchange))
        return deltas_of(ChatDecoder("n", answer_tool=tool), [exchange.body])

    for recording in conversations(streamed=True):
        said = []
        for exchange, prompt, answer in steps(recording, read):
            spoken = dialect(exchange)
            sent = json.loads(request_body(prompt, spoken, stream=True))
            name = recording.name
            assert meaning(sent, name) == meaning(exchange.request, name), name
            if said:
                check_replayed_thoughts(recording, prompt, said)
            chunks = streamed_chunks(exchange.body)
            said = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
            usage = [chunk["usage"] for chunk in chunks if chunk.get("usage")][-1]
            check_answer(answer, said, usage, answer_tool(prompt, spoken))
            ran += 1

    print(f"chat completions: {ran} streamed exchanges")


@pytest.mark.slow
def test_every_recorded_whole_answer_is_read_and_asked_for_as_recorded():
    ran = 0

    def read(exchange, prompt):
        tool = answer_tool(prompt, dialect(exchange))
        return ChatDecoder("n", answer_tool=tool).whole(exchange.body)

    for recording in conversations(streamed=False):
        for exchange, prompt, answer in steps(recording, read):
            spoken = dialect(exchange)
            sent = json.loads(request_body(prompt, spoken, stream=False))
            name = recording.name
            assert meaning(sent, name) == meaning(exchange.request, name), name
            body = json.loads(exchange.body)
            said = [choice["message"] for choice in body["choices"]]
            check_answer(answer, said, body["usage"], answer_tool(prompt, spoken))
            ran += 1

    print(f"chat completions: {ran} whole exchanges")
