"""Rules of consent: which calls run, which are denied, and about which a person is asked. Pure.

A rule names a tool, by a pattern in which `*` stands for anything, and what holds for its calls:
`execute=ask`. In brackets it may say for which calls: `execute(git status *)=allow`,
`write_file(docs/**)=allow`, `linear__create_issue(team=OPS*)=deny`.

Of the rules that fit, deny wins. Otherwise rules with brackets count before those without, and ask
wins over allow. A deployment's rules cannot be widened by those of a user: a user's rule that
allows holds only where no rule of the deployment asks, and an exception holds only against a
general rule of the same place.
"""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from typing import Literal, Protocol
from uuid import UUID

from actors.law.parts.message import EXECUTE, JsonText
from actors.law.parts.prompt import ToolDefinition
from actors.tools.argument_rules import (
    NOTHING_READ,
    BracketPattern,
    CallSubject,
    CallSubjects,
    matches,
    read_pattern,
    subjects_of,
)
from actors.tools.commands import Fit

NAME_CHARACTERS_MAX = 256  # of a tool in a rule; names of tools have 64, starts of servers more
RULES_MAX = 100  # of a deployment or a user; one more is refused
SERVERS = "mcp:"  # in front of a pattern: for tools of servers only
WORKSPACE = "workspace:"  # in front of a name: of a server that the workspace brings along
START = "start:"  # in front of a server's name and digest: the start of a workspace's server
START_TOOL = "start_server"  # after a server's name and "__": the tool that starts it


class Policy(Enum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


_STRENGTH = (Policy.ALLOW, Policy.ASK, Policy.DENY)
_PATTERN = re.compile(r"(mcp:|workspace:)?[A-Za-z0-9_.*-]+")


def strictest(policies: Iterable[Policy]) -> Policy | None:
    """Return the strictest of some policies: deny before ask, ask before allow."""
    return max(policies, key=_STRENGTH.index, default=None)


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


Place = Literal["deployment", "user", "chat"]
"""Where a rule is kept: with the deployment, in its settings or its database, a user, or a chat."""


@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """A rule for all tools whose names match its pattern, in which `*` stands for anything; with
    brackets, for those calls of one tool that match these.

    It denies and asks by either name of a tool, its own and its approval name. It allows by the
    latter alone. A rule about `execute` also holds for the start of a server, and no other rule
    allows one.
    """

    pattern: str
    policy: Policy
    brackets: str = ""  # about the arguments; empty: the rule is for all calls
    place: Place = "deployment"

    def __str__(self) -> str:
        return f"{self.subject}={self.policy.value}"

    @property
    def subject(self) -> str:
        """Return the rule without its policy."""
        return f"{self.pattern}({self.brackets})" if self.brackets else self.pattern

    def fits(self, tool: ApprovableTool) -> bool:
        """Tell whether the rule is about a tool, or about some of its calls."""
        is_allowing = self.policy is Policy.ALLOW
        if self.pattern.startswith(SERVERS) and (
            not tool.is_foreign or (is_allowing and tool.start is not None)
        ):
            return False
        names = _allowed_by(tool) if is_allowing else _restricted_by(tool)
        pattern = self.pattern.removeprefix(SERVERS)
        return any(matches(pattern, name) for name in names)

    @property
    def bracket_pattern(self) -> BracketPattern:
        name = self.pattern.removeprefix(SERVERS).removeprefix(WORKSPACE)
        return read_pattern(name, self.brackets)

    def covers(self, subject: CallSubject) -> bool:
        """Tell whether all that this part of a call may do is meant."""
        return self.bracket_pattern.covers(subject)

    def fit(self, subject: CallSubject) -> Fit:
        """Tell whether this part of a call is meant, or may be."""
        return self.bracket_pattern.fit(subject)


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
    """Return the rules in a text such as `execute=ask, mcp:*=ask, execute(git status *)=allow`.

    Raise ValueError with the part that is not a rule, and why.
    """
    rules = [read_rule(part) for part in _split(text) if part]
    subjects = [rule.subject for rule in rules]
    if twice := next((s for at, s in enumerate(subjects) if s in subjects[:at]), None):
        raise ValueError(f"{twice} comes twice, say it once")
    if len(rules) > RULES_MAX:
        raise ValueError(f"{len(rules)} rules, there can be {RULES_MAX}")
    return tuple(rules)


def _split(text: str) -> Iterable[str]:
    """Split a text at the commas that stand in no brackets."""
    depth = begin = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            yield text[begin:at].strip()
            begin = at + 1
    yield text[begin:].strip()


def read_rule(text: str, place: Place = "deployment") -> ApprovalRule:
    """Return the rule in a text, or raise ValueError."""
    head, _, word = (each.strip() for each in text.rpartition("="))
    pattern, bracket, rest = head.partition("(")
    pattern, brackets = pattern.strip(), rest[:-1].strip()
    is_whole = not bracket or rest.endswith(")")
    if not (is_whole and _PATTERN.fullmatch(pattern)) or "(" in word or ")" in word:
        raise ValueError(f"{text!r} is no rule, write TOOL=allow, TOOL=ask or TOOL=deny")
    if len(pattern) > NAME_CHARACTERS_MAX:
        fact = f"its name of a tool has {len(pattern)} characters"
        raise ValueError(f"{pattern[:32]}…: {fact}, it can have {NAME_CHARACTERS_MAX}")
    if bracket:
        if "*" in pattern:
            raise ValueError(f"{text!r}: a rule with brackets names one tool, without *")
        read_pattern(pattern.removeprefix(SERVERS).removeprefix(WORKSPACE), brackets)
    try:
        return ApprovalRule(pattern, Policy(word), brackets, place)
    except ValueError:
        raise ValueError(f"{text!r}: {word!r} is not allow, ask or deny") from None


# What rules say of a call.


class EarlierConsent(Enum):
    """The consent, given before, that is enough where a person would be asked."""

    ANY = "any"
    TO_ARGUMENTS = "to_arguments"  # to calls with these arguments, not to a whole tool
    NONE = "none"


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """The verdict of rules on a part of a call. `policy` is None where none is about it."""

    policy: Policy | None
    rule: ApprovalRule | None = None  # which says so
    accepts: EarlierConsent = EarlierConsent.ANY


def judge(
    rules: Sequence[ApprovalRule], tool: ApprovableTool, subject: CallSubject | None, unread: str
) -> RuleVerdict:
    """Return what rules say of a part of a call; without a subject, of all that is not known of it.
    `unread` says why something is not known."""
    fitting = [rule for rule in rules if rule.fits(tool)]
    general = [rule for rule in fitting if not rule.brackets]
    special = [rule for rule in fitting if rule.brackets]
    found = _strictest_of(general)
    if found.policy is Policy.DENY:
        return found
    if subject is None:
        restricting = [rule for rule in special if rule.policy is not Policy.ALLOW]
        if not (unread and restricting):
            return found
        accepts = EarlierConsent.NONE if tool.start is None else EarlierConsent.TO_ARGUMENTS
        return RuleVerdict(Policy.ASK, restricting[0], accepts)
    return _by_arguments(special, general, subject) or found


def _by_arguments(
    special: Sequence[ApprovalRule], general: Sequence[ApprovalRule], subject: CallSubject
) -> RuleVerdict | None:
    ask: RuleVerdict | None = None
    for rule in special:
        if rule.policy is Policy.ALLOW or (fit := rule.fit(subject)) is Fit.NO:
            continue
        if rule.policy is Policy.DENY and fit is Fit.YES:
            return RuleVerdict(Policy.DENY, rule)
        is_denying = rule.policy is Policy.DENY
        if ask is None or is_denying:
            accepts = EarlierConsent.NONE if is_denying else EarlierConsent.TO_ARGUMENTS
            ask = RuleVerdict(Policy.ASK, rule, accepts)
    if ask is not None:
        return ask
    asked_at = {rule.place for rule in general if rule.policy is Policy.ASK}
    for rule in special:
        if rule.policy is Policy.ALLOW and asked_at <= {rule.place} and rule.covers(subject):
            return RuleVerdict(Policy.ALLOW, rule)
    return None


def _strictest_of(general: Sequence[ApprovalRule]) -> RuleVerdict:
    policy = strictest(rule.policy for rule in general)
    return RuleVerdict(policy, next((rule for rule in general if rule.policy is policy), None))


def subjects_for(
    rules: Iterable[ApprovalRule], tool: ApprovableTool, args: JsonText | None
) -> CallSubjects:
    """Return the parts of a call that rules have to be asked about; none where no rule with
    brackets is about the tool."""
    if not any(rule.brackets and rule.fits(tool) for rule in rules):
        return CallSubjects(())
    if tool.start is not None:
        return NOTHING_READ
    return subjects_of(tool.tool.name, args)
