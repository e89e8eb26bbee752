"""What the store answers to a bundle of transitions that it has committed. Pure data."""

from dataclasses import dataclass, replace
from datetime import datetime

from actors.law.change import Change
from actors.law.chat import Chat, Stored
from actors.law.ids import MessageId, QueuedId
from actors.law.store.hints import Untold


@dataclass(frozen=True, slots=True)
class Applied:
    """The bundle is committed. Ids: of `change.said`, and of the rows it queued, in order."""

    change: Change
    at: datetime  # the database's time of it
    message_ids: tuple[MessageId, ...]
    queued_ids: tuple[QueuedId, ...]
    untold: tuple[Untold, ...] = ()

    @property
    def chat(self) -> Chat:
        return self.change.chat

    @property
    def stored(self) -> Stored:
        """What the store holds now, as far as the bundle knew of it: the next one can start here,
        without reading, as long as no other snapshot comes between."""
        after = self.change.after
        fresh = iter(self.queued_ids)
        queue = tuple(
            row if row.id > 0 else replace(row, id=next(fresh), created_at=self.at)
            for row in after.queue
        )
        return replace(after, queue=queue, suffix=None, now=self.at)
