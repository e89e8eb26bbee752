"""What a chat has cost: its messages, what was bought beside them, and what its family cost."""

from uuid import uuid4

import trio

from actors.chat.turn.ports import Model
from actors.law import requests as ask
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import FinishReason
from actors.law.parts.message import UNPRICED, Cost, TextPart, TokenUsage
from actors.law.parts.prompt import CallSettings, Prompt
from actors.upkeep.asking import ask_aside
from adapters.models.costs import Bookkeeper, SideCosts
from tests.actors.law.chats import ANN, assistant
from tests.contracts.given import applied

ONE, TWO = Cost(1, "table"), Cost(2, "override")


async def cost_of(ground, chat):
    answer = await ground.ask(ANN, "GET", f"/{chat}/cost")
    assert 200 == answer.status
    said = answer.said
    whole = [said[f"{name}"] for name in ("total_cost_micros", "request_count")]
    own = [said[f"own_{name}"] for name in ("cost_micros", "request_count")]
    unpriced = [said["unpriced_request_count"], said["own_unpriced_request_count"]]
    beside = {
        each["what"]: (each["cost_micros"], each["request_count"], each["unpriced_request_count"])
        for each in said["beside"]
    }
    return whole, own, unpriced, beside


async def test_a_chat_that_asked_nobody_has_cost_nothing(ground):
    chat = await ground.a_chat(done=False)

    assert ([0, 0], [0, 0], [0, 0], {}) == await cost_of(ground, chat)


async def test_messages_and_what_was_bought_beside_them_are_added_up(ground):
    chat = await ground.a_chat(done=False)
    said = (assistant("a", cost=Cost(10, "table")), assistant("b", cost=UNPRICED), assistant("c"))
    await applied(ground.store.ledger.apply(chat, [ask.CommitStep(said)]))
    costs = SideCosts(ground.store.pool)

    await costs.add(chat, "title", [ONE])
    await costs.add(chat, "title", [ONE, TWO])
    await costs.add(chat, "advice", [UNPRICED, TWO])
    await costs.add(chat, "advice", [UNPRICED])

    beside = {"title": (4, 3, 0), "advice": (2, 3, 2)}
    assert ([16, 8], [16, 8], [3, 3], beside) == await cost_of(ground, chat)


async def test_children_count_for_the_family_and_each_for_itself(ground):
    root = await ground.a_chat("root")
    child, other = [await ground.a_chat(name, parent=root) for name in ("one", "two")]
    await ground.a_chat("another")
    costs = SideCosts(ground.store.pool)
    await costs.add(root, "title", [ONE])
    await costs.add(child, "advice", [Cost(10, "table")])
    await costs.add(other, "advice", [Cost(100, "table"), UNPRICED])

    of_root, of_child = await cost_of(ground, root), await cost_of(ground, child)

    beside = {"title": (1, 1, 0), "advice": (110, 3, 1)}
    assert ([111, 4], [1, 1], [1, 0], beside) == of_root
    assert ([111, 4], [10, 1], [1, 0], beside) == of_child


async def test_of_a_chat_that_is_gone_nothing_is_kept(ground):
    await SideCosts(ground.store.pool).add(uuid4(), "title", [ONE])

    [(count,)] = await ground.store.execute("SELECT count(*) FROM side_costs")
    assert 0 == count


# booking


class Answering:
    """A provider that gives these answers in turn."""

    def __init__(self, *said):
        self.said = list(said)

    async def generate(self, prompt):
        return self.said.pop(0)


class ByInput:
    """The port Prices: a token read costs a millionth."""

    def cost(self, model, usage):
        return UNPRICED if usage.input_tokens is None else Cost(usage.input_tokens, "table")


def a_model(*said):
    return Model(Answering(*said), None, "x", "openai", "m", CallSettings())


def answer(tokens):
    return ModelAnswer((TextPart("yes"),), FinishReason.STOP, TokenUsage(input_tokens=tokens))


def keeper_on(ground):
    return Bookkeeper(SideCosts(ground.store.pool), ByInput())


PROMPT = Prompt("m", ())


async def test_what_is_asked_beside_a_turn_is_booked_by_what_it_was(ground):
    keeper, chat = keeper_on(ground), await ground.a_chat()
    model = a_model(answer(5), answer(None), answer(2))

    said = [
        await ask_aside(model, PROMPT, books=keeper, chat=chat, what=what)
        for what in ("title", "title", "summary")
    ]

    assert [answer(5), answer(None), answer(2)] == said
    assert {"title": (5, 2, 1), "summary": (2, 1, 0)} == (await cost_of(ground, chat))[-1]


async def test_nothing_is_booked_for_nothing_and_what_cannot_be_booked_is_told(ground, caplog):
    keeper = keeper_on(ground)
    chat = await ground.a_chat()

    await keeper.book(chat, "compaction", [])
    await keeper.book(chat, None, [ONE])

    assert {} == (await cost_of(ground, chat))[-1]
    assert ["cost.missed"] == [record.getMessage() for record in caplog.records]


class Slow:
    """Costs that are kept in a moment."""

    def __init__(self):
        self.added = []

    async def add(self, *cost):
        await trio.lowlevel.checkpoint()
        self.added.append(cost)


async def test_what_was_paid_for_is_booked_although_its_asker_is_told_to_stop():
    costs, chat = Slow(), uuid4()

    with trio.CancelScope() as told:
        told.cancel()
        await Bookkeeper(costs, ByInput()).book(chat, "compaction", [ONE])

    assert [(chat, "compaction", [ONE], None)] == costs.added
