"""A mailbox against a plain list: any order of everything that can happen to it.

The machine runs one step at a time; the mailbox lives in a trio run that goes on between steps, as
a guest whose callbacks are worked off until all its tasks are blocked.
"""

from collections.abc import Callable
from queue import SimpleQueue

import pytest
import trio
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)
from trio.testing import MockClock, wait_all_tasks_blocked

from runtime.ends import Shutdown
from runtime.errors import ActorGone, MailboxFull, Misuse, NoAnswer
from runtime.mailbox import open_mailbox
from runtime.scope import CausedScope

STEP_SECONDS_MAX = 60  # of real time; a step that takes longer has hung


class SteppedRun:
    """A trio run that does one thing at a time and then waits until its tasks are blocked."""

    def __init__(self):
        self.clock = MockClock()
        self._callbacks = SimpleQueue()
        self._ended = []
        trio.lowlevel.start_guest_run(
            self._main,
            run_sync_soon_threadsafe=self._callbacks.put,
            done_callback=self._ended.append,
            clock=self.clock,
        )
        self._work_off(lambda: hasattr(self, "nursery"))

    async def _main(self):
        self._send, steps = trio.open_memory_channel(1)
        async with trio.open_nursery() as self.nursery:
            async for step, results in steps:
                try:
                    results.append((step(), None))
                except Exception as error:  # noqa: BLE001  raised in the test's own frame
                    results.append((None, error))
                await wait_all_tasks_blocked()
                results.append("blocked")
            self.nursery.cancel_scope.cancel()

    def _work_off(self, until: Callable[[], bool]):
        while not until():
            self._callbacks.get(timeout=STEP_SECONDS_MAX)()

    def do(self, step):
        """Run `step()` inside the run, until nothing moves any more; return what it returned."""
        results = []
        self._callbacks.put(lambda: self._send.send_nowait((step, results)))
        self._work_off(lambda: "blocked" in results or bool(self._ended))
        if self._ended:
            self._ended[0].unwrap()
        result, error = results[0]
        if error is not None:
            raise error
        return result

    def end(self):
        if not self._ended:
            self._callbacks.put(self._send.close)
            self._work_off(lambda: bool(self._ended))
        self._ended[0].unwrap()


class Asker:
    """One ask in the model: its mail, its scope, what came of it, and what should have."""

    def __init__(self, ends_at):
        self.ends_at = ends_at
        self.scope = CausedScope()
        self.reply = None
        self.answered = False
        self.came_of_it = None
        self.expected = None  # while it is open


class MailboxModel(RuleBasedStateMachine):
    """M2, M4, M5, M7, B1, B2, H1, H2, H3, H4, H5, A1, A2, A3, A4, A6, L1: the list is right."""

    asks_in_hand = Bundle("asks_in_hand")

    @initialize(capacity=st.integers(1, 4), hint_capacity=st.integers(1, 3))
    def open(self, capacity, hint_capacity):
        self.run = SteppedRun()
        self.address, self.mailbox = open_mailbox(
            "box", capacity=capacity, hint_capacity=hint_capacity
        )
        self.queue = []  # ("mail" | "hint" | "ask", content)
        self.askers = []
        self.reader = None  # the scope of a task that waits for mail
        self.received = []  # what that task got
        self.closed = False
        self.lost = 0

    def teardown(self):
        if hasattr(self, "run"):
            self.run.do(self.mailbox.close)
            self.run.end()

    def count(self, *kinds):
        return sum(kind in kinds for kind, _ in self.queue)

    def refusal(self):
        """What a cast or an ask should raise now."""
        if self.closed:
            return ActorGone
        full = self.count("mail", "ask") >= self.mailbox.capacity
        return MailboxFull if full else None

    def put(self, kind, content):
        """The model's half of sending: a reader that waits has it at once."""
        if self.reader is None:
            self.queue.append((kind, content))
            return multiple()
        self.reader = None
        assert [content] == self.received
        self.received = []
        return content if kind == "ask" else multiple()

    @rule(content=st.integers(0, 3))
    def cast(self, content):
        refusal = self.refusal()
        if refusal is not None:
            with pytest.raises(refusal):
                self.run.do(lambda: self.address.cast(content))
            return
        self.run.do(lambda: self.address.cast(content))
        self.put("mail", content)

    @rule(content=st.integers(0, 3))
    def hint(self, content):
        waits = ("hint", content) in self.queue
        room = self.count("hint") < self.mailbox.hint_capacity

        answer = self.run.do(lambda: self.address.hint(content))

        assert (not self.closed and (waits or room)) == answer
        if answer and not waits:
            self.put("hint", content)

    @rule(target=asks_in_hand, seconds=st.sampled_from([1, 5, 30]))
    def ask(self, seconds):
        refusal = self.refusal()
        asker = Asker(self.run.clock.current_time() + seconds)

        def mail(reply):
            asker.reply = reply
            return asker

        async def ask():
            with asker.scope:
                try:
                    asker.came_of_it = await self.address.ask(mail, seconds=seconds)
                except (ActorGone, MailboxFull, NoAnswer, LookupError) as error:
                    asker.came_of_it = type(error)

        self.run.do(lambda: self.run.nursery.start_soon(ask))

        self.askers.append(asker)
        if refusal is None:
            return self.put("ask", asker)
        asker.expected = refusal
        return multiple()

    @precondition(lambda self: self.reader is None)
    @rule(target=asks_in_hand, at_most=st.integers(0, 4))
    def take(self, at_most):
        """Receive (at_most 0) or drain; if there is nothing, a task goes on waiting."""

        async def read():
            with scope:
                try:
                    took = (
                        await self.mailbox.drain(at_most)
                        if at_most
                        else [await self.mailbox.receive()]
                    )
                except Misuse as misuse:
                    took = [misuse]
                self.received.extend(took)

        scope = CausedScope()
        self.run.do(lambda: self.run.nursery.start_soon(read))

        taken, self.received = self.received, []
        if self.closed:
            assert [Misuse] == [type(misuse) for misuse in taken]
            return multiple()
        count = min(max(1, at_most), len(self.queue))
        expected, self.queue = self.queue[:count], self.queue[count:]
        assert [content for _, content in expected] == taken
        if not taken:
            self.reader = scope
        return multiple(*[content for kind, content in expected if kind == "ask"])

    @precondition(lambda self: self.reader is not None)
    @rule()
    def cancel_the_reader(self):
        self.run.do(lambda: self.reader.cancel(Shutdown()))

        assert self.received == []
        self.reader = None

    @rule(asker=asks_in_hand, fails=st.booleans())
    def answer(self, asker, fails):
        def answer():
            return asker.reply.fail(LookupError()) if fails else asker.reply.put("answer")

        if asker.answered:
            with pytest.raises(Misuse):
                self.run.do(answer)
            return
        wanted = asker.expected is None
        assert wanted == asker.reply.wanted
        asker.answered = True

        assert wanted == self.run.do(answer)
        if wanted:
            asker.expected = LookupError if fails else "answer"

    @rule(data=st.data())
    @precondition(lambda self: self.askers)
    def cancel_an_asker(self, data):
        asker = data.draw(st.sampled_from(self.askers))

        self.run.do(lambda: asker.scope.cancel(Shutdown()))

        if asker.expected is None:
            asker.expected = "cancelled"
            assert Shutdown() == asker.scope.interrupted_by

    @rule(seconds=st.sampled_from([1, 4, 10]))
    def time_passes(self, seconds):
        self.run.do(lambda: self.run.clock.jump(seconds))

        for asker in self.askers:
            if asker.expected is None and asker.ends_at <= self.run.clock.current_time():
                asker.expected = NoAnswer

    @rule(for_good=st.sampled_from([False, False, True]))
    def a_life_ends(self, for_good):
        self.run.do(self.mailbox.close if for_good else self.mailbox.abandon)

        self.closed = self.closed or for_good
        self.lost += len(self.queue)
        self.queue = []
        if for_good and self.reader is not None:
            self.reader = None
            assert [Misuse] == [type(misuse) for misuse in self.received]
            self.received = []
        for asker in self.askers:
            if asker.expected is None:
                asker.expected = ActorGone

    @invariant()
    def every_ask_came_to_what_it_should(self):
        for asker in getattr(self, "askers", ()):
            expected = None if asker.expected == "cancelled" else asker.expected
            assert expected == asker.came_of_it

    @invariant()
    def the_counts_agree(self):
        if not hasattr(self, "mailbox"):
            return
        record = self.mailbox.statistics()
        assert self.count("mail", "ask") == record.waiting
        assert self.count("hint") == record.hints_waiting
        assert sum(asker.expected is None for asker in self.askers) == record.asks_open
        assert self.lost == record.lost_count
        assert self.closed == record.closed


TestMailbox = pytest.mark.slow(MailboxModel.TestCase)
TestMailbox.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
