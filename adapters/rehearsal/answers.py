"""A request under a behaviour -> what is said to it. Pure."""

import json
from dataclasses import dataclass
from random import Random

from adapters.rehearsal import speech
from adapters.rehearsal.behaviour import Behaviour, Call
from adapters.rehearsal.faults import Ended, Fault, chosen
from adapters.rehearsal.said import Asked, Finish, Said, SaidCall, Speech, Usage
from adapters.rehearsal.settings import marked

BYTES_PER_TOKEN = 4  # of a prompt, where no usage is set
CREATED = 1_700_000_000  # answers carry times that depend on their number only, so runs are equal


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said, how, and what goes wrong with it."""

    said: Said
    behaviour: Behaviour
    fault: Fault | None
    random: Random


def answered(base: Behaviour, asked: Asked, *, number: int, attempt: int) -> Answer:
    """`number` counts all requests, `attempt` those at the same point of the same conversation.

    The rules of a marker count attempts, any other rules count requests. Raises Unfit.
    """
    acting = base.script[number - 1] if number <= len(base.script) else base
    behaviour, names = marked(acting, asked.text)
    random = Random(f"{base.seed}/{number}")  # to be repeated, not to be secret
    count = attempt if "faults" in names else number
    fault = chosen(behaviour.faults, count, random)
    ended = fault if isinstance(fault, Ended) else None
    return Answer(said(behaviour, asked, number=number, ended=ended), behaviour, fault, random)


def said(behaviour: Behaviour, asked: Asked, *, number: int, ended: Ended | None) -> Said:
    name = f"{behaviour.seed:08x}{number:016x}"
    reasoning = speech.stock(speech.THOUGHTS, behaviour.reasoning, behaviour.delta_chars)
    calls = () if ended else _calls(behaviour, asked, name)
    text = _text(behaviour, asked, calls=bool(calls))
    refusal = speech.NOTHING
    finish: Finish = "tools" if calls else "stop"
    if ended:
        half = len(text.deltas) // 2 if ended.why == "length" else 0
        text = speech.first(text, half if ended.after is None else ended.after)
        finish = ended.why
        if ended.why == "refusal":
            refusal = speech.cut(speech.REFUSED, behaviour.delta_chars)
    spoken = (reasoning, text, refusal, *(call.arguments for call in calls))
    return Said(
        id=name,
        created=CREATED + number,
        asked=asked,
        reasoning=reasoning,
        text=text,
        refusal=refusal,
        calls=calls,
        finish=finish,
        usage=_usage(behaviour, asked, sum(len(each.deltas) for each in spoken)),
    )


def _text(behaviour: Behaviour, asked: Asked, *, calls: bool) -> Speech:
    size = behaviour.delta_chars
    if calls:
        return speech.stock(speech.STOCK, behaviour.preamble, size)
    if asked.schema is not None:
        return speech.cut(json.dumps(speech.instance(asked.schema)), size)
    if behaviour.text:
        return speech.cut(behaviour.text, size)
    return speech.stock(speech.STOCK, behaviour.deltas, size)


def _calls(behaviour: Behaviour, asked: Asked, name: str) -> tuple[SaidCall, ...]:
    if asked.forced is not None:
        calls: tuple[Call, ...] = (_forced(asked.forced, asked),)
    elif asked.offers_tools and asked.rounds < behaviour.tool_rounds:
        calls = behaviour.tool_calls
    else:
        calls = ()
    return tuple(
        SaidCall(f"{index:02x}{name[2:]}", call.name, _arguments(call, behaviour.delta_chars))
        for index, call in enumerate(calls)
    )


def _forced(name: str, asked: Asked) -> Call:
    return Call(name, json.dumps(speech.instance(asked.schema or {})))


def _arguments(call: Call, characters: int) -> Speech:
    return speech.cut(call.arguments, characters)


def _usage(behaviour: Behaviour, asked: Asked, deltas: int) -> Usage:
    def either(wished: int | None, counted: int) -> int:
        return counted if wished is None else wished

    return Usage(
        input=either(behaviour.input_tokens, asked.body_bytes // BYTES_PER_TOKEN),
        output=either(behaviour.output_tokens, deltas),
        cached=behaviour.cached_tokens,
        cache_write=behaviour.cache_write_tokens,
        reasoning=either(behaviour.reasoning_tokens, behaviour.reasoning),
    )
