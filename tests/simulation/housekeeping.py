"""Lives with housekeepers: each process has a real one, and they share a lease in the store.

What must hold: a thing goes once, and only by the process that has the lease at that moment; after
the troubles everything old is gone. A chat is archived by the law alone, so nothing that was said
in it is lost, which other checks see.
"""

import uuid
from datetime import timedelta

from actors.law.states import RUNNABLE
from actors.law.store.ports import StoreUnavailable
from actors.upkeep.housekeeping import (
    Batch,
    Housekeeper,
    HousekeepingLease,
    HousekeepingLost,
)
from runtime.clock import now
from tests.simulation.line import Away, Line

LEASE_SECONDS = 12.0
PASS_SECONDS, LOOK_SECONDS = 20.0, 3.0
THING_AGE = timedelta(seconds=30)
SILENT = timedelta(seconds=15)  # then a family is archived
THINGS_EVERY_SECONDS = 2.0  # one is made so often
BEHIND_SECONDS = 90.0  # at the end something may still be there that is no older than this


class House:
    """The lease and things that grow old, as one store: each method is a transaction."""

    def __init__(self, world):
        self.world = world
        self.holder, self.epoch, self.ended_at = None, 0, None
        self.beat_at = world.clock()
        self.things = {}  # number: when it was made
        self.gone = []
        self.served_epoch = 0  # the last in which something was done
        self.archived_count = 0

    def fill(self):
        """Make what should be there by now."""
        due = int(now() / THINGS_EVERY_SECONDS)
        for number in range(len(self.things) + len(self.gone), due):
            self.things[number] = self.world.clock()

    async def take(self, holder, *, rest_seconds):
        at = self.world.clock()
        is_free = self.holder is None or at - self.beat_at > timedelta(seconds=LEASE_SECONDS)
        rests = timedelta(seconds=rest_seconds)
        if not is_free or (self.ended_at is not None and at - self.ended_at < rests):
            return None
        self.holder, self.epoch, self.beat_at = holder, self.epoch + 1, at
        return HousekeepingLease(holder, self.epoch)

    async def is_busy(self):
        return any(kept.chat.holder is not None for kept in self.world.store.chats.values())

    async def leave(self, lease, report):
        if self._holds(lease):
            self.holder = None
            self.ended_at = self.ended_at if report is None else self.world.clock()

    async def remove(self, lease, most):
        """Remove old things under the lease."""
        if not self._holds(lease):
            return HousekeepingLost()
        if lease.epoch < self.served_epoch:
            self.world.blame(f"epoch {lease.epoch} removes things after {self.served_epoch}")
        self.served_epoch = lease.epoch
        self.fill()
        self.beat_at = at = self.world.clock()
        old = [number for number, made in self.things.items() if at - made > THING_AGE][:most]
        for number in old:
            del self.things[number]
            if number in self.gone:
                self.world.blame(f"thing {number} went twice")
            self.gone.append(number)
        return Batch(len(old), is_last=len(old) < most)

    async def silent(self, lease):
        """Return the families in which nothing was said for a while, under the lease."""
        if not self._holds(lease):
            return HousekeepingLost()
        self.beat_at = at = self.world.clock()
        return [
            kept.chat
            for kept in self.world.store.chats.values()
            if kept.chat.is_root
            and not kept.chat.archived
            and kept.chat.status not in RUNNABLE
            and at - kept.updated_at > SILENT
        ]

    def _holds(self, lease):
        return (self.holder, self.epoch) == (lease.holder, lease.epoch)


class HouseAway(Away, StoreUnavailable):
    """The house cannot be reached, in the words that the housekeeper knows."""


class Reach:
    """The house as one process reaches it: the way there may be cut, as that to the store."""

    def __init__(self, process, house):
        self._line = Line(process, house)

    def __getattr__(self, name):
        async def ask(*args, **kwargs):
            try:
                return await getattr(self._line, name)(*args, **kwargs)
            except Away as away:
                raise HouseAway(str(away)) from away

        return ask


class Removing:
    name = "remove"

    def __init__(self, reach):
        self._reach = reach

    async def batch(self, lease, most):
        return await self._reach.remove(lease, most)

    async def due(self):
        return 0


class Archiving:
    name = "archive"

    def __init__(self, process, reach, house):
        self._process, self._reach, self._house = process, reach, house

    async def batch(self, lease, most):
        found = await self._reach.silent(lease)
        if isinstance(found, HousekeepingLost):
            return found
        count = 0
        for chat in found[:most]:
            made = await self._process.line.archive_family(
                chat.id, archived=True, at_snapshot=chat.snapshot_version
            )
            count += isinstance(made, tuple)
        self._house.archived_count += count
        return Batch(count, is_last=True)

    async def due(self):
        return 0


def keepers(process):
    """Return what runs beside a process: its housekeeper."""
    world = process.world
    house = world.house = getattr(world, "house", None) or House(world)
    reach = Reach(process, house)
    keeper = Housekeeper(
        reach,
        [Archiving(process, reach, house), Removing(reach)],
        id=uuid.UUID(int=world.number()),
        pass_seconds=PASS_SECONDS,
        look_seconds=LOOK_SECONDS,
        start_seconds=0,
    )
    return (keeper.run,)


def faults(world):
    """Yield what is wrong with the house when all has been at rest for a while."""
    house, at = world.house, world.clock()
    late = [n for n, made in house.things.items() if at - made > timedelta(seconds=BEHIND_SECONDS)]
    if late:
        yield f"things {late[:5]} should be gone by now"
    if len(house.gone) != len(set(house.gone)):
        yield "something went twice"
