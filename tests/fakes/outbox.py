"""Inboxes and the outbox in memory, filed by the store in memory as it writes a change.

outbox = MemoryOutbox(clock, targets=2)
outbox.file(change)            as `file_news` of the schema does
outbox.inbox, outbox.rows      what is in them, by the event and by the delivery
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import NAMESPACE_URL, UUID, uuid5

import trio

from actors.law.store.news import NewsKind, news_of_change
from adapters.chats.notices.outbox.deliveries import Delivery, DeliveryState, Receiver
from adapters.chats.notices.outbox.sender import CLAIM_SECONDS, OF_TARGET_MAX


@dataclass
class Row:
    delivery: Delivery
    due_at: datetime
    state: DeliveryState = DeliveryState.WAITING


class MemoryOutbox:
    """Fulfils `adapters.chats.notices.outbox.sender.Outbox`."""

    def __init__(self, clock, *, targets=1):
        self.clock = clock
        self.targets = [UUID(int=number) for number in range(1, targets + 1)]
        self.inbox = {}  # event: how often it was filed
        self.rows = {}  # id of a delivery: its row

    def file(self, change):
        """Return how many deliveries wait because of a change."""
        made = 0
        for news in news_of_change(change):
            chat = change.chat
            event = f"chat/{chat.id}@{chat.snapshot_version} {news.kind.value}"
            if news.kind is not NewsKind.STATUS:
                self.inbox[event] = self.inbox.get(event, 0) + 1
            made += sum(self.add(event, news.kind.value, target, chat) for target in self.targets)
        return made

    def add(self, event, kind, target, chat=None):
        id = uuid5(NAMESPACE_URL, f"{target} {event}")
        if id in self.rows:
            return 0
        delivery = Delivery(
            id,
            Receiver.WEBHOOK,
            target,
            uuid5(NAMESPACE_URL, event),
            kind,
            UUID(int=1),
            None if chat is None else chat.id,
            None if chat is None else chat.root,
            "",
            b"{}",
            self.clock(),
            0,
            0,
            "https://hook.test",
            b"",
        )
        self.rows[id] = Row(delivery, self.clock())
        return 1

    async def claim(self, count, *, busy):
        await trio.lowlevel.checkpoint()
        now, claimed, of_target = self.clock(), [], {}
        waiting = [row for row in self.rows.values() if row.state is DeliveryState.WAITING]
        free = [row for row in waiting if row.delivery.target_id not in busy]
        for row in sorted(free, key=lambda row: row.due_at):
            target = row.delivery.target_id
            if row.due_at > now or of_target.get(target, 0) == OF_TARGET_MAX:
                continue
            if len(claimed) == count:
                break
            of_target[target] = of_target.get(target, 0) + 1
            was = row.delivery
            row.delivery = replace(
                was, attempts_count=was.attempts_count + 1, claims_count=was.claims_count + 1
            )
            row.due_at = now + timedelta(seconds=CLAIM_SECONDS)
            claimed.append(row.delivery)
        due = [row.due_at for row in free]
        return claimed, (min(due) - now).total_seconds() if due else None

    async def settle(self, settlement):
        await trio.lowlevel.checkpoint()
        row = self.rows[settlement.id]
        is_ours = row.delivery.claims_count == settlement.claims_count
        if not is_ours or row.state is not DeliveryState.WAITING:
            return False
        row.state = settlement.state
        row.due_at = self.clock() + timedelta(seconds=settlement.due_seconds)
        return True
