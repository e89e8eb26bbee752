"""Lives under a limit of spending. The money lies beside the store, behind the same lines:
processes that set it aside are killed, frozen and cut off, answers are lost, and the clock leaps
over the ends of periods.

A call costs two, and so much is set aside for it. What must hold: no call begins while what is
spent and set aside has reached the limit; nothing is counted twice; what is spent in a period is
over its limit by no more than the last call that fitted and those whose process was thought dead;
and once nothing goes wrong any more, nothing stays set aside.
"""

from collections import Counter
from datetime import date

import trio

from actors.chat.turn.spending import LimitStatus, judge
from actors.law.ids import UserId
from actors.law.parts.message import Reservation
from tests.simulation.line import SLOW_SECONDS, Away, Line

LIMIT = 25  # of one period; a call costs two
COST = 2
PERIOD_SECONDS = 20.0  # by the clock of the store
EPOCH = date(2030, 1, 1)
AGAIN_SECONDS = 1.0
NOBODY = UserId(None)


class Till:
    """The money of all processes: what is spent in each period, and what is set aside."""

    def __init__(self, world):
        self.world = world
        self.held = {}  # id: (process, period)
        self.spent = Counter()
        self.late = Counter()  # calls of a period that were counted after their process had "died"
        self.settled = set()

    async def set_aside(self, id, process):
        """Return the reservation, or the state of the limit that does not allow it."""
        self._sweep()
        period = int(self.world.clock().timestamp() // PERIOD_SECONDS)
        held = COST * sum(each == period for _, each in self.held.values())
        status = LimitStatus("user", "", "day", EPOCH, LIMIT, None, self.spent[period], held)
        over = judge([status], is_priced=True, asks=False)
        if over is not None:
            return over
        self.held[id] = (process, period)
        self.world.note(process.name, "sets aside", self.spent[period], "+", held)
        return Reservation(id, NOBODY, period, COST)

    def settle(self, reservation):
        """Count what a step cost, in the write of the step."""
        if reservation.id in self.settled:
            self.world.blame(f"{reservation.id}: counted twice")
        self.settled.add(reservation.id)
        period = reservation.day
        self.late[period] += self.held.pop(reservation.id, None) is None
        self.spent[period] += COST
        most = LIMIT + COST - 1 + COST * self.late[period]
        if self.spent[period] > most:
            self.world.blame(f"{self.spent[period]} spent of {LIMIT}, {most} were in flight")

    async def take_back(self, id, is_spent):
        found = self.held.pop(id, None)
        if found is not None and is_spent:
            self.spent[found[1]] += COST

    def _sweep(self):
        """Take back what belongs to processes that are gone."""
        for id, (process, _) in list(self.held.items()):
            if process.is_gone:
                del self.held[id]


class Budgets:
    """The port Budgets of one process, on its line."""

    def __init__(self, process):
        self._process = process
        self._line = Line(process, process.world.till)

    async def reserve(self, chat, model, prompt, what, *, asks=True):
        id, is_answered = self._process.world.new_id(), False
        try:
            found = await self._line.set_aside(id, self._process)
            is_answered = True
        finally:
            if not is_answered:  # the store may still do it
                self._leave(id, is_spent=False)
                self._leave(id, is_spent=False, seconds=2 * SLOW_SECONDS)
        return found

    def give_back(self, reservation, *, is_spent):
        if reservation is not None:
            self._leave(reservation.id, is_spent=is_spent)

    def _leave(self, id, *, is_spent, seconds=0.0):
        process = self._process
        if not process.is_dead:
            process.world.nursery.start_soon(self._take_back, id, is_spent, seconds)

    async def _take_back(self, id, is_spent, seconds):
        await trio.sleep(seconds)
        while not self._process.is_gone:
            try:
                return await self._line.take_back(id, is_spent)
            except Away:
                await trio.sleep(AGAIN_SECONDS)


class Books:
    """The port Books: what becomes no message is counted, too."""

    def __init__(self, process):
        self._process = process

    async def book(self, chat, what, costs):
        for cost in costs:
            if cost.reservation is not None and not self._process.is_dead:
                self._process.world.till.settle(cost.reservation)


def faults(world):
    """Yield what does not hold at the end."""
    world.till._sweep()
    if world.till.held:
        yield f"{len(world.till.held)} calls hold money, and none runs"
    if not world.till.settled:
        yield "no call was counted: nothing was tried"
