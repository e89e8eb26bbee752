"""Checks of calls before they run, in words that help the model to do better. Pure.

A key that comes twice, or differs from a declared one in upper and lower case only, is refused:
whoever looked at the call before (a policy, a user) may have read the other value.

A call that cannot be served is refused before a person is asked about it. The schema check covers
what makes a call hopeless: arguments that are missing or of another type. Everything else that a
schema can say, and all that it says of parts that it only refers to, is left to the tool.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from actors.law.parts.json_text import is_json, is_object, parsed
from actors.law.parts.message import JsonText, ToolCallPart
from actors.law.parts.prompt import ToolDefinition

RESEND = "send the call again with well-formed arguments"


def arguments_fault(args: str | None, schema: Mapping[str, Any]) -> str | None:
    """Return the first thing that is wrong, or None if the arguments have one meaning only."""
    if not is_json(args):
        return f"the arguments are not valid JSON; {RESEND}"
    pairs = json.loads(args or "", object_pairs_hook=_Pairs)
    if not isinstance(pairs, _Pairs):
        return f"the arguments are not a JSON object; {RESEND}"
    return next(_ambiguities(pairs, schema, ""), None)


class _Pairs(list[tuple[str, Any]]):
    """An object, with every pair as it was written."""


def _ambiguities(value: Any, schema: Mapping[str, Any], path: str) -> Iterator[str]:
    if isinstance(value, _Pairs):
        yield from _of_object(value, schema, path)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _ambiguities(item, _mapping(schema.get("items")), f"{path}[{index}]")


def _of_object(
    pairs: Sequence[tuple[str, Any]], schema: Mapping[str, Any], path: str
) -> Iterator[str]:
    declared = _mapping(schema.get("properties"))
    folded = {name.casefold(): name for name in declared}
    seen = set()
    for key, value in pairs:
        place = f"{path}.{key}" if path else key
        if key in seen:
            yield f"ambiguous arguments: {place} is given twice; {RESEND}"
        meant = folded.get(key.casefold())
        if key not in declared and meant is not None:
            yield f"ambiguous arguments: {place} is written {meant}; {RESEND}"
        seen.add(key)
        yield from _ambiguities(value, _mapping(declared.get(key)), place)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


DEPTH_MAX = 32  # of a schema that is looked at; what is deeper is left to the tool
ITEMS_MAX = 1_000  # of a list; likewise
# Values times what their schemas say of them, in one call: the event loop waits for it, and schemas
# come from servers. What is over is left to the tool.
WORK_MAX = 50_000

_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}
# With what a text begins that spells a value of another type.
_SPELLED: Mapping[str, tuple[str, ...]] = {
    "boolean": tuple("tfynoTFYNO01"),
    "array": ("[",),
    "object": ("{",),
    "null": ("null",),
    "integer": tuple("+-0123456789"),
    "number": tuple("+-.0123456789"),
}


def schema_fault(value: Any, schema: object, *, strict: bool) -> str | None:
    """Return the first thing in `value` that does not fit, or None if there is none.

    A tool of ours (`strict`) takes what its schema says and nothing else. One of a server may take
    null for an argument that it does not need, 1.0 for 1, more words than it lists, and a value
    that is spelled in a text: models do that, and many servers read it.
    """
    return next(_Check(strict).faults_in(value, schema, "", DEPTH_MAX), None)


@dataclass(slots=True)
class _Check:
    strict: bool
    work_left: int = WORK_MAX

    def faults_in(self, value: Any, schema: object, path: str, depth: int) -> Iterator[str]:
        if depth == 0 or self.work_left <= 0 or not isinstance(schema, Mapping):
            return
        self.work_left -= _size(schema)
        types = _types(schema.get("type"))
        if types and not any(_is(value, name, strict=self.strict) for name in types):
            wanted = " or ".join(map(_with_article, types))
            yield f"{_named(path)}has to be {wanted}, not {_kind(value)}"
            return
        words = schema.get("enum")
        if self.strict and isinstance(words, list) and value not in words:
            yield f"{_named(path)}has to be one of {', '.join(map(json.dumps, words))}"
        yield from self._of_alternatives(value, schema, path, depth)
        if isinstance(value, dict):
            yield from self._of_object(value, schema, path, depth)
        elif isinstance(value, list):
            begins = _items_with_schemas_of_their_own(schema)
            for index, item in enumerate(islice(value, begins, ITEMS_MAX), begins):
                yield from self.faults_in(item, schema.get("items"), f"{path}[{index}]", depth - 1)

    def _of_object(
        self, value: dict[str, Any], schema: Mapping[str, Any], path: str, depth: int
    ) -> Iterator[str]:
        required, declared = schema.get("required"), schema.get("properties")
        needed = required if isinstance(required, list) else []
        for name in needed:
            if isinstance(name, str) and name not in value:
                yield f"{_named(path)}missing the required argument `{name}`"
        for name, inner in (declared if isinstance(declared, Mapping) else {}).items():
            may_be_null = not self.strict and name not in needed
            if name in value and not (value[name] is None and may_be_null):
                inside = f"{path}.{name}" if path else name
                yield from self.faults_in(value[name], inner, inside, depth - 1)

    def _of_alternatives(
        self, value: Any, schema: Mapping[str, Any], path: str, depth: int
    ) -> Iterator[str]:
        """Yield what is wrong by the first alternative, if the value fits none of them."""
        for key in ("anyOf", "oneOf"):
            found = schema.get(key)
            if not isinstance(found, list):
                continue
            first = None
            for one in found:
                fault = next(self.faults_in(value, one, path, depth - 1), None)
                if fault is None:
                    break
                first = first or fault
            else:
                if first is not None:
                    yield first


def _size(schema: Mapping[str, Any]) -> int:
    """Return how much a schema says itself; each schema inside of it is counted when it is used."""
    parts = (part for part in schema.values() if isinstance(part, list | Mapping))
    return 1 + len(schema) + sum(map(len, parts))


def _items_with_schemas_of_their_own(schema: Mapping[str, Any]) -> int:
    """Return how many items of a list `items` says nothing of: the first ones, each of which
    `prefixItems` has a schema for."""
    own = schema.get("prefixItems")
    return len(own) if isinstance(own, list) else 0


def _types(said: object) -> list[str]:
    """Return the types that are allowed, or none if one of them is unknown here."""
    names = said if isinstance(said, list) else [said]
    known = [name for name in names if isinstance(name, str) and name in _TYPES]
    return known if len(known) == len(names) else []


def _is(value: Any, name: str, *, strict: bool) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer() and not strict
    if isinstance(value, str) and name != "string":
        return not strict and value.startswith(_SPELLED[name])
    return isinstance(value, _TYPES[name])


def _kind(value: Any) -> str:
    return next(_with_article(name) for name in _TYPES if _is(value, name, strict=True))


def _with_article(name: str) -> str:
    if name == "null":
        return name
    return f"{'an' if name[0] in 'aio' else 'a'} {name}"


def _named(path: str) -> str:
    return f"{path}: " if path else ""


class CheckableTool(Protocol):
    """A tool, with what it requires of a call."""

    @property
    def tool(self) -> ToolDefinition: ...
    @property
    def exclusive(self) -> bool: ...
    @property
    def strict(self) -> bool: ...
    @property
    def accepts(self) -> JsonText | None: ...


def refusals(
    calls: Sequence[ToolCallPart], tools: Mapping[str, CheckableTool]
) -> dict[ToolCallPart, str]:
    """Return the calls of a step that are not run, each with the words that the model is told."""
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
        elif (why := _call_fault(call, tools[call.name])) is not None:
            refused[call] = why
    return refused


def _call_fault(call: ToolCallPart, tool: CheckableTool) -> str | None:
    if tool.strict or not is_object(call.args):
        found = arguments_fault(call.args, parsed(tool.tool.schema))
        if found is not None:
            return found
    schema = parsed(tool.accepts or tool.tool.schema)
    return schema_fault(parsed(call.args), schema, strict=tool.strict)
