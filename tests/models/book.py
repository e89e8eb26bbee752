"""All rows of one chat, in memory: reads what the law has to know, writes what it decides.

What a store has to do with a `Change`, in the plainest form: a list of messages, a queue sorted
as a database would sort it, ids counted up.
"""

from dataclasses import replace

from actors.law.change import Change, change, newly_referenced_files
from actors.law.chat import NO_FILES, HistoryRow, KnownFiles, Message, Role, StoredChat, Suffix
from actors.law.ids import MessageId, QueuedId
from actors.law.store.needs import needs
from tests.models.requests import FILES


class Book:
    def __init__(self, created: Change):
        self.chat = created.chat
        self.messages = []
        self.queue = ()
        self.linked = frozenset()
        self.decided = []
        self._queued_ids = 0
        self.write(created)

    def read(self, now, requests=()):
        """The chat with its next snapshot, and everything that could matter to `requests`."""
        edited = needs(requests).edits
        active = [message for message in self.messages if not message.deleted]
        before = [message for message in active if edited is None or message.id < edited]
        found = [message for message in active if message.id == edited]
        later = tuple(
            HistoryRow(m.id, m.body.visibility) for m in active if edited and m.id > edited
        )
        return StoredChat(
            replace(self.chat, snapshot_version=self.chat.snapshot_version + 1),
            now,
            queue=self.queue,
            tail=_tail([message.body for message in before]),
            suffix=Suffix(found[0], later) if found else None,
            files=KnownFiles(self.linked, frozenset(FILES)),
        )

    def write(self, change: Change):
        self.chat = change.chat
        gone = {row.id for row in change.deleted}
        self.messages = [
            replace(m, deleted=True, revision=self.chat.snapshot_version) if m.id in gone else m
            for m in self.messages
        ]
        for body in change.added:
            id = MessageId(len(self.messages) + 1)
            at = change.before.now
            self.messages.append(Message(id, self.chat.snapshot_version, at, False, body))
        fresh = sorted((row.id for row in change.queue if row.id < 0), reverse=True)
        ids = {id: QueuedId(self._queued_ids + n) for n, id in enumerate(fresh, start=1)}
        self._queued_ids += len(fresh)
        rows = [replace(row, id=ids.get(row.id, row.id)) for row in change.queue]
        self.queue = tuple(sorted(rows, key=lambda row: (row.position, row.id)))
        self.linked |= change.links
        self.decided += change.decisions

    def become(self, columns, queue, said, now):
        """One more step was said, and these are the queue and the columns since."""
        made = change(self.read(now), added=said)
        self.write(replace(made, links=newly_referenced_files(made)))
        self.queue = queue
        self._queued_ids = len(queue)
        self.chat = replace(self.chat, **columns)

    @property
    def history(self):
        return [message.body for message in self.messages if not message.deleted]


def narrowed(stored, requests):
    """`stored` with no more in it than `needs` says that `requests` have to know."""
    wanted = needs(requests)
    known = KnownFiles(stored.files.linked & wanted.files, stored.files.stored & wanted.files)
    return replace(
        stored,
        suffix=stored.suffix if wanted.edits is not None else None,
        files=_enough(known, stored) if wanted.files else NO_FILES,
    )


def _enough(known, stored):
    """How many files are linked counts, whichever they are."""
    return replace(known, linked=stored.files.linked)


def _tail(bodies):
    last = max((n for n, b in enumerate(bodies) if b.role is Role.ASSISTANT), default=None)
    if last is None:
        return ()
    return (bodies[last], *(b for b in bodies[last + 1 :] if b.role is Role.TOOL))
