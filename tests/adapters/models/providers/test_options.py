"""No option is forgotten: each that can be configured changes what its provider is sent.

What is sent exactly stands in the tests of each provider; here a new option has to find its way
onto every wire of its family, or into `ELSEWHERE` with a reason.
"""

import json
from dataclasses import fields

import pytest

from actors.law.parts.message import JsonText, ReasoningPart, TextPart
from actors.law.parts.prompt import (
    AnswerSchema,
    AnthropicOptions,
    AssistantOutput,
    CallSettings,
    GoogleOptions,
    GoogleSafetySetting,
    OpenAICompatOptions,
    OpenAIOptions,
    OpenRouterOptions,
    OpenRouterRouting,
    Prompt,
    RoutedReasoning,
    ToolDefinition,
    UserInput,
    VercelOptions,
)
from actors.law.parts.vendors import AZURE, OPENAI, OPENAI_COMPAT, OPENROUTER, VERCEL
from adapters.models.providers.anthropic import request as anthropic
from adapters.models.providers.google import request as google
from adapters.models.providers.openai_chat import request as chat
from adapters.models.providers.openai_responses import request as responses

SCHEMA = JsonText('{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}')
SIGNED = JsonText('{"anthropic":{"signature":"s"}}')
MESSAGES = (
    UserInput((TextPart("hi"),)),
    AssistantOutput((ReasoningPart("hm", provider_metadata=SIGNED), TextPart("so"))),
    UserInput((TextPart("and"),)),
)
TOOLS = (ToolDefinition("look", "", SCHEMA),)
ANSWER = AnswerSchema("title", "", SCHEMA)

A_SEARCH = "is a tool of the provider by then, and sent as one"
ONLY_RESPONSES = "Chat Completions knows no such thing"
ONLY_CHAT = "the Responses API knows no such thing"

SETTINGS = {
    "max_output_tokens": 7,
    "temperature": 0.25,
    "top_p": 0.75,
    "top_k": 3,
    "presence_penalty": 0.5,
    "frequency_penalty": 0.5,
    "effort": "low",
}
VALUES = {
    OpenAIOptions: {
        "include": ("web_search_call.action.sources",),
        "logit_bias": JsonText('{"1":2}'),
        "top_log_probs": 3,
        "max_tool_calls": 2,
        "max_completion_tokens": 7,
        "prediction": JsonText('{"type":"content","content":"x"}'),
        "metadata": JsonText('{"k":"v"}'),
        "structured_outputs": False,
        "strict_json_schema": False,
        "allowed_domains": ("a.test",),
    },
    AnthropicOptions: {
        "send_reasoning": False,
        "thinking_budget_tokens": 2000,
        "allowed_domains": ("a.test",),
        "blocked_domains": ("a.test",),
    },
    GoogleOptions: {
        "thinking_budget": 128,
        "include_thoughts": False,
        "safety_settings": (GoogleSafetySetting("HARM_CATEGORY_HARASSMENT", "BLOCK_NONE"),),
    },
    OpenAICompatOptions: {},
    OpenRouterOptions: {
        "reasoning": RoutedReasoning(enabled=True),
        "extra_body": JsonText('{"x":1}'),
        "include_usage": False,
        "logit_bias": JsonText('{"1":2}'),
        "provider": OpenRouterRouting(order=("a",)),
    },
    VercelOptions: {
        "reasoning": RoutedReasoning(enabled=True),
        "order": ("a",),
        "models": ("a",),
        "logit_bias": JsonText('{"1":2}'),
        "top_log_probs": 3,
        "extra_body": JsonText('{"x":1}'),
    },
}


def by_chat(vendor):
    return lambda prompt: chat.request_body(prompt, vendor.dialect, stream=True)


def by_anthropic(prompt):
    return anthropic.body(prompt, model=None, extra={"betas": anthropic.betas(prompt)})


WIRES = {  # name: the request, a model, the options of its family, what it does not send and why
    "anthropic": (
        by_anthropic,
        "claude",
        AnthropicOptions,
        {
            "presence_penalty": "Anthropic has none",
            "frequency_penalty": "Anthropic has none",
            **dict.fromkeys(
                (
                    "web_search_enabled",
                    "web_fetch_enabled",
                    "allowed_domains",
                    "blocked_domains",
                ),
                A_SEARCH,
            ),
        },
    ),
    "responses": (
        lambda prompt: responses.request_body(prompt, stream=True),
        "gpt-4o",
        OpenAIOptions,
        {
            **dict.fromkeys(("logit_bias", "prediction", "top_k"), ONLY_CHAT),
            **dict.fromkeys(("presence_penalty", "frequency_penalty"), ONLY_CHAT),
            **dict.fromkeys(
                ("web_search_enabled", "search_context_size", "allowed_domains"), A_SEARCH
            ),
        },
    ),
    **{
        vendor.type: (
            by_chat(vendor),
            "gpt-4o",
            OpenAIOptions,
            {
                "top_k": "OpenAI has none",
                **dict.fromkeys(
                    ("include", "instructions", "max_tool_calls", "reasoning_summary"),
                    ONLY_RESPONSES,
                ),
                **dict.fromkeys(
                    ("web_search_enabled", "search_context_size", "allowed_domains"), A_SEARCH
                ),
            },
        )
        for vendor in (OPENAI, AZURE)
    },
    "google": (
        google.request_body,
        "gemini-2.5-flash",
        GoogleOptions,
        dict.fromkeys(("web_search_enabled", "web_fetch_enabled"), A_SEARCH),
    ),
    "openai-compat": (by_chat(OPENAI_COMPAT), "qwen", OpenAICompatOptions, {}),
    "openrouter": (by_chat(OPENROUTER), "vendor/model", OpenRouterOptions, {}),
    "vercel": (by_chat(VERCEL), "vendor/model", VercelOptions, {}),
}


def sent(wire, options=None, **settings):
    """The request in its two forms: with tools, and with a schema for the answer."""
    body, model, family, _ = WIRES[wire]
    given = CallSettings(**{"max_output_tokens": None} | settings, options=options or family())
    return [
        json.loads(body(Prompt(model, MESSAGES, tools=TOOLS, settings=given))),
        json.loads(body(Prompt(model, MESSAGES, answer_schema=ANSWER, settings=given))),
    ]


OPTIONS = [(wire, field) for wire, of in WIRES.items() for field in fields(of[2])]


@pytest.mark.parametrize(("wire", "field"), OPTIONS, ids=lambda each: getattr(each, "name", each))
def test_each_option_changes_what_is_sent(wire, field):
    _, _, family, elsewhere = WIRES[wire]
    value = VALUES[family].get(field.name, True if "bool" in str(field.type) else "low")
    # How thoughts are shown is said where the model thinks.
    given = {"effort": "low"} if field.name == "thinking_display" else {}

    changed = sent(wire, family(**{field.name: value}), **given) != sent(wire, **given)

    assert changed == (field.name not in elsewhere), elsewhere.get(field.name)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("setting", SETTINGS)
def test_each_setting_changes_what_is_sent(wire, setting):
    elsewhere = WIRES[wire][3]

    changed = sent(wire, **{setting: SETTINGS[setting]}) != sent(wire)

    assert changed == (setting not in elsewhere), elsewhere.get(setting)


def test_no_setting_is_forgotten():
    assert {*SETTINGS, "options"} == {field.name for field in fields(CallSettings)}
