"""The news in a change of a chat: what its owner, and programs that listen, are told of. Pure.

A step of a turn that goes on is no news. An agent's end is its parent's business, but what it asks
a person for is news of its owner like that of a root. An interrupt is what the owner has just done,
so the end of an interrupted turn is no news but a change of status.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from actors.law.change import Change
from actors.law.chat import Role
from actors.law.parts.message import ToolResultPart
from actors.law.states import Status


class NewsKind(Enum):
    """The kind of an event of which users and webhooks are told."""

    NEEDS_YOU = "needs_you"
    ENDED = "ended"  # the turn of a root, by itself
    FAILED = "failed"  # likewise, with an error
    STATUS = "status"  # of any chat, for webhooks only
    SHARED = "shared"  # with the user who is told
    ARCHIVED = "archived"  # chats that no user has used for long, in one digest
    WEBHOOK_DISABLED = "webhook_disabled"  # because it did not answer for days


class Need(Enum):
    """The reason why a chat needs a person."""

    CONSENT = "consent"
    TOOL_RESULTS = "tool_results"
    QUESTION = "question"
    PLAN = "plan"


ASKING = {"ask_user_question": Need.QUESTION, "propose_plan": Need.PLAN}
TOOLS_MAX = 10  # named in one piece of news; the others are only counted by their chat
MESSAGE_CHARACTERS_MAX = 500  # of an error; what is over is left out


@dataclass(frozen=True, slots=True)
class News:
    """One event of a change, with what has to be said of it."""

    kind: NewsKind
    detail: Mapping[str, object] = field(default_factory=dict)


NO_NEWS: tuple[News, ...] = ()


def news_of_change(change: Change) -> tuple[News, ...]:
    """Return the news that a change holds once it is committed."""
    before, after = change.before.chat, change.chat
    is_new = after.snapshot_version == 1
    if after.status is before.status and after.approvals is before.approvals and not is_new:
        return NO_NEWS
    status = News(NewsKind.STATUS, {"from": before.status.value, "to": after.status.value})
    if is_new:
        status = News(NewsKind.STATUS, {"from": None, "to": after.status.value})
    has_moved = is_new or after.status is not before.status
    news = _for_owner(change)
    return (*((status,) if has_moved else ()), *((news,) if news is not None else ()))


def _for_owner(change: Change) -> News | None:
    before, after = change.before.chat, change.chat
    if after.archived:
        return None
    known = {approval.tool_call_id for approval in before.open_approvals}
    asked = [one.tool for one in after.open_approvals if one.tool_call_id not in known]
    if asked:
        return _need(Need.CONSENT, tools=asked[:TOOLS_MAX])
    if after.status is before.status:
        return None
    match after.status:
        case Status.REQUIRES_ACTION if not after.open_approvals:
            return _need(Need.TOOL_RESULTS)
        case Status.ERROR if after.is_root:
            error = after.last_error
            words = "" if error is None else error.message[:MESSAGE_CHARACTERS_MAX]
            return News(NewsKind.FAILED, {"message": words, "kind": error.kind if error else ""})
        case Status.WAITING if after.is_root and before.status is Status.RUNNING:
            need = asked_at_end(change)
            if need is not None:
                return _need(need)
            was_compaction = before.compaction_requested_at is not None
            return None if was_compaction else News(NewsKind.ENDED)
        case _:
            return None


def asked_at_end(change: Change) -> Need | None:
    """Return what the turn that this change ends asks its user, or None."""
    if not change.chat.is_planning:
        return None
    results = [
        part
        for body in change.after.tail
        if body.role is Role.TOOL
        for part in body.parts
        if isinstance(part, ToolResultPart) and not part.is_error
    ]
    return next((ASKING[part.name] for part in reversed(results) if part.name in ASKING), None)


def _need(need: Need, **more: object) -> News:
    return News(NewsKind.NEEDS_YOU, {"reason": need.value, **more})
