"""A person at the terminal, or a flag of the command, says whether calls may run."""

import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from enum import Enum
from functools import partial
from uuid import UUID

from rich.console import Console

from actors.tools.approvals.policy import START
from adapters.cli.talking import drawing
from promptcorner_client import api
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.errors import RequestRefused
from promptcorner_client.transcript import Transcript
from promptcorner_client.wire import ChatApproval
from runtime.threads import work
from runtime.threads.limits import ThreadLimits

TYPING = ThreadLimits("typed_lines", 64)  # one, and those whose readers have gone
NOBODY = "nobody is there to be asked"
Asked = tuple[UUID, str, datetime]
DENIES = "n denies it, with words if you like: n use make"
HOW = f"y allows it once · a always, in this chat · {DENIES}"
HOW_TO_START = f"y allows it in this chat, until revoked · a in all chats of its family · {DENIES}"


class Approve(Enum):
    """What `--approve` says; the value is the policy that a chat gets by it."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Consenting:
    """Decides what a chat and its agents ask, each once."""

    def __init__(self, client: AsyncClient, console: Console, approve: Approve | None) -> None:
        self._client = client
        self._console = console
        self._approve = approve
        self._answered: set[Asked] = set()

    @property
    def is_able(self) -> bool:
        """Whether there is somebody, or something, that decides."""
        return self._approve in (Approve.ALLOW, Approve.DENY) or (
            self._console.is_terminal and sys.stdin.isatty()
        )

    def undecided(self, seen: Transcript) -> list[ChatApproval]:
        return [one for one in seen.approvals if self.is_able and asked(one) not in self._answered]

    async def decide(self, approvals: list[ChatApproval]) -> bool:
        """False: whoever was asked has left."""
        always: set[str] = set()  # what the whole family has been allowed, these asks with it
        for approval in approvals:
            if approval.tool_name in always:
                self._answered.add(asked(approval))
                continue
            decision = await self._decision(approval)
            if decision is None:
                return False
            self._answered.add(asked(approval))
            try:
                decided = await self._client.request(api.decide(approval, *decision))
                if decided.decision == "allow_always":
                    always.add(decided.tool_name)
            except RequestRefused as refused:
                if refused.status != 409:  # somebody was first, or its time is over
                    raise
                self._console.print(f"  {refused}", style="dim")
        return True

    async def _decision(self, approval: ChatApproval) -> tuple[str, str] | None:
        match self._approve:
            case Approve.ALLOW:
                return "allow_once", ""
            case Approve.DENY:
                return "deny", NOBODY
        forget_what_was_typed()
        self._console.print(drawing.asked(approval))
        self._console.print(choices_of(approval), style="dim")
        while (line := await typed("? ")) is not None:
            if (decision := read(line)) is not None:
                return decision
            self._console.print(choices_of(approval), style="dim")
        return None


def asked(approval: ChatApproval) -> Asked:
    """It stays the same ask when the chat gets a title meanwhile."""
    return approval.chat_id, approval.tool_call_id, approval.requested_at


def choices_of(approval: ChatApproval) -> str:
    """Return what can be typed, and what comes of it. To allow the start of a server once is to
    allow it for as long as the chat is there: it may have to be started again."""
    return HOW_TO_START if approval.tool_name.startswith(START) else HOW


def read(line: str) -> tuple[str, str] | None:
    """What somebody has typed; None: it is no decision."""
    word, _, words = line.strip().partition(" ")
    match word.lower():
        case "y" | "yes" if not words:
            return "allow_once", ""
        case "a" | "always" if not words:
            return "allow_always", ""
        case "n" | "no":
            return "deny", words.strip()
    return None


async def typed(prompt: str = drawing.PROMPT) -> str | None:
    """A line; None: there will be none."""
    try:
        with restored():
            line = await work.read(TYPING, partial(input, prompt))
    except EOFError:
        return None
    return line.strip()


def forget_what_was_typed() -> None:
    """Who could not see yet what he would be asked has not answered it."""
    if sys.stdin.isatty():
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


@contextmanager
def restored() -> Iterator[None]:
    """Whoever leaves while a line is being typed leaves the terminal as it was."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
