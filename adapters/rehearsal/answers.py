"""The answer to a request under a behaviour: what is said, and what goes wrong with it. Pure.

Texts that are not set come from a stock, and are cut into deltas once for all answers.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

from adapters.rehearsal.behaviour import Behaviour, EndedEarly, Fault, ScriptedCall, fault_of
from adapters.rehearsal.dialogue import (
    AnsweredCall,
    Finish,
    ModelRequest,
    ScriptedAnswer,
    Speech,
    UsageCounts,
)
from adapters.rehearsal.settings import with_markers

BYTES_PER_TOKEN = 4  # of a prompt, if no usage is set
CREATED = 1_700_000_000  # answers carry times that depend on their number only, so runs are equal
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


@dataclass(frozen=True, slots=True)
class PlannedAnswer:
    """An answer: what is said, how, and what goes wrong with it."""

    content: ScriptedAnswer
    behaviour: Behaviour
    fault: Fault | None
    random: Random


def plan_answer(
    base: Behaviour, request: ModelRequest, *, number: int, attempt: int, cue: int
) -> PlannedAnswer:
    """Return the answer to a request.

    `number` counts all requests, `attempt` those at the same point of the same conversation, and
    `cue` those that take an answer of the script; it is 0 for others. The rules of a marker count
    attempts, any other rules count requests. Raises InvalidSetting.
    """
    acting = base.script[cue - 1] if 0 < cue <= len(base.script) else base
    behaviour, names = with_markers(acting, request.text)
    random = Random(f"{base.seed}/{number}")  # it has to be repeatable, not secret
    count = attempt if "faults" in names else number
    fault = fault_of(behaviour.faults, count, random)
    ended = fault if isinstance(fault, EndedEarly) else None
    return PlannedAnswer(
        script_answer(behaviour, request, number=number, ended=ended), behaviour, fault, random
    )


def script_answer(
    behaviour: Behaviour, request: ModelRequest, *, number: int, ended: EndedEarly | None
) -> ScriptedAnswer:
    """Return what is said to a request."""
    name = f"{behaviour.seed:08x}{number:016x}"
    thoughts = 0 if request.said_before else behaviour.reasoning
    reasoning = stock(THOUGHTS, thoughts, behaviour.delta_chars)
    calls = () if ended else _calls(behaviour, request, name)
    text = _text(behaviour, request, calls=bool(calls))
    if request.said_before and text.whole.startswith(request.said_before):
        text = cut(text.whole.removeprefix(request.said_before), behaviour.delta_chars)
    refusal = NOTHING
    finish: Finish = "tools" if calls else "stop"
    if ended:
        half = len(text.deltas) // 2 if ended.why in ("length", "pause") else 0
        text = first_deltas(text, half if ended.after is None else ended.after)
        finish = ended.why
        if ended.why == "refusal":
            refusal = cut(REFUSED, behaviour.delta_chars)
    spoken = (reasoning, text, refusal, *(call.arguments for call in calls))
    return ScriptedAnswer(
        id=name,
        created=CREATED + number,
        request=request,
        reasoning=reasoning,
        text=text,
        refusal=refusal,
        calls=calls,
        finish=finish,
        usage=_usage(behaviour, request, sum(len(each.deltas) for each in spoken)),
    )


def _text(behaviour: Behaviour, request: ModelRequest, *, calls: bool) -> Speech:
    size = behaviour.delta_chars
    if calls:
        return stock(STOCK, behaviour.preamble, size)
    if request.schema is not None:
        return cut(json.dumps(sample_value(request.schema)), size)
    if behaviour.text:
        return cut(behaviour.text, size)
    return stock(STOCK, behaviour.deltas, size)


def _calls(behaviour: Behaviour, request: ModelRequest, name: str) -> tuple[AnsweredCall, ...]:
    if request.forced is not None:
        calls: tuple[ScriptedCall, ...] = (_forced(request.forced, request),)
    elif request.offers_tools and request.rounds < behaviour.tool_rounds:
        calls = behaviour.tool_calls
    else:
        calls = ()
    return tuple(
        AnsweredCall(f"{index:02x}{name[2:]}", call.name, _arguments(call, behaviour.delta_chars))
        for index, call in enumerate(calls)
    )


def _forced(name: str, request: ModelRequest) -> ScriptedCall:
    return ScriptedCall(name, json.dumps(sample_value(request.schema or {})))


def _arguments(call: ScriptedCall, characters: int) -> Speech:
    return cut(call.arguments, characters)


def _usage(behaviour: Behaviour, request: ModelRequest, deltas: int) -> UsageCounts:
    def either(wished: int | None, counted: int) -> int:
        return counted if wished is None else wished

    return UsageCounts(
        input=either(behaviour.input_tokens, request.body_bytes // BYTES_PER_TOKEN),
        output=either(behaviour.output_tokens, deltas),
        cached=behaviour.cached_tokens,
        cache_write=behaviour.cache_write_tokens,
        reasoning=either(behaviour.reasoning_tokens, behaviour.reasoning),
    )


@lru_cache(TEXTS_KEPT_MAX)
def stock(source: str, deltas: int, characters: int) -> Speech:
    """Return so many deltas of so many characters of a text that starts again when it ends."""
    wanted = deltas * characters
    return cut((source * (wanted // len(source) + 1))[:wanted], characters)


@lru_cache(TEXTS_KEPT_MAX)
def cut(text: str, characters: int) -> Speech:
    """Return a text cut into deltas."""
    pieces = (text[at : at + characters] for at in range(0, len(text), characters))
    return Speech(text, tuple(json.dumps(piece, ensure_ascii=False).encode() for piece in pieces))


def first_deltas(speech: Speech, deltas: int) -> Speech:
    """Return only so many of a text's deltas."""
    if deltas >= len(speech.deltas):
        return speech
    kept = speech.deltas[:deltas]
    return Speech("".join(json.loads(delta) for delta in kept), kept)


def sample_value(schema: object, depth: int = 0) -> object:
    """Return a small value that a JSON schema allows; null where the schema is not simple."""
    if not isinstance(schema, Mapping) or depth == DEPTH_MAX:
        return None
    for alternatives in ("enum", "anyOf", "oneOf", "allOf"):
        match schema.get(alternatives):
            case [first_of_them, *_]:
                is_value = alternatives == "enum"
                return first_of_them if is_value else sample_value(first_of_them, depth + 1)
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
            return {name: sample_value(member, depth + 1) for name, member in known.items()}
        case "array":
            return [sample_value(schema.get("items"), depth + 1)] if schema.get("minItems") else []
        case "string":
            return schema.get("const", "Rehearsal")
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
        case _:
            return None
