"""The actor that gives money back: what it keeps over faults and crashes, and its bounds."""

from uuid import uuid4

import pytest
import trio

from actors.chat.turn.ports import Model
from actors.law.ids import ChatId
from actors.law.parts.message import Reservation, TextPart
from actors.law.parts.prompt import CallSettings, Prompt, UserInput
from adapters.models.costs import ModelPrices
from adapters.models.settings import SPEND_LIMITED, DeploymentSettings
from adapters.models.spend import budgets as tried
from adapters.models.spend.budgets import PostgresBudgets
from adapters.postgres.driver.faults import DatabaseGone
from runtime.children import Child, open_children
from runtime.restart import Restart

SWEEP_SECONDS = 5.0
LIMITED = DeploymentSettings({SPEND_LIMITED: True})
MODEL = Model(None, None, "", "openai", "some", CallSettings())
PROMPT = Prompt("some", (UserInput((TextPart("hello"),)),))


class FaultyStore:
    """A store that fails as often as it is told, and keeps what it was given."""

    def __init__(self, *faults):
        self.faults = list(faults)
        self.given = []
        self.meanwhile = []  # what to do while a later one is given back

    async def give_back(self, reservations):
        await trio.lowlevel.checkpoint()
        if self.given and self.meanwhile:
            await self.meanwhile.pop()()
        if self.faults:
            raise self.faults.pop(0)
        self.given += reservations
        return len(reservations)

    async def reserve(self, call, default):
        await trio.lowlevel.checkpoint()
        raise self.faults.pop(0)

    async def sweep(self):
        await trio.lowlevel.checkpoint()
        return 0

    async def recount(self, default):
        await trio.lowlevel.checkpoint()
        return 0

    async def forget(self):
        await trio.lowlevel.checkpoint()


def some_budgets(store):
    async def settings():
        await trio.lowlevel.checkpoint()
        return LIMITED

    prices = ModelPrices(lambda provider, model, usage: None)
    return PostgresBudgets(
        store, prices, settings=settings, worker=lambda: None, sweep_seconds=SWEEP_SECONDS
    )


def held(count):
    return [Reservation(uuid4(), None, None, 1) for _ in range(count)]


async def gave_back(budgets, reservations, *, seconds=60.0):
    """Run the actor, as a process does, for so long by a clock that jumps."""
    async with open_children("spending", capacity=1) as children:
        children.start(Child(name="budgets", body=budgets.run, restart=Restart()))
        for one in reservations:
            budgets.give_back(one, is_spent=False)
        await trio.sleep(seconds)


@pytest.mark.parametrize("fault", [DatabaseGone("away"), RuntimeError("a defect")])
async def test_what_is_to_be_given_back_outlives_a_fault_and_a_crash(fault, autojump_clock):
    store, reservations = FaultyStore(fault), held(tried.TOGETHER_MAX + 3)

    await gave_back(budgets := some_budgets(store), reservations)

    assert [(one.id, False) for one in reservations] == store.given
    assert (len(reservations), 0) == _counts(budgets)


async def test_what_crashes_the_actor_each_time_is_left_and_the_next_is_given_back(autojump_clock):
    faults = [RuntimeError("a defect")] * tried.TRIES_MAX
    store, reservations = FaultyStore(*faults), held(tried.TOGETHER_MAX + 3)

    await gave_back(budgets := some_budgets(store), reservations)

    assert [(one.id, False) for one in reservations[-3:]] == store.given
    assert (3, tried.TOGETHER_MAX) == _counts(budgets)


async def test_a_call_without_an_answer_is_given_back_again_when_it_can_do_nothing_any_more(
    autojump_clock,
):
    store = FaultyStore(DatabaseGone("no answer"))
    budgets = some_budgets(store)
    with pytest.raises(DatabaseGone):
        await budgets.reserve(ChatId(uuid4()), MODEL, PROMPT, "answer")

    await gave_back(budgets, [], seconds=tried.UNANSWERED_SECONDS + 2 * SWEEP_SECONDS)

    [at_once, later] = store.given
    assert at_once == later


async def test_of_calls_without_an_answer_the_oldest_are_forgotten_at_the_bound(
    autojump_clock, monkeypatch
):
    monkeypatch.setattr(tried, "UNANSWERED_MAX", 2)
    store = FaultyStore(*[DatabaseGone("no answer")] * 3)
    budgets = some_budgets(store)
    for _ in range(3):
        with pytest.raises(DatabaseGone):
            await budgets.reserve(ChatId(uuid4()), MODEL, PROMPT, "answer")

    await gave_back(budgets, [], seconds=tried.UNANSWERED_SECONDS + 2 * SWEEP_SECONDS)

    first, *others = store.given[:3]
    assert others == store.given[3:]
    assert first not in others
    assert (5, 1) == _counts(budgets)


async def test_a_call_that_gets_no_answer_while_older_ones_are_swept_is_swept_later(
    autojump_clock, monkeypatch
):
    monkeypatch.setattr(tried, "UNANSWERED_MAX", 1)
    store = FaultyStore()
    budgets = some_budgets(store)

    async def reserve():
        store.faults.append(DatabaseGone("no answer"))
        with pytest.raises(DatabaseGone):
            await budgets.reserve(ChatId(uuid4()), MODEL, PROMPT, "answer")

    await reserve()
    store.meanwhile.append(reserve)  # it takes the place of the one that is being swept

    await gave_back(budgets, [], seconds=2 * tried.UNANSWERED_SECONDS + 4 * SWEEP_SECONDS)

    assert [2, 2] == [store.given.count(each) for each in dict.fromkeys(store.given)]


def _counts(budgets):
    counted = budgets.statistics()
    return counted.given_back_count, counted.missed_count
