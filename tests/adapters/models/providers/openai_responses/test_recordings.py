"""Recorded traffic: every stream read byte for byte, every request compared with the recorded one.

Where our request deliberately differs from the recorded client's, `DIFFERENCES` says why.
"""

import copy
import json
import random
from dataclasses import replace

import pytest

from actors.law.parts.message import (
    JsonText,
    ReasoningPart,
    SourcePart,
    TextPart,
    TokenUsage,
    ToolCallPart,
    ToolResultPart,
)
from actors.law.parts.prompt import (
    AnswerSchema,
    CallSettings,
    OpenAIOptions,
    Prompt,
    ToolDefinition,
    UserInput,
    WebSearch,
)
from adapters.models.providers.openai_responses.request import request_body
from adapters.models.providers.openai_responses.response import ResponsesDecoder
from tests.adapters.models.providers.replay import answer_of, answered_by, deltas_of, replayed
from tests.fakes.recordings import cuts, recordings

CUTS = 4
FOLDERS = (
    "TestAzureResponsesCommon",
    "TestAzureResponsesWithSummaryThinking",
    "TestOpenAIResponsesCommon",
    "TestOpenAIResponsesObjectGeneration",
    "TestOpenAIResponsesWithSummaryThinking",
    "TestOpenAIWebSearch",
)


def drop_defaults(request):
    if request.get("tool_choice") == "auto":
        del request["tool_choice"]


def drop_reasoning(request):
    request.pop("include", None)
    request["input"] = [item for item in request["input"] if item.get("type") != "reasoning"]


def loosen_schema(request):
    format = request.get("text", {}).get("format", {})
    format.pop("strict", None)
    format.pop("description", None)


DIFFERENCES = {
    drop_defaults: "what is said and what is left to the default mean the same",
    drop_reasoning: "the recorded client asks for encrypted reasoning now and then, and never sends"
    " it back; we ask every model that reasons, and send it back (checked on its own below)",
    loosen_schema: "the recorded client sends a schema fit for strict mode, and leaves strict mode"
    " off; we switch it on, and say what the schema is for",
}


def meaning(request):
    request = copy.deepcopy(request)
    for drop in DIFFERENCES:
        drop(request)
    for item in request["input"]:
        if "arguments" in item:
            item["arguments"] = json.loads(item["arguments"])
    return request


def conversations(*, streamed):
    return [recording for recording in recordings(*FOLDERS) if recording.streamed == streamed]


def first_prompt(recording):
    """What the recorded client was asked for, read off its first request."""
    request = recording.exchanges[0].request
    functions = [tool for tool in request.get("tools", ()) if tool["type"] == "function"]
    searches = [tool for tool in request.get("tools", ()) if tool["type"] == "web_search"]
    reasoning = request.get("reasoning", {})
    return Prompt(
        request["model"],
        tuple(
            UserInput(tuple(TextPart(part["text"]) for part in item["content"]))
            for item in request["input"]
            if item["role"] == "user"
        ),
        tuple(i["content"] for i in request["input"] if i["role"] in ("system", "developer")),
        tools=tuple(
            ToolDefinition(
                tool["name"], tool["description"], JsonText(json.dumps(tool["parameters"]))
            )
            for tool in functions
        ),
        provider_tools=tuple(WebSearch() for _ in searches),
        answer_schema=_schema(request),
        settings=CallSettings(
            max_output_tokens=request.get("max_output_tokens"),
            effort=reasoning.get("effort"),
            options=OpenAIOptions(
                store=request["store"], reasoning_summary=reasoning.get("summary")
            ),
        ),
    )


def _schema(request):
    if "text" not in request:
        return None
    format = request["text"]["format"]
    return AnswerSchema(format["name"], "", JsonText(json.dumps(format["schema"])))


def steps(recording, read):
    """Each exchange with the prompt we would have sent for it, and our reading of its answer."""
    prompt = first_prompt(recording)
    answer = None
    for exchange in recording.exchanges:
        if answer is not None:
            outputs = [i for i in exchange.request["input"] if "output" in i]
            texts = [output["output"] for output in outputs]
            said = (replayed(answer), answered_by(answer, texts))
            prompt = replace(prompt, messages=(*prompt.messages, *said))
        answer = answer_of(read(exchange.body))
        yield exchange, prompt, answer


def check_answer(answer, response):
    """`response`: the recorded end, which tells the whole answer once more."""
    items = [item for item in response["output"] if item["type"] != "reasoning"]
    parts = [p for p in answer.parts if not isinstance(p, ReasoningPart | SourcePart)]
    told = []
    for item in items:
        match item["type"]:
            case "message":
                told += [("text", part["text"]) for part in item["content"]]
            case "function_call":
                told.append((item["call_id"], item["name"], item["arguments"]))
            case "web_search_call":
                told += [("searched", item["action"]), ("result", item["id"])]
    assert [_said(part) for part in parts] == told
    summaries = [
        summary["text"]
        for item in response["output"]
        if item["type"] == "reasoning"
        for summary in item["summary"]
    ]
    thoughts = [part.text for part in answer.parts if isinstance(part, ReasoningPart)]
    assert "\n\n".join(summaries) == "\n\n".join(thoughts)
    cited = {
        annotation["url"]: annotation["title"]
        for item in items
        for part in item.get("content", ())
        for annotation in part["annotations"]
    }
    assert {p.url: p.title for p in answer.parts if isinstance(p, SourcePart)} == cited
    check_usage(answer, response["usage"])


def _said(part):
    match part:
        case TextPart(text):
            return ("text", text)
        case ToolCallPart(provider_executed=True):
            return ("searched", json.loads(part.args))
        case ToolCallPart():
            return (part.id, part.name, part.args)
        case ToolResultPart(id):
            return ("result", id)


def check_usage(answer, usage):
    cached = usage["input_tokens_details"]["cached_tokens"]
    assert answer.usage == TokenUsage(
        usage["input_tokens"] - cached,
        usage["output_tokens"],
        usage["total_tokens"],
        usage["output_tokens_details"]["reasoning_tokens"],
        usage["input_tokens_details"].get("cache_write_tokens"),
        cached,
    )


def check_reasoning_goes_back(sent, body):
    """Every encrypted item of the recorded stream, as it came."""
    ended = [event["item"] for event in body if event["type"] == "response.output_item.done"]
    kept = [item for item in ended if item["type"] == "reasoning" and "encrypted_content" in item]
    names = ("id", "type", "summary", "encrypted_content")
    assert [item for item in sent["input"] if item.get("type") == "reasoning"] == [
        {name: item[name] for name in names} for item in kept
    ]


def events_of(body):
    lines = body.decode().splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


@pytest.mark.slow
def test_every_recorded_stream_gives_the_same_parts_however_it_is_cut():
    chance = random.Random(7)
    ran = 0

    for recording in conversations(streamed=True):
        for exchange in recording.exchanges:
            whole = deltas_of(ResponsesDecoder(), [exchange.body])
            for _ in range(CUTS):
                pieces = cuts(exchange.body, chance, chance.randrange(2, 200))
                assert deltas_of(ResponsesDecoder(), pieces) == whole
            ran += 1

    print(f"responses: {ran} streams, each whole and cut in {CUTS} ways")


@pytest.mark.slow
def test_every_recorded_stream_is_read_and_asked_for_as_recorded():
    ran = 0

    def read(body):
        return deltas_of(ResponsesDecoder(), [body])

    for recording in conversations(streamed=True):
        before = []
        for exchange, prompt, answer in steps(recording, read):
            sent = json.loads(request_body(prompt, stream=True))
            assert meaning(sent) == meaning(exchange.request), recording.name
            check_reasoning_goes_back(sent, before)
            events = events_of(exchange.body)
            check_answer(answer, events[-1]["response"])
            before += events
            ran += 1

    print(f"responses: {ran} streamed exchanges")


@pytest.mark.slow
def test_every_recorded_whole_answer_is_read_and_asked_for_as_recorded():
    ran = 0

    def read(body):
        return ResponsesDecoder().whole(body)

    for recording in conversations(streamed=False):
        for exchange, prompt, answer in steps(recording, read):
            sent = json.loads(request_body(prompt, stream=False))
            assert meaning(sent) == meaning(exchange.request), recording.name
            check_answer(answer, json.loads(exchange.body))
            ran += 1

    print(f"responses: {ran} whole exchanges")
