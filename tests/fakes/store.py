"""The store in memory: what the stories of the actors run on.

    store = MemoryStore()
    await store.create(CreateChat(...))
    store.chats[id].messages        the rows, to be looked at or written past the law
    store.told                      the hints, in order
    store.clock.now += timedelta(seconds=60)

It asks the same law as PostgreSQL and passes the same contract (tests/contracts). Each call is one
checkpoint and then one step that nothing comes between: cancelled callers have changed nothing.
"""

import itertools
import re
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import trio

from actors.law import requests as ask
from actors.law.change import Change, join, no_change
from actors.law.chat import (
    Body,
    Chat,
    HistoryRow,
    KnownFiles,
    Message,
    QueuedMessage,
    Role,
    StoredChat,
    Suffix,
)
from actors.law.closing import advance_tail
from actors.law.ids import Holder, MessageId, QueuedId, RunnerId
from actors.law.parts.message import TokenUsage
from actors.law.refusals import AlreadyServed, ChatNotFound, NotAllowed, NotRoot
from actors.law.states import State, Status
from actors.law.store.hints import hints_of_change, hints_of_chat, tell_all
from actors.law.store.needs import needs
from actors.law.store.ports import Applied, Beat, StaleFence, fence_holds
from actors.law.transitions import bundle, create, may_be_archived_by_rule, transition

LEASE_SECONDS = 30.0
URGENCY = (Status.INTERRUPTING, Status.REQUIRES_ACTION, Status.RUNNING)
FORGET_LEASES = 10  # a worker that missed so many leases in a row is swept away


@dataclass
class Clock:
    """Stands still until somebody moves it."""

    now: datetime = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self):
        return self.now


@dataclass
class Kept:
    """All rows of one chat."""

    new: ask.NewChat
    chat: Chat
    created_at: datetime
    updated_at: datetime
    messages: list[Message] = field(default_factory=list)
    queue: tuple[QueuedMessage, ...] = ()
    files: frozenset = frozenset()
    decided: tuple = ()

    @property
    def history(self):
        return tuple(message for message in self.messages if not message.deleted)


class MemoryStore:
    """Ledger, leases and reading in one. `clock` may be any function that tells the time."""

    def __init__(self, *, tell=None, lease_seconds=LEASE_SECONDS, clock=None):
        self.clock = clock or Clock()
        self.chats = {}
        self.files = set()  # that there are to be linked
        self.workers = {}  # worker: when it last beat
        self.told = []
        self.receipts = {}  # (user, key): request
        self.lease_seconds = lease_seconds
        self.message_ids = itertools.count(1)
        self.queued_ids = itertools.count(1)
        self._tell = tell or self.told.append
        self.notices = None  # files the news of writes, if there is one
        self.ledger = self.leases = self.reading = self

    # ledger

    async def create(self, request, then=(), *, receipt=None):
        await trio.lowlevel.checkpoint()
        if (parent := self.chats.get(request.chat.parent_id)) is not None:
            policy = parent.chat.approval_policy
            request = replace(request, chat=replace(request.chat, approval_policy=policy))
        made = create(request, now=self.clock(), files=KnownFiles(stored=frozenset(self.files)))
        if not isinstance(made, Change):
            return made
        following = bundle(made.after, then)
        if not isinstance(following, Change):
            return following
        new = request.chat
        if new.parent_id is not None and self.chats[new.parent_id].chat.archived:
            return NotAllowed("CreateChat", None, f"its parent {new.parent_id} is archived")
        if new.id in self.chats:
            return NotAllowed("CreateChat", None, f"the id {new.id} is taken")
        made = join(made, following)
        if not self._keeps(receipt):
            return AlreadyServed(receipt.key)
        assert not made.queue, "a chat is born without a queue"
        self.chats[new.id] = Kept(new, made.chat, made.before.now, made.before.now)
        [applied] = self._written([made], fresh=[bool(then)])
        return applied

    async def apply(self, chat, requests, *, fence=None, receipt=None, by_holder=False):
        await trio.lowlevel.checkpoint()
        if chat not in self.chats:
            return ChatNotFound(chat)
        found = self.chats[chat].chat
        if fence is not None and not fence_holds(fence, found):
            return StaleFence(fence, found)
        made = bundle(self._locked(chat, edited=needs(requests).edits), requests)
        if not isinstance(made, Change):
            return made
        if not self._keeps(receipt):
            return AlreadyServed(receipt.key)
        fresh = [made.chat.holder != found.holder]
        [applied] = self._written([made], fresh=fresh, by_holder=by_holder)
        return applied

    async def commit(self, held, requests, *, fence):
        return await self.apply(held.chat.id, requests, fence=fence, by_holder=True)

    async def wake(self, resting, requests):
        await trio.lowlevel.checkpoint()
        wanted = needs(requests)
        kept = self.chats.get(resting.chat.id)
        if wanted.edits or wanted.files or kept is None or kept.chat != resting.chat:
            return None
        applied = await self.apply(resting.chat.id, requests)
        return applied if isinstance(applied, Applied) else None

    async def archive_family(self, root, *, archived, at_snapshot=None):
        await trio.lowlevel.checkpoint()
        if root not in self.chats:
            return ChatNotFound(root)
        if not self.chats[root].chat.is_root:
            return NotRoot(root)
        if at_snapshot is not None:
            why_not = may_be_archived_by_rule(self.chats[root].chat, at_snapshot=at_snapshot)
            if why_not is not None:
                return why_not
        made = [_archived(self._locked(id), archived) for id in (root, *self._children(root))]
        refusal = next((change for change in made if not isinstance(change, Change)), None)
        return self._written(made, fresh=[False] * len(made)) if refusal is None else refusal

    def _keeps(self, receipt):
        key = None if receipt is None else (receipt.user, receipt.key)
        if key in self.receipts:
            return False
        if receipt is not None:
            self.receipts[key] = receipt.request
        return True

    # leases

    async def beat(self, worker):
        await trio.lowlevel.checkpoint()
        expired = worker in self.workers and not self._is_fresh(worker)
        self.workers[worker] = self.clock()
        gone = frozenset(other for other in self.workers if not self._is_fresh(other))
        return Beat(self.clock(), expired, gone)

    async def leave(self, worker):
        await trio.lowlevel.checkpoint()
        self.workers.pop(worker, None)

    async def sweep(self):
        await trio.lowlevel.checkpoint()
        since = self.clock() - timedelta(seconds=FORGET_LEASES * self.lease_seconds)
        holders = {k.chat.holder.worker for k in self.chats.values() if _may_be_taken(k.chat)}
        gone = [id for id, at in self.workers.items() if at < since and id not in holders]
        for worker in gone:
            del self.workers[worker]
        return len(gone)

    async def acquire(self, worker, room, *, count_deaths=True):
        await trio.lowlevel.checkpoint()
        waiting = self._waiting(room)[: room.at_most] if self._is_fresh(worker) else []
        return tuple([self._taken(id, worker, count_deaths) for id in waiting])

    async def held(self, worker):
        await trio.lowlevel.checkpoint()
        chats = [kept.chat for kept in self.chats.values() if kept.chat.holder is not None]
        return tuple(
            hints_of_chat(chat, holder_is_fresh=True)[0]
            for chat in chats
            if chat.holder.worker == worker
        )

    # reading

    async def view(self, chat):
        await trio.lowlevel.checkpoint()
        if chat not in self.chats:
            return ChatNotFound(chat)
        kept, stored = self.chats[chat], self._locked(chat)
        return replace(stored, chat=kept.chat, files=KnownFiles(kept.files))

    async def history(self, chat):
        await trio.lowlevel.checkpoint()
        return self.chats[chat].history if chat in self.chats else ()

    # what the law is asked with, and what comes of its answer

    def _locked(self, id, *, edited=None):
        """The chat with its next snapshot, and all that the law may look at."""
        kept = self.chats[id]
        target = next((m for m in kept.history if m.id == edited), None)
        later = [m for m in kept.history if edited is not None and m.id > edited]
        before = [m for m in kept.history if edited is None or m.id < edited]
        heard = (_for_tail(m.body) for m in before if m.body.role in (Role.ASSISTANT, Role.TOOL))
        rows = tuple(HistoryRow(m.id, m.body.visibility) for m in later)
        return StoredChat(
            replace(kept.chat, snapshot_version=kept.chat.snapshot_version + 1),
            self.clock(),
            queue=kept.queue,
            tail=advance_tail((), tuple(heard)),
            suffix=None if target is None else Suffix(target, rows),
            files=KnownFiles(kept.files, frozenset(self.files)),
        )

    def _written(self, changes, *, fresh, by_holder=False):
        ids = [self._write(change) for change in changes]
        hints = []
        for change, holder_is_fresh in zip(changes, fresh, strict=True):
            holder = change.chat.holder
            holder_is_fresh |= holder is not None and self._is_fresh(holder.worker)
            hints.extend(
                hints_of_change(change, holder_is_fresh=holder_is_fresh, by_holder=by_holder)
            )
        untold = tell_all(hints, self._tell)
        at = self.clock()
        return tuple(
            Applied(change, at, *of_it, untold=untold)
            for change, of_it in zip(changes, ids, strict=True)
        )

    def _write(self, change):
        kept, snapshot, at = self.chats[change.chat.id], change.chat.snapshot_version, self.clock()
        gone = {row.id for row in change.deleted}
        said = [
            Message(MessageId(next(self.message_ids)), snapshot, at, False, _kept(body))
            for body in change.added
        ]
        fresh = [QueuedId(next(self.queued_ids)) for row in change.queue if row.id < 0]
        ids = iter(fresh)
        kept.chat = change.chat
        kept.updated_at = at if change.touched else kept.updated_at
        kept.files |= change.links
        kept.decided += tuple(
            replace(one, words=one.words.replace("\0", "\ufffd")) for one in change.decisions
        )
        kept.queue = tuple(_queued(row, ids, at) for row in change.queue)
        if self.notices is not None:
            self.notices.written(change)
        kept.messages = [
            replace(m, deleted=True, revision=snapshot) if m.id in gone else m
            for m in kept.messages
        ] + said
        return tuple(message.id for message in said), tuple(fresh)

    def _waiting(self, room):
        """What may be taken, in the order of taking: the kinds in turns, the oldest first."""
        kinds = {}
        for kept in sorted(self.chats.values(), key=lambda kept: (kept.updated_at, kept.chat.id)):
            chat = kept.chat
            is_held = chat.holder is not None and self._is_fresh(chat.holder.worker)
            if chat.status in URGENCY and not chat.archived and not is_held:
                kinds.setdefault((URGENCY.index(chat.status), not chat.is_root), []).append(chat.id)
        limits = {(2, False): room.roots, (2, True): room.children}
        places = [
            ((urgency, place, is_child), id)
            for (urgency, is_child), ids in kinds.items()
            for place, id in enumerate(ids[: limits.get((urgency, is_child))])
        ]
        return [id for _, id in sorted(places)]

    def _taken(self, id, worker, count_deaths):
        holder = Holder(worker, RunnerId(uuid4()))
        chat = self.chats[id].chat
        begins = chat.status is Status.RUNNING and chat.retry_state is None
        begun = (ask.RecordGenerationAttempt(),) if begins else ()
        has_died = chat.holder is not None and chat.holder.worker in self.workers
        made = bundle(self._locked(id), [ask.Acquire(holder, has_died and count_deaths), *begun])
        assert isinstance(made, Change), str(made)
        [applied] = self._written([made], fresh=[True])
        return applied.stored

    def _children(self, root):
        children = [kept for kept in self.chats.values() if kept.chat.parent_id == root]
        children.sort(key=lambda kept: (kept.created_at, kept.chat.id))
        return [kept.chat.id for kept in children]

    def _is_fresh(self, worker):
        beaten_at = self.workers.get(worker)
        lease = timedelta(seconds=self.lease_seconds)
        return beaten_at is not None and beaten_at > self.clock() - lease


def _may_be_taken(chat):
    return chat.holder is not None and chat.status in URGENCY and not chat.archived


def _archived(stored, archived):
    if stored.chat.archived == archived and stored.state is not State.INVALID:
        return no_change(stored)
    return transition(stored, ask.SetArchived(archived))


def _for_tail(body):
    return Body(body.role, body.parts, visibility=body.visibility)


def _kept(body):
    """A count of nothing is not a count."""
    usage = TokenUsage(*(getattr(body.usage, count.name) or None for count in fields(TokenUsage)))
    limit, runtime = body.context_limit or None, body.runtime_ms or None
    parts = tuple(map(with_clean_json, body.parts))
    return replace(body, parts=parts, usage=usage, context_limit=limit, runtime_ms=runtime)


def _queued(row, fresh_ids, at):
    message = replace(row.message, parts=tuple(map(with_clean_json, row.message.parts)))
    if row.id > 0:
        return replace(row, message=message)
    return replace(row, id=next(fresh_ids), message=message, created_at=at)


_ESCAPE = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u[dD][89a-fA-F]..|\\.")


def with_clean_json(part):
    """JSON is kept as it came, apart from blanks around it and surrogates without their partner."""
    named = {name: getattr(part, name, None) for name in ("args", "result", "provider_metadata")}
    texts = {name: text for name, text in named.items() if text}
    return replace(part, **{n: _ESCAPE.sub(_paired, text.strip()) for n, text in texts.items()})


def _paired(found):
    return "\\ufffd" if len(found[0]) == 6 and found[0][2] in "dD" else found[0]
