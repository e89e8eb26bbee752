"""Rules by which things go when they are old, and how fast they may go. Pure.

A part of the daemon that stores things of which there are ever more makes an `AgeRule` for them.
`adapters/chats/housekeeping/rules.py` lists all of them, and the housekeeper does the rest: in
batches, in one process at a time, slowly while chats are at work.
"""

from dataclasses import dataclass

DAY_SECONDS = 86_400.0

# What a batch may take, and how many times as long the housekeeper rests after it. While chats are
# at work it has a two-hundredth of the time: with more than a hundredth, the slowest hundredth of
# all commits would be those that meet it. That is some 300 messages a second still.
IDLE_BATCH_SECONDS, IDLE_RESTS = 0.25, 0.0
BUSY_BATCH_SECONDS, BUSY_RESTS = 0.005, 199.0
REST_SECONDS_MAX = (
    20.0  # however long a batch took: the lease of housekeeping has to outlast a rest
)
BATCH_FIRST, BATCH_MIN, BATCH_MAX = 100, 10, 5_000  # things in one batch
GROWTH_MAX = 2.0  # of one batch beside the one before it: things differ in size


@dataclass(frozen=True, slots=True, kw_only=True)
class AgeRule:
    """A rule by which things of one kind go when they are old enough.

    `delete` and `count` are statements. Both are given `seconds`: what is older by the clock of the
    database has to go. `delete` removes at most `most` such things, and returns one row: how many
    it removed, and how many bytes they had (0 where that is not worth a look). `count` removes
    nothing, and returns how many there are. Neither takes what belongs to a chat or a user on legal
    hold: the parts `{chat_on_hold}` (of chat `c`) and `{user_on_hold}` (of user `u`) say so.
    """

    name: str  # in metrics and reports: "debug_runs"
    help: str  # what goes: "records of model calls"
    delete: str
    count: str
    setting: str = ""  # of the deployment: after how many days, 0 means never
    default_days: int = 0  # while that is not set
    seconds: float = 0.0  # in its place, where nothing is to be set

    def age_seconds(self, set_days: int | None) -> float | None:
        """Return how old things may become, by what is set. None: they are kept for ever."""
        if not self.setting:
            return self.seconds
        days = self.default_days if set_days is None else set_days
        return days * DAY_SECONDS if days > 0 else None


@dataclass(frozen=True, slots=True)
class Pace:
    """The size of the next batch, and how long the housekeeper rests before it."""

    most: int = BATCH_FIRST
    rest_seconds: float = 0.0
    is_busy: bool = False  # chats were at work when the size was found

    def at_work(self) -> "Pace":
        """Return the pace of a batch while chats are at work: a size that was found while none was
        would take too long."""
        if self.is_busy:
            return self
        most = round(self.most * BUSY_BATCH_SECONDS / IDLE_BATCH_SECONDS)
        return Pace(max(most, BATCH_MIN), self.rest_seconds, is_busy=True)


def next_pace(former: Pace, count: int, took_seconds: float, *, busy: bool) -> Pace:
    """Return the pace after a batch of `count` things. `busy`: chats are at work.

    A batch that was not full says nothing about how many things fit into the time.
    """
    wanted = BUSY_BATCH_SECONDS if busy else IDLE_BATCH_SECONDS
    rests = BUSY_RESTS if busy else IDLE_RESTS
    most = former.most
    if took_seconds > wanted or count >= former.most:
        fits = max(count, 1) * wanted / max(took_seconds, 1e-6)
        most = round(min(fits, GROWTH_MAX * former.most))
    rest_seconds = min(rests * took_seconds, REST_SECONDS_MAX)
    return Pace(min(max(most, BATCH_MIN), BATCH_MAX), rest_seconds, busy)
