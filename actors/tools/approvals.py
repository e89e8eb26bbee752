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

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from typing import Literal, Protocol
from uuid import UUID

from actors.law.chat import Chat
from actors.law.ids import ChatId
from actors.law.parts.message import JsonText, ToolCallPart
from actors.law.parts.prompt import ToolDefinition
from actors.law.requests import CallToApprove
from actors.tools.call_checks import CheckableTool, refusals

RULES_MAX = 100  # of a deployment; one more is refused at its start
SERVERS = "mcp:"  # in front of a pattern: for tools of servers only
WORKSPACE = "workspace:"  # in front of a name: of a server that the workspace brings along
START = "start:"  # in front of a server's name and digest: the start of a workspace's server
START_TOOL = "start_server"  # after a server's name and "__": the tool that starts it
EXECUTE = "execute"  # the tool whose consent covers the start of any server of a workspace


class Policy(Enum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


_STRENGTH = (Policy.ALLOW, Policy.ASK, Policy.DENY)
_PATTERN = re.compile(r"(mcp:|workspace:)?[A-Za-z0-9_.*-]+")

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
class ServerStart:
    """The start of a server that a workspace names, as a person is asked about it.

    `digest` is that of exactly what is started: other content is another start, which needs a
    consent of its own.
    """

    server: str  # its name, in characters that a tool's name may have
    digest: str
    shown: JsonText  # what a person sees in the place of the call's arguments


ConsentNeed = Literal["never", "by_policy", "always"]
"""When a tool says that a person is to be asked: by_policy leaves it to the policy of the chat."""


class ApprovableTool(Protocol):
    """A tool with the facts that decide about consent: whether it belongs to a server, to which one
    if that is set up for all, and what it starts if it starts a server of the workspace."""

    @property
    def tool(self) -> ToolDefinition: ...
    @property
    def consent(self) -> ConsentNeed: ...
    @property
    def is_foreign(self) -> bool: ...
    @property
    def server(self) -> UUID | None: ...
    @property
    def start(self) -> ServerStart | None: ...


def approval_name(tool: ApprovableTool) -> str:
    """Return the name by which people are asked about a tool, and by which their consent is kept.

    A workspace may name its tools as it likes in a file, also like a tool of a server that is set
    up for all. Consent to the one is no consent to the other. The start of a server is known by its
    content.
    """
    if tool.start is not None:
        return f"{START}{tool.start.server}:{tool.start.digest}"
    name = tool.tool.name
    return f"{WORKSPACE}{name}" if tool.is_foreign and tool.server is None else name


@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """A rule for all tools whose names match its pattern, in which `*` stands for anything.

    It denies and asks by either name of a tool, its own and its approval name. It allows by the
    latter alone. A rule about `execute` also holds for the start of a server, and no other rule
    allows one.
    """

    pattern: str
    policy: Policy

    def fits(self, tool: ApprovableTool) -> bool:
        is_allowing = self.policy is Policy.ALLOW
        if self.pattern.startswith(SERVERS) and (
            not tool.is_foreign or (is_allowing and tool.start is not None)
        ):
            return False
        names = _allowed_by(tool) if is_allowing else _restricted_by(tool)
        parts = map(re.escape, self.pattern.removeprefix(SERVERS).split("*"))
        pattern = re.compile(".*".join(parts))
        return any(pattern.fullmatch(name) for name in names)


def _allowed_by(tool: ApprovableTool) -> Set[str]:
    return {approval_name(tool) if tool.start is None else EXECUTE}


def _restricted_by(tool: ApprovableTool) -> Set[str]:
    """Return the names by which a rule denies a tool, or has people asked about it.

    A tool that starts a server also has the name that it would have if that were neither too long
    nor taken. Otherwise the author of the file could name a server so that no rule matches.
    """
    name = tool.tool.name
    if tool.start is None:
        return {approval_name(tool), name}
    names = {name, f"{tool.start.server}__{START_TOOL}"}
    return {approval_name(tool), EXECUTE, *names, *(f"{WORKSPACE}{each}" for each in names)}


def read_rules(text: str) -> tuple[ApprovalRule, ...]:
    """Return the rules in a text such as `execute=ask, mcp:*=ask, read_file=allow`.

    Raise ValueError with the part that is not a rule, and why.
    """
    rules = [_rule(part.strip()) for part in text.split(",") if part.strip()]
    patterns = [rule.pattern for rule in rules]
    if twice := next((p for at, p in enumerate(patterns) if p in patterns[:at]), None):
        raise ValueError(f"{twice} comes twice, say it once")
    if len(rules) > RULES_MAX:
        raise ValueError(f"{len(rules)} rules, there can be {RULES_MAX}")
    return tuple(rules)


def _rule(text: str) -> ApprovalRule:
    pattern, equals, word = (part.strip() for part in text.partition("="))
    if not (equals and _PATTERN.fullmatch(pattern)):
        raise ValueError(f"{text!r} is no rule, write TOOL=allow, TOOL=ask or TOOL=deny")
    try:
        return ApprovalRule(pattern, Policy(word))
    except ValueError:
        raise ValueError(f"{text!r}: {word!r} is not allow, ask or deny") from None


@dataclass(frozen=True, slots=True)
class Consent:
    """The consent that holds for the calls of one chat."""

    policy: Policy = Policy.ALLOW
    rules: tuple[ApprovalRule, ...] = ()
    granted: Set[str] = frozenset()  # what a person has allowed for good, as it is known

    def to(self, tool: ApprovableTool, *, by_person: bool = False) -> Policy:
        """Return what holds for a call of this tool. `by_person`: a person has allowed this very
        call."""
        found = self._by_rule(tool) or self._by_policy(tool)
        if found is not Policy.ASK:
            return found
        if by_person or self._is_granted(tool):
            return Policy.ALLOW
        return Policy.DENY if self.policy is Policy.DENY else Policy.ASK

    def _is_granted(self, tool: ApprovableTool) -> bool:
        may_run_commands = tool.start is not None and EXECUTE in self.granted
        return may_run_commands or approval_name(tool) in self.granted

    def _by_rule(self, tool: ApprovableTool) -> Policy | None:
        fitting = [rule.policy for rule in self.rules if rule.fits(tool)]
        return max(fitting, key=_STRENGTH.index) if fitting else None

    def _by_policy(self, tool: ApprovableTool) -> Policy:
        if tool.consent == "always":
            return Policy.ASK
        is_harmless = tool.consent == "never" or tool.tool.name in HARMLESS
        is_free = is_harmless and not tool.is_foreign
        return Policy.ALLOW if self.policy is Policy.ALLOW or is_free else Policy.ASK


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


@dataclass(frozen=True, slots=True)
class ApprovalSettings:
    """A deployment's settings for consent."""

    grants: Grants = NO_GRANTS
    default_policy: Policy = Policy.ALLOW  # of chats that have no policy of their own
    rules: tuple[ApprovalRule, ...] = ()
    # After these a call that is not decided is denied. 0: it waits for as long as it takes.
    deadline_seconds: float = 300.0

    def consent_under(self, policy: str) -> Consent:
        """Return what holds in a chat with this policy of its own, or with none (""), as long as no
        person has allowed anything there."""
        return Consent(Policy(policy) if policy else self.default_policy, self.rules)


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
        match consent.to(tool, by_person=(call.id, name) in allowed):
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
