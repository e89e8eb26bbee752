"""Checks of rules of consent as clients write them. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn
from uuid import UUID

from actors.law.chat import Approval, Verdict
from actors.law.parts.message import JsonText
from actors.law.parts.prompt import ToolDefinition
from actors.tools.approval_rules import (
    RULES_MAX,
    START,
    WORKSPACE,
    ApprovalRule,
    ConsentNeed,
    Policy,
    ServerStart,
    read_rule,
    subjects_for,
)
from actors.tools.approvals import Consent
from adapters.http.refusals import HttpError, Validation
from adapters.tools.approvals.schemas import DecideApprovalRequest

RULES_OF_DECISION_MAX = 50  # written with one decision; more are refused
SCOPES = ("chat", "user")


class NamedTool:
    """A tool of which only the name is known; fulfils `actors.tools.approval_rules.ApprovableTool`.

    Tools of servers have two underscores in their names.
    """

    consent: ConsentNeed = "by_policy"
    start: ServerStart | None = None

    def __init__(self, name: str) -> None:
        plain = name.removeprefix(WORKSPACE)
        self.tool = ToolDefinition(plain, "", JsonText("{}"))
        self.is_foreign = "__" in plain
        self.server = None if name.startswith(WORKSPACE) else UUID(int=0)


TOO_MANY = f"there are {RULES_MAX} rules already; remove one that is not needed any more"


def refuse(field: str, fact: str) -> NoReturn:
    detail = f"{field}: {fact}"
    raise HttpError(400, "Invalid rule.", detail=detail, validations=(Validation(field, fact),))


def rule_about(subject: str, policy: Policy, *, field: str) -> ApprovalRule:
    """Return a rule as it was written, or refuse the request."""
    try:
        return read_rule(f"{subject}={policy.value}")
    except ValueError as error:
        refuse(field, str(error))


def rules_of(asked: DecideApprovalRequest, verdict: Verdict) -> Sequence[ApprovalRule]:
    """Return the rules that are written with a decision, or refuse the request."""
    if asked.scope is not None and asked.scope not in SCOPES:
        refuse("scope", f"must be one of {', '.join(SCOPES)}")
    if not asked.rules:
        if asked.scope == "user":
            refuse("rules", "say which calls are to be allowed in all chats of the user")
        return ()
    if verdict is not Verdict.ALLOW_ALWAYS:
        refuse("rules", f"go with the decision {Verdict.ALLOW_ALWAYS.value} only")
    if len(asked.rules) > RULES_OF_DECISION_MAX:
        refuse("rules", f"has {len(asked.rules)}, it can have {RULES_OF_DECISION_MAX}")
    written = [rule_about(text, Policy.ALLOW, field="rules") for text in asked.rules]
    rules = tuple(dict.fromkeys(written))  # spaces in brackets make no other rule
    if general := next((rule for rule in rules if not rule.brackets), None):
        refuse("rules", f"{general.pattern} has no brackets; leave out rules to allow a whole tool")
    return rules


def refuse_too_narrow(rules: Sequence[ApprovalRule], approval: Approval) -> None:
    """Refuse rules that do not allow the very call with which they are written."""
    if not is_covered(rules, approval):
        refuse("rules", f"do not cover all that the call of {approval.tool} would do")


def refuse_too_wide(consent: Consent, approval: Approval) -> None:
    """Refuse a user's rule where the deployment asks, which no rule of a user can change."""
    rules = tuple(rule for rule in consent.rules if rule.place == "deployment")
    verdicts = Consent(Policy.ALLOW, rules).verdicts(NamedTool(approval.tool), approval.args)
    asking = next((each.rule for each in verdicts if each.policy is Policy.ASK), None)
    if asking is not None:
        refuse(
            "scope", f"{asking} is a rule of the deployment; the call can be allowed in this chat"
        )


def is_covered(rules: Sequence[ApprovalRule], approval: Approval) -> bool:
    """Return whether rules allow all that a call would do."""
    tool = NamedTool(approval.tool)
    found = subjects_for(rules, tool, approval.args)
    return bool(found.all and not found.unread) and all(
        any(rule.fits(tool) and rule.covers(subject) for rule in rules) for subject in found.all
    )


def is_freed(
    rules: Sequence[ApprovalRule], known: Consent, approval: Approval, *, is_own: bool
) -> bool:
    """Return whether a call that waits need not be asked about any more once these rules hold, of
    its chat or of the user. What a rule asks about each time waits on."""
    if approval.tool.startswith(START):
        return any(rule.subject == approval.tool for rule in rules)
    if all(rule.brackets for rule in rules):
        if not is_covered(rules, approval):
            return False
    elif all(rule.subject != approval.tool for rule in rules):
        return False
    consent = Consent(Policy.ASK, known.rules, frozenset(rule.subject for rule in rules))
    if is_own:
        theirs = (replace(rule, place="user") for rule in rules)
        consent = Consent(Policy.ASK, (*known.rules, *theirs))
    return consent.to(NamedTool(approval.tool), approval.args) is Policy.ALLOW
