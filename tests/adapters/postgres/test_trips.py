"""How often a change makes its caller wait for the server, and how many statements it is.

Counted on the wire: Sync ends what is sent before an answer is waited for, Execute is a statement,
BEGIN and COMMIT too.
"""

import pytest

from actors.law import requests as ask
from actors.law.store.ports import Applied
from tests.actors.law.chats import (
    ANN,
    HOLDER,
    assistant,
    call,
    edit,
    result,
    send,
    step,
    tool,
    user,
)
from tests.adapters.postgres.stores import new_chat_id, open_store
from tests.contracts.given import a_chat, a_held_chat, a_view, applied
from tests.fakes.severed_network import severed_network

HOT = {
    "an attempt is recorded": [ask.RecordGenerationAttempt()],
    "a step is committed": [step(assistant("x"))],
    "a step asks for tools, and the next attempt begins": [
        step(assistant("x", call("a"))),
        ask.RecordGenerationAttempt(),
    ],
    "a turn ends, and its chat is given back": [ask.FinishTurn(gives_back=True)],
    "a step ends the turn": [
        ask.CommitStep((assistant("x"),), ends_turn=True),
        ask.FinishTurn(),
    ],
}


@pytest.fixture
async def network(migrated):
    async with severed_network(migrated) as network:
        yield network


@pytest.fixture
async def far(store, network):
    """The store, over the network, its one connection open."""
    async with open_store(store.conninfo, through=network.conninfo, size=1, emptied=False) as far:
        await applied(far.ledger.apply(await a_chat(store), []))
        yield far


async def counted(network, asking):
    """(trips, statements) of what succeeds."""
    network.release()
    answer = await asking
    assert isinstance(answer, Applied | tuple), str(answer)
    return network.said["S"], network.said["E"]


@pytest.mark.parametrize("what", HOT)
async def test_a_hot_transition_is_one_statement_in_one_trip(store, far, network, what):
    held, fence = await a_view(store, await a_held_chat(store))

    assert (1, 1) == await counted(network, far.ledger.commit(held, HOT[what], fence=fence))


async def test_an_interruption_that_leaves_no_call_open_is_hot(store, far, network):
    chat = await a_held_chat(store)
    await applied(store.ledger.apply(chat, [ask.Interrupt()]))
    held, fence = await a_view(store, chat)
    over = ask.FinishInterruption((assistant("Hel", call("a")), tool(result("a"))), gives_back=True)

    assert (1, 1) == await counted(network, far.ledger.commit(held, [over], fence=fence))


@pytest.mark.parametrize(
    ("stored", "partials"),
    [((), (assistant("Hel", call("a")),)), ((assistant(call("a")),), ())],
    ids=["a call of what it keeps", "a call that is stored"],
)
async def test_an_interruption_that_closes_a_call_asks_for_the_time(
    store, far, network, stored, partials
):
    chat = await a_held_chat(store)
    said = [step(*stored)] if stored else []
    await applied(store.ledger.apply(chat, [*said, ask.Interrupt()]))
    held, fence = await a_view(store, chat)
    over = ask.FinishInterruption(partials, gives_back=True)

    assert (2, 6) == await counted(network, far.ledger.commit(held, [over], fence=fence))


async def test_a_hot_transition_that_moved_on_goes_the_long_way_after_its_trip(store, far, network):
    chat = await a_held_chat(store)
    held, fence = await a_view(store, chat)
    await applied(store.ledger.apply(chat, [send("q")]))

    trips, _ = await counted(
        network, far.ledger.commit(held, HOT["a step is committed"], fence=fence)
    )

    assert 1 + 2 == trips


@pytest.mark.parametrize(
    "requests",
    [[send("a")], [send("a", busy=ask.BusyBehaviour.INTERRUPT)], [ask.Interrupt("enough")], []],
    ids=["a message", "an interrupting one", "an interrupt", "nothing"],
)
async def test_a_transition_is_two_trips_its_commit_among_them(store, far, network, requests):
    chat = await a_held_chat(store)

    trips, statements = await counted(network, far.ledger.apply(chat, requests))

    assert 2 == trips
    assert 6 == statements  # BEGIN, lock, queue, tail; write, COMMIT


async def test_a_message_to_a_chat_that_is_known_to_rest_is_one_statement(store, far, network):
    resting = await store.reading.view(await a_chat(store, done=True))

    waking = far.ledger.wake(resting, [send("a"), ask.TakeUp(HOLDER)])

    assert (1, 1) == await counted(network, waking)


async def test_an_edit_reads_what_it_replaces_in_the_same_trip(store, far, network):
    chat = await a_held_chat(store)
    [message] = await store.reading.history(chat)

    assert (2, 7) == await counted(network, far.ledger.apply(chat, [edit("b", id=message.id)]))


async def test_a_new_chat_with_all_that_is_asked_of_it_is_two_trips(store, far, network):
    request = ask.CreateChat(ask.NewChat(new_chat_id(), ANN), (user("a"),))

    trips, _ = await counted(network, far.ledger.create(request, [ask.RecordGenerationAttempt()]))

    assert 2 == trips


async def test_a_family_is_four_trips_however_large(store, far, network):
    root = await a_chat(store, done=True)
    for _ in range(5):
        await a_chat(store, parent=root, done=True)

    trips, _ = await counted(network, far.ledger.archive_family(root, archived=True))

    assert 4 == trips


async def test_what_holds_is_read_in_one_trip(store, far, network):
    chat = await a_held_chat(store)
    network.release()

    await far.reading.view(chat)
    await far.reading.history(chat)

    assert 2 == network.said["S"]
