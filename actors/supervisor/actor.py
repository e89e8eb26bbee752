"""The supervisor: the shell around `decide`, `slots` and `heartbeat`.

One task reads the mailbox and waits for nothing else. Searches, comparisons and settling run in
tasks of their own, and their results come back as mail. The chat actors are its loose children;
their ends are mail too.

A hint about a chat goes straight to the chat's actor, if there is one, in the task that tells it.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable
from functools import partial
from typing import assert_never

import trio

from actors.chat.turn.work import LeaseExpired
from actors.law.chat import StoredChat
from actors.law.ids import ChatId, Holder, RunnerId, WorkerId, chat_name
from actors.law.states import Status
from actors.law.store.hints import ChatMoved, HintsLost, News, WorkWaits
from actors.law.store.ports import AcquireLimits, UnreadableChat
from actors.supervisor import api, decide
from actors.supervisor.api import (
    SETTLING_MAX,
    ChatEnded,
    ChatSettled,
    Compare,
    ComparisonEnded,
    Drain,
    DrainEnded,
    HandOver,
    Intake,
    LeaseBegun,
    LeaseLost,
    LookForWork,
    SearchEnded,
    SupervisorMail,
    SupervisorStatistics,
)
from actors.supervisor.crashes import CrashCounts
from actors.supervisor.decide import Forget, GiveBack, Park, SearchState
from actors.supervisor.deps import SupervisorDeps
from actors.supervisor.heartbeat import Heartbeat
from actors.supervisor.registry import ChatRegistry, RunningChat
from actors.supervisor.settling import settle
from runtime.children import Children, open_children, run_child
from runtime.clock import now
from runtime.ends import Broken, Crashed, End, Finished, Shutdown
from runtime.log import emit
from runtime.mailbox import Address
from runtime.scope import CausedScope

MAIL_AT_ONCE_MAX = 64
KEPT_AWAY_MAX = 1_024  # chats that must not run; the oldest is forgotten, and found as an orphan
LEAVE_SECONDS = 5.0  # for giving up the lease at the end; then it runs out by itself
UNANSWERED_LOGGED = 60  # of so many questions in a row that the store did not answer one is logged


class Supervisor:
    """The actor that holds all chats of this process. Senders claim room in its `slots`.

    `intake` is given where something that sends to the supervisor was built before it.
    """

    def __init__(self, deps: SupervisorDeps, intake: Intake | None = None) -> None:
        self._limits = limits = deps.limits
        intake = intake or Intake(limits, deps.new_id)
        self.slots, self.address, self.mailbox = intake.slots, intake.address, intake.mailbox
        self.first_lease = trio.Event()  # from then on chats may be held, unless a lease is lost
        self._deps = deps
        self._heartbeat = Heartbeat(
            deps.leases,
            lease_seconds=limits.lease_seconds,
            new_id=deps.new_id,
            begun=lambda worker: self.address.hint(LeaseBegun(worker)),
            lost=lambda worker: self.address.hint(LeaseLost(worker)),
            others_died=lambda: deps.bus.hear(HintsLost()),
        )
        self._taken_count = self._searches_count = self._failed_count = 0
        self._reset()

    def _reset(self) -> None:
        """Begin a new life: forget everything of the one before."""
        self._registry: ChatRegistry
        self._tasks: trio.Nursery
        self._worker: WorkerId | None = None
        self._settling: set[RunnerId] = set()  # held without an actor, being given back
        self._kept_away: OrderedDict[RunnerId, None] = (
            OrderedDict()
        )  # held, so that no process runs it
        self._crashes = CrashCounts()
        self._unanswered: Counter[str] = Counter()  # in a row, by what was asked
        self._search = SearchState.IDLE
        self._comparing = False
        self._strangers: frozenset[RunnerId] = frozenset()
        self._draining = self._drained = False
        self._drained_since, self._drained_count = 0.0, 0
        self._cut: list[WorkWaits] = []  # chats that were stopped in mid-step, for others
        self._beating = CausedScope()
        self._beaten = trio.Event()
        self.slots.clear()

    async def run(self) -> None:
        """Run until the supervisor is told to drain and has done so."""
        self._reset()
        async with open_children("chats", capacity=self._limits.held) as children:
            self._registry = ChatRegistry(children, self._deps, ended=self._tell_end)
            async with trio.open_nursery() as self._tasks:
                self._tasks.start_soon(self._beat)
                self._tasks.start_soon(self._poll, self._limits.poll_seconds, api.look_for_work)
                self._tasks.start_soon(self._poll, self._limits.sync_seconds, api.compare)
                with self._deps.bus.follow(self._hear, ChatMoved, WorkWaits):
                    while not self._drained:
                        for mail in await self.mailbox.drain(MAIL_AT_ONCE_MAX):
                            self._receive(mail, children)
                self._tasks.cancel_scope.cancel()

    def statistics(self) -> SupervisorStatistics:
        return SupervisorStatistics(
            draining=self._draining,
            search=self._search.name.lower(),
            searches_count=self._searches_count,
            taken_count=self._taken_count,
            failed_count=self._failed_count,
            settling=len(self._settling),
            kept_away=len(self._kept_away),
            slots=self.slots.statistics(),
            heartbeat=self._heartbeat.statistics(),
            mailbox=self.mailbox.statistics(),
        )

    def _receive(self, mail: SupervisorMail, children: Children) -> None:
        match mail:
            case LookForWork():
                self._look()
            case SearchEnded():
                self._searched(mail)
            case HandOver():
                self._start(mail.stored, mail)
            case ChatEnded(runner=runner, end=end):
                self._chat_ended(runner, end)
            case ChatSettled(runner=runner, is_settled=is_settled):
                self._settling.discard(runner)
                if not is_settled:
                    self._keep_away(runner)
            case Compare():
                self._compare()
            case ComparisonEnded():
                self._compared(mail)
            case LeaseBegun(worker=worker):
                self._lease_begun(worker)
            case LeaseLost(worker=worker):
                self._lease_lost(worker)
            case Drain():
                self._drain(children)
            case DrainEnded():
                self._has_drained()
            case _:
                assert_never(mail)

    # hints

    def _hear(self, news: News) -> None:
        """Pass news on, and do nothing more: this runs in the task that tells it."""
        match news:
            case ChatMoved():
                expecting = self._search is not SearchState.IDLE or self.slots.has_claims
                running = self._registry.note_moved(news, expecting=expecting)
                if running is not None:
                    self._note_slot(running, news)
            case WorkWaits():
                api.look_for_work(self.address)
            case HintsLost():
                self.slots.search_widely()
                api.look_for_work(self.address)
                api.compare(self.address)
            case _:
                pass  # running chats is the same under any title, and asks for models

    def _note_slot(self, running: RunningChat, moved: ChatMoved) -> None:
        """Free the slot of a chat that its actor has given back, or that waits for others."""
        if moved.by_holder and moved.runner_id is None:
            self.slots.free(running.holder.runner)
            if self.slots.is_awaited:
                api.look_for_work(self.address)
        else:
            self._note_waiting(running, moved.status)

    def _note_waiting(self, running: RunningChat, status: Status) -> None:
        """Free the slot of a chat that waits for others, for a chat that waits for a slot."""
        is_waiting = status is Status.REQUIRES_ACTION
        is_free = self.slots.note_waiting(running.holder.runner, is_waiting=is_waiting)
        if is_free and self.slots.is_awaited:
            api.look_for_work(self.address)

    # searching

    def _look(self) -> None:
        self.slots.expire(now())
        if self._worker is None or self._draining or not self.slots.may_search():
            return
        self._search, begin = decide.begin_search(self._search)
        if begin:
            self._searches_count += 1
            self._tasks.start_soon(self._acquire, self._worker, self.slots.begin_search())

    async def _acquire(self, worker: WorkerId, room: AcquireLimits) -> None:
        taken: list[tuple[StoredChat | UnreadableChat, ...]] = []

        async def acquire() -> None:
            tell = self._heartbeat.may_count_deaths
            taken.append(await self._deps.leases.acquire(worker, room, count_deaths=tell))

        end = await run_child(CausedScope(), acquire)
        self.address.cast(SearchEnded(worker, taken[0] if self._is_well("acquire", end) else None))

    def _searched(self, search: SearchEnded) -> None:
        is_full = self.slots.end_search(search.are_roots)
        for taken in search.taken or ():
            if isinstance(taken, StoredChat):
                self._start(taken)
            else:
                emit("chat.stuck", "error", chat=chat_name(taken.chat), error=taken.error)
                self._keep_away(taken.runner)
        self._search, again = decide.end_search(self._search, is_full)
        if again:
            self._search = SearchState.IDLE
            self._look()

    # chat actors

    def _start(self, stored: StoredChat, handed: HandOver | None = None) -> None:
        """Start an actor for a chat that has been acquired for this process."""
        chat, holder = stored.chat, stored.chat.holder
        if holder is None or holder.worker != self._worker:
            return  # of a lease that was lost meanwhile: it is free again
        if self._registry.find(holder.runner) or holder.runner in self._settling:
            return
        if self._draining or self._registry.is_full:
            self._settle(chat.id, holder, GiveBack(0))
            return
        self.slots.take(holder.runner, is_root=chat.is_root)
        self._note_waiting(self._registry.start(stored, holder, handed), chat.status)
        self._taken_count += 1

    def _tell_end(self, runner: RunnerId, _name: str, end: End) -> None:
        self.address.cast(ChatEnded(runner, end))

    def _chat_ended(self, runner: RunnerId, end: End) -> None:
        running = self._registry.dismiss(runner)
        self.slots.free(runner)
        if self._draining and not isinstance(end, Finished):
            self._cut.append(WorkWaits(running.chat, running.seen))
        verdict = decide.after_end(end, crashes_count=self._crashes.count(running.chat, end))
        if not isinstance(verdict, Forget):
            self._settle(running.chat, running.holder, verdict)
        if self.slots.is_awaited:
            self._look()

    def _settle(self, chat: ChatId, holder: Holder, verdict: GiveBack | Park) -> None:
        if len(self._settling) < SETTLING_MAX:
            self._settling.add(holder.runner)
            self._tasks.start_soon(self._settle_and_tell, chat, holder, verdict)

    async def _settle_and_tell(
        self, chat: ChatId, holder: Holder, verdict: GiveBack | Park
    ) -> None:
        deps = self._deps
        done = await settle(chat, holder, verdict, ledger=deps.ledger, reading=deps.reading)
        self.address.cast(ChatSettled(holder.runner, done))

    def _keep_away(self, runner: RunnerId) -> None:
        """Keep holding the chat without running it, so that it does not break one process after the
        other."""
        self._kept_away[runner] = None
        if len(self._kept_away) > KEPT_AWAY_MAX:
            self._kept_away.popitem(last=False)

    # comparing

    def _compare(self) -> None:
        if self._worker is not None and not self._comparing and not self._draining:
            self._comparing = True
            self._tasks.start_soon(self._read_held, self._worker, frozenset(self._registry.runners))

    async def _read_held(self, worker: WorkerId, known: frozenset[RunnerId]) -> None:
        held: list[tuple[ChatMoved, ...]] = []

        async def read() -> None:
            held.append(await self._deps.leases.held(worker))

        end = await run_child(CausedScope(), read)
        answer = held[0] if self._is_well("compare", end) else None
        self.address.cast(ComparisonEnded(worker, known, answer))

    def _compared(self, compared: ComparisonEnded) -> None:
        self._comparing = False
        if compared.held is None:
            return
        for moved in compared.held:
            running = self._registry.find(moved.runner_id)
            if running is not None and running.note_moved(moved):
                self._note_waiting(running, moved.status)
        here = self._registry.runners | self._settling | self._kept_away.keys()
        found = decide.compare_held(
            compared.held,
            known=compared.known,
            here=here | self.slots.claimed,
            strangers_before=self._strangers,
        )
        for runner in found.missing:
            if (running := self._registry.find(runner)) is not None:
                running.look_again()
        for moved in found.orphans:
            assert moved.runner_id is not None, "it is held by us"
            holder = Holder(compared.worker, moved.runner_id)
            emit("chat.orphaned", "warning", chat=chat_name(moved.chat), runner=holder.runner)
            self._settle(moved.chat, holder, GiveBack(0))
        self._strangers = frozenset(m.runner_id for m in found.strangers if m.runner_id)

    # the lease

    def _lease_begun(self, worker: WorkerId) -> None:
        emit("lease.begun", "info", worker=worker)
        self._worker = worker
        self._strangers = frozenset()
        self.slots.open(worker)
        self.slots.search_widely()
        self.first_lease.set()
        self._look()

    def _lease_lost(self, worker: WorkerId) -> None:
        emit("lease.lost", "warning", worker=worker, chats=len(self._registry))
        self._worker = None
        self._kept_away.clear()
        self.slots.close()
        self._registry.stop(LeaseExpired())

    async def _beat(self) -> None:
        end = await run_child(self._beating, self._heartbeat.run)
        self._beaten.set()
        if isinstance(end, Crashed | Broken):
            raise end.error

    # stopping

    def _drain(self, children: Children) -> None:
        if self._draining:
            self._registry.stop(Shutdown())
            return
        self._draining = True
        self._drained_since, self._drained_count = now(), len(self._registry)
        self.slots.close()
        self._tasks.start_soon(self._drain_and_leave, children)

    async def _drain_and_leave(self, children: Children) -> None:
        await children.stop(Shutdown())
        self._beating.cancel(Shutdown())
        await self._beaten.wait()  # a beat behind it would bring the lease back
        worker = self._worker
        if worker is not None:
            leave = partial(self._deps.leases.leave, worker)
            self._is_well("leave", await run_child(CausedScope(seconds=LEAVE_SECONDS), leave))
        self.address.cast(DrainEnded())

    def _has_drained(self) -> None:
        self._drained = True
        seconds = round(now() - self._drained_since, 3)
        chats, cut = self._drained_count, len(self._cut)
        emit("supervisor.drained", "info", seconds=seconds, chats=chats, cut=cut)
        for waits in self._cut[:1]:  # a process that comes for one finds the others
            self._deps.bus.tell(waits)

    # asking the store again and again

    async def _poll(self, seconds: float, hint: Callable[[Address[SupervisorMail]], bool]) -> None:
        while True:
            await trio.sleep(seconds)
            hint(self.address)

    def _is_well(self, what: str, end: End) -> bool:
        """Tell whether the store answered. If it did not, the poll asks again."""
        if isinstance(end, Broken):
            raise end.error
        if isinstance(end, Finished):
            del self._unanswered[what]
            return True
        self._failed_count += 1
        count = self._unanswered[what]
        self._unanswered[what] += 1
        if count % UNANSWERED_LOGGED == 0:
            why = repr(end.error) if isinstance(end, Crashed) else "it took too long"
            emit("supervisor.unanswered", "warning", what=what, count=count + 1, why=why)
        return False
