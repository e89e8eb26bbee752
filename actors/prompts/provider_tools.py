"""Anthropic's own tools in a history: what its API insists on, and how a history gets there. Pure.

A call and its result belong together only if one assistant message holds exactly one of each
under one id, the call first, the tool is one we know, the arguments are JSON and the result
carries the notes it came with. What violates that is dropped; a dropped result leaves its text.

A tool may still be running when the model calls one of ours as well. Then its call goes back
without a result, beside the results of our tools, and its result comes at the head of the next
message. Such a pair in two messages is valid as long as only results of tools stand between them,
and a call alone as long as nothing else stands behind it.

A message with signed thoughts is signed as a whole: as long as it is the latest of the assistant
it is left alone, and never merged. Only a call without any result is taken out of it, by the guard.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeVar

from actors.law.failures.classify import history_mismatch
from actors.law.parts.deltas import ProviderFailure
from actors.law.parts.json_text import ANTHROPIC, is_json, notes_of
from actors.law.parts.message import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from actors.law.parts.prompt import AssistantOutput, PromptMessage, ToolResults, UserInput
from actors.prompts.converting import text_of
from actors.prompts.selecting import is_provider_executed

_KNOWN = frozenset({"web_search", "web_fetch"})  # by the names of tools, and of their notes
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


class MergedNeighbours:
    """The neighbours of one role of a conversation that grows, each joined once. Where no provider
    ran any tool, nothing else has to be done."""

    def __init__(self) -> None:
        self._merged: list[PromptMessage] = []
        self._count = 0  # of the messages that these were

    def messages(
        self, settled: Sequence[PromptMessage], latest: Sequence[PromptMessage]
    ) -> tuple[PromptMessage, ...]:
        """Return all messages. `settled` only grows; the latest of the assistant is in `latest`."""
        _coalesce(self._merged, settled[self._count :], None)
        self._count = len(settled)
        end = self._merged[-1:]
        _coalesce(end, latest, _protected(latest))
        return (*self._merged[:-1], *end)


def sanitise_step(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Do the same for what was just said, before it is stored. A pair also has to agree in its
    name.

    What is signed is stored as it was signed.
    """
    if any(_is_signed(part) for part in parts):
        return tuple(parts)
    is_local = (isinstance(part, ToolCallPart) and not part.provider_executed for part in parts)
    running = frozenset(_calls_alone(parts)) if any(is_local) else NOWHERE
    elsewhere = running | _results_at_head(parts).keys()
    return tuple(_without(parts, _bad(parts, elsewhere=elsewhere, same_name=True)))


def guard(
    messages: Sequence[PromptMessage], provider: str | None
) -> GuardedMessages | ProviderFailure:
    """Check the messages a last time: repair them as gently as possible, or send nothing at all."""
    before = _count(messages)
    for repair in (tuple, _without_orphans, sanitise, _stripped):
        messages = repair(messages)
        if not any(_violating(messages)):
            return GuardedMessages(tuple(messages), before - _count(messages))
    return history_mismatch(provider)


def _protected(messages: Sequence[PromptMessage]) -> AssistantOutput | None:
    latest = next((said for said in reversed(messages) if isinstance(said, AssistantOutput)), None)
    return latest if latest is not None and any(map(_is_signed, latest.parts)) else None


def _is_signed(part: Part) -> bool:
    if not isinstance(part, ReasoningPart):
        return False
    return bool({"signature", "redacted_data"} & notes_of(part.provider_metadata, ANTHROPIC).keys())


NOWHERE: frozenset[str] = frozenset()


def _violating(messages: Sequence[PromptMessage]) -> list[frozenset[int]]:
    """Return the places of parts that violate the rules, of each message."""
    elsewhere = _halves_elsewhere(messages)
    return [
        _bad(said.parts, elsewhere=other) if isinstance(said, AssistantOutput) else frozenset()
        for said, other in zip(messages, elsewhere, strict=True)
    ]


def _halves_elsewhere(messages: Sequence[PromptMessage]) -> list[frozenset[str]]:
    """Return, for each message, the ids whose other half is in another one, or still to come."""
    found = [NOWHERE] * len(messages)
    waiting: int | None = None  # the last assistant message, if only results stand behind it
    has_results = False
    for place, said in enumerate(messages):
        match said:
            case AssistantOutput(parts):
                if waiting is not None and has_results:
                    shared = _shared(_parts_at(messages, waiting), parts)
                    found[waiting] |= shared
                    found[place] |= shared
                waiting, has_results = place, False
            case ToolResults():
                has_results = True
            case UserInput():
                waiting = None
    if waiting is not None and has_results:
        found[waiting] |= _calls_alone(_parts_at(messages, waiting)).keys()
    return found


def _shared(before: Sequence[Part], parts: Sequence[Part]) -> frozenset[str]:
    """Return the ids of calls whose results stand at the head of a later message."""
    calls, results = _calls_alone(before), _results_at_head(parts)
    return frozenset(id for id, name in calls.items() if name in results.get(id, NOWHERE))


def _parts_at(messages: Sequence[PromptMessage], place: int) -> Sequence[Part]:
    said = messages[place]
    return said.parts if isinstance(said, AssistantOutput) else ()


def _halves(parts: Sequence[Part]) -> dict[str, list[int]]:
    """Return the places of the calls and results of a provider's tools, by id."""
    places: dict[str, list[int]] = {}
    for place, part in enumerate(parts):
        if isinstance(part, ToolCallPart | ToolResultPart) and part.provider_executed:
            places.setdefault(part.id, []).append(place)
    return places


def _calls_alone(parts: Sequence[Part]) -> dict[str, str]:
    """Return the ids of valid calls that have no result in this message, and their tools."""
    alone = [parts[found[0]] for found in _halves(parts).values() if len(found) == 1]
    return {
        part.id: part.name
        for part in alone
        if isinstance(part, ToolCallPart) and part.id.strip() and _is_valid_call(part)
    }


def _results_at_head(parts: Sequence[Part]) -> dict[str, frozenset[str]]:
    """Return the ids of valid results with which a message begins, without their calls, and the
    tools that their notes are of."""
    head = list(takewhile(lambda part: isinstance(part, ToolResultPart), parts))
    alone = {id for id, found in _halves(parts).items() if len(found) == 1}
    return {
        part.id: _noted(part)
        for part in head
        if isinstance(part, ToolResultPart) and part.id in alone and _noted(part)
    }


def _bad(
    parts: Sequence[Part], *, elsewhere: Set[str] = NOWHERE, same_name: bool = False
) -> frozenset[int]:
    """Return the places of parts that are not one half of a valid pair."""
    return frozenset(
        place
        for id, found in _halves(parts).items()
        if id not in elsewhere
        and not (id.strip() and _is_pair([parts[place] for place in found], same_name=same_name))
        for place in found
    )


def _is_pair(found: Sequence[Part], *, same_name: bool) -> bool:
    match found:
        case [ToolCallPart() as call, ToolResultPart() as result]:
            if same_name and call.name != result.name:
                return False
            return _is_valid_call(call) and call.name in _noted(result)
        case _:
            return False


def _is_valid_call(call: ToolCallPart) -> bool:
    return call.name in _KNOWN and is_json(call.args)


def _noted(result: ToolResultPart) -> frozenset[str]:
    """Return the tools whose notes a result has; none: it cannot be sent back as it came."""
    return _KNOWN & notes_of(result.provider_metadata, ANTHROPIC).keys()


def _dropped(
    messages: Sequence[PromptMessage],
    places: Callable[[Sequence[PromptMessage]], Sequence[frozenset[int]]],
) -> tuple[PromptMessage, ...]:
    """Drop the parts in these places, except in the message that must not be touched."""
    protected = _protected(messages)
    said = (
        each if each is protected else _dropping(each, bad)
        for each, bad in zip(messages, places(messages), strict=True)
    )
    return tuple(_coalesce([], (each for each in said if each is not None), protected))


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


def _coalesce(
    said: list[PromptMessage], more: Iterable[PromptMessage], protected: AssistantOutput | None
) -> list[PromptMessage]:
    """Add messages, each joined to the one before it if both have one role."""
    for each in more:
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
    elsewhere = _halves_elsewhere(messages)
    kept = (
        _dropping(said, _orphan_calls(said, other))
        for said, other in zip(messages, elsewhere, strict=True)
    )
    return tuple(said for said in kept if said is not None)


def _orphan_calls(said: PromptMessage, elsewhere: Set[str]) -> frozenset[int]:
    parts = said.parts if isinstance(said, AssistantOutput) else ()
    answered = {
        part.id for part in parts if isinstance(part, ToolResultPart) and part.provider_executed
    }
    return frozenset(
        place
        for place, part in enumerate(parts)
        if isinstance(part, ToolCallPart)
        and part.provider_executed
        and part.id not in answered | elsewhere
    )


def _stripped(messages: Sequence[PromptMessage]) -> tuple[PromptMessage, ...]:
    """Drop every part of a provider's tool."""
    return _dropped(messages, lambda before: [_all(said) for said in before])


def _all(said: PromptMessage) -> frozenset[int]:
    parts = said.parts if isinstance(said, AssistantOutput) else ()
    return frozenset(place for place, part in enumerate(parts) if is_provider_executed(part))


def _count(messages: Sequence[PromptMessage]) -> int:
    return sum(len(_all(said)) for said in messages)
