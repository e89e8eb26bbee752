"""The store on PostgreSQL against the store in memory: the same random requests, all rows compared.

Requests come one by one, in bundles, and several at once over several connections, for different
chats and for the same one; by the long way, and by the short one from views fresh and stale. What
was done at once has to be what some order of the same requests does: snapshots tell which came
before which in a chat, and a refusal must be right between two of them, at a moment of the server's
time at which it was asked.

What is asked next depends on what came of the last, and that on the server's mood, so this is no
Hypothesis machine, which wants to repeat itself exactly: a seed chooses, and a failure names it.
"""

import copy
import uuid
from dataclasses import dataclass, fields, replace
from random import Random

import trio
from hypothesis.control import BuildContext
from hypothesis.internal.conjecture.data import ConjectureData

from actors.law import requests as ask
from actors.law.change import Change
from actors.law.chat import StoredChat
from actors.law.closing import unanswered_calls
from actors.law.ids import ChatId
from actors.law.states import Status
from actors.law.store.hints import OpenApprovalsChanged, WorkWaits
from actors.law.store.ports import Applied, Fence, fence_of
from actors.law.transitions import transition
from tests.adapters.postgres.stores import open_store
from tests.contracts.worlds import MemoryWorld
from tests.fakes.store import Clock, with_clean_json
from tests.models.requests import FILES, HOLDERS, USERS, new_chat, request_for

CHILDREN = 2  # of the first chat
BUNDLE_MAX = 3
AT_ONCE_MAX = 6
VIEWS_MAX = 4  # of a chat, that somebody may still commit from
WORKERS = sorted({holder.worker for holder in HOLDERS})


@dataclass(frozen=True)
class Asked:
    """One call of the ledger. `held`: by the short way."""

    chat: ChatId
    requests: tuple
    fence: Fence | None = None
    held: StoredChat | None = None

    async def of(self, ledger):
        if self.held is not None:
            return await ledger.commit(self.held, self.requests, fence=self.fence)
        return await ledger.apply(self.chat, self.requests, fence=self.fence)


@dataclass(frozen=True)
class FamilyAsked:
    chat: ChatId
    archived: bool

    async def of(self, ledger):
        return await ledger.archive_family(self.chat, archived=self.archived)


class Play:
    """A family of chats in both stores, and what happens to it."""

    def __init__(self, postgres, random):
        self.postgres, self.memory, self.random = postgres, MemoryWorld(), random
        self.memory.store.files = set(FILES)
        self.sane = random.random() < 0.7  # steps are what a worker would commit
        self.chats = [ChatId(uuid.UUID(int=random.getrandbits(128))) for _ in range(1 + CHILDREN)]
        self.views = {}
        self.steps = 0
        self.asked = 0
        self.found = 0  # histories that were known when they were compared

    async def begin(self):
        await self.postgres.empty("chats", "workers")
        new = self.draw(new_chat)
        for id in self.chats:
            parent = None if id is self.chats[0] else self.chats[0]
            chat = replace(new.chat, id=id, parent_id=parent, root_id=parent)
            request = ask.CreateChat(chat, new.messages)
            then = (ask.Acquire(HOLDERS[0]), ask.RecordGenerationAttempt())
            made = await self.postgres.ledger.create(request, then)
            self.foresee([made])
            assert seen(await self.memory.ledger.create(request, then)) == seen(made)
            self.views[id] = [made.stored]
        await self.compare()

    async def go_on(self):
        """One step: something is asked, or happens."""
        happens = self.random.choice(
            [self.one_asks] * 6
            + [self.several_ask_at_once] * 4
            + [self.several_holders_commit_at_once] * 4
            + [self.somebody_looks] * 3
            + [self.a_family_is_archived_or_brought_back, self.somebody_reads_the_history]
            + [self.a_worker_beats_or_leaves, self.a_minute_passes]
            + [self.somebody_writes_past_the_law] * (not self.sane)
        )
        self.steps += 1
        await happens()

    # what happens

    async def one_asks(self):
        await self.ask([self.drawn()])

    async def several_ask_at_once(self):
        await self.ask([self.drawn() for _ in range(self.random.randint(2, AT_ONCE_MAX))])

    async def several_holders_commit_at_once(self):
        count = self.random.randint(2, AT_ONCE_MAX)
        await self.ask([self.drawn(way="commit") for _ in range(count)])

    async def a_family_is_archived_or_brought_back(self):
        beside = [self.drawn(way="commit") for _ in range(self.random.randint(0, 3))]
        await self.ask([FamilyAsked(self.chats[0], self.random.random() < 0.5), *beside])

    async def somebody_looks(self):
        chat = self.random.choice(self.chats)
        view, other = [await w.reading.view(chat) for w in (self.postgres, self.memory)]
        assert (other.chat, other.queue, other.files) == (view.chat, view.queue, view.files)
        assert _open(other) == _open(view)
        self.keep(view)

    async def somebody_reads_the_history(self):
        chat = self.random.choice(self.chats)
        history, other = [await w.reading.history(chat) for w in (self.postgres, self.memory)]
        assert other == history

    async def a_worker_beats_or_leaves(self):
        worker = self.random.choice(WORKERS)
        if self.random.random() < 0.5:
            await self.postgres.leases.leave(worker)
            await self.memory.leases.leave(worker)
            return
        beat = await self.postgres.leases.beat(worker)
        self.memory.store.clock.now = beat.at
        assert beat == await self.memory.leases.beat(worker)

    async def a_minute_passes(self):
        """For both, what workers have written grows older."""
        await self.postgres.pass_time(60)
        before = self.memory.store.clock.now
        await self.memory.pass_time(60)
        passed, self.memory.store.clock.now = self.memory.store.clock.now - before, before
        workers = self.memory.store.workers
        self.memory.store.workers = {worker: at - passed for worker, at in workers.items()}

    async def somebody_writes_past_the_law(self):
        chat = self.random.choice(self.chats)
        columns = {
            "archived": self.random.random() < 0.5,
            "status": self.random.choice(list(Status)),
            "snapshot_version": self.memory.store.chats[chat].chat.snapshot_version + 1,
        }
        await self.postgres.write_past_the_law(chat, **columns)
        await self.memory.write_past_the_law(chat, **columns)

    # what is asked

    def drawn(self, way=None):
        chat = self.random.choice(self.chats)
        held = self.random.choice(self.views[chat])
        way = way or self.random.choice(["apply", "fenced", "commit"])
        if way == "apply" or held.chat.holder is None:
            return Asked(chat, self.requests(self.memory.store._locked(chat)))
        fence = fence_of(held.chat)
        if self.random.random() < 0.5:
            fence = replace(fence, attempt=None)
        if way == "fenced":
            return Asked(chat, self.requests(self.memory.store._locked(chat)), fence)
        return Asked(chat, self.requests(_bumped(held)), fence, held)

    def requests(self, stored):
        messages = [m.id for m in self.memory.store.chats[stored.chat.id].history[-12:]]
        requests = []
        for _ in range(self.random.randint(0, BUNDLE_MAX)):
            edits = not requests
            requests.append(self.draw(request_for, stored, messages, sane=self.sane, edits=edits))
            made = transition(stored, requests[-1])
            if not isinstance(made, Change):
                break
            stored = made.after
        return tuple(requests)

    def draw(self, make, *arguments, **options):
        """What Hypothesis' strategies give for this seed."""
        data = ConjectureData(random=self.random)
        with BuildContext(data, wrapped_test=make):
            return make(data.draw, *arguments, **options)

    # what comes of it

    async def ask(self, calls):
        self.asked += len(calls)
        self.postgres.told.clear()
        self.memory.told.clear()
        began = await self.server_time()
        done = list(zip(calls, await self.all_at_once(calls), strict=True))
        during = began, await self.server_time()
        written = [(call, answer) for call, answer in done if _members(answer)]
        refused = [(call, answer) for call, answer in done if not _members(answer)]
        refused = await self.not_refused(refused, during)
        while written:
            call, answer = written.pop(self.next_of(written))
            self.foresee(_members(answer))
            again = await call.of(self.memory.ledger)
            for ours, theirs in zip(_members(again), _members(answer), strict=True):
                for name, value in seen(ours).items():
                    assert value == seen(theirs)[name], (name, call)
            if isinstance(call, Asked):
                assert _open(again.stored) == _open(answer.stored)
            refused = await self.not_refused(refused, during)
        assert [] == refused, "refused for what never held"
        for _, answer in done:
            if isinstance(answer, Applied):
                self.keep(answer.stored)
        await self.compare()
        self.compare_hints({call.chat for call in calls if getattr(call, "held", None)})

    async def all_at_once(self, calls):
        answers = [None] * len(calls)

        async def one(n, call):
            answers[n] = await call.of(self.postgres.ledger)

        async with trio.open_nursery() as nursery:
            for n, call in enumerate(calls):
                nursery.start_soon(one, n, call)
        return answers

    def next_of(self, written):
        """Which answer was written first, of those whose turn it is by their snapshots."""
        chats = self.memory.store.chats
        for n, (_, answer) in enumerate(written):
            if all(
                made.chat.snapshot_version == chats[made.chat.id].chat.snapshot_version + 1
                for made in _members(answer)
            ):
                return n
        raise AssertionError("snapshots that no order of the requests explains")

    async def not_refused(self, refused, during):
        """Those that memory, as it is now, would not refuse in the same words `during` that time.

        What the law says of a chat changes with the time only when somebody's time to decide is
        over, so its first moment and those moments stand for all of it.
        """
        wrong = []
        for call, answer in refused:
            began, ended = during
            ends = [
                ask.until
                for ask in self.memory.store.chats[call.chat].chat.open_approvals
                if ask.until
            ]
            moments = [began, *(end for end in ends if began < end <= ended)]
            answers = [await self.trial(call, moment) for moment in moments]
            if answer not in answers:
                wrong.append((call, answer))
        return wrong

    async def trial(self, call, moment):
        """What memory would answer at that moment; nothing changes."""
        store = copy.copy(self.memory.store)
        store.ledger, store._tell, store.clock = store, lambda _: None, Clock(moment)
        store.chats = {id: replace(kept) for id, kept in store.chats.items()}
        store.message_ids = store.queued_ids = iter(range(10**6, 10**7))
        return await call.of(store)

    async def server_time(self):
        [[moment]] = await self.postgres.execute("SELECT clock_timestamp()")
        return moment

    def foresee(self, members):
        """Memory is to use the ids that PostgreSQL gave, at the time that it was there."""
        store = self.memory.store
        store.clock.now = members[0].at
        store.message_ids = iter([id for made in members for id in made.message_ids])
        store.queued_ids = iter([id for made in members for id in made.queued_ids])

    def keep(self, stored):
        views = self.views[stored.chat.id]
        views.append(stored)
        del views[:-VIEWS_MAX]

    async def compare(self):
        rows, other = await self.postgres.all_rows(), await self.memory.all_rows()
        assert other.keys() == rows.keys()
        for chat in rows:
            for column in fields(rows[chat]):
                name = column.name
                assert getattr(other[chat], name) == getattr(rows[chat], name), (chat, name)
            self.compare_known(rows[chat])

    def compare_known(self, rows):
        """What is known of a history is what is stored, at the version at which it is found."""
        stored = tuple(row for row in rows.messages if not row.deleted)
        known = self.postgres.histories.find(rows.chat)
        if known is not None:
            assert stored == tuple(map(_with_clean_parts, known))
            self.found += 1
        elif self.steps % 2:
            self.postgres.histories.keep(rows.chat, stored)

    def compare_hints(self, alive):
        """Whoever commits is there, so no other is called; memory does not know that. Nor which
        of the commits went the short way, of which neither their holder nor lists are told."""

        def told(world):
            asks = [hint.chat for hint in world.told if isinstance(hint, OpenApprovalsChanged)]
            hints = [hint for hint in world.told if not isinstance(hint, OpenApprovalsChanged)]
            hints = [hint for hint in hints if not (_calls(hint) and hint.chat in alive)]
            hints.sort(key=lambda hint: (hint.chat, hint.snapshot_version, _calls(hint)))
            return sorted(asks), [
                replace(h, by_holder=False, became=None) if h.chat in alive else h for h in hints
            ]

        assert told(self.memory) == told(self.postgres)


def seen(made):
    """All of an answer that does not depend on how much its store had read, and from where."""
    change, stored = made.change, made.stored
    return {
        "chat": change.chat,
        "queue": [(r.id, r.position, r.steers, _clean(r.message)) for r in change.queue],
        "said": [_clean(body) for body in change.added],
        "else": (change.deleted, change.links, change.touched),
        "ids": (made.message_ids, made.queued_ids, [row.id for row in stored.queue]),
        "at": (made.at, stored.now),
    }


def _clean(message):
    return replace(message, parts=tuple(map(with_clean_json, message.parts)))


def _members(answer):
    if isinstance(answer, Applied):
        return (answer,)
    return answer if isinstance(answer, tuple) else ()


def _open(stored):
    return [(call.id, call.name) for call in unanswered_calls(stored.tail)]


def _bumped(held):
    chat = held.chat
    return replace(held, chat=replace(chat, snapshot_version=chat.snapshot_version + 1))


def _calls(hint):
    return isinstance(hint, WorkWaits)


async def play(conninfo, *, seed, steps):
    """One family of chats, and what happens to it; how often something was asked."""
    async with open_store(conninfo) as store:
        await store.add_users(*USERS)
        await store.add_files(*FILES)
        playing = Play(store, Random(seed))
        try:
            await playing.begin()
            while playing.steps < steps:
                await playing.go_on()
        except Exception as error:
            error.add_note(f"seed {seed}, step {playing.steps}")
            raise
        assert playing.found, "histories are known"
        return playing.asked


def _with_clean_parts(row):
    body = row.body
    return replace(row, body=replace(body, parts=tuple(map(with_clean_json, body.parts))))
