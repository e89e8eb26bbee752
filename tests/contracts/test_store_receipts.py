"""A receipt stands with what it was given for, and a second of its name with nothing."""

from actors.law import requests as ask
from actors.law.refusals import AlreadyServed, NotAllowed
from actors.law.store.ports import Receipt
from tests.actors.law.chats import ANN, BOB, HOLDER, send, user
from tests.adapters.postgres.stores import new_chat_id
from tests.contracts.given import a_chat, applied, stays

ONCE = Receipt(ANN, "once", b"a digest")
OF_BOB = Receipt(BOB, "once", b"a digest")


def a_new_chat():
    return ask.CreateChat(ask.NewChat(new_chat_id(), ANN), (user("hello"),))


async def test_a_chat_is_made_once_in_a_name(world):
    first, second = a_new_chat(), a_new_chat()
    await applied(world.ledger.create(first, receipt=ONCE))
    told = len(world.told)

    again = await world.ledger.create(second, receipt=ONCE)

    assert AlreadyServed("once") == again
    assert await world.rows(second.chat.id) is None
    assert world.told[told:] == []


async def test_a_chat_is_changed_once_in_a_name(world):
    chat = await a_chat(world, done=True)
    await applied(world.ledger.apply(chat, [send("one")], receipt=ONCE))

    async with stays(world, chat):
        again = await world.ledger.apply(chat, [send("one")], receipt=ONCE)

    assert AlreadyServed("once") == again


async def test_a_name_is_of_one_user(world):
    chat = await a_chat(world, done=True)
    await applied(world.ledger.apply(chat, [send("one")], receipt=ONCE))

    await applied(world.ledger.apply(chat, [send("two")], receipt=OF_BOB))
    await applied(
        world.ledger.create(a_new_chat(), [ask.Acquire(HOLDER)], receipt=Receipt(ANN, "other", b""))
    )


async def test_what_was_refused_may_come_again_in_its_name(world):
    chat = await a_chat(world, done=True)

    refused = await world.ledger.apply(chat, [ask.Interrupt()], receipt=ONCE)
    await applied(world.ledger.apply(chat, [send("one")], receipt=ONCE))

    assert isinstance(refused, NotAllowed)
