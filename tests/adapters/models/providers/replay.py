"""Reading streams in tests: all deltas of a body, however it is cut, and what they come to."""

from datetime import UTC, datetime

from actors.law.parts.assemble import Assembly
from actors.law.parts.deltas import AnswerFailed, AnswerFinished
from actors.law.parts.prompt import AssistantOutput, ToolAnswer, ToolResults

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def deltas_of(decoder, pieces):
    """Every delta, one after the other; the body ends after the last piece."""
    deltas = []
    for piece in pieces:
        deltas.extend(decoder.feed(piece))
    if not (deltas and isinstance(deltas[-1], AnswerFinished | AnswerFailed)):
        deltas.extend(decoder.close())
    return deltas


def answer_of(deltas):
    assembly = Assembly()
    for delta in deltas:
        assembly.add(delta, NOW)
    return assembly.answer()


def events(*data):
    """A body of nameless events."""
    return b"".join(b"data: " + each + b"\n\n" for each in data)


def local_calls(answer):
    return [
        part
        for part in answer.parts
        if type(part).__name__ == "ToolCallPart" and not part.provider_executed
    ]


def replayed(answer):
    """The answer as a later prompt says it again: sources and files are not replayed."""
    kinds = ("TextPart", "ReasoningPart", "ToolCallPart", "ToolResultPart")
    return AssistantOutput(tuple(part for part in answer.parts if type(part).__name__ in kinds))


def answered_by(answer, texts):
    """The results of an answer's calls, in order."""
    calls = local_calls(answer)
    assert len(calls) == len(texts)
    return ToolResults(
        tuple(ToolAnswer(call.id, call.name, text) for call, text in zip(calls, texts, strict=True))
    )
