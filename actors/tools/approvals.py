"""The consent that calls need: which run, which are denied, and about which a person is asked.
Pure.

That a call waits for a decision, and what was decided, is kept with the stored chat (actors/law).
Here it is decided what is asked.

The deployment's rules come first: of those that match a tool, deny wins over ask, and ask over
allow. Where none matches, the chat's policy counts, or the deployment's default policy. Under these
no chat is asked about tools that change nothing outside of the conversation. What a person has
allowed always is not asked again. In a chat whose policy is deny there is no person to be asked.

Starting a server that a workspace names means running a command of the workspace. It needs the
consent that `execute` needs, and consent to one start holds for exactly what was shown.

A call that is refused anyway (its tool is not there, its arguments cannot be read or do not fit, it
needs a step to itself) is not asked about: its refusal is its result.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from actors.law.chat import Chat
from actors.law.ids import ChatId, UserId
from actors.law.parts.message import EXECUTE, JsonText, ToolCallPart
from actors.law.requests import CallToApprove
from actors.tools.approval_rules import (
    ApprovableTool,
    ApprovalRule,
    EarlierConsent,
    Policy,
    RuleVerdict,
    approval_name,
    judge,
    read_rule,
    strictest,
    subjects_for,
)
from actors.tools.argument_rules import PATTERNS_MAX, CallSubject
from actors.tools.call_checks import CheckableTool, refusals

# They read, or act within the family of chats, whose members are asked about what they do.
HARMLESS = frozenset(
    {
        "read_file",
        "attach_file",
        "process_output",
        "process_list",
        "read_skill",
        "read_skill_file",
        "ask_user_question",
        "propose_plan",
        "list_templates",
        "read_template",
        "list_subagent_models",
        "spawn_agent",
        "wait_agent",
        "list_agents",
        "message_agent",
        "interrupt_agent",
        "advisor",
        "find_tools",
    }
)


@dataclass(frozen=True, slots=True)
class CallVerdict:
    """The verdict on a part of a call, or on the whole of it where rules look at no part."""

    policy: Policy
    subject: CallSubject | None = None
    rule: ApprovalRule | None = None  # which says so; None: the policy of the chat, or a person
    unread: str = ""  # why a part of the call is not known


@dataclass(frozen=True, slots=True)
class Consent:
    """The consent that holds for the calls of one chat."""

    policy: Policy = Policy.ALLOW
    rules: tuple[ApprovalRule, ...] = ()
    granted: Set[str] = frozenset()  # what a person has allowed for good, as it is known

    def to(
        self, tool: ApprovableTool, args: JsonText | None = None, *, by_person: bool = False
    ) -> Policy:
        """Return what holds for a call of this tool. `by_person`: a person has allowed this very
        call."""
        verdicts = self.verdicts(tool, args, by_person=by_person)
        found = strictest(verdict.policy for verdict in verdicts)
        assert found is not None, "a call has at least one verdict"
        return found

    def verdicts(
        self, tool: ApprovableTool, args: JsonText | None = None, *, by_person: bool = False
    ) -> Sequence[CallVerdict]:
        """Return what holds for each part of a call."""
        granted = granted_rules(self.granted)
        found = subjects_for((*self.rules, *granted), tool, args)
        subjects: list[CallSubject | None] = list(found.all)
        if found.unread or not subjects:
            subjects.append(None)
        verdicts = []
        for subject in subjects:
            unread = found.unread if subject is None else ""
            ruled = judge(self.rules, tool, subject, unread)
            policy = ruled.policy or self._by_policy(tool)
            if policy is Policy.ASK:
                if by_person or self._is_granted(tool, subject, ruled, granted):
                    policy = Policy.ALLOW
                elif self.policy is Policy.DENY:
                    policy = Policy.DENY
            verdicts.append(CallVerdict(policy, subject, ruled.rule, unread))
        return verdicts

    def _is_granted(
        self,
        tool: ApprovableTool,
        subject: CallSubject | None,
        ruled: RuleVerdict,
        granted: Sequence[ApprovalRule],
    ) -> bool:
        if ruled.accepts is EarlierConsent.NONE:
            return False
        if tool.start is not None and approval_name(tool) in self.granted:
            return True
        if ruled.accepts is EarlierConsent.ANY:
            name = approval_name(tool) if tool.start is None else EXECUTE
            if name in self.granted:
                return True
        return subject is not None and any(
            rule.fits(tool) and rule.covers(subject) for rule in granted
        )

    def _by_policy(self, tool: ApprovableTool) -> Policy:
        if tool.consent == "always":
            return Policy.ASK
        is_harmless = tool.consent == "never" or tool.tool.name in HARMLESS
        is_free = is_harmless and not tool.is_foreign
        return Policy.ALLOW if self.policy is Policy.ALLOW or is_free else Policy.ASK


def granted_rules(granted: Set[str]) -> tuple[ApprovalRule, ...]:
    """Return what a person has allowed for some calls of a tool, as rules."""
    return tuple(_granted_rule(text) for text in sorted(granted) if text.endswith(")"))


@lru_cache(PATTERNS_MAX)
def _granted_rule(text: str) -> ApprovalRule:
    return read_rule(f"{text}={Policy.ALLOW.value}", "chat")


ALLOW_ALL = Consent()


class Grants(Protocol):
    """A port to what people have allowed always."""

    async def of(self, root: ChatId, chat: ChatId) -> Set[str]:
        """Return what is not asked about again, as it is known: what a person has allowed always in
        this family of chats, and the starts of servers that were allowed to this chat."""
        ...


class NoGrants:
    async def of(self, root: ChatId, chat: ChatId) -> Set[str]:
        return frozenset()


NO_GRANTS = NoGrants()


class StoredRules(Protocol):
    """A port to the rules of consent that are not in the settings."""

    async def of(self, owner: UserId) -> tuple[ApprovalRule, ...]:
        """Return the rules that hold in the chats of a user: the deployment's, and their own."""
        ...


class NoStoredRules:
    async def of(self, owner: UserId) -> tuple[ApprovalRule, ...]:
        return ()


NO_STORED_RULES = NoStoredRules()


@dataclass(frozen=True, slots=True)
class ApprovalSettings:
    """A deployment's settings for consent."""

    grants: Grants = NO_GRANTS
    default_policy: Policy = Policy.ALLOW  # of chats that have no policy of their own
    rules: tuple[ApprovalRule, ...] = ()
    # After these a call that is not decided is denied. 0: it waits for as long as it takes.
    deadline_seconds: float = 300.0
    stored: StoredRules = NO_STORED_RULES

    async def consent_under(self, policy: str, owner: UserId) -> Consent:
        """Return what holds in a user's chat with this policy of its own, or with none (""), as
        long as no person has allowed anything there."""
        rules = (*self.rules, *await self.stored.of(owner))
        return Consent(Policy(policy) if policy else self.default_policy, rules)


NO_APPROVALS = ApprovalSettings()


NO_PERSON_TO_ASK = (
    "{tool} needs somebody's consent in this chat, and there is nobody to give it: it was not run."
    " Go on without it, or say what you would have done"
)
DENIED_BY_RULE = "{tool} is not allowed here: it was not run. Go on without it"


class OfferedTool(CheckableTool, ApprovableTool, Protocol):
    """A tool with all facts by which its calls are sorted."""


@dataclass(frozen=True, slots=True)
class SortedCalls:
    """The open calls of a step, sorted by what becomes of them."""

    run: tuple[ToolCallPart, ...]  # with what is refused or denied, which is answered there
    denied: Mapping[str, str]  # of these, by their ids: the words that the model is told
    calls_to_approve: tuple[CallToApprove, ...]


def sort_calls(
    calls: Sequence[ToolCallPart], chat: Chat, tools: Mapping[str, OfferedTool], consent: Consent
) -> SortedCalls:
    """Sort the open calls of a step into those that run, are denied, or wait for a person."""
    answered = refusals(calls, tools)
    allowed = {(one.tool_call_id, one.tool) for one in chat.approvals if not one.is_open}
    denied: dict[str, str] = {}
    asks: list[CallToApprove] = []
    for call in calls:
        if call in answered:
            continue
        tool = tools[call.name]
        name = approval_name(tool)
        match consent.to(tool, call.args, by_person=(call.id, name) in allowed):
            case Policy.ASK:
                asks.append(CallToApprove(call.id, name, _decided_about(call, tool)))
            case Policy.DENY:
                words = NO_PERSON_TO_ASK if consent.policy is Policy.DENY else DENIED_BY_RULE
                denied[call.id] = words.format(tool=tool.tool.name)
            case Policy.ALLOW:
                pass
    asked = {ask.tool_call_id for ask in asks}
    return SortedCalls(tuple(call for call in calls if call.id not in asked), denied, tuple(asks))


def _decided_about(call: ToolCallPart, tool: ApprovableTool) -> JsonText:
    """Return what a person decides about: a call's arguments, or what would be started."""
    return call.args or JsonText("{}") if tool.start is None else tool.start.shown
