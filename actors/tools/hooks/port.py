"""The port to a policy hook: a server of the deployment that is asked about prompts and calls."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol
from uuid import UUID

from actors.law.chat import Chat
from actors.law.ids import ChatId, UserId
from actors.law.parts.message import JsonText

HookEvent = Literal[
    "session_start",
    "user_prompt_submit",
    "pre_tool_use",
    "post_tool_use",
    "pre_compact",
    "post_compact",
    "stop",
]
HookFault = Literal[
    "http_error",
    "protocol_error",
    "timeout",
    "connection_error",
    "over_capacity",
    "internal_error",
]
DECIDED_EVENTS: frozenset[HookEvent] = frozenset({"user_prompt_submit", "pre_tool_use"})


@dataclass(frozen=True, slots=True)
class HookSubject:
    """The chat that the server is asked about, as far as the one who asks knows it."""

    chat: ChatId
    owner: UserId
    workspace: UUID | None = None
    turn: str = ""  # the message that is answered
    parent: ChatId | None = None
    root: ChatId | None = None


@dataclass(frozen=True, slots=True)
class HookReply:
    """An answer of the server. An empty one allows everything and says nothing."""

    decision: Literal["allow", "deny"] | None = None
    reason: str = ""
    override: JsonText | None = None  # what takes the place of the input
    model_context: str = ""
    user_message: str = ""


@dataclass(frozen=True, slots=True)
class HookFailed:
    """A question that has no answer. It counts as denied, and stops what it was asked about."""

    fault: HookFault
    detail: str


class PolicyHooks(Protocol):
    """The server that is asked."""

    @property
    def is_on(self) -> bool:
        """Return whether there is one. If not, nothing is asked, and this is all that it costs."""
        ...

    async def ask(
        self,
        event: HookEvent,
        subject: HookSubject,
        data: Mapping[str, Any],
        *,
        is_admission: bool = False,
    ) -> HookReply | HookFailed:
        """Ask about one event, within the deployment's timeout. `is_admission`: for a request of
        the API, which leaves room for turns."""
        ...

    def begins_session(self, chat: Chat) -> bool:
        """Tell whether this is the first question in this life of the chat's actor, and remember
        it."""
        ...

    def hold_notice(self, chat: ChatId, text: str) -> None:
        """Keep a notice for users until there is an answer to show it with."""
        ...

    def take_notices(self, chat: ChatId) -> tuple[str, ...]:
        """Return the notices that were kept, and forget them."""
        ...

    def hold_failure(self, chat: ChatId, failed: HookFailed) -> None:
        """Keep why a tool of this chat could not ask: the chat stops behind its batch."""
        ...

    def take_failure(self, chat: ChatId) -> HookFailed | None:
        """Return why, and forget it."""
        ...


class NoHooks:
    """A deployment without hooks."""

    is_on = False

    async def ask(
        self,
        event: HookEvent,
        subject: HookSubject,
        data: Mapping[str, Any],
        *,
        is_admission: bool = False,
    ) -> HookReply | HookFailed:
        raise AssertionError("nothing is asked where nobody is there to answer")

    def begins_session(self, chat: Chat) -> bool:
        return False

    def hold_notice(self, chat: ChatId, text: str) -> None:
        pass

    def take_notices(self, chat: ChatId) -> tuple[str, ...]:
        return ()

    def hold_failure(self, chat: ChatId, failed: HookFailed) -> None:
        pass

    def take_failure(self, chat: ChatId) -> HookFailed | None:
        return None


NO_HOOKS = NoHooks()
