"""Decisions whether calls may run, by the user at the terminal or by a flag of the command."""

import sys
import termios
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import partial
from uuid import UUID

from rich.console import Console
from rich.text import Text

from actors.tools.approval_rules import START
from adapters.cli.chat.screen import PROMPT, approval_view
from adapters.cli.command_line import printable
from adapters.cli.harmless import harmless
from promptcorner_client import api
from promptcorner_client.api import ApiRequest
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.errors import RequestRefused
from promptcorner_client.transcript import Transcript
from promptcorner_client.wire import ChatApproval, ChatApprovalDecision
from runtime import threads as work
from runtime.threads import ThreadLimits

TYPING = ThreadLimits("typed_lines", 64)  # one, and those of users who have left
NO_USER = "no user is there to be asked"
ApprovalKey = tuple[UUID, str, datetime]
DENIES = "n denies it, with words if you like: n use make"
HOW = "y allows it once · a all calls of this tool, in this chat"
HOW_BY_RULES = "r what the rule below covers, in this chat · u in all your chats"
HOW_TO_START = f"y allows it in this chat, until revoked · a in all chats of its family · {DENIES}"


class Approve(Enum):
    """A value of `--approve`, which is also the policy that the chat gets."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class UserDecision:
    """A decision about a call, as the API takes it."""

    decision: str
    words: str = ""
    rules: Sequence[str] = ()
    scope: str = ""

    def about(self, approval: ChatApproval) -> ApiRequest[ChatApprovalDecision]:
        return api.decide(approval, self.decision, self.words, rules=self.rules, scope=self.scope)


class ApprovalPrompter:
    """Decides each call that waits for consent once: those of a chat, and of its agents."""

    def __init__(self, client: AsyncClient, console: Console, approve: Approve | None) -> None:
        self._client = client
        self._console = console
        self._approve = approve
        self._answered: set[ApprovalKey] = set()

    @property
    def can_decide(self) -> bool:
        """Tell whether there is a user at the terminal, or a flag, that decides."""
        return self._approve in (Approve.ALLOW, Approve.DENY) or (
            self._console.is_terminal and sys.stdin.isatty()
        )

    def undecided(self, transcript: Transcript) -> list[ChatApproval]:
        """Return the calls that wait and are to be decided here."""
        return [
            one
            for one in transcript.approvals
            if self.can_decide and key_of(one) not in self._answered
        ]

    async def decide(self, approvals: list[ChatApproval]) -> bool:
        """Decide them; return False if the user leaves instead of answering."""
        always: set[str] = set()  # tools that were always allowed meanwhile, for these calls too
        for approval in approvals:
            if approval.tool_name in always:
                self._answered.add(key_of(approval))
                continue
            decision = await self._decision(approval)
            if decision is None:
                return False
            self._answered.add(key_of(approval))
            try:
                decided = await self._client.request(decision.about(approval))
                if decided.decision == "allow_always":
                    always.add(decided.tool_name)
            except RequestRefused as refused:
                if refused.status != 409:  # another user was first, or its time is over
                    raise
                self._console.print(Text(harmless(f"  {refused}"), "dim"))
        return True

    async def _decision(self, approval: ChatApproval) -> UserDecision | None:
        match self._approve:
            case Approve.ALLOW:
                return UserDecision("allow_once")
            case Approve.DENY:
                return UserDecision("deny", NO_USER)
        discard_typed_input()
        self._console.print(approval_view(approval))
        self._console.print(choices_of(approval), style="dim")
        while (line := await read_line("? ")) is not None:
            if (decision := read_decision(line, approval)) is not None:
                return decision
            self._console.print(choices_of(approval), style="dim")
        return None


def key_of(approval: ChatApproval) -> ApprovalKey:
    """Return what identifies an approval; its chat may get another title meanwhile."""
    return approval.chat_id, approval.tool_call_id, approval.requested_at


def choices_of(approval: ChatApproval) -> str:
    """Return what can be typed, and what comes of it.

    To allow the start of a server once allows it for as long as the chat exists, because the server
    may have to be started again.
    """
    if approval.tool_name.startswith(START):
        return HOW_TO_START
    if not approval.suggested_rules:
        return f"{HOW} · {DENIES}"
    rules = "".join(f"\n  {printable(rule)}" for rule in approval.suggested_rules)
    return f"{HOW} · {HOW_BY_RULES} · {DENIES}{rules}"


def read_decision(line: str, approval: ChatApproval) -> UserDecision | None:
    """Return the decision that was typed, or None if it is none."""
    rules = approval.suggested_rules
    word, _, words = line.strip().partition(" ")
    match word.lower():
        case "y" | "yes" if not words:
            return UserDecision("allow_once")
        case "a" | "always" if not words:
            return UserDecision("allow_always")
        case "r" | "rule" if not words and rules:
            return UserDecision("allow_always", rules=rules)
        case "u" | "user" if not words and rules:
            return UserDecision("allow_always", rules=rules, scope="user")
        case "n" | "no":
            return UserDecision("deny", words.strip())
    return None


async def read_line(prompt: str = PROMPT) -> str | None:
    """Read a line from the terminal; return None at the end of the input."""
    try:
        with terminal_restored():
            line = await work.read(TYPING, partial(input, prompt))
    except EOFError:
        return None
    return line.strip()


def discard_typed_input() -> None:
    """Discard what was typed before the question was shown: it cannot be an answer to it."""
    if sys.stdin.isatty():
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


@contextmanager
def terminal_restored() -> Iterator[None]:
    """Leave the terminal as it was, also if the user leaves while a line is being typed."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
