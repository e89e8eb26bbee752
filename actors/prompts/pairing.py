"""Pairs of calls and answers: every call of a local tool has its answer right behind it. Pure.

A provider refuses a whole history for one call without an answer. What is missing is made up: an
error for the answer that never came, an empty call for an answer without one.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from actors.law.parts.message import JsonText, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from actors.law.parts.prompt import AssistantOutput, PromptMessage, ToolAnswer, ToolResults
from actors.prompts.converting import interrupted_answer

UNKNOWN_TOOL = "unknown_tool"

AssistantPart = TextPart | ReasoningPart | ToolCallPart | ToolResultPart


@dataclass(slots=True)
class _Turn:
    """An assistant's message, and what stands between it and the next one."""

    assistant: AssistantOutput | None
    later: list[PromptMessage] = field(default_factory=list)


class Pairing:
    """The pairing of one history as it grows.

    What stands before its latest assistant message is paired once and for all; behind it more may
    come.
    """

    def __init__(self) -> None:
        self.settled: list[PromptMessage] = []  # what nothing that comes can change
        self._repair = _Repair()
        self._latest = _Turn(None)

    def add(self, said: PromptMessage) -> None:
        if isinstance(said, AssistantOutput):
            self.settled += self._repair.turn(self._latest)
            self._latest = _Turn(said)
        else:
            self._latest.later.append(said)

    def latest(self) -> tuple[PromptMessage, ...]:
        """Return what follows: the latest assistant message, and what stands behind it."""
        return tuple(self._repair.copy().turn(self._latest))


class _Repair:
    """The repair of one history, turn by turn.

    Some providers give the same ids again with every answer, others refuse a conversation in which
    an id comes twice. So an id that was used before goes out with a number.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}  # of the tools that were called, by id
        self._used: set[str] = set()

    def copy(self) -> "_Repair":
        copy = _Repair()
        copy._names, copy._used = self._names.copy(), self._used.copy()
        return copy

    def turn(self, turn: _Turn) -> Iterator[PromptMessage]:
        parts = () if turn.assistant is None else _each_call_once(turn.assistant)
        calls = {part.id: part for part in parts if _is_local(part)}
        self._names.update((id, call.name) for id, call in calls.items())
        fresh = self._fresh(calls)
        if turn.assistant is not None:
            yield _with_parts(turn.assistant, parts, fresh)
        answers = _first_answers(turn.later)
        if calls:
            made = (
                answers.get(id) or interrupted_answer(id, call.name) for id, call in calls.items()
            )
            yield ToolResults(tuple(self._answer(answer, fresh) for answer in made))
        for said in turn.later:
            if isinstance(said, ToolResults):
                yield from self._orphans(said, calls.keys())
            else:
                yield said

    def _orphans(self, said: ToolResults, called: Set[str]) -> Iterator[PromptMessage]:
        """Yield answers without a call, behind calls that are made up for them."""
        orphans = {id: each for id, each in _first_answers([said]).items() if id not in called}
        if orphans:
            fresh = self._fresh(orphans)
            answers = tuple(self._answer(each, fresh) for each in orphans.values())
            empty = JsonText("{}")
            yield AssistantOutput(tuple(ToolCallPart(a.id, a.name, empty) for a in answers))
            yield ToolResults(answers)

    def _answer(self, answer: ToolAnswer, fresh: Mapping[str, str]) -> ToolAnswer:
        name = self._names.get(answer.id) or answer.name or UNKNOWN_TOOL
        id = fresh[answer.id]
        if id == answer.id and name == answer.name:
            return answer
        return replace(answer, id=id, name=name)

    def _fresh(self, ids: Iterable[str]) -> dict[str, str]:
        fresh = {}
        for id in ids:
            fresh[id] = id if id not in self._used else self._numbered(id)
            self._used.add(fresh[id])
        return fresh

    def _numbered(self, id: str) -> str:
        names = (f"{id}-{number}" for number in itertools.count(2))
        return next(name for name in names if name not in self._used)


def _each_call_once(said: AssistantOutput) -> tuple[AssistantPart, ...]:
    """Return the parts with the first of two local calls under one id: that one was run and
    answered."""
    kept: list[AssistantPart] = []
    seen: set[str] = set()
    for part in said.parts:
        if not _is_local(part):
            kept.append(part)
        elif part.id not in seen:
            seen.add(part.id)
            kept.append(part)
    return tuple(kept)


def _is_local(part: AssistantPart) -> TypeGuard[ToolCallPart]:
    return isinstance(part, ToolCallPart) and not part.provider_executed


def _with_parts(
    said: AssistantOutput, parts: tuple[AssistantPart, ...], fresh: Mapping[str, str]
) -> AssistantOutput:
    """Return the message with these parts, under ids that were not used before."""
    if all(id == name for id, name in fresh.items()):
        return said if len(parts) == len(said.parts) else AssistantOutput(parts)
    return AssistantOutput(tuple(_renamed(part, fresh) for part in parts))


def _renamed(part: AssistantPart, fresh: Mapping[str, str]) -> AssistantPart:
    return replace(part, id=fresh[part.id]) if _is_local(part) else part


def _first_answers(later: Sequence[PromptMessage]) -> dict[str, ToolAnswer]:
    answers: dict[str, ToolAnswer] = {}
    for said in later:
        for answer in said.answers if isinstance(said, ToolResults) else ():
            answers.setdefault(answer.id, answer)
    return answers
