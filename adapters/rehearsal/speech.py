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


def instance(schema: object, depth: int = 0) -> object:
    """A small value that a JSON schema allows, as far as it is simple; null for what is not."""
    if not isinstance(schema, Mapping) or depth == DEPTH_MAX:
        return None
    for alternatives in ("enum", "anyOf", "oneOf", "allOf"):
        match schema.get(alternatives):
            case [first_of_them, *_]:
                is_value = alternatives == "enum"
                return first_of_them if is_value else instance(first_of_them, depth + 1)
    match schema.get("type"):
        case [str(kind), *_] | str(kind):
            return _of_kind(kind.lower(), schema, depth)
        case _:
            return schema.get("const", _of_kind("object", schema, depth))


def _of_kind(kind: str, schema: Mapping[str, Any], depth: int) -> object:
    match kind:
        case "object":
            members = schema.get("properties")
            known = members if isinstance(members, Mapping) else {}
            return {name: instance(member, depth + 1) for name, member in known.items()}
        case "array":
            return [instance(schema.get("items"), depth + 1)] if schema.get("minItems") else []
        case "string":
            return schema.get("const", "Rehearsal")
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
        case _:
            return None
