"""What is wrong with the arguments of a call, in words that help the model to do better. Pure.

A key that comes twice, or that differs from a declared one by its letters' case only, is refused:
whoever looked at the call before (a policy, a user) may have read the other value.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from actors.law.parts.json_text import is_json

RESEND = "send the call again with well-formed arguments"


def fault(args: str | None, schema: Mapping[str, Any]) -> str | None:
    """The first thing that is wrong; None: they can be read, and in one way only."""
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
