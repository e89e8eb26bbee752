"""A prompt as a request of Converse. Pure.

Roles alternate: messages under one role become one. Words of a user must not stand beside results
of tools, so a sentence of the assistant's is put between them. Thoughts go back only where they
came with a signature, or encrypted: most models refuse the others.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator
from itertools import count
from typing import assert_never

import msgspec

from actors.law.parts.json_text import notes_of
from actors.law.parts.message import (
    FilePart,
    JsonText,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from actors.law.parts.prompt import (
    OUTPUT_TOKENS_MAX,
    AssistantOutput,
    OnlyTool,
    Prompt,
    ToolAnswer,
    ToolDefinition,
    ToolResults,
    UserInput,
)
from adapters.models.providers.facts.bedrock import (
    choice_of,
    effort_fields,
    keeps_prompts,
    samples_at,
    takes_media_of_tools,
    takes_words_beside_calls,
    top_k_fields,
)

Json = dict[str, object]

METADATA = "bedrock"  # our key in a part's notes: signature, redacted

ID_CHARACTERS_MAX = 64  # of a call; a longer id of another vendor is replaced by its digest
_CACHE_POINT: Json = {"cachePoint": {"type": "default"}}
_BETWEEN_RESULT_AND_USER = "I have read the results."
_NOTHING = "(nothing)"  # a result without a word is refused
_ANY_INPUT = JsonText('{"type":"object","properties":{}}')
_IMAGES = {
    "image/png": "png",
    "image/jpeg": "jpeg",
    "image/jpg": "jpeg",
    "image/gif": "gif",
    "image/webp": "webp",
}
_DOCUMENTS = {
    "application/pdf": "pdf",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
}


def answer_tool_of(prompt: Prompt) -> str | None:
    """Return the tool by whose input the model answers; None: it answers in words."""
    can_be_forced = choice_of(prompt.model) != "auto"
    return prompt.answer_schema.name if prompt.answer_schema and can_be_forced else None


def request_body(prompt: Prompt) -> bytes:
    """Return the body of a request."""
    request: Json = {"messages": _messages(prompt)}
    if system := _system(prompt):
        request["system"] = system
    if config := _inference(prompt):
        request["inferenceConfig"] = config
    if tools := _tools(prompt):
        request["toolConfig"] = tools
    settings = prompt.settings
    fields: Json = {}
    if settings.effort is not None:
        fields |= effort_fields(prompt.model, settings.effort)
    if settings.top_k is not None:
        fields |= top_k_fields(prompt.model, settings.top_k)
    if fields:
        request["additionalModelRequestFields"] = fields
    return msgspec.json.encode(request)


def _system(prompt: Prompt) -> list[Json]:
    texts: list[Json] = [{"text": text} for text in prompt.system if text.strip()]
    if texts and prompt.cached and keeps_prompts(prompt.model):
        texts.append(_CACHE_POINT)
    schema = prompt.answer_schema
    if schema is not None and answer_tool_of(prompt) is None:
        wanted = f"one JSON object of this schema, and with nothing else: {schema.schema}"
        texts.append({"text": f"Answer with {wanted}"})
    return texts


def _inference(prompt: Prompt) -> Json:
    """Return a cap and the sampling.

    The cap that stands for everybody is more than many models can write, and they refuse it.
    Without one, each writes as much as it can.
    """
    settings = prompt.settings
    if not samples_at(prompt.model, settings.effort):
        return {}
    is_own = settings.max_output_tokens != OUTPUT_TOKENS_MAX
    config = {
        "maxTokens": settings.max_output_tokens if is_own else None,
        "temperature": settings.temperature,
        "topP": settings.top_p,
    }
    return {name: value for name, value in config.items() if value is not None}


def _tools(prompt: Prompt) -> Json:
    """Return the tools and the choice among them.

    Calls in the conversation are refused where no tools are offered, so their tools are offered
    then. A choice that the model does not know is left to it.
    """
    tools = list(prompt.tools)
    forced = answer_tool_of(prompt)
    if prompt.tool_choice == "none" or forced is not None:
        tools = []
    known = {tool.name for tool in tools}
    tools += (ToolDefinition(name, "", _ANY_INPUT) for name in _called(prompt) if name not in known)
    if forced is not None and (schema := prompt.answer_schema) is not None:
        tools = [tool for tool in tools if tool.name != forced]
        tools.append(ToolDefinition(schema.name, schema.description, schema.schema))
    if not tools:
        return {}
    config: Json = {"tools": [_tool(tool) for tool in tools]}
    choice = OnlyTool(forced) if forced is not None else prompt.tool_choice
    how = choice_of(prompt.model)
    match choice:
        case OnlyTool(name) if how == "tool":
            config["toolChoice"] = {"tool": {"name": name}}
        case OnlyTool() | "required" if how != "auto":
            config["toolChoice"] = {"any": {}}
        case _:
            pass
    return config


def _tool(tool: ToolDefinition) -> Json:
    spec: Json = {"name": tool.name, "inputSchema": {"json": msgspec.Raw(tool.schema.encode())}}
    if tool.description.strip():
        spec["description"] = tool.description
    return {"toolSpec": spec}


def _called(prompt: Prompt) -> list[str]:
    """Return the names of the tools that the conversation has calls of, each once."""
    outputs = (said for said in prompt.messages if isinstance(said, AssistantOutput))
    calls = (part for said in outputs for part in said.parts if isinstance(part, ToolCallPart))
    return list(dict.fromkeys(call.name for call in calls if not call.provider_executed))


def _messages(prompt: Prompt) -> list[Json]:
    said: list[tuple[str, list[Json]]] = []
    numbers = count(1)  # of documents, whose names must differ
    has_results = False  # the last message
    for message in prompt.messages:
        match message:
            case UserInput(parts):
                role, blocks = "user", [b for part in parts for b in _input(part, numbers)]
                if has_results and blocks:
                    said.append(("assistant", [{"text": _BETWEEN_RESULT_AND_USER}]))
            case AssistantOutput(output):
                role, blocks = "assistant", list(_assistant(output, prompt.model))
            case ToolResults(answers):
                role, blocks = "user", [_result(each, prompt.model, numbers) for each in answers]
            case _:
                assert_never(message)
        if not blocks:
            continue
        if said and said[-1][0] == role:
            said[-1][1].extend(blocks)
        else:
            said.append((role, blocks))
        has_results = isinstance(message, ToolResults)
    return [{"role": role, "content": blocks} for role, blocks in said]


def _input(part: TextPart | FilePart, numbers: Iterator[int]) -> Iterator[Json]:
    if isinstance(part, FilePart):
        yield from _file(part, numbers)
    elif part.text.strip():
        yield {"text": part.text}


def _file(file: FilePart, numbers: Iterator[int]) -> Iterator[Json]:
    """Yield a file as blocks.

    Names of documents are neutral, as AWS wants; the file's own stands before.
    """
    data, kind = file.data or "", file.media_type
    if kind in _IMAGES:
        yield {"image": {"format": _IMAGES[kind], "source": {"bytes": data}}}
    elif kind in _DOCUMENTS:
        name = f"document {next(numbers)}"
        yield {"text": f"[{name}: {file.name}]" if file.name else f"[{name}]"}
        yield {"document": {"format": _DOCUMENTS[kind], "name": name, "source": {"bytes": data}}}
    elif kind.startswith("text/"):
        text = base64.b64decode(data).decode("utf-8", "replace")
        yield {"text": text if text.strip() else _NOTHING}
    else:
        yield {"text": f"[{f'file {file.name}' if file.name else kind}, not shown]"}


def _assistant(
    parts: Iterable[TextPart | ReasoningPart | ToolCallPart | ToolResultPart], model: str
) -> Iterator[Json]:
    parts = tuple(parts)
    calls = any(isinstance(part, ToolCallPart) and not part.provider_executed for part in parts)
    with_words = not calls or takes_words_beside_calls(model)
    for part in parts:
        match part:
            case TextPart(text):
                if text.strip() and with_words:
                    yield {"text": text}
            case ReasoningPart():
                yield from _thought(part)
            case ToolCallPart(provider_executed=False):
                args = msgspec.Raw((part.args or "{}").encode())
                yield {
                    "toolUse": {"toolUseId": _id(part.id), "name": part.name, "input": args},
                }
            case ToolCallPart() | ToolResultPart():
                pass  # of tools that another provider ran itself
            case _:
                assert_never(part)


def _thought(part: ReasoningPart) -> Iterator[Json]:
    noted = notes_of(part.provider_metadata, METADATA)
    if signature := noted.get("signature"):
        said = {"text": part.text, "signature": signature}
        yield {"reasoningContent": {"reasoningText": said}}
    elif redacted := noted.get("redacted"):
        yield {"reasoningContent": {"redactedContent": redacted}}


def _result(answer: ToolAnswer, model: str, numbers: Iterator[int]) -> Json:
    content: list[Json] = [{"text": answer.text}] if answer.text.strip() else []
    if answer.media is not None:
        shown = list(_file(answer.media, numbers)) if takes_media_of_tools(model) else []
        content += shown or [{"text": f"[{answer.media.media_type}, not shown]"}]
    block: Json = {"toolUseId": _id(answer.id), "content": content or [{"text": _NOTHING}]}
    return {"toolResult": block | {"status": "error"} if answer.is_error else block}


def _id(id: str) -> str:
    if len(id) <= ID_CHARACTERS_MAX:
        return id
    return hashlib.sha256(id.encode()).hexdigest()[:ID_CHARACTERS_MAX]
