"""Recorded conversations over Chat Completions, as prompts of ours."""

import json
from urllib.parse import urlsplit

from actors.law.parts.message import FilePart, JsonText, TextPart
from actors.law.parts.prompt import (
    AnswerSchema,
    CallSettings,
    OpenRouterOptions,
    Prompt,
    RoutedReasoning,
    ToolDefinition,
    UserInput,
    VercelOptions,
)
from actors.law.parts.vendors import vendor_of
from tests.fakes.recordings import recordings

FOLDERS = (
    "TestAzureCommon",
    "TestAzureThinking",
    "TestImageUploadAgent",
    "TestImageUploadAgentStreaming",
    "TestOpenAICommon",
    "TestOpenAICompatObjectGeneration",
    "TestOpenAICompatibleCommon",
    "TestOpenAICompatibleThinking",
    "TestOpenAIObjectGeneration",
    "TestOpenRouterCommon",
    "TestOpenRouterCommonWithAnthropicCache",
    "TestOpenRouterThinking",
    "TestVercelCommon",
    "TestVercelCommonWithAnthropicCache",
    "TestVercelThinking",
)
HOSTS = {
    "api.openai.com": "openai",
    "openrouter.ai": "openrouter",
    "ai-gateway.vercel.sh": "vercel",
}


def conversations(*, streamed):
    """Those whose every exchange is of this interface."""
    return [
        recording
        for recording in recordings(*FOLDERS)
        if recording.streamed == streamed
        and all(each.url.endswith("/chat/completions") for each in recording.exchanges)
    ]


def vendor(exchange):
    host = urlsplit(exchange.url).hostname
    return vendor_of("azure" if host.endswith(".azure.com") else HOSTS.get(host, "openai-compat"))


def dialect(exchange):
    return vendor(exchange).dialect_at(urlsplit(exchange.url).hostname)


def first_prompt(recording):
    """What the recorded client was asked for, read off its first request."""
    exchange = recording.exchanges[0]
    request = exchange.request
    functions = [tool["function"] for tool in request.get("tools", ())]
    schema = _schema(request, functions)
    marked = any("cache_control" in message for message in request["messages"])
    return Prompt(
        request["model"],
        tuple(_said(m["content"]) for m in request["messages"] if m["role"] == "user"),
        tuple(m["content"] for m in request["messages"] if m["role"] == "system"),
        tools=() if schema else tuple(map(_tool, functions)),
        answer_schema=schema,
        settings=_settings(request, vendor(exchange)),
        cached=marked,
    )


def tool_texts(exchange):
    return [m["content"] for m in exchange.request["messages"] if m["role"] == "tool"]


def _tool(function):
    return ToolDefinition(function["name"], function["description"], _json(function["parameters"]))


def _schema(request, functions):
    if isinstance(request.get("tool_choice"), dict):
        (function,) = functions
        schema = function["parameters"]
        return AnswerSchema(function["name"], function["description"], _json(schema))
    if "response_format" in request:
        asked = request["response_format"]["json_schema"]
        return AnswerSchema(asked["name"], asked["description"], _json(_opened(asked["schema"])))
    return None


def _opened(schema):
    """The recorded client had closed it for strict mode."""
    if not isinstance(schema, dict):
        return schema
    return {
        name: _opened(value) for name, value in schema.items() if name != "additionalProperties"
    }


def _settings(request, asked):
    reasoning = request.get("reasoning", {})
    options = None
    if "enabled" in reasoning:
        kind = VercelOptions if asked.type == "vercel" else OpenRouterOptions
        options = kind(reasoning=RoutedReasoning(enabled=reasoning["enabled"]))
    return CallSettings(
        max_output_tokens=request.get("max_tokens", request.get("max_completion_tokens")),
        effort=request.get("reasoning_effort", reasoning.get("effort")),
        options=options,
    )


def _said(content):
    if isinstance(content, str):
        return UserInput((TextPart(content),))
    return UserInput(tuple(map(_part, content)))


def _part(part):
    if part["type"] == "text":
        return TextPart(part["text"])
    head, _, data = part["image_url"]["url"].partition(";base64,")
    return FilePart(head.removeprefix("data:"), data=data)


def _json(value):
    return JsonText(json.dumps(value))
