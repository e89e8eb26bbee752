"""The frozen records that `statistics()` returns. Counts grow only; the rest is as of now."""

from dataclasses import dataclass

from runtime.cause import Cause


@dataclass(frozen=True, slots=True)
class MailboxStatistics:
    """One mailbox: what waits in it, and what became of what was sent to it."""

    name: str
    capacity: int
    closed: bool
    waiting: int  # ordinary mail and asks
    hints_waiting: int
    waiting_peak: int  # the most that ever waited at once, hints included
    asks_open: int  # not answered yet, received or not
    received_count: int
    refused_count: int  # casts and asks refused because it was full
    hints_merged_count: int  # an equal one waited already
    hints_dropped_count: int  # too many different ones waited
    lost_count: int  # waiting when the actor ended


@dataclass(frozen=True, slots=True)
class ChildStatistics:
    """One running child."""

    name: str
    alive_seconds: float  # in this life
    restarts_count: int
    resting: bool  # crashed, waiting for its next life
    requested: Cause | None  # why it was told to stop
    mailbox: MailboxStatistics | None


@dataclass(frozen=True, slots=True)
class ChildrenStatistics:
    """One supervisor's children."""

    name: str
    capacity: int
    stopping: bool
    running: int
    running_peak: int
    started_count: int
    restarted_count: int
    finished_count: int
    stopped_count: int
    crashed_count: int  # every crash, restarted or not
    broken_count: int


@dataclass(frozen=True, slots=True)
class ThreadsStatistics:
    """The threads of one kind of work."""

    running: int  # those that were left included
    waiting: int  # callers, for a free thread
    left: int  # threads whose callers have gone
    keys: int  # with something running or waiting
    begun_count: int
    blocked_count: int  # callers who were told that it took too long
