"""Anthropic's own tools in a history: what its API insists on, and how a history gets there. Pure.

A call and its result belong together only if one assistant message holds exactly one of each
under one id, the call first, the tool is one we know, the arguments are JSON and the result
carries the notes it came with. What violates that is dropped; a dropped result leaves its text.

A message with signed thoughts is signed as a whole: as long as it is the latest of the assistant
it is left alone, and never merged. Only a call without any result is taken out of it, by the guard.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from actors.law.failures.classify import history_mismatch
from actors.law.parts.deltas import ProviderFailure
from actors.law.parts.json_text import ANTHROPIC, is_json, notes_of
from actors.law.parts.message import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from actors.law.parts.prompt import AssistantOutput, PromptMessage, ToolResults, UserInput
from actors.prompts.converting import text_of
from actors.prompts.selecting import is_provider_executed

_KNOWN = frozenset({"web_search"})
_P = TypeVar("_P", bound=Part)


@dataclass(frozen=True, slots=True)
class GuardedMessages:
    """Messages that may be sent, and how many parts were taken out."""

    messages: tuple[PromptMessage, ...]
    removed: int  # parts


def sanitise(messages: Sequence[PromptMessage]) -> tuple[PromptMessage, ...]:
    """Return the messages without violations, empty messages and neighbours of one role, where
    possible.

    Neighbours that are joined may violate what each of them kept, so it is repeated until it holds.
    """
    before, after = None, tuple(messages)
    while before != after:
        before, after = after, _dropped(after, _violating)
    return after


def merge_neighbours(messages: Sequence[PromptMessage]) -> tuple[PromptMessage, ...]:
    """Join neighbours of one role. Where no provider ran any tool, nothing else has to be done."""
    return tuple(_coalesced(messages, _protected(messages)))


def sanitise_step(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Do the same for what was just said, before it is stored. A pair also has to agree in its
    name.

    What is signed is stored as it was signed.
    """
    if any(_is_signed(part) for part in parts):
        return tuple(parts)
    return tuple(_without(parts, _bad(parts, same_name=True)))


def guard(
    messages: Sequence[PromptMessage], provider: str | None
) -> GuardedMessages | ProviderFailure:
    """Check the messages a last time: repair them as gently as possible, or send nothing at all."""
    before = _count(messages)
    for repair in (tuple, _without_orphans, sanitise, _stripped):
        messages = repair(messages)
        if not any(_violating(each) for each in messages):
            return GuardedMessages(tuple(messages), before - _count(messages))
    return history_mismatch(provider)


def _protected(messages: Sequence[PromptMessage]) -> AssistantOutput | None:
    latest = next((said for said in reversed(messages) if isinstance(said, AssistantOutput)), None)
    return latest if latest is not None and any(map(_is_signed, latest.parts)) else None


def _is_signed(part: Part) -> bool:
    if not isinstance(part, ReasoningPart):
        return False
    return bool({"signature", "redacted_data"} & notes_of(part.provider_metadata, ANTHROPIC).keys())


def _violating(said: PromptMessage) -> frozenset[int]:
    return _bad(said.parts) if isinstance(said, AssistantOutput) else frozenset()


def _bad(parts: Sequence[Part], *, same_name: bool = False) -> frozenset[int]:
    """Return the places of parts that are not one half of a valid pair."""
    places: dict[str, list[int]] = {}
    for place, part in enumerate(parts):
        if isinstance(part, ToolCallPart | ToolResultPart) and part.provider_executed:
            places.setdefault(part.id, []).append(place)
    return frozenset(
        place
        for id, found in places.items()
        if not (id.strip() and _is_pair([parts[place] for place in found], same_name=same_name))
        for place in found
    )


def _is_pair(found: Sequence[Part], *, same_name: bool) -> bool:
    match found:
        case [ToolCallPart() as call, ToolResultPart() as result]:
            if same_name and call.name != result.name:
                return False
            return call.name in _KNOWN and is_json(call.args) and _has_notes(result)
        case _:
            return False


def _has_notes(result: ToolResultPart) -> bool:
    return "web_search" in notes_of(result.provider_metadata, ANTHROPIC)


def _dropped(
    messages: Sequence[PromptMessage], places: Callable[[PromptMessage], frozenset[int]]
) -> tuple[PromptMessage, ...]:
    """Drop the parts in these places, except in the message that must not be touched."""
    protected = _protected(messages)
    said = (each if each is protected else _dropping(each, places(each)) for each in messages)
    return tuple(_coalesced((each for each in said if each is not None), protected))


def _dropping(said: PromptMessage, places: frozenset[int]) -> PromptMessage | None:
    """Drop the parts of one message; None if nothing is left."""
    if not isinstance(said, AssistantOutput) or not places:
        return said if _is_something(said) else None
    kept = tuple(_without(said.parts, places))
    return AssistantOutput(kept) if kept else None


def _is_something(said: PromptMessage) -> bool:
    return bool(said.answers if isinstance(said, ToolResults) else said.parts)


def _without(parts: Iterable[_P], places: frozenset[int]) -> Iterator[_P | TextPart]:
    for place, part in enumerate(parts):
        if place not in places:
            yield part
        elif isinstance(part, ToolResultPart) and (text := text_of(part.result)) is not None:
            yield TextPart(text)


def _coalesced(
    messages: Iterable[PromptMessage], protected: AssistantOutput | None
) -> list[PromptMessage]:
    said: list[PromptMessage] = []
    for each in messages:
        last = said[-1] if said else None
        match last, each:
            case UserInput(), UserInput():
                said[-1] = UserInput((*last.parts, *each.parts))
            case ToolResults(), ToolResults():
                said[-1] = ToolResults((*last.answers, *each.answers))
            case AssistantOutput(), AssistantOutput() if last is not protected is not each:
                said[-1] = AssistantOutput((*last.parts, *each.parts))
            case _:
                said.append(each)
    return said


def _without_orphans(messages: Sequence[PromptMessage]) -> tuple[PromptMessage, ...]:
    """Drop calls that have no result at all, wherever they stand."""
    kept = (_dropping(said, _orphan_calls(said)) for said in messages)
    return tuple(said for said in kept if said is not None)


def _orphan_calls(said: PromptMessage) -> frozenset[int]:
    parts = said.parts if isinstance(said, AssistantOutput) else ()
    count = Counter(
        part.id for part in parts if isinstance(part, ToolResultPart) and part.provider_executed
    )
    return frozenset(
        place
        for place, part in enumerate(parts)
        if isinstance(part, ToolCallPart) and part.provider_executed and not count[part.id]
    )


def _stripped(messages: Sequence[PromptMessage]) -> tuple[PromptMessage, ...]:
    """Drop every part of a provider's tool."""
    return _dropped(messages, _all)


def _all(said: PromptMessage) -> frozenset[int]:
    parts = said.parts if isinstance(said, AssistantOutput) else ()
    return frozenset(place for place, part in enumerate(parts) if is_provider_executed(part))


def _count(messages: Sequence[PromptMessage]) -> int:
    return sum(len(_all(said)) for said in messages)
