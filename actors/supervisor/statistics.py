"""How the supervisor fares. Pure data."""

from dataclasses import dataclass

from actors.supervisor.heartbeat import HeartbeatStatistics
from actors.supervisor.slots import SlotsStatistics
from runtime.statistics import MailboxStatistics


@dataclass(frozen=True, slots=True)
class SupervisorStatistics:
    draining: bool
    search: str  # idle, looking, looking_again
    searches_count: int
    taken_count: int  # chats that got an actor
    failed_count: int  # questions that the store did not answer
    settling: int  # chats held that nobody runs, being given back
    kept_away: int  # chats held that nobody may run
    slots: SlotsStatistics
    heartbeat: HeartbeatStatistics
    mailbox: MailboxStatistics
