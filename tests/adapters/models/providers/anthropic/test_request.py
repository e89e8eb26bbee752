"""A prompt as Anthropic's request: every setting, every kind of part."""

import json

import pytest

from actors.law.parts.message import FilePart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from actors.law.parts.prompt import (
    OUTPUT_TOKENS_MAX,
    AnswerSchema,
    AnthropicOptions,
    AssistantOutput,
    CallSettings,
    ComputerUse,
    OnlyTool,
    OpenAIOptions,
    Prompt,
    ToolAnswer,
    ToolDefinition,
    ToolResults,
    UserInput,
    WebFetch,
    WebSearch,
)
from adapters.models.providers.anthropic.request import (
    CACHE,
    CONTEXT_1M,
    FETCHED_TOKENS_MAX,
    betas,
    body,
)

HI = UserInput((TextPart("hi"),))
LOOK = ToolDefinition("look", "Look it up", '{"type":"object","properties":{}}')


def asked(*messages, **more):
    prompt = Prompt("claude", messages or (HI,), **{"cached": False} | more)
    return json.loads(body(prompt, model=prompt.model, extra={}))


def settings(**more):
    options = {k: v for k, v in more.items() if k in AnthropicOptions.__annotations__}
    others = {k: v for k, v in more.items() if k not in options}
    return CallSettings(**others, options=AnthropicOptions(**options))


def contents(*messages, **more):
    return [message["content"] for message in asked(*messages, **more)["messages"]]


def test_the_smallest_request():
    assert asked() == {
        "model": "claude",
        "max_tokens": OUTPUT_TOKENS_MAX,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
    }


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"max_output_tokens": None}, {"max_tokens": OUTPUT_TOKENS_MAX}),
        ({"max_output_tokens": 5}, {"max_tokens": 5}),
        ({"temperature": 0.0}, {"temperature": 0.0}),
        ({"top_p": 0.5, "top_k": 3}, {"top_p": 0.5, "top_k": 3}),
        (
            {"effort": "high"},
            {"output_config": {"effort": "high"}, "thinking": {"type": "adaptive"}},
        ),
        (
            {"effort": "minimal", "thinking_display": "omitted"},
            {
                "output_config": {"effort": "low"},
                "thinking": {"type": "adaptive", "display": "omitted"},
            },
        ),
        (
            {"effort": "max", "thinking_budget_tokens": 9},
            {"output_config": {"effort": "max"}, "thinking": {"type": "adaptive"}},
        ),
        (
            {"thinking_budget_tokens": 2000, "thinking_display": "summarized"},
            {
                "thinking": {
                    "type": "enabled",
                    "budget_tokens": 2000,
                    "display": "summarized",
                }
            },
        ),
        ({"thinking_display": "summarized"}, {}),
        ({"effort": "none"}, {}),
        ({"presence_penalty": 1.0, "frequency_penalty": 1.0}, {}),
    ],
)
def test_settings_are_sent_in_anthropics_words(given, sent):
    assert asked(settings=settings(**given)) == asked() | sent


def test_where_no_cap_is_set_thoughts_do_not_eat_the_room_of_the_answer():
    free = asked(settings=settings(max_output_tokens=None, thinking_budget_tokens=31_999))
    capped = asked(settings=settings(max_output_tokens=5000, thinking_budget_tokens=2000))

    assert OUTPUT_TOKENS_MAX + 31_999 == free["max_tokens"]
    assert 5000 == capped["max_tokens"]


@pytest.mark.parametrize("thinking", [{"effort": "low"}, {"thinking_budget_tokens": 2000}])
def test_with_thinking_nothing_is_said_about_sampling(thinking):
    request = asked(settings=settings(temperature=0.5, top_p=0.5, top_k=1, **thinking))

    assert not {"temperature", "top_p", "top_k"} & request.keys()


@pytest.mark.parametrize("given", [{"effort": "low"}, {"thinking_budget_tokens": 2000}])
@pytest.mark.parametrize(
    "forced",
    [
        {"answer_schema": AnswerSchema("Title", "A title", '{"type":"object"}')},
        {"tools": (LOOK,), "tool_choice": "required"},
        {"tools": (LOOK,), "tool_choice": OnlyTool("look")},
    ],
    ids=["answer", "any", "only"],
)
def test_who_must_call_a_tool_does_not_think_and_may_sample(given, forced):
    request = asked(
        settings=settings(temperature=0.0, thinking_display="omitted", **given), **forced
    )

    assert "thinking" not in request
    assert request["temperature"] == 0.0
    assert request.get("output_config") == ({"effort": "low"} if "effort" in given else None)


def test_without_tools_a_choice_forces_nothing():
    request = asked(settings=settings(effort="low"), tool_choice="required")

    assert request["thinking"] == {"type": "adaptive"}


def test_the_options_of_another_family_are_not_ours():
    assert asked(settings=CallSettings(options=OpenAIOptions(user="u"))) == asked()


@pytest.mark.parametrize(
    ("choice", "disabled", "sent"),
    [
        ("auto", None, {"type": "auto"}),
        ("auto", True, {"type": "auto", "disable_parallel_tool_use": True}),
        ("none", True, {"type": "none"}),
        ("required", None, {"type": "any"}),
        (OnlyTool("look"), False, {"type": "tool", "name": "look"}),
    ],
)
def test_tools_are_sent_with_a_choice(choice, disabled, sent):
    wanted = settings(disable_parallel_tool_use=disabled)

    request = asked(tools=(LOOK,), tool_choice=choice, settings=wanted)

    schema = {"type": "object", "properties": {}}
    assert request["tool_choice"] == sent
    assert request["tools"] == [
        {"name": "look", "description": "Look it up", "input_schema": schema}
    ]


def test_without_tools_there_is_no_choice():
    assert "tool_choice" not in asked(tool_choice="none")


def test_a_schema_for_the_answer_is_a_tool_that_must_be_called():
    request = asked(answer_schema=AnswerSchema("Title", "A title", '{"type":"object"}'))

    assert request["tool_choice"] == {"type": "tool", "name": "Title"}
    assert [tool["name"] for tool in request["tools"]] == ["Title"]


@pytest.mark.parametrize(
    ("search", "sent"),
    [
        (WebSearch(), {}),
        (WebSearch(allowed_domains=("a.test",)), {"allowed_domains": ["a.test"]}),
        (WebSearch(blocked_domains=("b.test",)), {"blocked_domains": ["b.test"]}),
    ],
)
def test_search_is_a_tool_of_the_provider(search, sent):
    (tool,) = asked(provider_tools=(search,))["tools"]

    assert tool == {"type": "web_search_20250305", "name": "web_search"} | sent


@pytest.mark.parametrize(
    ("fetch", "sent"),
    [
        (WebFetch(), {}),
        (WebFetch(allowed_domains=("a.test",)), {"allowed_domains": ["a.test"]}),
        (WebFetch(blocked_domains=("b.test",)), {"blocked_domains": ["b.test"]}),
    ],
)
def test_reading_pages_is_a_tool_of_the_provider_with_a_bound(fetch, sent):
    (tool,) = asked(provider_tools=(fetch,))["tools"]

    bound = {"max_content_tokens": FETCHED_TOKENS_MAX}
    assert tool == {"type": "web_fetch_20250910", "name": "web_fetch"} | bound | sent


def test_a_page_goes_back_as_it_came():
    document = {"type": "document", "source": {"type": "text", "data": "x"}, "title": None}
    content = {"type": "web_fetch_result", "url": "u", "content": document, "odd": [1]}
    notes = json.dumps({"anthropic": {"web_fetch": content}})
    said = AssistantOutput(
        (
            ToolCallPart("s", "web_fetch", '{"url":"u"}', provider_executed=True),
            ToolResultPart("s", "web_fetch", "{}", provider_executed=True, provider_metadata=notes),
        )
    )

    assert contents(HI, said)[1] == [
        {"type": "server_tool_use", "id": "s", "name": "web_fetch", "input": {"url": "u"}},
        {"type": "web_fetch_tool_result", "tool_use_id": "s", "content": content},
    ]


@pytest.mark.parametrize(
    ("model", "kind", "beta"),
    [
        ("claude-opus-4-6", "computer_20251124", "computer-use-2025-11-24"),
        ("us.anthropic.claude-sonnet-4-6-v1:0", "computer_20251124", "computer-use-2025-11-24"),
        ("claude-sonnet-4-20250514", "computer_20250124", "computer-use-2025-01-24"),
    ],
)
def test_the_computer_is_the_one_that_the_model_knows(model, kind, beta):
    prompt = Prompt(model, (HI,), provider_tools=(ComputerUse(800, 600),))

    (tool,) = json.loads(body(prompt, model=None, extra={}))["tools"]

    size = {"display_width_px": 800, "display_height_px": 600}
    assert tool == {"type": kind, "name": "computer"} | size
    assert betas(prompt) == (beta,)


def test_a_long_context_is_asked_for_by_name():
    wanted = settings(context_1m_enabled=True)

    assert betas(Prompt("claude", (HI,), settings=wanted)) == (CONTEXT_1M,)
    assert betas(Prompt("claude", (HI,))) == ()


@pytest.mark.parametrize(
    ("file", "sent"),
    [
        (
            FilePart("image/png", "p.png", data="AA=="),
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "AA=="},
            },
        ),
        (
            FilePart("application/pdf", "p.pdf", data="AA=="),
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "AA=="},
                "title": "p.pdf",
            },
        ),
        (
            FilePart("text/csv", "", data="w6k="),
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "é"},
            },
        ),
        (
            FilePart("audio/wav", "a.wav", data="AA=="),
            {"type": "text", "text": "[file a.wav, not shown]"},
        ),
    ],
)
def test_files_go_in_the_form_that_their_type_has(file, sent):
    assert contents(UserInput((file,))) == [[sent]]


def test_thoughts_go_back_only_as_they_were_signed():
    said = AssistantOutput(
        (
            ReasoningPart("mine", provider_metadata='{"anthropic":{"signature":"s"}}'),
            ReasoningPart("", provider_metadata='{"anthropic":{"redacted_data":"x"}}'),
            ReasoningPart("unsigned"),
            ReasoningPart("of another", provider_metadata='{"openai":{"id":"rs_1"}}'),
            TextPart("so"),
        )
    )

    assert contents(HI, said)[1] == [
        {"type": "thinking", "thinking": "mine", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "so"},
    ]
    without = contents(HI, said, settings=settings(send_reasoning=False))[1]
    assert without == [{"type": "text", "text": "so"}]


def test_a_search_goes_back_with_the_content_it_came_with():
    content = [{"type": "web_search_result", "url": "u", "encrypted_content": "x"}]
    notes = json.dumps({"anthropic": {"web_search": content}})
    said = AssistantOutput(
        (
            ToolCallPart("s", "web_search", '{"query":"q"}', provider_executed=True),
            ToolResultPart(
                "s", "web_search", "[]", provider_executed=True, provider_metadata=notes
            ),
            ToolResultPart("foreign", "web_search", "[]", provider_executed=True),
        )
    )

    assert contents(HI, said)[1] == [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": content},
    ]


def test_calls_and_answers_stand_in_turn():
    call = AssistantOutput((ToolCallPart("t", "look", '{"a":1}'), ToolCallPart("u", "look")))
    image = FilePart("image/png", data="AA==")
    answers = ToolResults(
        (ToolAnswer("t", "look", "found"), ToolAnswer("u", "look", "bad", True, image))
    )

    _, called, answered = contents(HI, call, answers)

    assert called == [
        {"type": "tool_use", "id": "t", "name": "look", "input": {"a": 1}},
        {"type": "tool_use", "id": "u", "name": "look", "input": {}},
    ]
    source = {"type": "base64", "media_type": "image/png", "data": "AA=="}
    shown = [{"type": "text", "text": "bad"}, {"type": "image", "source": source}]
    assert answered == [
        {
            "type": "tool_result",
            "tool_use_id": "t",
            "content": [{"type": "text", "text": "found"}],
        },
        {"type": "tool_result", "tool_use_id": "u", "content": shown, "is_error": True},
    ]


def test_messages_of_one_role_become_one_and_empty_ones_none():
    blank = AssistantOutput((TextPart("  "),))
    answers = ToolResults((ToolAnswer("t", "f", ""),))

    (user,) = asked(answers, HI, blank, UserInput((TextPart("more"),)))["messages"]

    kinds = [block["type"] for block in user["content"]]
    assert (user["role"], kinds) == ("user", ["tool_result", "text", "text"])


def test_the_end_of_the_system_and_the_last_two_messages_are_marked():
    thought = ReasoningPart("x", provider_metadata='{"anthropic":{"signature":"s"}}')
    said = AssistantOutput((TextPart("a"), thought))

    request = asked(HI, HI, said, HI, system=("one", "two"), cached=True)

    marks = [[block.get("cache_control") for block in m["content"]] for m in request["messages"]]
    assert [block.get("cache_control") for block in request["system"]] == [None, CACHE]
    assert marks == [[None, None], [CACHE, None], [CACHE]]
