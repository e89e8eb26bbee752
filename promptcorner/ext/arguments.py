"""The arguments of a plugin's tool: the JSON schema that a model is told, and the values it sends.

Both are made from the types of the function's parameters. A parameter may have any type that
msgspec reads (plain types, lists, enums, dates, structs, dataclasses) or be a pydantic model. A
function whose only parameter is a struct or a pydantic model takes the fields of that as its
arguments.

pydantic is never imported here: its models are recognised by their methods, so that a daemon whose
plugins do not use it does not load it.
"""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_type_hints

import msgspec

REFERENCES_MAX = 32  # that lead into each other in a schema; a deeper schema is refused
FAULTS_SHOWN_MAX = 5  # of the arguments of one call; the model is told how many more there are
_UNTOLD = frozenset({"title", "default", "$defs"})

Read = Callable[[str], Mapping[str, Any]]


class ArgumentsFault(ValueError):
    """Says what is wrong with the arguments of a call, in words for the model."""


class UnreadableSignature(TypeError):
    """Says why a function cannot be a tool, in words for the author of the plugin."""


def signature_of(function: Callable[..., Any], context: type) -> tuple[str, str | None, Read]:
    """Return the schema of a function's arguments, the name of the parameter that takes the
    context (None if it has none), and the function that reads arguments from their JSON text."""
    hints = get_type_hints(function, include_extras=True)
    context_name, typed = None, []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise UnreadableSignature(f"the parameter {parameter.name} cannot be passed by name")
        if parameter.kind is parameter.VAR_KEYWORD:
            raise UnreadableSignature(f"**{parameter.name} has no names for the model to use")
        if parameter.name not in hints:
            raise UnreadableSignature(f"the parameter {parameter.name} has no type")
        if hints[parameter.name] is context:
            context_name = parameter.name
        else:
            typed.append(parameter)
    if len(typed) == 1 and _is_object_type(hints[typed[0].name]):
        schema, read = _of_object_type(typed[0].name, hints[typed[0].name])
    else:
        schema, read = _of_fields([_field(each, hints[each.name]) for each in typed])
    return json.dumps(_told(schema)), context_name, read


def encoded(value: object) -> str:
    """Return what a tool has returned as JSON. TypeError says what cannot be written as JSON."""
    if _is_pydantic(type(value)):
        return str(value.model_dump_json())  # type: ignore[attr-defined]
    return msgspec.json.encode(value, enc_hook=_model_as_plain).decode()


def _model_as_plain(value: object) -> object:
    if _is_pydantic(type(value)):
        return value.model_dump(mode="json")  # type: ignore[attr-defined]
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


def _is_pydantic(found: object) -> bool:
    return isinstance(found, type) and hasattr(found, "model_validate_json")


def _is_object_type(found: object) -> bool:
    return _is_pydantic(found) or (isinstance(found, type) and issubclass(found, msgspec.Struct))


def _field(parameter: inspect.Parameter, hint: Any) -> tuple[Any, ...]:
    if parameter.default is parameter.empty:
        return (parameter.name, hint)
    default = parameter.default
    if isinstance(default, list | dict | set):  # a default is never shared between calls
        return (parameter.name, hint, msgspec.field(default_factory=lambda: type(default)(default)))
    return (parameter.name, hint, default)


def _of_object_type(name: str, model: Any) -> tuple[Mapping[str, Any], Read]:
    if _is_pydantic(model):

        def read_model(text: str) -> Mapping[str, Any]:
            try:
                return {name: model.model_validate_json(text)}
            except ValueError as error:
                raise ArgumentsFault(_words_of(error)) from None

        return _without_references(model.model_json_schema()), read_model

    def read_struct(text: str) -> Mapping[str, Any]:
        return {name: _decoded(text, model)}

    return _schema_of(model), read_struct


def _of_fields(fields: Sequence[tuple[Any, ...]]) -> tuple[Mapping[str, Any], Read]:
    struct = msgspec.defstruct("Arguments", fields, kw_only=True, forbid_unknown_fields=True)

    def read(text: str) -> Mapping[str, Any]:
        values = _decoded(text, struct)
        return {name: getattr(values, name) for name in struct.__struct_fields__}

    return _schema_of(struct), read


def _decoded(text: str, wanted: type) -> Any:
    try:
        return msgspec.json.decode(text, type=wanted, dec_hook=_model_of)
    except (ValueError, RecursionError) as error:  # msgspec's own errors are ValueErrors
        raise ArgumentsFault(_words_of(error)) from None


def _model_of(wanted: type, value: object) -> object:
    if _is_pydantic(wanted):
        return wanted.model_validate(value)  # type: ignore[attr-defined]
    raise NotImplementedError(f"arguments cannot be of the type {wanted.__name__}")


# what is wrong, in words


def _words_of(error: Exception) -> str:
    """Return what is wrong, without the values that were sent and without names of our classes."""
    if isinstance(error, RecursionError):
        return "the arguments are nested too deeply"
    fact, _, place = str(error).partition(" - at `$")
    where = place.rstrip("`").lstrip(".")
    cause = error if hasattr(error, "errors") else error.__cause__
    if cause is not None and hasattr(cause, "errors"):
        return _words_of_pydantic(cause, where)
    fact = fact.replace("Object missing required field", "missing the required argument")
    fact = fact.replace("Object contains unknown field", "there is no argument")
    fact = fact[:1].lower() + fact[1:]
    return f"{where}: {fact}" if where else fact


def _words_of_pydantic(error: Any, where: str) -> str:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    words = []
    for each in found[:FAULTS_SHOWN_MAX]:
        place = ".".join(filter(None, (where, *map(str, each["loc"]))))
        words.append(f"{place}: {each['msg']}" if place else each["msg"])
    more = len(found) - len(words)
    return "; ".join(words) + (f"; and {more} more" if more else "")


# the schema


def _schema_of(wanted: type) -> Mapping[str, Any]:
    try:
        (schema,), components = msgspec.json.schema_components([wanted], schema_hook=_model_schema)
    except TypeError as error:
        raise UnreadableSignature(str(error)) from None
    return _without_references({**schema, "$defs": components})


def _model_schema(wanted: type) -> dict[str, Any]:
    if _is_pydantic(wanted):
        found: dict[str, Any] = wanted.model_json_schema()  # type: ignore[attr-defined]
        return found
    raise UnreadableSignature(f"the type {wanted.__name__} cannot be described to a model")


def _told(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what every provider takes: an object with `properties`, and without an empty list of
    what is required."""
    told: dict[str, Any] = {"type": "object", "properties": schema.get("properties", {})}
    if schema.get("required"):
        told["required"] = schema["required"]
    return told


def _without_references(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema with what each reference means in its place: not every provider takes
    references. A type that contains itself is refused."""
    resolved = _resolved(schema, {}, 0)
    assert isinstance(resolved, Mapping), "a schema stays an object"
    return resolved


def _resolved(schema: Any, known: Mapping[str, Any], depth: int) -> Any:
    if depth > REFERENCES_MAX:
        raise UnreadableSignature("the arguments contain themselves, or are nested too deeply")
    if isinstance(schema, list):
        return [_resolved(each, known, depth + 1) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    known = {**known, **schema.get("$defs", {})}
    if "$ref" in schema:
        meant = known[schema["$ref"].rpartition("/")[2]]
        beside = {key: value for key, value in schema.items() if key not in ("$ref", "$defs")}
        return _resolved({**meant, **beside}, known, depth + 1)
    kept = {key: value for key, value in schema.items() if key not in _UNTOLD}
    properties = kept.pop("properties", None)
    found = {key: _resolved(value, known, depth + 1) for key, value in kept.items()}
    if properties is not None:  # whose keys are names, and may be called like a word of a schema
        found["properties"] = {
            name: _resolved(value, known, depth + 1) for name, value in properties.items()
        }
    if not found.get("required", True):
        del found["required"]
    return found
