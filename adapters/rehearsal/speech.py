"""What the model says when nobody tells it what to say; texts cut into deltas. Pure."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from adapters.rehearsal.said import Speech

TEXTS_KEPT_MAX = 16  # cut texts that are kept; another one drops the one used least recently
DEPTH_MAX = 16  # of a schema; what is deeper is null

STOCK = (
    "Beginners, please. The house is in, the doors are closed, and the prompt desk is live. "
    "Stand by lights one to four, stand by sound. The rehearsal model speaks its lines at the "
    "pace it is given, word for word the same every night, so that those behind the scenes can "
    "practise their entrances. Lights one, go. Somebody has moved the chair; play on. The cue "
    "comes when it comes, and not before. If the line is dry, the prompter whispers it. If the "
    "rope breaks, the curtain waits. We take it again from the top. "
)
THOUGHTS = (
    "They are waiting for the cue. I know the scene, I know the marks on the floor, and I count "
    "the bars before the light changes. First the question, then the pause, then the answer. "
)
REFUSED = "I cannot play this part."
NOTHING = Speech("", ())


@lru_cache(TEXTS_KEPT_MAX)
def stock(source: str, deltas: int, characters: int) -> Speech:
    """So many deltas of so many characters of a text that starts again when it ends."""
    wanted = deltas * characters
    return cut((source * (wanted // len(source) + 1))[:wanted], characters)


@lru_cache(TEXTS_KEPT_MAX)
def cut(text: str, characters: int) -> Speech:
    pieces = (text[at : at + characters] for at in range(0, len(text), characters))
    return Speech(text, tuple(json.dumps(piece, ensure_ascii=False).encode() for piece in pieces))


def first(speech: Speech, deltas: int) -> Speech:
    """Only so many of its deltas."""
    if deltas >= len(speech.deltas):
        return speech
    kept = speech.deltas[:deltas]
    return Speech("".join(json.loads(delta) for delta in kept), kept)


def instance(schema: Mapping[str, Any], depth: int = 0) -> object:
    """The smallest value a JSON schema allows, as far as it is simple."""
    if "enum" in schema or "const" in schema:
        return schema.get("const", next(iter(schema.get("enum", ())), None))
    if depth == DEPTH_MAX:
        return None
    for alternatives in ("anyOf", "oneOf", "allOf"):
        if schema.get(alternatives):
            return instance(schema[alternatives][0], depth + 1)
    kind = schema.get("type", "object")
    match str(kind[0] if isinstance(kind, list) else kind).lower():
        case "object":
            members = schema.get("properties", {})
            return {name: instance(member, depth + 1) for name, member in members.items()}
        case "array":
            count = min(int(schema.get("minItems", 0)), 10)
            return [instance(schema.get("items", {}), depth + 1) for _ in range(count)]
        case "string":
            return "Rehearsal"
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
        case _:
            return None
