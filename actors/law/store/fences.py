"""What a worker's write must still find: the chat is its own, its work not obsolete. Pure."""

from dataclasses import dataclass

from actors.law.chat import Chat
from actors.law.ids import Holder
from actors.law.states import Status


@dataclass(frozen=True, slots=True)
class Fence:
    """Compared inside the write's own transaction. `attempt`: only for writes of one attempt."""

    holder: Holder
    status: Status
    history_version: int
    attempt: int | None = None
    archived: bool = False  # only giving a chat back is done to an archived one


@dataclass(frozen=True, slots=True)
class MovedOn:
    """The fence no longer stands: nothing was written, and nothing is to be tried again."""

    fence: Fence
    found: Chat

    def __str__(self) -> str:
        return f"{self.fence} no longer stands: found {fence_of(self.found)}"


def fence_of(chat: Chat) -> Fence | None:
    """The fence that stands for `chat` as it is now; none while nobody holds it."""
    if chat.holder is None:
        return None
    return Fence(
        chat.holder,
        chat.status,
        chat.history_version,
        attempt=chat.generation_attempt,
        archived=chat.archived,
    )


def stands(fence: Fence, chat: Chat) -> bool:
    return (
        chat.holder == fence.holder
        and chat.status is fence.status
        and chat.history_version == fence.history_version
        and (fence.archived or not chat.archived)
        and fence.attempt in (None, chat.generation_attempt)
    )
