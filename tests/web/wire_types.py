"""Write the types of the API for the page: adapters/web/assets/wire/types.d.ts, from our structs.

    .venv/bin/python -m tests.web.wire_types [--check]

They are the structs of which /openapi.json is made. A field that may be left out of an answer is
optional; one with a default is always there. With `--check` nothing is written, and the program
fails if the file is out of date.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints

import msgspec
from msgspec import inspect

from adapters.chats.streams.events import ChatStreamEvent, ChatWatchEvent
from adapters.chats.wire.chats import Chat, ChatCost, ChatTitle
from adapters.chats.wire.sending import (
    ChatMessagesResponse,
    ChatPromptsResponse,
    CreateChatMessageResponse,
    EditChatMessageResponse,
    QueueResponse,
)
from adapters.http.refusals import RefusalBody
from adapters.models.routes.wire import AIProviderSummary, ChatModelConfig, ChatModelsResponse
from adapters.tools.approvals.schemas import ChatApprovals

TARGET = Path(__file__).parents[2] / "adapters/web/assets/wire/types.d.ts"
ROOTS = (
    Chat,
    ChatCost,
    ChatTitle,
    ChatStreamEvent,
    ChatWatchEvent,
    ChatMessagesResponse,
    ChatPromptsResponse,
    CreateChatMessageResponse,
    EditChatMessageResponse,
    QueueResponse,
    ChatApprovals,
    ChatModelConfig,
    ChatModelsResponse,
    AIProviderSummary,
    RefusalBody,
)
RAW = {("ChatWatchEvent", "chat"): "Chat"}  # fields that are encoded beforehand
HEAD = """\
// The JSON of the API. Written by tests/web/wire_types.py from the structs of /openapi.json:
// change them there, then run `make copies`.

"""
SCALARS = {
    inspect.StrType: "string",
    inspect.UUIDType: "string",
    inspect.DateTimeType: "string",
    inspect.BytesType: "string",
    inspect.IntType: "number",
    inspect.FloatType: "number",
    inspect.BoolType: "boolean",
    inspect.NoneType: "null",
}


def text():
    """Return the file as it should be."""
    found = {}
    for root in ROOTS:
        _find(inspect.type_info(root), found)
    return HEAD + "\n".join(_interface(found[name]) for name in sorted(found))


def _find(kind, found):
    """Note the struct that a type is, or is made of, and all that it refers to."""
    if isinstance(kind, inspect.StructType):
        if kind.cls.__name__ in found:
            return
        found[kind.cls.__name__] = kind
    for inner in _inner(kind):
        _find(inner, found)


def _inner(kind) -> Iterator[inspect.Type]:
    if isinstance(kind, inspect.StructType):
        yield from (field.type for field in kind.fields)
    elif isinstance(kind, inspect.UnionType):
        yield from kind.types
    elif isinstance(kind, inspect.DictType):
        yield kind.value_type
    elif isinstance(kind, inspect.ListType | inspect.VarTupleType):
        yield kind.item_type
    elif isinstance(kind, inspect.TupleType):
        yield from kind.item_types


def _interface(kind):
    name = kind.cls.__name__
    hints = get_type_hints(kind.cls)
    lines = [f"  {_field(name, field, hints[field.name])};" for field in kind.fields]
    return "\n".join((f"export interface {name} {{", *lines, "}\n"))


def _field(owner, field, hint):
    is_optional = msgspec.UnsetType in get_args(hint)
    type_ = RAW.get((owner, field.name)) or _type(field.type)
    return f"{field.encode_name}{'?' if is_optional else ''}: {type_}"


def _type(kind):
    if isinstance(kind, inspect.StructType):
        return kind.cls.__name__
    if isinstance(kind, inspect.UnionType):
        return " | ".join(dict.fromkeys(map(_type, kind.types)))
    if isinstance(kind, inspect.LiteralType):
        return " | ".join(f'"{value}"' for value in sorted(kind.values))
    if isinstance(kind, inspect.EnumType):
        return " | ".join(f'"{member.value}"' for member in kind.cls)
    if isinstance(kind, inspect.ListType | inspect.VarTupleType):
        return f"readonly {_grouped(kind.item_type)}[]"
    if isinstance(kind, inspect.TupleType):
        return f"readonly [{', '.join(map(_type, kind.item_types))}]"
    if isinstance(kind, inspect.DictType):
        return f"Record<string, {_type(kind.value_type)}>"
    return SCALARS.get(type(kind), "any")


def _grouped(kind):
    name = _type(kind)
    return f"({name})" if " " in name else name


def main() -> int:
    """Write the file, or with --check only compare it; return an exit code."""
    if TARGET.exists() and TARGET.read_text() == text():
        return 0
    if "--check" in sys.argv:
        sys.stderr.write("adapters/web/assets/wire/types.d.ts: out of date; run: make copies\n")
        return 1
    TARGET.write_text(text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
