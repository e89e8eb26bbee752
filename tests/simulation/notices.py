"""The outbox in the simulation: every process has a sender, receivers fail now and then, processes
are killed while they send. At the end nothing is lost, and nothing is told an inbox twice."""

from collections import Counter
from contextlib import contextmanager
from datetime import timedelta

import trio

from actors.law.states import Status
from actors.law.store.news import NewsKind
from adapters.chats.notices.outbox.deliveries import Delivered, DeliveryState, Refused
from adapters.chats.notices.outbox.sender import CLAIM_SECONDS, POLL_SECONDS, Sender
from tests.fakes.outbox import MemoryOutbox
from tests.simulation.line import Line

TARGETS = 2
SEND_SECONDS = 2.0  # at most, of a receiver that answers


class Notices:
    """The inboxes and the outbox of one life, and what its receivers have got."""

    def __init__(self, world):
        self.world = world
        self.outbox = MemoryOutbox(world.clock, targets=TARGETS)
        self.received = Counter()  # delivery: how often it came
        self.changes = []  # of every write that moved a status, as the store saw it

    def written(self, change):
        if change.chat.status is not change.before.chat.status:
            self.changes.append(change)
        self.outbox.file(change)

    async def send(self, process, delivery):
        world = self.world
        await trio.sleep(world.rng.random() * SEND_SECONDS)
        if process.is_dead or world.faults(2.0):
            return Refused("it was not reached")
        self.received[delivery.id] += 1
        world.note(process.name, "delivers", delivery.kind)
        await trio.sleep(world.rng.random() * SEND_SECONDS)
        return Refused("the answer was lost") if world.faults(2.0) else Delivered(200)


@contextmanager
def filed(world):
    """Have the store file the news of its writes, for the length of a life."""
    world.store.notices = world.notices = Notices(world)
    yield


@contextmanager
def sending(process):
    """Run the sender of a process as long as the process lives."""
    world, scope = process.world, trio.CancelScope()
    notices = world.notices
    line = Line(process, notices.outbox)

    async def send(delivery):
        return await notices.send(process, delivery)

    sender = Sender(line, send, chance=world.rng.random)

    async def run():
        with scope:
            await sender.run()

    world.nursery.start_soon(run)
    try:
        yield
    finally:
        scope.cancel()


def faults(world):
    """What does not hold at the end."""
    notices = world.notices
    outbox = notices.outbox
    for event, times in outbox.inbox.items():
        if times != 1:
            yield f"{event} was filed {times} times"
    for change in notices.changes:
        if (kinds := expected(change)) and not any(
            f"chat/{change.chat.id}@{change.chat.snapshot_version} {kind.value}" in outbox.inbox
            for kind in kinds
        ):
            yield f"chat {change.chat.id.int} is {change.chat.status.value}, and no inbox knows"
    overdue = world.clock() - timedelta(seconds=CLAIM_SECONDS + 2 * POLL_SECONDS)
    for id, row in outbox.rows.items():
        if row.state is DeliveryState.WAITING and row.due_at < overdue:
            yield f"a delivery was forgotten: {row.delivery.kind}"
        elif row.state is DeliveryState.DELIVERED and not notices.received[id]:
            yield f"a delivery that never came counts as delivered: {row.delivery.kind}"
        elif row.state is DeliveryState.FAILED:
            yield f"a delivery was given up in minutes: {row.delivery.kind}"
    if not notices.received:
        yield "nothing was ever told"


def expected(change):
    """The kinds of news, one of which the owner of a chat must be told of a change; () if none."""
    before, after = change.before.chat, change.chat
    if not after.is_root or after.archived:
        return ()
    if after.status is Status.ERROR:
        return (NewsKind.FAILED,)
    asked = before.compaction_requested_at is not None
    if (before.status, after.status) == (Status.RUNNING, Status.WAITING) and not asked:
        return (NewsKind.ENDED, NewsKind.NEEDS_YOU)
    return ()
