"""Calls that wait for consent, and rules, as clients see them. Pure."""

from collections.abc import Sequence

from actors.law.chat import Approval
from actors.law.ids import ChatId
from actors.law.parts.message import JsonText
from actors.tools.approvals import CallVerdict
from actors.tools.argument_rules import suggested_patterns
from adapters.tools.approvals.schemas import ChatApproval, ConsentVerdict


def approval_of(chat: ChatId, title: str, approval: Approval) -> ChatApproval:
    return ChatApproval(
        chat,
        title,
        approval.tool_call_id,
        approval.tool,
        approval.args,
        approval.asked_at,
        approval.until,
        suggested_rules(approval.tool, approval.args),
    )


def suggested_rules(tool: str, args: JsonText | None) -> Sequence[str]:
    """Return rules by which calls like this one would be allowed."""
    return [f"{tool}({text})" for text in suggested_patterns(tool, args)]


def verdict_of(verdict: CallVerdict) -> ConsentVerdict:
    rule = verdict.rule
    return ConsentVerdict(
        "" if verdict.subject is None else str(verdict.subject),
        verdict.policy.value,
        None if rule is None else str(rule),
        None if rule is None else rule.place,
        verdict.unread,
    )
