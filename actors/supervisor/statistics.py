"""How the supervisor fares. Pure data."""

from dataclasses import dataclass
from typing import Annotated

from actors.supervisor.heartbeat import HeartbeatStatistics
from actors.supervisor.slots import SlotsStatistics
from runtime.statistics import CounterMetric, GaugeMetric, MailboxStatistics


@dataclass(frozen=True, slots=True)
class SupervisorStatistics:
    draining: Annotated[bool, GaugeMetric("1 while chats are handed on because the process ends.")]
    search: str  # idle, looking, looking_again
    searches_count: Annotated[int, CounterMetric("Searches for chats that nobody runs.")]
    taken_count: Annotated[int, CounterMetric("Chats that got an actor here.")]
    failed_count: Annotated[
        int, CounterMetric("Questions of the supervisor that the store did not answer.")
    ]
    settling: Annotated[
        int, GaugeMetric("Chats that are held here, run by no actor, and are being given back.")
    ]
    kept_away: Annotated[int, GaugeMetric("Chats that are held here so that nobody runs them.")]
    slots: SlotsStatistics
    heartbeat: HeartbeatStatistics
    mailbox: MailboxStatistics
