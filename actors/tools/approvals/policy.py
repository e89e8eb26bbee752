"""What may run, what is asked about, what is denied. Pure.

The deployment's rules come first: of those that fit a tool, deny wins over ask, ask over allow.
Where none fits it is the chat's policy that counts, or the deployment's usual one; tools that
change nothing outside of the conversation are then asked about in no chat. What a person has
allowed always is not asked again. In a chat whose policy is deny nobody is there to be asked.

To start a server that a workspace names is to run a command of the workspace: it needs the consent
that `execute` needs, and consent to one start holds for exactly what was shown.
"""

import re
from collections.abc import Set
from dataclasses import dataclass
from enum import Enum
from typing import Literal, Protocol
from uuid import UUID

from actors.law.parts.message import JsonText
from actors.law.parts.prompt import ToolDefinition

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


class Known(Protocol):
    """A tool, and whether it is a server's and not ours; which one's, if that is set up for all;
    and what it starts, if it starts a server of the workspace."""

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


def known_as(tool: Known) -> str:
    """The name by which people are asked about it, and by which what they allow is kept.

    What a workspace names in a file may be called like a tool of a server that is set up for all;
    consent to the one is none to the other. The start of a server is known by its content.
    """
    if tool.start is not None:
        return f"{START}{tool.start.server}:{tool.start.digest}"
    name = tool.tool.name
    return f"{WORKSPACE}{name}" if tool.is_foreign and tool.server is None else name


@dataclass(frozen=True, slots=True)
class Rule:
    """For all tools whose names fit: `*` stands for anything. It denies and asks by either name of
    a tool, its own and the one that it is known as; it allows by the latter alone. What is said of
    `execute` is said of starts, too, and nothing else allows one."""

    pattern: str
    policy: Policy

    def fits(self, tool: Known) -> bool:
        is_allowing = self.policy is Policy.ALLOW
        if self.pattern.startswith(SERVERS) and (
            not tool.is_foreign or (is_allowing and tool.start is not None)
        ):
            return False
        names = _allowed_by(tool) if is_allowing else _restricted_by(tool)
        parts = map(re.escape, self.pattern.removeprefix(SERVERS).split("*"))
        pattern = re.compile(".*".join(parts))
        return any(pattern.fullmatch(name) for name in names)


def _allowed_by(tool: Known) -> Set[str]:
    return {known_as(tool) if tool.start is None else EXECUTE}


def _restricted_by(tool: Known) -> Set[str]:
    """The names by which a rule denies a tool, or has people asked about it. A tool that starts a
    server also has the name that it would have if that were neither too long nor taken: who writes
    the file could otherwise name a server so that no rule fits."""
    name = tool.tool.name
    if tool.start is None:
        return {known_as(tool), name}
    names = {name, f"{tool.start.server}__{START_TOOL}"}
    return {known_as(tool), EXECUTE, *names, *(f"{WORKSPACE}{each}" for each in names)}


def read_rules(text: str) -> tuple[Rule, ...]:
    """`execute=ask, mcp:*=ask, read_file=allow`. ValueError says which one is none, and why."""
    rules = [_rule(part.strip()) for part in text.split(",") if part.strip()]
    patterns = [rule.pattern for rule in rules]
    if twice := next((p for at, p in enumerate(patterns) if p in patterns[:at]), None):
        raise ValueError(f"{twice} comes twice, say it once")
    if len(rules) > RULES_MAX:
        raise ValueError(f"{len(rules)} rules, there can be {RULES_MAX}")
    return tuple(rules)


def _rule(text: str) -> Rule:
    pattern, equals, word = (part.strip() for part in text.partition("="))
    if not (equals and _PATTERN.fullmatch(pattern)):
        raise ValueError(f"{text!r} is no rule, write TOOL=allow, TOOL=ask or TOOL=deny")
    try:
        return Rule(pattern, Policy(word))
    except ValueError:
        raise ValueError(f"{text!r}: {word!r} is not allow, ask or deny") from None


@dataclass(frozen=True, slots=True)
class Consent:
    """What holds for the calls of one chat."""

    policy: Policy = Policy.ALLOW
    rules: tuple[Rule, ...] = ()
    granted: Set[str] = frozenset()  # what a person has allowed for good, as it is known

    def to(self, tool: Known, *, by_person: bool = False) -> Policy:
        """`by_person`: somebody has allowed this very call."""
        found = self._by_rule(tool) or self._by_policy(tool)
        if found is not Policy.ASK:
            return found
        if by_person or self._is_granted(tool):
            return Policy.ALLOW
        return Policy.DENY if self.policy is Policy.DENY else Policy.ASK

    def _is_granted(self, tool: Known) -> bool:
        may_run_commands = tool.start is not None and EXECUTE in self.granted
        return may_run_commands or known_as(tool) in self.granted

    def _by_rule(self, tool: Known) -> Policy | None:
        fitting = [rule.policy for rule in self.rules if rule.fits(tool)]
        return max(fitting, key=_STRENGTH.index) if fitting else None

    def _by_policy(self, tool: Known) -> Policy:
        if tool.consent == "always":
            return Policy.ASK
        is_harmless = tool.consent == "never" or tool.tool.name in HARMLESS
        is_free = is_harmless and not tool.is_foreign
        return Policy.ALLOW if self.policy is Policy.ALLOW or is_free else Policy.ASK


FREELY = Consent()
