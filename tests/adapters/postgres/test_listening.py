"""Listener: nothing is missed without being told so."""

import logging

import pytest
import trio
import trio.testing

from adapters.postgres.driver.listening import SILENCE_SECONDS, Listener
from tests.adapters.postgres.conftest import RUSH, rushing, standing, until
from tests.patience import PATIENCE_SECONDS


class Ear:
    """What a listener said, in order, and a way to wait for it."""

    def __init__(self, conninfo, channels=("news",)):
        self.said = []
        self._more = trio.Event()
        self.listener = Listener(
            conninfo,
            channels,
            heard=lambda channel, payload: self._say((channel, payload)),
            look_at_everything=lambda: self._say("everything"),
        )

    def _say(self, what):
        self.said.append(what)
        self._more.set()
        self._more = trio.Event()

    def has_failed(self, times):
        async def has():
            return self.listener.statistics().failed_in_a_row >= times

        return has

    async def is_deaf(self):
        return not self.listener.statistics().connected

    async def has_said(self, *expected):
        with trio.fail_after(PATIENCE_SECONDS):
            while list(expected) != self.said:
                assert self.said == list(expected)[: len(self.said)]
                await self._more.wait()


@pytest.fixture
async def ear(network, nursery):
    """Ends with its test, before the network does."""
    ear = Ear(network.conninfo)
    nursery.start_soon(ear.listener.listen)
    await ear.has_said("everything")
    return ear


async def test_it_looks_at_everything_first_and_then_hears(ear, witness):
    await witness.execute("NOTIFY news, 'one'")
    await witness.execute("NOTIFY other, 'not for us'")
    await witness.execute("NOTIFY news, 'two'")

    await ear.has_said("everything", ("news", "one"), ("news", "two"))


async def test_a_channel_may_have_any_name(network, nursery, witness):
    ear = Ear(network.conninfo, ['Wëird "name"', "plain"])
    nursery.start_soon(ear.listener.listen)
    await ear.has_said("everything")

    await witness.run([("SELECT pg_notify(%s, 'x')", ('Wëird "name"',)), ("NOTIFY plain", ())])

    await ear.has_said("everything", ('Wëird "name"', "x"), ("plain", ""))


async def test_after_a_cut_it_looks_at_everything_again(
    ear, network, witness, rushing_clock, caplog
):
    with caplog.at_level(logging.WARNING):
        with standing(rushing_clock):  # it does not come back before others have told something
            network.cut()
            await witness.execute("NOTIFY news, 'lost'")
        await ear.has_said("everything", "everything")
    await witness.execute("NOTIFY news, 'heard'")

    await ear.has_said("everything", "everything", ("news", "heard"))
    assert [record.message for record in caplog.records] == ["listener.lost"]
    assert ear.listener.statistics().connected_count == 2


async def test_it_waits_longer_between_attempts(ear, network, rushing_clock, caplog):
    network.refusing = True
    with caplog.at_level(logging.WARNING):
        network.cut()
        with rushing(rushing_clock):
            await until(ear.has_failed(10), seconds=RUSH * PATIENCE_SECONDS)
        waits = [record.fields["retry_seconds"] for record in caplog.records]
    network.refusing = False

    await ear.has_said("everything", "everything")
    assert waits[0] <= 0.05
    assert 2.5 <= waits[9] <= 5.0
    assert ear.listener.statistics().failed_in_a_row == 0


async def test_a_server_that_vanished_is_noticed(ear, network, rushing_clock):
    network.hold()
    since = trio.current_time()

    while not await ear.is_deaf():
        await trio.testing.wait_all_tasks_blocked()
        rushing_clock.jump(0.1)
    noticed = trio.current_time() - since
    network.release()

    assert 15 <= noticed <= 15 + 5 + 5 + 10
    await ear.has_said("everything", "everything")


async def test_silence_is_not_taken_for_death(ear, network, witness, rushing_clock):
    async def is_answered():
        return network.said["S"] > asked and network.to_client > heard

    for _ in range(7):
        asked, heard = network.said["S"], network.to_client
        rushing_clock.jump(SILENCE_SECONDS)
        await until(is_answered)
        await trio.testing.wait_all_tasks_blocked(0.01)  # the answer has come, and is read now
    await witness.execute("NOTIFY news, 'late'")

    await ear.has_said("everything", ("news", "late"))
    assert ear.listener.statistics().connected_count == 1


async def test_what_comes_along_with_a_sign_of_life_is_heard(connection, witness):
    await connection.execute("LISTEN news")
    await witness.execute("NOTIFY news, 'along'")
    await connection.execute("SELECT 1")

    with trio.fail_after(PATIENCE_SECONDS):
        assert await connection.hear() == [("news", "along")]


async def test_a_password_that_changed_does_not_end_it(database, no_leaks, nursery):
    ear = Ear(f"{database} user=nobody_we_know")
    nursery.start_soon(ear.listener.listen)

    await until(ear.has_failed(2))

    assert "does not exist" in ear.listener.statistics().last_fault
    nursery.cancel_scope.cancel()


async def test_cancelled_it_leaves_nothing(network, no_leaks):
    ear = Ear(network.conninfo)

    with trio.move_on_after(0.2) as scope:
        await ear.listener.listen()

    assert scope.cancelled_caught
    assert not ear.listener.statistics().connected
