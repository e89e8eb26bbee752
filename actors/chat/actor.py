"""The chat actor: the shell around `decide`.

One task reads the mailbox and waits for nothing else. One piece of work at a time runs in a task
and a scope of its own, and its end comes back as mail; so does a look at the store. Only the
mailbox task touches the state.
"""

from dataclasses import replace
from functools import partial
from typing import assert_never

import trio

from actors.chat.api import ChatMail, ChatRead, DrainNow, LookAgain, NothingAtStake, WorkEnded
from actors.chat.decide import Begin, Cancel, InFlight, KeepGoing, LeaveChat, decide
from actors.chat.interruption import interrupt
from actors.chat.turn.commits import Committed, commit, end_with_error
from actors.chat.turn.deps import TurnDeps
from actors.chat.turn.generation import generate
from actors.chat.turn.work import (
    AtStake,
    Gone,
    HeldChat,
    LetGo,
    Outcome,
    WorkAdvanced,
    WorkCutShort,
    WorkFailed,
    WorkKind,
    WorkObsolete,
    WorkPoisoned,
    newest_of,
    without_attempt,
)
from actors.chat.waits import await_attempt, await_client
from actors.law.chat import ChatError, StoredChat
from actors.law.ids import Holder, chat_name
from actors.law.requests import Abandon, FinishError
from actors.law.store.ports import StoreUnavailable
from runtime import ends
from runtime.backoff import delay_seconds
from runtime.children import run_child
from runtime.ends import Cause, Shutdown
from runtime.log import emit
from runtime.mailbox import Address, Mailbox, open_mailbox
from runtime.scope import CausedScope

# At most one look and one end of work lie in the mailbox, so there is always room for them; the
# rest is for drains: more of them are refused, and cancel at once. Hints do not count.
MAILBOX_CAPACITY = 8
MAIL_AT_ONCE_MAX = 8
FAILURE_FIRST_SECONDS = 0.1  # pause before what failed around the edges is tried again
FAILURE_CAP_SECONDS = 5.0
LEAVE_SECONDS = 5.0  # for giving the chat back while the process stops; then it goes with its lease
# Attempts that failed here in a row, and not because of the provider; then the chat is stopped. An
# attempt that could not be counted, or whose store was away, busy or full, is not among them.
FAULTS_MAX = 25

KEEPS_FAILING = ChatError(
    f"The chat has been stopped: its next step failed {FAULTS_MAX} times in a row because of a"
    " fault in the server, not at the provider. Send a message to try again. The daemon's log says"
    " why, under work.failed."
)


class ChatActor:
    """The actor of one chat, for as long as this process holds it."""

    def __init__(self, me: Holder, held: HeldChat, deps: TurnDeps) -> None:
        self.chat = held.stored.chat.id
        self.name = chat_name(self.chat)
        self.address: Address[ChatMail]
        self.mailbox: Mailbox[ChatMail]
        self.address, self.mailbox = open_mailbox(self.name, capacity=MAILBOX_CAPACITY)
        self._me = me
        self._held = held
        self._deps = deps
        self._in_flight: InFlight | None = None
        self._scope = CausedScope()  # of the work in flight
        self._at_stake = AtStake()  # in it
        self._failures_count = 0  # in a row
        # The attempt that was counted at the first failure that was no fault of the store; None:
        # there was none yet.
        self._failing_since: int | None = None
        self._looking = False
        self._look_again = False
        self._draining = False
        self._left = False  # nothing more is begun; over when nothing is in flight
        self._cause: Cause | None = None

    async def run(self) -> Cause | None:
        """Drive the chat until it is at rest, taken or given back. Return why it was left in the
        middle of its work, if it was."""
        async with trio.open_nursery() as tasks:
            self._step(tasks)
            while not (self._left and self._in_flight is None):
                for mail in await self.mailbox.drain(MAIL_AT_ONCE_MAX):
                    self._receive(mail, tasks)
            tasks.cancel_scope.cancel()
        return self._cause

    def _receive(self, mail: ChatMail, tasks: trio.Nursery) -> None:
        match mail:
            case LookAgain():
                self._look(tasks)
            case ChatRead():
                self._looked(mail.stored, tasks)
            case WorkEnded(outcome):
                self._work_ended(outcome, tasks)
            case NothingAtStake():
                self._step(tasks)
            case DrainNow():
                self._draining = True
                self._bound_leaving()
                self._step(tasks)
            case _:
                assert_never(mail)

    # the rules

    def _step(self, tasks: trio.Nursery) -> None:
        if self._left:
            return
        chat = self._held.stored.chat
        in_flight = self._in_flight
        if in_flight is not None:
            in_flight = replace(in_flight, at_stake=bool(self._at_stake))
        decision = decide(
            self._me,
            chat,
            in_flight,
            draining=self._draining,
            keeps_failing=self._faults_count >= FAULTS_MAX,
        )
        match decision:
            case KeepGoing():
                pass
            case Begin(kind):
                self._begin(kind, tasks)
            case Cancel(cause):
                self._scope.cancel(cause)
            case LeaveChat(cause):
                self._leave(cause)
            case _:
                assert_never(decision)

    @property
    def _faults_count(self) -> int:
        """Return how many attempts have failed here in a row, neither because of the provider nor
        because the store was away."""
        if self._failing_since is None:
            return 0
        return self._held.stored.chat.generation_attempt - self._failing_since + 1

    def _leave(self, cause: Cause | None) -> None:
        self._left = True
        self._cause = cause
        if cause is not None:
            self._scope.cancel(cause)

    def _work_ended(self, outcome: Outcome, tasks: trio.Nursery) -> None:
        is_leaving, self._in_flight = self._is_leaving, None
        self._held = without_attempt(self._held)  # whatever came of it, it is used up
        if not isinstance(outcome, WorkFailed):
            self._failures_count = 0
            self._failing_since = None
        match outcome:
            case WorkAdvanced(held):
                self._held = newest_of(self._held, held)
                self._step(tasks)
            case WorkCutShort(cause):
                if is_leaving and isinstance(cause, Shutdown):  # it took too long
                    self._leave(cause)  # its process leaves, and that gives it back, too
                self._step(tasks)
            case WorkObsolete():
                self._look(tasks)
            case WorkFailed(error):
                emit("work.failed", "warning", chat=self.name, error=error)
                if isinstance(error, StoreUnavailable):
                    self._failing_since = None
                elif self._failing_since is None:
                    self._failing_since = self._held.stored.chat.generation_attempt
                self._failures_count += 1
                self._look(tasks)
            case LetGo():
                self._leave(None)
            case WorkPoisoned(error):
                raise error  # a failed assertion: the actor is broken, its supervisor sees to it
            case _:
                assert_never(outcome)

    # the work in flight

    def _begin(self, kind: WorkKind, tasks: trio.Nursery) -> None:
        chat = self._held.stored.chat
        if kind is WorkKind.AWAIT_CLIENT:
            # That may take days, and most answers move the history: it is read again then.
            self._held = HeldChat(self._held.stored)
            self._deps.prompts.forget(self.chat)
        self._in_flight = InFlight(kind, chat.history_version, chat.status, chat.archived)
        self._scope = CausedScope()
        self._at_stake = AtStake(partial(self.address.hint, NothingAtStake()))
        self._bound_leaving()
        tasks.start_soon(self._work, kind, self._held, self._scope, self._at_stake)

    @property
    def _is_leaving(self) -> bool:
        return self._in_flight is not None and self._in_flight.kind is WorkKind.LEAVE

    def _bound_leaving(self) -> None:
        """Bound how long a process that stops waits for a store that is away."""
        if self._draining and self._is_leaving:
            self._scope.expire_in(LEAVE_SECONDS, Shutdown())

    async def _work(
        self, kind: WorkKind, held: HeldChat, scope: CausedScope, at_stake: AtStake
    ) -> None:
        committed: list[Committed] = []

        async def do() -> None:
            committed.append(await self._do(kind, held, at_stake))

        end = await run_child(scope, do)
        self.address.cast(WorkEnded(_outcome(end, committed)))

    async def _do(self, kind: WorkKind, held: HeldChat, at_stake: AtStake) -> Committed:
        match kind:
            case WorkKind.GENERATE:
                return await generate(held, self._deps, at_stake)
            case WorkKind.INTERRUPT:
                return await interrupt(held, self._deps)
            case WorkKind.AWAIT_CLIENT:
                return await await_client(held, self._deps)
            case WorkKind.AWAIT_ATTEMPT:
                return await await_attempt(held, self._deps)
            case WorkKind.GIVE_UP:
                ended = await end_with_error(held, FinishError(KEEPS_FAILING), self._deps)
                if isinstance(ended, LetGo):
                    emit("chat.failing", "error", chat=self.name, attempts=FAULTS_MAX)
                return ended
            case WorkKind.LEAVE:
                return await commit(held, [Abandon()], self._deps)
            case _:
                assert_never(kind)

    # looking at the store

    def _look(self, tasks: trio.Nursery) -> None:
        """Read the chat anew. Hints that come meanwhile make it read once more, not once each.
        Nothing is read once the chat has been left: hints concern its next holder."""
        if self._left:
            return
        if self._looking:
            self._look_again = True
        else:
            self._looking = True
            tasks.start_soon(self._read, self._failures_count)

    async def _read(self, failures_count: int) -> None:
        """Read what is stored, however long the store is away, and mail it to this actor. A store
        that does not answer is logged once."""
        is_told = False
        while True:
            if failures_count:
                await trio.sleep(_pause(failures_count))
            try:
                found = await self._deps.reading.view(self.chat)
            except Exception as error:  # noqa: BLE001  # the edge of a unit of work: it is repeated
                if not is_told:
                    emit("look.failed", "warning", chat=self.name, error=error)
                is_told = True
                failures_count += 1
                continue
            self.address.cast(ChatRead(found if isinstance(found, StoredChat) else None))
            return

    def _looked(self, stored: StoredChat | None, tasks: trio.Nursery) -> None:
        self._looking = False
        if stored is None:
            self._leave(Gone())
            return
        self._held = newest_of(self._held, HeldChat(stored))
        self._step(tasks)
        if self._look_again:
            self._look_again = False
            self._look(tasks)


def _pause(failures_count: int) -> float:
    return delay_seconds(
        failures_count, first_seconds=FAILURE_FIRST_SECONDS, cap_seconds=FAILURE_CAP_SECONDS
    )


def _outcome(end: ends.End, committed: list[Committed]) -> Outcome:
    """Return how the work ended. Work that finished counts as finished, even if it was told to stop
    at the last moment."""
    match end:
        case ends.Finished():
            [done] = committed
            return done
        case ends.Stopped(cause):
            return WorkCutShort(cause)
        case ends.Crashed(error):
            return WorkFailed(error)
        case ends.Broken(error):
            return WorkPoisoned(error)
        case _:
            assert_never(end)
