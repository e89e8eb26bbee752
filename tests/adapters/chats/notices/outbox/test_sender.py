"""The sender in virtual time: when it tries, how often, and what two of them do."""

from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from uuid import UUID

import pytest
import trio

from adapters.chats.notices.outbox.deliveries import (
    HOUR,
    RETRY_AFTER_SECONDS_MAX,
    WAITS,
    Delivered,
    DeliveryState,
    LeftOut,
    Receiver,
    Refused,
    TargetGone,
    settlement_of,
    wait_seconds,
)
from adapters.chats.notices.outbox.sender import (
    CLAIM_SECONDS,
    LATE_SECONDS,
    OF_TARGET_MAX,
    POLL_SECONDS,
    SEND_SECONDS,
    SENDS_MAX,
    Sender,
)
from tests.fakes.outbox import MemoryOutbox

BEGAN = datetime(2030, 1, 1, tzinfo=UTC)
ONE, TWO = UUID(int=1), UUID(int=2)


def clock():
    return BEGAN + timedelta(seconds=trio.current_time())


class Receivers:
    """What was sent to receivers, when, and what they answer."""

    def __init__(self, *answers):
        self.answers = list(answers) or [Delivered(200)]
        self.came = []
        self.slow = {}  # receiver: seconds until it answers

    async def send(self, delivery):
        self.came.append((trio.current_time(), delivery))
        await trio.sleep(self.slow.get(delivery.target_id, 0))
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def count(self, target):
        return sum(delivery.target_id == target for _, delivery in self.came)


@asynccontextmanager
async def sending(outbox, receivers, **how):
    sender = Sender(outbox, receivers.send, chance=lambda: 0.0, **how)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(sender.run)
        yield sender
        nursery.cancel_scope.cancel()


@pytest.fixture
def outbox():
    return MemoryOutbox(clock)


async def test_what_fails_is_tried_ten_times_within_three_days_and_then_given_up(
    outbox, autojump_clock
):
    receivers = Receivers(Refused("it answered 500", 500))
    outbox.add("an event", "ended", ONE)

    async with sending(outbox, receivers) as sender:
        await trio.sleep(100 * HOUR)

        times = [at for at, _ in receivers.came]
        between = [later - sooner for sooner, later in pairwise(times)]
        assert between == pytest.approx(WAITS[Receiver.WEBHOOK], abs=2 * POLL_SECONDS)
        assert 71 * HOUR < times[-1] < 72 * HOUR
        [row] = outbox.rows.values()
        assert DeliveryState.FAILED is row.state
        assert 1 == len({delivery.event_id for _, delivery in receivers.came})
        assert {"webhook": 1} == sender.statistics().given_up_count
        assert {"webhook": 10} == sender.statistics().refused_count


async def test_a_commit_that_has_something_to_deliver_is_heard_at_once(outbox, autojump_clock):
    receivers = Receivers()
    async with sending(outbox, receivers) as sender:
        await trio.sleep(1)
        outbox.add("an event", "ended", ONE)
        began = trio.current_time()

        sender.wake()
        await trio.sleep(1)

        [(at, _)] = receivers.came
        assert at - began < 0.1


async def test_a_wake_up_that_was_lost_costs_a_poll(outbox, autojump_clock):
    receivers = Receivers()
    async with sending(outbox, receivers):
        await trio.sleep(1)
        outbox.add("an event", "ended", ONE)

        await trio.sleep(POLL_SECONDS)

        assert 1 == len(receivers.came)


async def test_idle_senders_ask_four_times_a_minute(outbox, autojump_clock):
    async with sending(outbox, Receivers()) as sender:
        await trio.sleep(600)

        assert sender.statistics().claims_count <= 1 + 600 / POLL_SECONDS


async def test_a_receiver_that_hangs_takes_no_place_of_others(outbox, autojump_clock):
    receivers = Receivers()
    receivers.slow[ONE] = 10 * SEND_SECONDS
    outbox.targets = [ONE, TWO]
    for number in range(40):
        outbox.add(f"event {number}", "ended", ONE)
        outbox.add(f"event {number}", "ended", TWO)

    async with sending(outbox, receivers) as sender:
        await trio.sleep(SEND_SECONDS / 2)

        assert 40 == receivers.count(TWO)
        assert OF_TARGET_MAX == receivers.count(ONE)
        assert OF_TARGET_MAX == sender.statistics().sending < SENDS_MAX
        await trio.sleep(SEND_SECONDS)
        waiting = [row for row in outbox.rows.values() if row.state is DeliveryState.WAITING]
        assert 40 == len(waiting)  # no answer within the limit counts as none


async def test_a_sender_that_dies_before_it_notes_is_followed_by_another_with_the_same_id(
    outbox, autojump_clock
):
    receivers = Receivers()
    outbox.add("an event", "ended", ONE)

    class Stuck:
        claim = outbox.claim

        async def settle(self, settlement):
            await trio.sleep_forever()

    async with sending(Stuck(), receivers):
        await trio.sleep(1)
    async with sending(outbox, receivers):
        await trio.sleep(CLAIM_SECONDS - 5)
        assert 1 == len(receivers.came)
        await trio.sleep(10 + POLL_SECONDS)

        [(_, first), (_, second)] = receivers.came
        assert first.event_id == second.event_id
        [row] = outbox.rows.values()
        assert DeliveryState.DELIVERED is row.state


async def test_a_note_that_comes_after_another_claim_is_not_taken(outbox, autojump_clock):
    outbox.add("an event", "ended", ONE)
    [late], _ = await outbox.claim(1, busy=())
    await trio.sleep(CLAIM_SECONDS + 1)
    [mine], _ = await outbox.claim(1, busy=())

    assert not await outbox.settle(settlement_of(late, Delivered(200), chance=0.0))
    assert await outbox.settle(settlement_of(mine, Refused("no"), chance=0.0))
    [row] = outbox.rows.values()
    assert DeliveryState.WAITING is row.state


async def test_two_senders_send_everything_once(outbox, autojump_clock):
    receivers = Receivers()
    for number in range(100):
        outbox.add(f"event {number}", "ended", ONE)

    async with sending(outbox, receivers), sending(outbox, receivers):
        await trio.sleep(60)

    assert 100 == len(receivers.came) == len({delivery.id for _, delivery in receivers.came})


async def test_a_sender_that_leaves_ends_what_is_on_its_way_and_claims_no_more(
    outbox, autojump_clock
):
    receivers = Receivers()
    receivers.slow[ONE] = 3
    outbox.add("an event", "ended", ONE)
    sender = Sender(outbox, receivers.send, chance=lambda: 0.0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(sender.run)
        await trio.sleep(1)
        outbox.add("another", "ended", TWO)

        sender.leave()

    assert [DeliveryState.DELIVERED, DeliveryState.WAITING] == [
        row.state for row in outbox.rows.values()
    ]


async def test_a_store_that_is_away_is_asked_again(outbox, autojump_clock):
    receivers, asked = Receivers(), []
    outbox.add("an event", "ended", ONE)

    class Away:
        async def claim(self, count, *, busy):
            asked.append("claim")
            if len(asked) < 3:
                raise OSError("away")
            return await outbox.claim(count, busy=busy)

        async def settle(self, settlement):
            asked.append("settle")
            if asked.count("settle") < 3:
                raise OSError("away")
            return await outbox.settle(settlement)

    async with sending(Away(), receivers):
        await trio.sleep(30)

    assert 1 == len(receivers.came)
    [row] = outbox.rows.values()
    assert DeliveryState.DELIVERED is row.state


async def test_what_is_due_for_long_and_not_claimed_is_told(outbox, autojump_clock):
    late = [0.0]

    class Behind:
        async def claim(self, count, *, busy):
            return [], -late[0]

    async with sending(Behind(), Receivers()) as sender:
        await trio.sleep(1)
        on_time = await sender.delay()
        late[0] = LATE_SECONDS + 7
        await trio.sleep(POLL_SECONDS + 1)

        assert None is on_time
        assert "have been due for 307 s" in await sender.delay()
        assert LATE_SECONDS + 7 == sender.statistics().late_seconds


@pytest.mark.parametrize("target", Receiver)
def test_waits_grow_and_are_shortened_by_a_tenth_at_most(target):
    waits = [wait_seconds(target, attempts, chance=0.0) for attempts in range(1, 20)]
    shortest = [wait_seconds(target, attempts, chance=1.0) for attempts in range(1, 20)]

    tries = len(WAITS[target])
    assert all(wait is None for wait in waits[tries:])
    assert waits[:tries] == sorted(waits[:tries])
    assert all(b == pytest.approx(0.9 * a) for a, b in zip(waits, shortest, strict=True) if a)


async def test_what_an_attempt_leads_to(outbox, autojump_clock):
    outbox.add("an event", "ended", ONE)
    [delivery], _ = await outbox.claim(1, busy=())
    settled = partial(settlement_of, delivery, chance=0.0)

    late = settled(Refused("busy", 429, retry_after_seconds=3600.0))
    assert (DeliveryState.WAITING, 3600.0) == (late.state, late.due_seconds)
    too_late = settled(Refused("busy", 429, retry_after_seconds=1e9))
    assert RETRY_AFTER_SECONDS_MAX == too_late.due_seconds
    assert (5.0, True) == (settled(Refused("no")).due_seconds, settled(Refused("no")).has_failed)
    gone = settled(TargetGone("gone", 410))
    assert (DeliveryState.FAILED, True, True) == (gone.state, gone.is_gone, gone.has_failed)
    assert DeliveryState.LEFT_OUT is settled(LeftOut("it is watched")).state
    assert not settled(Delivered(200)).has_failed


async def test_to_users_who_are_not_let_in_nothing_is_sent(outbox, autojump_clock):
    receivers = Receivers()
    outbox.add("an event", "ended", ONE)
    [row] = outbox.rows.values()
    row.delivery = replace(row.delivery, is_shut=True)

    async with sending(outbox, receivers) as sender:
        await trio.sleep(1)

        assert [] == receivers.came
        assert DeliveryState.LEFT_OUT is row.state
        assert 1 == sender.statistics().left_out_count
