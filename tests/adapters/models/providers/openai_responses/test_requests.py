"""Prompts as requests of the Responses API: options, models, history, files."""

import base64
import json

import pytest

from actors.law.parts.message import (
    FilePart,
    JsonText,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from actors.law.parts.prompt import (
    AnswerSchema,
    AnthropicOptions,
    AssistantOutput,
    CallSettings,
    OnlyTool,
    OpenAIOptions,
    Prompt,
    ToolAnswer,
    ToolDefinition,
    ToolResults,
    UserInput,
    WebSearch,
)
from adapters.models.providers.openai_responses.request import request_body

HELLO = (UserInput((TextPart("hello"),)),)
ADD = ToolDefinition(
    "add", "Adds", JsonText('{"type":"object","properties":{"a":{"type":"integer"}}}')
)


def sent(model="gpt-4o", messages=HELLO, *, settings=None, **more):
    settings = settings or CallSettings(max_output_tokens=None)
    prompt = Prompt(model, messages, settings=settings, **more)
    return json.loads(request_body(prompt, stream=False))


def settings(**given):
    return CallSettings(**{"max_output_tokens": None} | given)


def test_a_plain_prompt_asks_for_no_more_than_it_says():
    content = [{"type": "input_text", "text": "hello"}]

    assert sent() == {"model": "gpt-4o", "input": [{"role": "user", "content": content}]}
    assert json.loads(request_body(Prompt("gpt-4o", HELLO), stream=True))["stream"] is True


def test_every_option_is_sent():
    given = OpenAIOptions(
        include=("web_search_call.action.sources",),
        instructions="be brief",
        log_probs=True,
        top_log_probs=2,
        max_tool_calls=4,
        parallel_tool_calls=False,
        user="u",
        reasoning_summary="auto",
        max_completion_tokens=9,
        text_verbosity="low",
        store=True,
        metadata=JsonText('{"k":"v"}'),
        prompt_cache_key="key",
        safety_identifier="safe",
        service_tier="priority",
    )

    body = sent(tools=(ADD,), settings=settings(options=given))

    plain = sent(tools=(ADD,))
    assert {name: body[name] for name in body if plain.get(name) != body[name]} == {
        "include": ["web_search_call.action.sources", "message.output_text.logprobs"],
        "instructions": "be brief",
        "top_logprobs": 2,
        "max_tool_calls": 4,
        "parallel_tool_calls": False,
        "user": "u",
        "reasoning": {"summary": "auto"},
        "max_output_tokens": 9,
        "text": {"verbosity": "low"},
        "store": True,
        "metadata": {"k": "v"},
        "prompt_cache_key": "key",
        "safety_identifier": "safe",
        "service_tier": "priority",
    }


def test_options_of_another_family_are_not_sent():
    given = settings(options=AnthropicOptions(thinking_budget_tokens=1))

    assert sent(settings=given) == sent()


def test_a_model_that_reasons_is_asked_for_what_can_be_sent_back_and_not_told_how_to_sample():
    given = settings(
        temperature=0.5, top_p=0.9, effort="high", options=OpenAIOptions(log_probs=True)
    )

    body = sent("gpt-5", settings=given, system=("be brief",))

    assert body["include"] == ["reasoning.encrypted_content"]
    assert body["reasoning"] == {"effort": "high"}
    assert body["input"][0] == {"role": "developer", "content": "be brief"}
    assert not {"temperature", "top_p"} & body.keys()


def test_a_model_that_does_not_reason_is_told_how_to_sample():
    body = sent(settings=settings(temperature=0.5, top_p=0.9), system=("be brief",))

    assert (body["temperature"], body["top_p"]) == (0.5, 0.9)
    assert body["input"][0] == {"role": "system", "content": "be brief"}
    assert "include" not in body


def test_tools_are_declared_and_chosen():
    search = WebSearch(allowed_domains=("a.test",), context_size="high")

    body = sent(tools=(ADD,), provider_tools=(search,), tool_choice=OnlyTool("add"))

    assert body["tools"] == [
        {
            "type": "function",
            "name": "add",
            "description": "Adds",
            "parameters": json.loads(ADD.schema),
            "strict": False,
        },
        {
            "type": "web_search",
            "search_context_size": "high",
            "filters": {"allowed_domains": ["a.test"]},
        },
    ]
    assert body["tool_choice"] == {"type": "function", "name": "add"}
    assert sent(tools=(ADD,), tool_choice="required")["tool_choice"] == "required"
    assert sent(provider_tools=(WebSearch(),))["tools"] == [{"type": "web_search"}]


@pytest.mark.parametrize(
    ("given", "strict"),
    [
        (OpenAIOptions(), True),
        (OpenAIOptions(strict_json_schema=False), False),
        (OpenAIOptions(structured_outputs=False), False),
    ],
)
def test_an_answer_may_have_a_schema(given, strict):
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    answer = AnswerSchema("P", "A P", JsonText(json.dumps(schema)))

    body = sent(answer_schema=answer, settings=settings(options=given))

    closed = {"additionalProperties": False} if strict else {}
    assert body["text"]["format"] == {
        "type": "json_schema",
        "name": "P",
        "description": "A P",
        "schema": schema | closed,
        "strict": strict,
    }


def test_files_go_in_the_form_of_their_kind():
    text = base64.b64encode("grüß".encode()).decode()
    files = (
        FilePart("image/png", data="aW1n"),
        FilePart("application/pdf", "a.pdf", data="cGRm"),
        FilePart("text/markdown", data=text),
        FilePart("audio/wav", "a.wav", data="YXVk"),
    )

    (message,) = sent(messages=(UserInput(files),))["input"]

    assert message["content"] == [
        {"type": "input_image", "image_url": "data:image/png;base64,aW1n"},
        {
            "type": "input_file",
            "filename": "a.pdf",
            "file_data": "data:application/pdf;base64,cGRm",
        },
        {"type": "input_text", "text": "grüß"},
        {"type": "input_text", "text": "[file a.wav, not shown]"},
    ]


def test_a_tool_may_answer_with_a_picture():
    answer = ToolAnswer("c1", "shot", "the screen", media=FilePart("image/png", data="aW1n"))

    (output,) = sent(messages=(ToolResults((answer,)),))["input"]

    assert output == {
        "type": "function_call_output",
        "call_id": "c1",
        "output": [
            {"type": "input_text", "text": "the screen"},
            {"type": "input_image", "image_url": "data:image/png;base64,aW1n"},
        ],
    }


def noted(**notes):
    return JsonText(json.dumps({"openai_responses": notes}))


KEPT = {"id": "rs", "encrypted_content": "x", "summary": [], "type": "reasoning"}
ITEM = {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"query": "q"}}
THOUGHT = ReasoningPart("hm", provider_metadata=noted(reasoning=KEPT))
FOREIGN = ReasoningPart("hm", provider_metadata=JsonText('{"anthropic":{"signature":"s"}}'))
SEARCHED = ToolCallPart(
    "ws",
    "web_search",
    JsonText("{}"),
    provider_executed=True,
    provider_metadata=noted(item=ITEM, led_by="rs"),
)
FOUND = ToolResultPart("ws", "web_search", JsonText("{}"), provider_executed=True)
FREE = ToolCallPart("ws", "web_search", provider_executed=True, provider_metadata=noted(item=ITEM))
SAID = TextPart("so", noted(phase="commentary"))
CALLED = ToolCallPart("c1", "add", JsonText('{"a": 1}'))
TEXT = {
    "role": "assistant",
    "content": [{"type": "output_text", "text": "so"}],
    "phase": "commentary",
}
CALL = {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a": 1}'}


@pytest.mark.parametrize(
    ("model", "parts", "items"),
    [
        ("gpt-5", (THOUGHT, SEARCHED, FOUND, SAID, CALLED), [KEPT, ITEM, TEXT, CALL]),
        ("gpt-5", (FOREIGN, SEARCHED, FOUND, SAID, CALLED), [TEXT, CALL]),
        ("gpt-4.1", (THOUGHT, SEARCHED, FOUND, SAID, CALLED), [TEXT, CALL]),
        ("gpt-4.1", (FREE, FOUND, SAID), [ITEM, TEXT]),
    ],
)
def test_reasoning_goes_back_where_it_is_understood_and_takes_its_search_along(model, parts, items):
    body = sent(model, messages=(AssistantOutput(parts),))

    assert body["input"] == items


PLAIN = {
    "id": "rs",
    "summary": [],
    "content": [{"type": "reasoning_text", "text": "hm"}],
    "type": "reasoning",
}


@pytest.mark.parametrize(("plain", "items"), [(True, [PLAIN, CALL]), (False, [CALL])])
def test_plain_reasoning_goes_back_to_servers_that_take_it(plain, items):
    thought = ReasoningPart("hm", provider_metadata=noted(reasoning=PLAIN))
    prompt = Prompt("deepseek-chat", (AssistantOutput((thought, CALLED)),))

    body = json.loads(request_body(prompt, stream=False, plain_thoughts=plain))

    assert body["input"] == items


def test_results_of_tools_go_back_under_the_ids_of_their_calls():
    answers = ToolResults((ToolAnswer("c1", "add", "2"),))

    assert sent(messages=(answers,))["input"] == [
        {"type": "function_call_output", "call_id": "c1", "output": "2"}
    ]
