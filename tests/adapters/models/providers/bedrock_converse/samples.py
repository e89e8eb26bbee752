"""Answers of Converse, typed by hand after AWS's published description of the service."""

from tests.adapters.models.providers.bedrock.frames import converse_event as event

COUNTS = {"inputTokens": 30, "outputTokens": 12, "totalTokens": 42}


def delta(index, **change):
    return event("contentBlockDelta", contentBlockIndex=index, delta=change)


def stop(index):
    return event("contentBlockStop", contentBlockIndex=index)


def ended(reason, **counts):
    return (
        event("messageStop", stopReason=reason),
        event("metadata", usage=COUNTS | counts, metrics={"latencyMs": 7}),
    )


def stream(*events, reason="end_turn", **counts):
    begun = event("messageStart", role="assistant")
    return b"".join((begun, *events, *ended(reason, **counts)))


def words(index, *pieces):
    return (*(delta(index, text=piece) for piece in pieces), stop(index))


def call(index, id, name, *pieces):
    start = {"toolUse": {"toolUseId": id, "name": name}}
    return (
        event("contentBlockStart", contentBlockIndex=index, start=start),
        *(delta(index, toolUse={"input": piece}) for piece in pieces),
        stop(index),
    )


def thoughts(index, *changes):
    return (*(delta(index, reasoningContent=change) for change in changes), stop(index))


def whole(*blocks, reason="end_turn", **counts):
    return {
        "output": {"message": {"role": "assistant", "content": list(blocks)}},
        "stopReason": reason,
        "usage": COUNTS | counts,
        "metrics": {"latencyMs": 7},
    }
