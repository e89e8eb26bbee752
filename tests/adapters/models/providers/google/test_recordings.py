"""Recorded traffic: every stream read byte for byte, every request compared with the recorded one.

Where our request deliberately differs from the recorded client's, `DIFFERENCES` says why. Claude
at Vertex speaks Anthropic's protocol; those recordings are not of this one.
"""

import copy
import json
import random
import re
from dataclasses import replace

import pytest

from actors.law.parts.deltas import FinishReason
from actors.law.parts.message import (
    FilePart,
    JsonText,
    ReasoningPart,
    TextPart,
    TokenUsage,
    ToolCallPart,
)
from actors.law.parts.prompt import (
    AnswerSchema,
    CallSettings,
    GoogleOptions,
    Prompt,
    ToolDefinition,
    UserInput,
)
from adapters.models.providers.google.request import request_body
from adapters.models.providers.google.response import GeminiDecoder
from tests.adapters.models.providers.replay import answer_of, answered_by, deltas_of, replayed
from tests.fakes.recordings import cuts, recordings

CUTS = 4
FOLDERS = (
    "TestGoogleCommon",
    "TestGoogleObjectGeneration",
    "TestGoogleThinking",
    "TestGoogleVertexObjectGeneration",
    "TestImageUploadAgent",
    "TestImageUploadAgentStreaming",
)


def drop_defaults(request):
    if request.get("toolConfig") == {"functionCallingConfig": {"mode": "AUTO"}}:
        del request["toolConfig"]
    if "systemInstruction" in request:
        request["systemInstruction"].pop("role", None)


def lower_types(request):
    for tool in request.get("tools", ()):
        for function in tool["functionDeclarations"]:
            schema = function.pop("parametersJsonSchema", None) or function.pop("parameters")
            function["schema"] = _lowered(schema)


def _lowered(value):
    if isinstance(value, dict):
        return {
            name: each.lower() if name == "type" and isinstance(each, str) else _lowered(each)
            for name, each in value.items()
        }
    return value


def number_ids(request):
    """Ids that were made up become the numbers of their calls."""
    numbers = {}
    for content in request["contents"]:
        for part in content["parts"]:
            told = part.get("functionCall") or part.get("functionResponse") or {}
            if re.fullmatch(r"\d+|call_n_\d+", told.get("id", "")):
                told["id"] = numbers.setdefault(told["id"], len(numbers))


DIFFERENCES = {
    drop_defaults: "what is said and what is left to the default mean the same; a system"
    " instruction has no role",
    lower_types: "the recorded client rewrites schemas into Google's own dialect and loses what"
    " that cannot say; we send them as JSON Schema",
    number_ids: "Gemini 2.5 gives its calls no ids; both sides make some up, the recorded client"
    " by counting, we so that no two answers share one",
}


def meaning(request):
    request = copy.deepcopy(request)
    for drop in DIFFERENCES:
        drop(request)
    return request


def conversations(*, streamed):
    """Those of this protocol."""
    return [
        recording
        for recording in recordings(*FOLDERS)
        if recording.streamed == streamed and "enerateContent" in recording.exchanges[0].url
    ]


def first_prompt(recording):
    """What the recorded client was asked for, read off its first request."""
    exchange = recording.exchanges[0]
    request, config = exchange.request, exchange.request.get("generationConfig", {})
    thinking = config.get("thinkingConfig", {})
    system = request.get("systemInstruction", {"parts": ()})
    schema = config.get("responseJsonSchema")
    return Prompt(
        re.search(r"/models/(.*):", exchange.url)[1],
        (UserInput(tuple(map(_part, request["contents"][0]["parts"]))),),
        tuple(part["text"] for part in system["parts"]),
        tools=tuple(
            ToolDefinition(
                f["name"], f["description"], JsonText(json.dumps(_lowered(f["parameters"])))
            )
            for tool in request.get("tools", ())
            for f in tool["functionDeclarations"]
        ),
        answer_schema=AnswerSchema("A", "", JsonText(json.dumps(schema))) if schema else None,
        settings=CallSettings(
            max_output_tokens=config.get("maxOutputTokens"),
            options=GoogleOptions(
                thinking_budget=thinking.get("thinkingBudget"),
                thinking_level=thinking.get("thinkingLevel", "").lower() or None,
                include_thoughts=thinking.get("includeThoughts"),
            ),
        ),
    )


def _part(part):
    if "text" in part:
        return TextPart(part["text"])
    return FilePart(part["inlineData"]["mimeType"], data=part["inlineData"]["data"])


def steps(recording, read):
    """Each exchange with the prompt we would have sent for it, and our reading of its answer."""
    prompt = first_prompt(recording)
    answer = None
    for exchange in recording.exchanges:
        if answer is not None:
            parts = exchange.request["contents"][-1]["parts"]
            texts = [part["functionResponse"]["response"]["result"] for part in parts]
            said = (replayed(answer), answered_by(answer, texts))
            prompt = replace(prompt, messages=(*prompt.messages, *said))
        answer = answer_of(read(exchange.body))
        yield exchange, prompt, answer


def check_request(exchange, prompt, name):
    vertex = "aiplatform" in exchange.url
    sent = json.loads(request_body(prompt, at_vertex=vertex))
    assert meaning(sent) == meaning(exchange.request), name


def check_answer(answer, chunks):
    said = [
        part
        for chunk in chunks
        for candidate in chunk["candidates"]
        for part in candidate["content"].get("parts", ())
    ]
    calls = [part["functionCall"] for part in said if "functionCall" in part]
    ours = [part for part in answer.parts if isinstance(part, ToolCallPart)]
    assert _text(answer, TextPart) == _recorded_text(said, thought=False)
    assert _text(answer, ReasoningPart) == _recorded_text(said, thought=True)
    assert [(c.name, json.loads(c.args)) for c in ours] == [(c["name"], c["args"]) for c in calls]
    signatures = [part["thoughtSignature"] for part in said if "thoughtSignature" in part]
    kept = [json.loads(p.provider_metadata) for p in answer.parts if p.provider_metadata]
    assert [each["google"]["thought_signature"] for each in kept] == signatures
    assert answer.reason is (FinishReason.TOOL_CALLS if calls else FinishReason.STOP)
    assert answer.usage == _recorded_usage(chunks[-1]["usageMetadata"])
    assert answer.response_id == chunks[0]["responseId"]


def _text(answer, kind):
    return "".join(part.text for part in answer.parts if isinstance(part, kind))


def _recorded_text(said, *, thought):
    return "".join(part.get("text", "") for part in said if bool(part.get("thought")) is thought)


def _recorded_usage(counts):
    cached = counts.get("cachedContentTokenCount")
    return TokenUsage(
        counts["promptTokenCount"] - (cached or 0),
        counts["totalTokenCount"] - counts["promptTokenCount"],
        counts["totalTokenCount"],
        counts.get("thoughtsTokenCount"),
        None,
        cached,
    )


def chunks_of(body):
    lines = body.decode().splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


@pytest.mark.slow
def test_every_recorded_stream_gives_the_same_parts_however_it_is_cut():
    chance = random.Random(7)
    ran = 0

    for recording in conversations(streamed=True):
        for exchange in recording.exchanges:
            whole = deltas_of(GeminiDecoder("n"), [exchange.body])
            for _ in range(CUTS):
                pieces = cuts(exchange.body, chance, chance.randrange(2, 200))
                assert deltas_of(GeminiDecoder("n"), pieces) == whole
            ran += 1

    print(f"google: {ran} streams, each whole and cut in {CUTS} ways")


@pytest.mark.slow
def test_every_recorded_stream_is_read_and_asked_for_as_recorded():
    ran = 0

    def read(body):
        return deltas_of(GeminiDecoder("n"), [body])

    for recording in conversations(streamed=True):
        for exchange, prompt, answer in steps(recording, read):
            check_request(exchange, prompt, recording.name)
            check_answer(answer, chunks_of(exchange.body))
            ran += 1

    print(f"google: {ran} streamed exchanges")


@pytest.mark.slow
def test_every_recorded_whole_answer_is_read_and_asked_for_as_recorded():
    ran = 0

    def read(body):
        return GeminiDecoder("n").whole(body)

    for recording in conversations(streamed=False):
        for exchange, prompt, answer in steps(recording, read):
            check_request(exchange, prompt, recording.name)
            check_answer(answer, [json.loads(exchange.body)])
            ran += 1

    print(f"google: {ran} whole exchanges")
