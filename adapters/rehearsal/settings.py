"""The settings of a behaviour, in one grammar for flags, JSON and markers in messages. Pure.

    --delta-ms 20        {"delta_ms": 20}        [[delta-ms: 20]]

`SETTINGS` is the table that all three are read by, and that the help is made of.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from adapters.rehearsal.behaviour import Behaviour, ScriptedCall, read_rules, rule_text

CHARACTERS_MAX = 4 * 1024 * 1024  # of the stock text in one answer
TEXT_CHARACTERS_MAX = 256 * 1024
MILLISECONDS_MAX = 3_600_000
DELTAS_MAX = 100_000
DELTA_CHARACTERS_MAX = 4096
CALLS_MAX = 64
ROUNDS_MAX = 10_000
PIECES_MAX = 1000
TOKENS_MAX = 10**9
MODELS_MAX = 1000
SCRIPT_MAX = 10_000
SEED_MAX = 2**32 - 1


class InvalidSetting(ValueError):
    """A setting that cannot be; its text says which and why."""


@dataclass(frozen=True, slots=True)
class BehaviourSetting:
    """One setting: its name, its help, and how it is read."""

    name: str
    shape: str  # the placeholder of the value in the help
    help: str
    read: Callable[[Any], object]


def read(base: Behaviour, said: Mapping[str, object]) -> Behaviour:
    """Return `base` with these settings; null is as good as absent. Raises InvalidSetting."""
    found = {name.replace("-", "_"): value for name, value in said.items() if value is not None}
    script = found.pop("script", None)
    unknown = sorted(found.keys() - _BY_NAME.keys())
    if unknown:
        raise InvalidSetting(
            f"{unknown[0]}: no such setting, must be one of {', '.join(_BY_NAME)}, script"
        )
    values: dict[str, Any] = {name: _value(name, value) for name, value in found.items()}
    behaviour = replace(base, **values)
    longest = max(behaviour.deltas, behaviour.reasoning, behaviour.preamble)
    if longest * behaviour.delta_chars > CHARACTERS_MAX:
        raise InvalidSetting(f"deltas: an answer may have {CHARACTERS_MAX} characters")
    return behaviour if script is None else replace(behaviour, script=_script(behaviour, script))


def with_markers(base: Behaviour, text: str) -> tuple[Behaviour, frozenset[str]]:
    """Return `base` with the settings of a message's markers, and the names of these."""
    if "[[" not in text:
        return base, frozenset()
    said = {
        _MARKED_NAMES[name]: value
        for name, value in _MARKER.findall(text)
        if name in _MARKED_NAMES  # other brackets belong to the message
    }
    return read(base, said), frozenset(said)


def as_settings(behaviour: Behaviour) -> dict[str, Any]:
    """Return a behaviour as settings, as `read` takes them."""
    return {
        **asdict(behaviour),
        "models": list(behaviour.models),
        "tool_calls": [asdict(call) for call in behaviour.tool_calls],
        "faults": [rule_text(rule) for rule in behaviour.faults],
        "script": [as_settings(answer) for answer in behaviour.script],
    }


def _value(name: str, value: object) -> object:
    try:
        return _BY_NAME[name].read(value)
    except ValueError as error:
        raise InvalidSetting(f"{name}: {error}") from None


def _script(base: Behaviour, entries: object) -> tuple[Behaviour, ...]:
    if not isinstance(entries, list) or len(entries) > SCRIPT_MAX:
        raise InvalidSetting(f"script: must be a list of up to {SCRIPT_MAX} answers")
    return tuple(_answer(base, number, entry) for number, entry in enumerate(entries, 1))


def _answer(base: Behaviour, number: int, entry: object) -> Behaviour:
    if not isinstance(entry, dict):
        raise InvalidSetting(f"script: answer {number} is no object of settings")
    # Tools in an answer of a script are meant to be called in that answer.
    calls = {"tool_rounds": ROUNDS_MAX} if entry.keys() & {"tool_calls", "tool-calls"} else {}
    try:
        return read(base, {**calls, **entry})
    except InvalidSetting as unfit:
        raise InvalidSetting(f"script: answer {number}: {unfit}") from None


def _whole(low: int, high: int) -> Callable[[Any], int]:
    def number(value: Any) -> int:
        if isinstance(value, str) and value.strip().isdecimal():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"is {value!r}, must be {low}..{high}")
        return value

    return number


def _number(low: float, high: float) -> Callable[[Any], float]:
    def number(value: Any) -> float:
        try:
            found = float(value)
        except (TypeError, ValueError):
            found = float("nan")
        if not low <= found <= high:
            raise ValueError(f"is {value!r}, must be {low:g}..{high:g}")
        return found

    return number


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > TEXT_CHARACTERS_MAX:
        raise ValueError(f"must be text of up to {TEXT_CHARACTERS_MAX} characters")
    return value


def _names(value: Any) -> tuple[str, ...]:
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list) or not 0 < len(names) <= MODELS_MAX:
        raise ValueError(f"must be 1..{MODELS_MAX} names, separated by commas")
    return tuple(str(name).strip() for name in names)


def _rules(value: Any) -> object:
    text = ",".join(value) if isinstance(value, list) else value
    if not isinstance(text, str):
        raise ValueError("must be text, like 529@10%")
    return read_rules(text)


def _calls(value: Any) -> tuple[ScriptedCall, ...]:
    calls = _spelled_calls(value) if isinstance(value, str) else _listed_calls(value)
    if len(calls) > CALLS_MAX:
        raise ValueError(f"has {len(calls)} calls, may have {CALLS_MAX}")
    return calls


def _listed_calls(value: Any) -> tuple[ScriptedCall, ...]:
    if not isinstance(value, list) or not all(
        isinstance(each, dict) and isinstance(each.get("name"), str) for each in value
    ):
        raise ValueError("must be a list of objects with name and arguments")
    return tuple(
        ScriptedCall(each["name"], _arguments(each.get("arguments", {}))) for each in value
    )


def _arguments(value: object) -> str:
    """Return arguments as text; a text is kept as it is, so that it may be no JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def _spelled_calls(text: str) -> tuple[ScriptedCall, ...]:
    """Return the calls in a text: `name:{json}`, separated by spaces, commas or nothing."""
    calls: list[ScriptedCall] = []
    rest = text.strip()
    while rest:
        name, colon, arguments = rest.partition(":")
        try:
            _, end = json.JSONDecoder().raw_decode(arguments)
        except ValueError:
            end = 0
        if not (name and colon and end):
            raise ValueError(f"has {rest!r}, must be like " + 'weather:{"city":"Rome"}')
        calls.append(ScriptedCall(name.strip(), arguments[:end]))
        rest = arguments[end:].lstrip(" ,;")
    return tuple(calls)


_milliseconds = _number(0, MILLISECONDS_MAX)
_tokens = _whole(0, TOKENS_MAX)

SETTINGS = (
    BehaviourSetting("headers_ms", "MS", "wait before the head of the response", _milliseconds),
    BehaviourSetting("first_token_ms", "MS", "wait from there to the first delta", _milliseconds),
    BehaviourSetting("delta_ms", "MS", "wait between two deltas", _milliseconds),
    BehaviourSetting(
        "jitter", "0..1", "each wait varies at random by up to this share", _number(0, 1)
    ),
    BehaviourSetting("deltas", "N", "how many deltas of text an answer has", _whole(0, DELTAS_MAX)),
    BehaviourSetting("delta_chars", "N", "how long each is", _whole(1, DELTA_CHARACTERS_MAX)),
    BehaviourSetting("text", "TEXT", "say this, cut into deltas, instead of the stock text", _text),
    BehaviourSetting(
        "reasoning", "N", "so many deltas of reasoning before it", _whole(0, DELTAS_MAX)
    ),
    BehaviourSetting(
        "tool_calls",
        "NAME:JSON",
        "call these tools first and say the text after their results; a request that offers no "
        "tools gets the text",
        _calls,
    ),
    BehaviourSetting(
        "tool_rounds", "N", "call them so many times before the text", _whole(0, ROUNDS_MAX)
    ),
    BehaviourSetting(
        "preamble", "N", "so many deltas of text before a tool call", _whole(0, DELTAS_MAX)
    ),
    BehaviourSetting(
        "events_per_write", "N", "events that are sent in one piece", _whole(1, PIECES_MAX)
    ),
    BehaviourSetting(
        "writes_per_event", "N", "pieces, 1 ms apart, that a write is sent in", _whole(1, 100)
    ),
    BehaviourSetting(
        "input_tokens", "N", "usage: the prompt (else a quarter of its bytes)", _tokens
    ),
    BehaviourSetting("output_tokens", "N", "usage: the answer (else its deltas)", _tokens),
    BehaviourSetting("cached_tokens", "N", "usage: of the prompt, read from a cache", _tokens),
    BehaviourSetting(
        "cache_write_tokens", "N", "usage: of the prompt, written to a cache", _tokens
    ),
    BehaviourSetting(
        "reasoning_tokens", "N", "usage: of the answer (else deltas of reasoning)", _tokens
    ),
    BehaviourSetting("faults", "RULES", "what goes wrong, see below", _rules),
    BehaviourSetting("models", "NAMES", "what /v1/models lists; any other is answered too", _names),
    BehaviourSetting(
        "seed", "N", "of all that is random: the same seed, the same run", _whole(0, SEED_MAX)
    ),
)

_BY_NAME = {setting.name: setting for setting in SETTINGS}
assert {field.name for field in fields(Behaviour)} == {*_BY_NAME, "script"}, "a field, a setting"
_MARKED_NAMES = {
    "fault": "faults",
    **{spelling: name for name in _BY_NAME for spelling in (name, name.replace("_", "-"))},
}
_MARKER = re.compile(r"\[\[\s*([a-z_-]+)\s*:\s*(.*?)\s*\]\]", re.DOTALL)
