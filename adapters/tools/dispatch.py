"""The arguments of a tool of ours: a msgspec struct, and what a model is told of it.

    class ReadFile(Struct, frozen=True):
        path: Annotated[str, Meta(description="Absolute path of the file.")]
        limit: Annotated[int, Meta(description="How many lines.")] = 2000

A schema has `properties` even when there are none, and no `required` when nothing is: providers
refuse the opposite. Whatever stood behind a reference stands in its place.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import msgspec

from actors.chat.turn.ports import ToolInvocation, ToolOutput
from actors.chat.turn.steps import error_output
from actors.law.parts.message import JsonText

_UNTOLD = frozenset({"title", "default"})  # names of our classes; what is left out

Arguments = TypeVar("Arguments", bound=msgspec.Struct)


def schema_of(arguments: type[msgspec.Struct]) -> JsonText:
    (reference,), components = msgspec.json.schema_components([arguments])
    schema = _inlined(reference, components)
    shown = {"type": "object", "properties": schema.get("properties", {})}
    if schema.get("required"):
        shown["required"] = schema["required"]
    return JsonText(msgspec.json.encode(shown).decode())


def read_arguments(arguments: type[Arguments], args: str) -> Arguments | str:
    """Return the arguments, or what is wrong with them, in words for the model."""
    try:
        return msgspec.json.decode(args, type=arguments)
    except msgspec.DecodeError as error:
        fact, _, place = str(error).partition(" - at `$")
        where = place.rstrip("`").lstrip(".")
        return f"{where}: {_plain(fact)}" if where else _plain(fact)


def _inlined(schema: Any, components: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inlined(each, components) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        named = components[schema["$ref"].rpartition("/")[2]]
        return _inlined({**named, **{k: v for k, v in schema.items() if k != "$ref"}}, components)
    kept = {key: value for key, value in schema.items() if key not in _UNTOLD}
    inlined = {key: _inlined(value, components) for key, value in kept.items()}
    if "properties" in kept:
        named = kept["properties"].items()
        inlined["properties"] = {name: _inlined(value, components) for name, value in named}
    if not inlined.get("required", True):
        del inlined["required"]
    return inlined


def _plain(fact: str) -> str:
    """Return what the decoder says, without the names of its own world."""
    said = fact.replace("Object missing required field", "missing the required argument")
    return said[:1].lower() + said[1:]


ResultDocument = Mapping[str, Any]
ArgumentsStruct = type[msgspec.Struct]
Action = Callable[[ToolInvocation, Any], Awaitable[ResultDocument | ToolOutput]]


class ToolCallError(Exception):
    """The call cannot be served. The words, and what is told beside them, are for the model."""

    def __init__(self, why: str, **beside: str) -> None:
        super().__init__(why)
        self.beside = beside


async def run(calling: ToolInvocation, arguments: ArgumentsStruct, do: Action) -> ToolOutput:
    asked = read_arguments(arguments, calling.call.args or "{}")
    if isinstance(asked, str):
        return error_output(asked)
    try:
        done = await do(calling, asked)
    except ToolCallError as wrong:
        if not wrong.beside:
            return error_output(str(wrong))
        return tool_result({"error": str(wrong), **wrong.beside}, is_error=True)
    return done if isinstance(done, ToolOutput) else tool_result(done)


def tool_result(document: ResultDocument, *, is_error: bool = False) -> ToolOutput:
    return ToolOutput(JsonText(json.dumps(document, ensure_ascii=False)), is_error=is_error)
