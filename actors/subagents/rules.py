"""Who may spawn what, what a child is told, and what is said of it to its parent. Pure.

A family is one level deep: children have no children. A child is an ordinary chat; it goes on
existing when its work is done, and can be given more.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any
from uuid import UUID, uuid5

from actors.ids import ChatId
from actors.machine.chat import Chat, Message, Role, Visibility
from actors.machine.states import Status
from actors.parts.model import TextPart
from actors.subagents.ports import Kin

BUSY = frozenset({Status.RUNNING, Status.INTERRUPTING})  # in which nothing is to be reported yet


class AgentType(Enum):
    GENERAL = "general"
    EXPLORE = "explore"
    COMPUTER_USE = "computer_use"


SAYS: Mapping[AgentType, str] = {
    AgentType.GENERAL: "larger pieces of work: investigating, reviewing, changing things",
    AgentType.EXPLORE: "looking things up without changing anything",
}
NO_DESKTOP = (
    "an agent of type computer_use needs a desktop, and this deployment has none; use type general"
)


def type_of(name: str) -> AgentType | str:
    """The type, or why there is no such agent."""
    try:
        wanted = AgentType(name)
    except ValueError:
        return f"there is no agent of type {name!r}; there are {', '.join(t.value for t in SAYS)}"
    return wanted if wanted in SAYS else NO_DESKTOP


def may_spawn(chat: Chat) -> str | None:
    """Why this chat cannot spawn agents; None: it can."""
    if not chat.is_root:
        return "this chat is an agent's own, and agents do not spawn agents; do the work here"
    if chat.mode:
        return "a chat that only looks cannot spawn agents; do the work here"
    return None


def child_id(parent: Chat, tool_call_id: str) -> ChatId:
    """The same for the same call: after a crash the call is made again, and finds its child."""
    name = f"{parent.history_version}/{tool_call_id}"
    return ChatId(uuid5(UUID(str(parent.id)), name))


def has_settled(status: Status) -> bool:
    return status not in BUSY


def report(history: Sequence[Message]) -> str:
    """What the child has said last, for its parent to read."""
    for message in reversed(history):
        body = message.body
        if (
            message.deleted
            or body.role is not Role.ASSISTANT
            or body.visibility is Visibility.MODEL
        ):
            continue
        text = "".join(part.text for part in body.parts if isinstance(part, TextPart)).strip()
        if text:
            return text
    return ""


def settled(child: Kin, said: str) -> dict[str, Any]:
    """What a parent learns of a child that has come to rest. An error is news, no failure to
    wait."""
    document = {**introduced(child), "report": said}
    error = child.last_error
    if child.status is Status.ERROR and error is not None:
        document["last_error"] = error.message
        document["last_error_kind"] = error.kind
        document["last_error_retryable"] = error.retryable
        if error.detail:
            document["last_error_detail"] = error.detail
    return document


def introduced(child: Kin) -> dict[str, Any]:
    return {
        "chat_id": str(child.id),
        "title": child.title,
        "status": child.status.value,
        "type": child.type,
    }


def told_of_family(chat: Chat) -> Sequence[str]:
    """What a chat is told of what it is to others, and others to it."""
    if not chat.is_root:
        return (ROLE,)
    return () if may_spawn(chat) else (ORCHESTRATION,)


ROLE = """\
<delegated-work>
You work for another agent, which gave you this piece of its work and reads your last message as \
your report. Nobody else answers you: do not ask, decide. End with a report that stands by itself: \
what you did or found, with its places, and what is still open.
</delegated-work>"""

EXPLORE = """\
<read-only>
You look, and change nothing: no files, no state of any program, no commits. Use tools and \
commands only to read. Answer with what you found and where it stands.
</read-only>"""

ORCHESTRATION = """\
<agents>
You can give pieces of your work to agents of your own, with spawn_agent. They work at the same \
time as you and each other, know nothing of this conversation, and report to you.
- Give away what can be done by itself and would fill your own context: searches, reviews, changes \
in one place. Keep what needs the whole conversation.
- Write the prompt so that it stands by itself: the goal, what is known, what the report has to say.
- Spawn what can be done at the same time before you wait; wait for all of it in one call of \
wait_agent. Do not end your turn while agents work whose reports you need.
- Read a report as you would a colleague's: check what matters before you rely on it.
</agents>"""
