"""Schemas of the document, in a form from which generators of clients make the right types. Pure.

- A field of an answer that is always there is required, although our struct has a default for it. A
  field that a request may leave out is optional.
- No schema has a `default`: if it is null, generators make a field that may not be left out.
- A field that a request must have is marked with `REQUIRED` in its struct, and still has a default
  there, so that the handler refuses its absence in words of its own.
- The values of a text that has only a few are in a table and not in its type, so that clients that
  share our structs still accept other values from newer servers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import inspect

Schema = dict[str, Any]
ValueTable = Mapping[tuple[str, str], Sequence[str]]
"""The values of fields by struct and name."""

NO_VALUES: ValueTable = MappingProxyType({})
REQUIRED = msgspec.Meta(extra_json_schema={"x-required": True})
NULL = {"type": "null"}
REFERENCE = "#/components/schemas/"


def plain_components(
    components: Mapping[str, Schema], types: Sequence[Any], sent: Iterable[Any], values: ValueTable
) -> dict[str, Schema]:
    """Return the components for generators.

    `types` are all types of the document, `sent` the schemas of requests.
    """
    requests = _reached(sent, components)
    sparse = {kind.cls.__name__ for kind in _structs(types) if _omits_defaults(kind)}
    return {
        name: _plain(name, schema, keeps_optional=name in requests or name in sparse, values=values)
        for name, schema in components.items()
    }


def _plain(name: str, schema: Schema, *, keeps_optional: bool, values: ValueTable) -> Schema:
    if "properties" not in schema:
        return schema
    required = [*schema.get("required", ())]
    properties = {}
    for field, stored in schema["properties"].items():
        plain = {
            key: value for key, value in stored.items() if key not in ("default", "x-required")
        }
        if "x-required" in stored:
            plain = _without_null(plain)
        if (name, field) in values:
            plain = _with_values(plain, values[name, field])
        properties[field] = plain
        is_always_there = "default" in stored and not keeps_optional
        if field not in required and (is_always_there or "x-required" in stored):
            required.append(field)
    rest = {key: value for key, value in schema.items() if key not in ("properties", "required")}
    return {**rest, "properties": properties, **({"required": required} if required else {})}


def _without_null(schema: Schema) -> Schema:
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != NULL]
    if not kinds:
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**rest, **kinds[0]} if len(kinds) == 1 else {**rest, "anyOf": kinds}


def _with_values(schema: Schema, values: Sequence[str]) -> Schema:
    if schema.get("type") == "string":
        return {**schema, "enum": [*values]}
    if "items" in schema:
        return {**schema, "items": _with_values(schema["items"], values)}
    if "anyOf" in schema:
        return {**schema, "anyOf": [_with_values(kind, values) for kind in schema["anyOf"]]}
    return schema


def _reached(schemas: Iterable[Any], components: Mapping[str, Schema]) -> frozenset[str]:
    """Return the names of the components to which these schemas lead, also through others."""
    found: set[str] = set()
    ahead = [name for schema in schemas for name in _references(schema)]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += _references(components[name])
    return frozenset(found)


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield reference.removeprefix(REFERENCE)
        for inner in schema.values():
            yield from _references(inner)
    elif isinstance(schema, list | tuple):
        for inner in schema:
            yield from _references(inner)


def _structs(types: Sequence[Any]) -> Iterator[inspect.StructType]:
    """Yield once each struct that is among these types or inside them."""
    seen: set[type] = set()
    ahead: list[Any] = list(inspect.multi_type_info(types))
    while ahead:
        kind = ahead.pop()
        if isinstance(kind, inspect.StructType):
            if kind.cls in seen:
                continue
            seen.add(kind.cls)
            yield kind
            ahead += [field.type for field in kind.fields]
        for name in ("type", "item_type", "value_type"):
            ahead += [inner] if (inner := getattr(kind, name, None)) is not None else []
        for name in ("types", "item_types"):
            ahead += getattr(kind, name, ())


def _omits_defaults(kind: inspect.StructType) -> bool:
    return bool(kind.cls.__struct_config__.omit_defaults)
