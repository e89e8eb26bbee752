"""Every call of a local tool has its answer right behind it, every answer its call. Pure.

A provider refuses a whole history for one call without answer. What is missing is made up: an
error for the answer that never came, an empty call for an answer that nobody asked for.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from actors.parts.model import JsonText, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from actors.parts.prompt import AssistantSaid, Said, ToolAnswer, ToolsSaid
from actors.prompts.results import unanswered

UNKNOWN_TOOL = "unknown_tool"

AssistantPart = TextPart | ReasoningPart | ToolCallPart | ToolResultPart


@dataclass(slots=True)
class _Turn:
    """An assistant's message, and what stands between it and the next one."""

    assistant: AssistantSaid | None
    later: list[Said] = field(default_factory=list)


def paired(messages: Iterable[Said]) -> tuple[Said, ...]:
    names: dict[str, str] = {}
    return tuple(said for turn in _turns(messages) for said in _repaired(turn, names))


def _turns(messages: Iterable[Said]) -> list[_Turn]:
    turns = [_Turn(None)]
    for said in messages:
        if isinstance(said, AssistantSaid):
            turns.append(_Turn(said))
        else:
            turns[-1].later.append(said)
    return turns


def _repaired(turn: _Turn, names: dict[str, str]) -> Iterator[Said]:
    calls = _local_calls(turn.assistant)
    names.update(calls)
    answers = _first_answers(turn.later)
    if turn.assistant is not None:
        yield AssistantSaid(tuple(_each_call_once(turn.assistant)))
    if calls:
        yield ToolsSaid(
            tuple(
                replace(answers[id], name=name) if id in answers else unanswered(id, name)
                for id, name in calls.items()
            )
        )
    for said in turn.later:
        if not isinstance(said, ToolsSaid):
            yield said
            continue
        orphans = tuple(
            replace(answer, name=names.get(id) or answer.name or UNKNOWN_TOOL)
            for id, answer in _first_answers([said]).items()
            if id not in calls
        )
        if orphans:
            yield AssistantSaid(tuple(map(_made_up_call, orphans)))
            yield ToolsSaid(orphans)


def _each_call_once(said: AssistantSaid) -> Iterator[AssistantPart]:
    """Of two local calls under one id the first is the one that was run and answered."""
    seen: set[str] = set()
    for part in said.parts:
        if isinstance(part, ToolCallPart) and not part.provider_executed:
            if part.id in seen:
                continue
            seen.add(part.id)
        yield part


def _local_calls(said: AssistantSaid | None) -> dict[str, str]:
    parts = () if said is None else _each_call_once(said)
    return {
        part.id: part.name
        for part in parts
        if isinstance(part, ToolCallPart) and not part.provider_executed
    }


def _first_answers(later: Sequence[Said]) -> dict[str, ToolAnswer]:
    answers: dict[str, ToolAnswer] = {}
    for said in later:
        for answer in said.answers if isinstance(said, ToolsSaid) else ():
            answers.setdefault(answer.id, answer)
    return answers


def _made_up_call(orphan: ToolAnswer) -> ToolCallPart:
    return ToolCallPart(orphan.id, orphan.name, JsonText("{}"))
