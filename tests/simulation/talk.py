"""What is said in a chat: nothing of what users say is lost or doubled, every call is answered, and
a summary takes the place of it for models alone.
"""

import json
from collections import Counter

from actors.law import requests as ask
from actors.law.chat import Role, Visibility
from actors.law.parts.message import TextPart, ToolCallPart, ToolResultPart
from actors.law.states import Status
from actors.prompts.fullness import SUMMARIES_PER_TURN_MAX


class Talk:
    """What users have said in one chat, as their requests say: kept apart from the store."""

    def __init__(self):
        self._said = {}  # text: the id of its message, or None while it waits in the queue
        self._queue = {}  # id of a queued row: its text
        self._wishes = 0  # for a summary, that were granted

    def goes_on(self, kept, requests):
        """These have been granted, and now `kept` is stored."""
        for request in requests:
            match request:
                case ask.CreateChat(messages=messages):
                    self._said.update(dict.fromkeys(map(text_of, messages)))
                case ask.SendMessage(message=message):
                    self._said[text_of(message)] = None
                case ask.EditMessage(message_id=target, message=message):
                    before = {text: id for text, id in self._said.items() if id and id < target}
                    self._said = before | {text_of(message): None}
                case ask.DeleteQueued(queued_id=id):
                    del self._said[self._queue[id]]
                case ask.RequestCompaction():
                    self._wishes += 1
                case ask.EditQueued(queued_id=id, message=message):
                    del self._said[self._queue[id]]
                    self._said[text_of(message)] = None
        self._queue = {row.id: text_of(row.message) for row in kept.queue}
        for message in kept.history:
            if is_a_users(message) and self._said.get(text_of(message.body), 0) is None:
                self._said[text_of(message.body)] = message.id

    def faults(self, kept):
        found = Counter(text_of(m.body) for m in kept.history if is_a_users(m))
        found.update(text_of(row.message) for row in kept.queue)
        if found != dict.fromkeys(self._said, 1):
            yield f"users said {list(self._said)}, there is {dict(found)}"
        made = sum(_source(m) == "manual" for m in kept.messages)
        if made > self._wishes:
            yield f"{self._wishes} summaries were asked for, {made} were made"
        wished = kept.chat.compaction_requested_at is not None
        if wished and kept.chat.status not in (Status.RUNNING, Status.INTERRUPTING):
            yield f"{kept.chat.status.value}, and a summary is still to be made"


def faults_in_summaries(history):
    """Each is three rows, there is something between two of them, and not too many in one turn."""
    rows = [_kind(message) for message in history]
    for at, kind in enumerate(rows):
        if kind == "told" and rows[at + 1 : at + 3] != ["called", "shown"]:
            yield f"half a summary: {rows}"
        if kind == "called" and rows[at - 1 : at + 2] != ["told", "called", "shown"]:
            yield f"half a summary: {rows}"
        if kind == "shown" and rows[at + 1 : at + 2] == ["told"]:
            yield f"a summary of a summary: {rows}"
    for turn in " ".join(rows).split("user"):
        if turn.count("shown") > SUMMARIES_PER_TURN_MAX + 1:  # that one somebody asked for
            yield f"summaries in one turn: {turn.count('shown')}"


def _kind(message):
    body = message.body
    if not body.compressed:
        return body.role.value
    kinds = {
        (Role.USER, Visibility.MODEL): "told",
        (Role.ASSISTANT, Visibility.USER): "called",
        (Role.TOOL, Visibility.BOTH): "shown",
    }
    return kinds[body.role, body.visibility]


def _source(message):
    """Who wanted a summary; None: it is none."""
    if not message.body.compressed or message.body.role is not Role.TOOL:
        return None
    [result] = message.body.parts
    return json.loads(result.result)["source"]


def is_a_users(message):
    return message.body.role is Role.USER and not message.body.compressed


def faults_in_steps(history):
    """Each call has one result, behind it and before the next step; only the last may lack some."""
    calls, results = {}, Counter()
    for message in history:
        parts = message.body.parts
        if message.body.role is Role.ASSISTANT:
            yield from (f"{id} has no result" for id in calls if not results[id])
            calls = {p.id: p for p in parts if isinstance(p, ToolCallPart)}
            calls = {id: call for id, call in calls.items() if not call.provider_executed}
            results = Counter()
        elif message.body.role is Role.TOOL:
            answers = [part.id for part in parts if isinstance(part, ToolResultPart)]
            results.update(answers)
            yield from (
                f"{id} is answered, but was not called" for id in answers if id not in calls
            )
            yield from (f"{id} has two results" for id in answers if results[id] > 1)


def text_of(message):
    [part] = [part for part in message.parts if isinstance(part, TextPart)]
    return part.text
