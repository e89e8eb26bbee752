"""Every call of a local tool has its answer right behind it, every answer its call. Pure.

A provider refuses a whole history for one call without answer. What is missing is made up: an
error for the answer that never came, an empty call for an answer that nobody asked for.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from actors.parts.model import JsonText, ToolCallPart
from actors.parts.prompt import AssistantSaid, Said, ToolAnswer, ToolsSaid
from actors.prompts.results import unanswered

UNKNOWN_TOOL = "unknown_tool"


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
        yield turn.assistant
    if calls:
        yield ToolsSaid(
            tuple(answers.get(id) or unanswered(id, name) for id, name in calls.items())
        )
    for said in turn.later:
        if not isinstance(said, ToolsSaid):
            yield said
            continue
        orphans = [answer for answer in said.answers if answer.id not in calls]
        if orphans:
            yield _made_up_calls(orphans, names)
            yield ToolsSaid(tuple(orphans))


def _local_calls(said: AssistantSaid | None) -> dict[str, str]:
    parts = said.parts if said is not None else ()
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


def _made_up_calls(orphans: list[ToolAnswer], names: dict[str, str]) -> AssistantSaid:
    empty = JsonText("{}")
    return AssistantSaid(
        tuple(
            ToolCallPart(each.id, names.get(each.id) or each.name or UNKNOWN_TOOL, empty)
            for each in orphans
        )
    )
