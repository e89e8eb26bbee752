"""The calls of a step that are not run, each with the words that the model is told. Pure."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from actors.law.parts.json_text import is_object, parsed
from actors.law.parts.message import JsonText, ToolCallPart
from actors.law.parts.prompt import ToolDefinition
from actors.tools.arguments import fault
from actors.tools.schema_check import schema_fault


class Bound(Protocol):
    """A tool, and what it wants of a call."""

    @property
    def tool(self) -> ToolDefinition: ...
    @property
    def exclusive(self) -> bool: ...
    @property
    def strict(self) -> bool: ...
    @property
    def accepts(self) -> JsonText | None: ...


def refusals(calls: Sequence[ToolCallPart], tools: Mapping[str, Bound]) -> dict[ToolCallPart, str]:
    exclusive = [call for call in calls if call.name in tools and tools[call.name].exclusive]
    if exclusive and len(calls) > 1:
        names = ", ".join(dict.fromkeys(call.name for call in exclusive))
        alone = "has to be the only call of its step; call it again, alone"
        beside = f"was not run, because {names} needs a step to itself; call it again without"
        return {call: f"{call.name} {alone if call in exclusive else beside}" for call in calls}
    refused = {}
    for call in calls:
        if call.name not in tools:
            refused[call] = f"there is no tool {call.name} in this turn"
        elif (why := _fault(call, tools[call.name])) is not None:
            refused[call] = why
    return refused


def _fault(call: ToolCallPart, tool: Bound) -> str | None:
    if tool.strict or not is_object(call.args):
        found = fault(call.args, parsed(tool.tool.schema))
        if found is not None:
            return found
    schema = parsed(tool.accepts or tool.tool.schema)
    return schema_fault(parsed(call.args), schema, strict=tool.strict)
