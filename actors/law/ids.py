"""The ids of users, chats, files and processes, and how they print. Pure.

An id is a bare UUID or integer at run time; the type says which kind it is. In logs, errors and
names of tasks a chat is written `chat/<uuid>`, and an attempt at one of its steps
`chat/<uuid>#<history version>.<attempt>`.
"""

from dataclasses import dataclass
from typing import NewType
from uuid import UUID

UserId = NewType("UserId", UUID)
ChatId = NewType("ChatId", UUID)
FileId = NewType("FileId", UUID)
ModelConfigId = NewType("ModelConfigId", UUID)
MessageId = NewType("MessageId", int)
QueuedId = NewType("QueuedId", int)
WorkerId = NewType("WorkerId", UUID)
RunnerId = NewType("RunnerId", UUID)


@dataclass(frozen=True, slots=True)
class Holder:
    """The right to run a chat: one start of the process, and one life of a chat actor in it."""

    worker: WorkerId
    runner: RunnerId


@dataclass(frozen=True, slots=True)
class EpisodeKey:
    """The name of one attempt. Another key is another attempt."""

    chat: ChatId
    history_version: int
    attempt: int

    def __str__(self) -> str:
        return f"{chat_name(self.chat)}#{self.history_version}.{self.attempt}"


def chat_name(chat: ChatId) -> str:
    return f"chat/{chat}"
