"""Money for calls of models: it is set aside before a call, and counted with what becomes of it.

A port does that, because the limits hold for all processes together. The rules are here and pure:
what a call is expected to cost, and what follows from the state of the limits that it falls under.

A hard limit ends the turn with a failure that says whose limit it is and until when. Money that
other calls in flight have set aside may come back, so a call that only lacks that is tried again.
At a soft limit a person is asked, by a call of a tool that no model knows.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum
from typing import Literal, Protocol

from actors.chat.turn.ports import CostPurpose, Model
from actors.law.chat import Body, Chat, Message, Role
from actors.law.failures.wording import failure
from actors.law.ids import ChatId
from actors.law.parts.deltas import FailureKind, ProviderFailure
from actors.law.parts.message import (
    CONTINUE_SPENDING,
    JsonText,
    Reservation,
    TokenUsage,
    ToolCallPart,
    ToolResultPart,
)
from actors.law.parts.prompt import Prompt
from actors.prompts.compaction import tokens_about

# Of an answer that has not begun. Most are shorter; what is over is spent beyond a limit.
OUTPUT_TOKENS_EXPECTED = 4_000
MICROS = 1_000_000
BUSY_SECONDS = 2.0  # before a call is tried again that lacks what others have set aside

Scope = Literal["user", "group", "deployment"]
Period = Literal["day", "month"]


@dataclass(frozen=True, slots=True)
class LimitStatus:
    """A limit that a call falls under, and what of it is used."""

    scope: Scope
    name: str  # of the group; otherwise empty
    period: Period
    starts_on: date  # of UTC
    hard_micros: int | None
    soft_micros: int | None
    spent_micros: int
    reserved_micros: int
    is_agreed: bool = False  # a person has let this family of chats pass the soft limit

    @property
    def used_micros(self) -> int:
        return self.spent_micros + self.reserved_micros

    @property
    def is_spent(self) -> bool:
        return self.hard_micros is not None and self.spent_micros >= self.hard_micros

    @property
    def is_full(self) -> bool:
        return self.hard_micros is not None and self.used_micros >= self.hard_micros

    @property
    def asks(self) -> bool:
        is_over = self.soft_micros is not None and self.used_micros >= self.soft_micros
        return is_over and not self.is_agreed

    @property
    def ends_on(self) -> date:
        """Return the first day of the next period."""
        return period_end(self.period, self.starts_on)

    @property
    def whose(self) -> str:
        """Return whose limit it is, as a sentence says it."""
        each = {"day": "daily", "month": "monthly"}[self.period]
        match self.scope:
            case "user":
                return f"Your {each} limit"
            case "group":
                return f"The {each} limit of each member of {self.name}"
            case "deployment":
                return f"The {each} limit of this deployment"


def period_start(period: Period, day: date) -> date:
    """Return the first day of the period in which a day lies."""
    return day if period == "day" else day.replace(day=1)


def period_end(period: Period, starts_on: date) -> date:
    """Return the first day of the period that follows."""
    if period == "day":
        return starts_on + timedelta(days=1)
    return (starts_on + timedelta(days=31)).replace(day=1)


class WhyRefused(Enum):
    """The reason why no money is set aside for a call."""

    HARD = "hard"
    BUSY = "busy"  # what is left has been set aside for calls in flight
    SOFT = "soft"  # a person has to agree
    UNPRICED = "unpriced"


@dataclass(frozen=True, slots=True)
class OverLimit:
    """A call that may not be made now."""

    reason: WhyRefused
    limit: LimitStatus
    model: str = ""

    @property
    def is_busy(self) -> bool:
        """Return whether the call only lacks what is set aside for others."""
        return self.reason is WhyRefused.BUSY

    @property
    def message(self) -> str:
        limit = self.limit
        until = f"It begins anew on {limit.ends_on:%d %B %Y}, 00:00 UTC"
        if self.reason is WhyRefused.UNPRICED:
            return (
                f"The price of {self.model} is not known, and {_lower(limit.whose)} holds for it."
                " Choose another model, or ask an administrator to state a price for it."
            )
        if self.reason is WhyRefused.SOFT:
            amount = dollars(limit.soft_micros or 0)
            return f"{limit.whose} asks for consent beyond {amount}, and it was not given. {until}."
        amount = dollars(limit.hard_micros or 0)
        if self.reason is WhyRefused.BUSY:
            return f"The rest of {_lower(limit.whose)} of {amount} is set aside for running calls."
        return (
            f"{limit.whose} of {amount} is used up. {until}; an administrator can raise it before."
        )

    def failure(self, vendor: str | None) -> ProviderFailure:
        """Return the failure of the call, which was not made."""
        kind = FailureKind.USAGE_LIMIT
        seconds = BUSY_SECONDS if self.is_busy else 0.0
        return failure(
            kind, vendor, retryable=self.is_busy, message=self.message, retry_after_seconds=seconds
        )


def judge(
    limits: Sequence[LimitStatus], *, is_priced: bool, asks: bool, model: str = ""
) -> OverLimit | None:
    """Return why a call may not be made, or None if it may. A hard limit comes before a soft one,
    and of several the one that lasts longest. `asks`: a soft limit counts."""
    lasting = sorted(limits, key=lambda limit: limit.ends_on, reverse=True)
    reasons = [
        (WhyRefused.UNPRICED, [] if is_priced else lasting),
        (WhyRefused.HARD, [limit for limit in lasting if limit.is_spent]),
        (WhyRefused.BUSY, [limit for limit in lasting if limit.is_full]),
        (WhyRefused.SOFT, [limit for limit in lasting if asks and limit.asks]),
    ]
    return next((OverLimit(why, found[0], model) for why, found in reasons if found), None)


def expected_usage(prompt: Prompt) -> TokenUsage:
    """Return what a call is expected to take, for what is set aside for it."""
    capped = prompt.settings.max_output_tokens or OUTPUT_TOKENS_EXPECTED
    # The list of messages is all that grows; tools and instructions are read from a cache mostly.
    texts = sum(map(len, prompt.system)) + sum(len(tool.schema) for tool in prompt.tools)
    tokens = tokens_about(prompt.messages) + texts // 4
    return TokenUsage(input_tokens=tokens, output_tokens=min(capped, OUTPUT_TOKENS_EXPECTED))


class Budgets(Protocol):
    """Sets money aside for calls, under limits that hold for all processes together."""

    async def reserve(
        self,
        chat: ChatId,
        model: Model,
        prompt: Prompt,
        what: CostPurpose,
        *,
        asks: bool = True,
    ) -> Reservation | OverLimit | None:
        """Set money aside for a call, or return why it may not be made. None: no limit holds.

        With `asks` False a soft limit does not count."""
        ...

    def give_back(self, reservation: Reservation | None, *, is_spent: bool) -> None:
        """Give back what was set aside for a call that nothing else will count. Returns at once.

        `is_spent`: the call was paid for, so it counts as what it was expected to cost. What has
        been counted meanwhile is left alone."""
        ...


class NoBudgets:
    """A port under which there are no limits."""

    async def reserve(
        self,
        chat: ChatId,
        model: Model,
        prompt: Prompt,
        what: CostPurpose,
        *,
        asks: bool = True,
    ) -> Reservation | OverLimit | None:
        return None

    def give_back(self, reservation: Reservation | None, *, is_spent: bool) -> None:
        pass


NO_BUDGETS = NoBudgets()


@contextmanager
def giving_back(
    budgets: Budgets,
    reservation: Reservation | None,
    is_spent: Callable[[], bool] = lambda: False,
) -> Iterator[None]:
    """Give back what was set aside if the block is cut short. A write that was on its way then
    counts what it cost, if it is written."""
    is_over = False
    try:
        yield
        is_over = True
    finally:
        if not is_over:
            budgets.give_back(reservation, is_spent=is_spent())


def was_asked(history: Sequence[Message]) -> bool:
    """Tell whether the last thing in a history is a person's answer about a soft limit."""
    last = history[-1].body if history else None
    return last is not None and any(
        isinstance(part, ToolResultPart) and part.name == CONTINUE_SPENDING for part in last.parts
    )


def question(over: OverLimit, chat: Chat) -> Body:
    """Return the call by which a person is asked to let a family of chats go on."""
    limit = over.limit
    shown = {
        "limit": limit.whose,
        "soft_limit": dollars(limit.soft_micros or 0),
        "spent": dollars(limit.spent_micros),
        "until": limit.ends_on.isoformat(),
    }
    call = ToolCallPart(
        f"{CONTINUE_SPENDING}_{chat.history_version}_{chat.generation_attempt}",
        CONTINUE_SPENDING,
        args=JsonText(json.dumps(shown)),
    )
    return Body(Role.ASSISTANT, (call,), model_config_id=chat.last_model_config_id)


def dollars(micros: int) -> str:
    """Return an amount as people read it."""
    return f"${micros / MICROS:,.2f}" if micros % 10_000 == 0 else f"${micros / MICROS:,.6f}"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
