"""Prompts as requests of Chat Completions: options, models, dialects, files."""

import base64
import json

import pytest

from actors.law.parts.message import FilePart, JsonText, ReasoningPart, TextPart, ToolCallPart
from actors.law.parts.prompt import (
    AnswerSchema,
    AnthropicOptions,
    AssistantOutput,
    CallSettings,
    OnlyTool,
    OpenAICompatOptions,
    OpenAIOptions,
    OpenRouterOptions,
    OpenRouterRouting,
    Prompt,
    RoutedReasoning,
    ToolAnswer,
    ToolDefinition,
    ToolResults,
    UserInput,
    VercelOptions,
    WebSearch,
)
from actors.law.parts.vendors import vendor_of
from adapters.models.providers.openai_chat.request import answer_tool, request_body

HELLO = (UserInput((TextPart("hello"),)),)
ADD = ToolDefinition(
    "add", "Adds", JsonText('{"type":"object","properties":{"a":{"type":"integer"}}}')
)
OPENAI, AZURE, OPENAI_COMPAT, OPENROUTER, VERCEL = (
    vendor_of(type).dialect for type in ("openai", "azure", "openai-compat", "openrouter", "vercel")
)
GEMINI = vendor_of("openai-compat").dialect_at("generativelanguage.googleapis.com")
GROQ = vendor_of("openai-compat").dialect_at("api.groq.com")


def sent(dialect, model="gpt-4o", messages=HELLO, *, stream=False, settings=None, **more):
    settings = settings or CallSettings(max_output_tokens=None)
    prompt = Prompt(model, messages, settings=settings, **more)
    return json.loads(request_body(prompt, dialect, stream=stream))


def settings(**given):
    return CallSettings(**{"max_output_tokens": None} | given)


def options(dialect, given, model="gpt-4o", **more):
    """What these options add to a request."""
    body = sent(dialect, model, settings=settings(options=given), **more)
    plain = sent(dialect, model, **more)
    return {name: value for name, value in body.items() if plain.get(name) != value}


def test_a_plain_prompt_asks_for_no_more_than_it_says():
    assert sent(OPENAI) == {
        "model": "gpt-4o",
        "messages": [{"role": "user", "content": "hello"}],
    }


@pytest.mark.parametrize("dialect", [OPENAI, AZURE, OPENAI_COMPAT, OPENROUTER, VERCEL])
def test_a_stream_is_asked_for_its_counts(dialect):
    body = sent(dialect, stream=True)

    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})


def test_every_option_of_openai_is_sent():
    given = OpenAIOptions(
        logit_bias=JsonText('{"50256":-100}'),
        log_probs=True,
        top_log_probs=3,
        parallel_tool_calls=False,
        user="u",
        max_completion_tokens=9,
        text_verbosity="low",
        prediction=JsonText('{"type":"content","content":"x"}'),
        store=True,
        metadata=JsonText('{"k":"v"}'),
        prompt_cache_key="key",
        safety_identifier="safe",
        service_tier="flex",
    )

    assert options(OPENAI, given, tools=(ADD,)) == {
        "logit_bias": {"50256": -100},
        "logprobs": True,
        "top_logprobs": 3,
        "parallel_tool_calls": False,
        "user": "u",
        "max_completion_tokens": 9,
        "verbosity": "low",
        "prediction": {"type": "content", "content": "x"},
        "store": True,
        "metadata": {"k": "v"},
        "prompt_cache_key": "key",
        "safety_identifier": "safe",
        "service_tier": "flex",
    }


def test_every_option_of_openrouter_is_sent():
    given = OpenRouterOptions(
        reasoning=RoutedReasoning(enabled=True, exclude=False, max_tokens=2000),
        extra_body=JsonText('{"transforms":["middle-out"],"user":"other"}'),
        include_usage=False,
        logit_bias=JsonText('{"1":2}'),
        log_probs=True,
        parallel_tool_calls=True,
        user="u",
        provider=OpenRouterRouting(
            order=("a", "b"), allow_fallbacks=False, data_collection="deny", sort="price"
        ),
    )

    assert options(OPENROUTER, given, tools=(ADD,)) == {
        "reasoning": {"enabled": True, "exclude": False, "max_tokens": 2000},
        "transforms": ["middle-out"],
        "logit_bias": {"1": 2},
        "logprobs": True,
        "parallel_tool_calls": True,
        "user": "other",
        "provider": {
            "order": ["a", "b"],
            "allow_fallbacks": False,
            "data_collection": "deny",
            "sort": "price",
        },
    }
    assert "usage" not in sent(OPENROUTER, settings=settings(options=given))
    assert sent(OPENROUTER)["usage"] == {"include": True}


def test_every_option_of_vercel_is_sent():
    given = VercelOptions(
        reasoning=RoutedReasoning(enabled=True),
        order=("bedrock",),
        models=("m1", "m2"),
        user="u",
        logit_bias=JsonText('{"1":2}'),
        log_probs=True,
        top_log_probs=2,
        parallel_tool_calls=False,
        extra_body=JsonText('{"seed":1}'),
    )

    assert options(VERCEL, given, tools=(ADD,)) == {
        "reasoning": {"enabled": True},
        "providerOptions": {"gateway": {"order": ["bedrock"], "models": ["m1", "m2"]}},
        "user": "u",
        "logit_bias": {"1": 2},
        "logprobs": True,
        "top_logprobs": 2,
        "parallel_tool_calls": False,
        "seed": 1,
    }


def test_a_compatible_server_is_told_the_user():
    assert options(OPENAI_COMPAT, OpenAICompatOptions("u")) == {"user": "u"}


def test_options_of_another_family_are_not_sent():
    assert options(OPENAI, AnthropicOptions(thinking_budget_tokens=1)) == {}


SAMPLING = {"temperature": 0.5, "top_p": 0.9, "presence_penalty": 0.1, "frequency_penalty": 0.2}


@pytest.mark.parametrize(
    ("model", "effort", "sampled"),
    [
        ("gpt-4o", None, True),
        ("gpt-4.1-mini", None, True),
        ("gpt-5-chat-latest", None, True),
        ("o3", "low", False),
        ("gpt-5", "none", False),
        ("gpt-5.2", "none", True),
        ("gpt-5.2", "low", False),
        ("openai/gpt-5-mini", None, False),
        ("anthropic/claude-haiku-4.5", "low", True),
    ],
)
def test_a_model_that_reasons_is_not_told_how_to_sample(model, effort, sampled):
    body = sent(OPENROUTER, model, settings=settings(**SAMPLING, effort=effort, top_k=7))

    found = {name: body[name] for name in (*SAMPLING, "top_k") if name in body}
    assert found == (SAMPLING | {"top_k": 7} if sampled else {})


def test_openai_itself_knows_no_top_k():
    assert "top_k" not in sent(OPENAI, settings=settings(top_k=7))
    assert "top_k" not in sent(AZURE, settings=settings(top_k=7))


@pytest.mark.parametrize(
    ("model", "name"),
    [("gpt-4o", "max_tokens"), ("o4-mini", "max_completion_tokens"), ("llama3", "max_tokens")],
)
def test_the_output_limit_has_two_names(model, name):
    body = sent(OPENAI_COMPAT, model, settings=CallSettings(max_output_tokens=5))

    assert {key: body[key] for key in body if key.startswith("max_")} == {name: 5}


@pytest.mark.parametrize(
    ("dialect", "model", "effort", "expected"),
    [
        (OPENAI, "gpt-5", "high", {"reasoning_effort": "high"}),
        (OPENAI_COMPAT, "qwen3", "minimal", {"reasoning_effort": "minimal"}),
        (OPENAI_COMPAT, "google/gemini-3-pro-preview", "medium", {"reasoning_effort": "low"}),
        (OPENROUTER, "x-ai/grok-4", "xhigh", {"reasoning": {"effort": "xhigh"}}),
        (VERCEL, "openai/gpt-5", "none", {"reasoning": {"effort": "none"}}),
        (
            GEMINI,
            "gemini-2.5-pro",
            "none",
            {
                "extra_body": {
                    "google": {
                        "thinking_config": {"include_thoughts": True, "thinking_budget": 1024}
                    }
                }
            },
        ),
        (
            GEMINI,
            "gemini-3-flash",
            "max",
            {
                "extra_body": {
                    "google": {
                        "thinking_config": {"include_thoughts": True, "thinking_level": "high"}
                    }
                }
            },
        ),
    ],
)
def test_an_effort_is_put_in_the_words_of_the_dialect(dialect, model, effort, expected):
    body = sent(dialect, model, settings=settings(effort=effort))

    plain = sent(dialect, model)
    assert {name: body[name] for name in body if body[name] != plain.get(name)} == expected


def test_a_budget_for_reasoning_outranks_an_effort():
    given = settings(
        effort="high", options=OpenRouterOptions(reasoning=RoutedReasoning(max_tokens=100))
    )

    assert sent(OPENROUTER, settings=given)["reasoning"] == {"max_tokens": 100}


def test_tools_are_declared_and_chosen():
    declared = {
        "type": "function",
        "function": {"name": "add", "description": "Adds", "parameters": json.loads(ADD.schema)},
    }

    assert sent(OPENAI, tools=(ADD,))["tools"] == [declared]
    assert "tool_choice" not in sent(OPENAI, tools=(ADD,))
    assert sent(OPENAI, tools=(ADD,), tool_choice="none")["tool_choice"] == "none"
    assert sent(OPENAI, tools=(ADD,), tool_choice="required")["tool_choice"] == "required"
    assert sent(OPENAI, tools=(ADD,), tool_choice=OnlyTool("add"))["tool_choice"] == {
        "type": "function",
        "function": {"name": "add"},
    }
    assert sent(GEMINI, tools=(ADD,), tool_choice=OnlyTool("add"))["tool_choice"] == "required"


def test_gemini_gets_no_empty_properties_and_no_null_required():
    schema = JsonText(
        '{"type":"object","required":null,"properties":{"o":{"type":"object","properties":{}}}}'
    )

    (tool,) = sent(GEMINI, tools=(ToolDefinition("t", "", schema),))["tools"]

    expected = {"type": "object", "properties": {"o": {"type": "object"}}}
    assert tool["function"]["parameters"] == expected


@pytest.mark.parametrize(
    ("model", "expected"),
    [("gpt-4o", None), ("gpt-4o-search-preview", {"search_context_size": "low"})],
)
def test_only_models_that_search_are_told_to(model, expected):
    body = sent(OPENAI, model, provider_tools=(WebSearch(context_size="low"),))

    assert body.get("web_search_options") == expected


CLOSABLE = AnswerSchema(
    "P", "A P", JsonText('{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}')
)
OPTIONAL = AnswerSchema(
    "P", "A P", JsonText('{"type":"object","properties":{"a":{"type":"integer"}}}')
)


def test_an_answer_of_a_schema_is_strict_where_that_is_possible():
    formats = [
        sent(OPENAI, answer_schema=schema, settings=settings(options=given))["response_format"]
        for schema, given in (
            (CLOSABLE, None),
            (OPTIONAL, None),
            (CLOSABLE, OpenAIOptions(strict_json_schema=False)),
        )
    ]

    closed = json.loads(CLOSABLE.schema) | {"additionalProperties": False}
    asked = [format["json_schema"] for format in formats]
    assert [each["strict"] for each in asked] == [True, False, False]
    assert [each["schema"] for each in asked] == [
        closed,
        json.loads(OPTIONAL.schema),
        json.loads(CLOSABLE.schema),
    ]


@pytest.mark.parametrize(
    ("dialect", "given"),
    [(OPENAI_COMPAT, None), (OPENAI, OpenAIOptions(structured_outputs=False))],
)
def test_an_answer_of_a_schema_may_be_asked_for_as_a_call(dialect, given):
    prompt = Prompt("m", HELLO, answer_schema=CLOSABLE, settings=settings(options=given))
    body = json.loads(request_body(prompt, dialect, stream=False))

    assert answer_tool(prompt, dialect) == "P"
    assert body["tool_choice"] == {"type": "function", "function": {"name": "P"}}
    assert [tool["function"]["name"] for tool in body["tools"]] == ["P"]
    assert "response_format" not in body


def test_files_go_in_the_form_of_their_kind():
    text = base64.b64encode("grüß".encode()).decode()
    files = (
        FilePart("image/png", data="aW1n"),
        FilePart("application/pdf", "a.pdf", data="cGRm"),
        FilePart("audio/mpeg", data="YXVk"),
        FilePart("text/markdown", data=text),
        FilePart("application/zip", "a.zip", data="emlw"),
    )

    (message,) = sent(OPENAI, messages=(UserInput((TextPart("see"), *files)),))["messages"]

    assert message["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aW1n"}},
        {
            "type": "file",
            "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,cGRm"},
        },
        {"type": "input_audio", "input_audio": {"data": "YXVk", "format": "mp3"}},
        {"type": "text", "text": "grüß"},
        {"type": "text", "text": "[file a.zip, not shown]"},
    ]


DETAILS = [{"type": "reasoning.text", "text": "hm", "signature": "s", "index": 0}]
THOUGHT = ReasoningPart(
    "hm",
    provider_metadata=JsonText(json.dumps({"openai_chat": {"reasoning_details": DETAILS}})),
)
SEARCHED = ToolCallPart("ws", "web_search", JsonText("{}"), provider_executed=True)
CALLED = ToolCallPart("c1", "add", JsonText('{"a": 1}'))
TURN = (
    *HELLO,
    AssistantOutput((THOUGHT, TextPart("on"), TextPart("e"), SEARCHED, CALLED)),
    ToolResults((ToolAnswer("c1", "add", "2"),)),
)


@pytest.mark.parametrize(
    ("dialect", "thoughts"),
    [
        (OPENAI, {}),
        (GROQ, {}),
        (OPENAI_COMPAT, {"reasoning_content": "hm"}),
        (OPENROUTER, {"reasoning_details": DETAILS}),
    ],
)
def test_earlier_turns_are_said_again(dialect, thoughts):
    assert sent(dialect, messages=TURN)["messages"] == [
        {"role": "user", "content": "hello"},
        {
            "role": "assistant",
            "content": "one",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "add", "arguments": '{"a": 1}'},
                }
            ],
            **thoughts,
        },
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
    ]


def test_thoughts_alone_are_not_said_again():
    assert len(sent(OPENROUTER, messages=(*HELLO, AssistantOutput((THOUGHT,))))["messages"]) == 1


def test_gemini_gets_a_signature_for_each_call_of_the_turn_under_way():
    signed = {"extra_content": {"google": {"thought_signature": "sig"}}}
    real = ToolCallPart(
        "c1", "add", JsonText("{}"), provider_metadata=JsonText(json.dumps({"openai_chat": signed}))
    )
    unsigned = AssistantOutput((CALLED, CALLED))
    answers = ToolResults((ToolAnswer("c1", "add", "2"),))

    said = sent(
        GEMINI,
        "gemini-3-pro-preview",
        messages=(*HELLO, unsigned, answers, *HELLO, AssistantOutput((real,)), unsigned, answers),
    )["messages"]

    extras = [
        [call.get("extra_content") for call in message["tool_calls"]]
        for message in said
        if "tool_calls" in message
    ]
    skip = {"google": {"thought_signature": "skip_thought_signature_validator"}}
    assert extras == [[None, None], [signed["extra_content"]], [skip, None]]


@pytest.mark.parametrize(
    ("dialect", "model", "cached", "marked"),
    [
        (OPENROUTER, "anthropic/claude-haiku-4.5", True, [1, 4, 5]),
        (VERCEL, "anthropic/claude-haiku-4.5", True, [1, 4, 5]),
        (OPENROUTER, "anthropic/claude-haiku-4.5", False, []),
        (OPENROUTER, "openai/gpt-5", True, []),
        (OPENAI, "anthropic/claude-haiku-4.5", True, []),
    ],
)
def test_what_a_gateway_should_keep_for_anthropic_is_marked(dialect, model, cached, marked):
    said = sent(dialect, model, messages=(*HELLO, *TURN), system=("one", "two"), cached=cached)[
        "messages"
    ]

    assert [at for at, message in enumerate(said) if "cache_control" in message] == marked


def test_a_mark_on_a_message_of_parts_stands_on_its_last_part():
    parts = UserInput((TextPart("see"), FilePart("image/png", data="aW1n")))

    (message,) = sent(OPENROUTER, "anthropic/claude-haiku-4.5", messages=(parts,))["messages"]

    assert ["cache_control" in part for part in message["content"]] == [False, True]
