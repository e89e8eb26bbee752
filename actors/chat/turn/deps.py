"""All ports that a chat's tasks ask for, and the limits they keep."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from random import random

from actors.chat.histories import NO_HISTORIES, KnownHistories
from actors.chat.turn.ports import (
    COMPACT_ON_REQUEST,
    NO_BOOKS,
    NO_RECORDER,
    NO_TELEMETRY,
    NO_TITLE_JOBS,
    Books,
    CallJournal,
    CallRecorder,
    Compacting,
    Models,
    Prices,
    Prompts,
    Telemetry,
    TitleJobs,
    Tools,
)
from actors.chat.turn.spending import NO_BUDGETS, Budgets
from actors.law.store.ports import Ledger, StoredChats
from actors.streams.previews import Previews
from actors.tools.approvals import NO_APPROVALS, ApprovalSettings
from actors.tools.hooks.port import NO_HOOKS, PolicyHooks
from runtime import clock


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """The times after which an attempt is given up; then it is made again."""

    startup_seconds: float = 60.0  # from asking a model to the first thing it says
    silence_seconds: float = 600.0  # between two things it says
    summary_seconds: float = 900.0  # for one answer that sums up a conversation, to its end


@dataclass(frozen=True, slots=True)
class TurnDeps:
    """The ports and limits of all turns of this process."""

    ledger: Ledger
    reading: StoredChats
    models: Models
    prompts: Prompts
    tools: Tools
    journal: CallJournal
    prices: Prices
    previews: Previews
    histories: KnownHistories = NO_HISTORIES
    titles: TitleJobs = NO_TITLE_JOBS
    compacting: Compacting = COMPACT_ON_REQUEST
    books: Books = NO_BOOKS
    recorder: CallRecorder = NO_RECORDER
    budgets: Budgets = NO_BUDGETS
    hooks: PolicyHooks = NO_HOOKS
    telemetry: Telemetry = NO_TELEMETRY
    approving: ApprovalSettings = NO_APPROVALS
    limits: TurnLimits = TurnLimits()
    wall: Callable[[], datetime] = clock.wall  # by which the next attempt is told and waited for
    chance: Callable[[], float] = random  # by which chats that fail together ask again apart
