"""What is said in a chat: nothing of what users say is lost or doubled, every call is answered."""

from collections import Counter

from actors.machine import requests as ask
from actors.machine.chat import Role
from actors.parts.model import TextPart, ToolCallPart, ToolResultPart


class Talk:
    """What users have said in one chat, as their requests say: kept apart from the store."""

    def __init__(self):
        self._said = {}  # text: the id of its message, or None while it waits in the queue
        self._queue = {}  # id of a queued row: its text

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
                case ask.EditQueued(queued_id=id, message=message):
                    del self._said[self._queue[id]]
                    self._said[text_of(message)] = None
        self._queue = {row.id: text_of(row.message) for row in kept.queue}
        for message in kept.history:
            if message.body.role is Role.USER and self._said.get(text_of(message.body), 0) is None:
                self._said[text_of(message.body)] = message.id

    def faults(self, kept):
        found = Counter(text_of(m.body) for m in kept.history if m.body.role is Role.USER)
        found.update(text_of(row.message) for row in kept.queue)
        if found != dict.fromkeys(self._said, 1):
            yield f"users said {list(self._said)}, there is {dict(found)}"


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
