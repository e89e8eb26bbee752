"""Recorded requests to Anthropic's API, read back as prompts; and brought to one form."""

import json
from dataclasses import replace

from actors.law.parts.message import FilePart, TextPart, ToolCallPart
from actors.law.parts.prompt import (
    AnswerSchema,
    AnthropicOptions,
    CallSettings,
    ComputerUse,
    Prompt,
    ToolAnswer,
    ToolDefinition,
    ToolResults,
    UserInput,
    WebSearch,
)
from tests.adapters.models.providers.replay import replayed


def prompt_of(request, *, cached=False):
    """A request whose messages are all the user's."""
    thinking = request.get("thinking", {})
    schema = _schema(request)
    tools = () if schema else request.get("tools", ())
    return Prompt(
        request.get("model", ""),
        said_by_user(request["messages"]),
        tuple(block["text"] for block in request.get("system", ())),
        tuple(_tool(tool) for tool in tools if "input_schema" in tool),
        tuple(_provider_tool(tool) for tool in tools if "input_schema" not in tool),
        answer_schema=schema,
        settings=CallSettings(
            request["max_tokens"],
            options=AnthropicOptions(thinking_budget_tokens=thinking.get("budget_tokens")),
        ),
        cached=cached,
    )


def continued(prompt, answer, request):
    """The prompt that follows on this answer, with what the recorded request says after it."""
    roles = [message["role"] for message in request["messages"]]
    last = len(roles) - roles[::-1].index("assistant")
    names = {part.id: part.name for part in answer.parts if isinstance(part, ToolCallPart)}
    later = said_by_user(request["messages"][last:], names)
    return replace(prompt, messages=(*prompt.messages, replayed(answer), *later))


def said_by_user(messages, names=None):
    said = []
    for message in messages:
        assert message["role"] == "user"
        results = [block for block in message["content"] if block["type"] == "tool_result"]
        others = [block for block in message["content"] if block["type"] != "tool_result"]
        if results:
            said.append(ToolResults(tuple(_answer(block, names) for block in results)))
        if others:
            said.append(UserInput(tuple(_part(block) for block in others)))
    return tuple(said)


def normal(value):
    """Without what is the same as nothing: nulls, defaults, names of transports."""
    if isinstance(value, list):
        return [normal(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: normal(each) for key, each in value.items() if each is not None}
    if found.get("disable_parallel_tool_use") is False:
        del found["disable_parallel_tool_use"]
    if found.get("tool_choice") == {"type": "auto"}:
        del found["tool_choice"]
    return found


def _schema(request):
    choice = request.get("tool_choice", {})
    if choice.get("type") != "tool":
        return None
    (tool,) = [tool for tool in request["tools"] if tool["name"] == choice["name"]]
    return AnswerSchema(tool["name"], tool["description"], json.dumps(tool["input_schema"]))


def _tool(tool):
    return ToolDefinition(tool["name"], tool["description"], json.dumps(tool["input_schema"]))


def _provider_tool(tool):
    if tool["type"].startswith("web_search"):
        return WebSearch()
    return ComputerUse(tool["display_width_px"], tool["display_height_px"])


def _answer(block, names):
    parts = [_part(each) for each in block["content"]]
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    media = next((part for part in parts if isinstance(part, FilePart)), None)
    id = block["tool_use_id"]
    return ToolAnswer(id, (names or {}).get(id, ""), "".join(texts), media=media)


def _part(block):
    if block["type"] == "text":
        return TextPart(block["text"])
    return FilePart(block["source"]["media_type"], data=block["source"]["data"])
