"""Summaries on PostgreSQL: written over the history that they sum up, and nothing else moves."""

from dataclasses import replace

from actors.law.requests import CreateChat, NewChat
from actors.law.store.hints import SummaryChanged
from actors.upkeep.summary_jobs import ListedChat
from adapters.chats.upkeep_stores import SummaryStorage
from tests.actors.chat.turn.given import answered, hidden
from tests.actors.law.chats import ANN, assistant, call, user
from tests.adapters.postgres.stores import new_chat_id


async def a_chat_of(store):
    new = NewChat(new_chat_id(), ANN, title="Login")
    created = await store.ledger.create(CreateChat(new, (user("fix it"),)))
    store.told.clear()
    return created.chat


def summaries_of(store):
    return SummaryStorage(store.pool, tell=store.telling)


async def written(store, chat):
    [row] = await store.execute(
        "SELECT last_turn_summary, summary FROM chats WHERE id = %(c)s", c=chat.id
    )
    return tuple(row)


async def test_what_is_written_is_told_once(store):
    chat, summaries = await a_chat_of(store), summaries_of(store)

    assert await summaries.label(chat, "Fixed it")
    assert await summaries.summarise(chat, "It was broken.", turns=7)
    assert not await summaries.label(chat, "Fixed it")
    assert not await summaries.summarise(chat, "It was broken.", turns=7)

    assert ("Fixed it", "It was broken.") == await written(store, chat)
    assert [SummaryChanged(chat.id, ANN, False), SummaryChanged(chat.id, ANN, True)] == store.told


async def test_a_label_is_taken_back(store):
    chat, summaries = await a_chat_of(store), summaries_of(store)
    assert not await summaries.label(chat, None)
    await summaries.label(chat, "Fixed it")

    assert await summaries.label(chat, None)

    assert (None, None) == await written(store, chat)


async def test_nothing_is_written_over_a_history_that_has_moved_on(store):
    chat = await a_chat_of(store)
    late = replace(chat, history_version=chat.history_version - 1)

    assert not await summaries_of(store).label(late, "Fixed it")
    assert not await summaries_of(store).summarise(late, "It was broken.", turns=7)

    assert (None, None) == await written(store, chat)
    assert [] == store.told


async def test_it_is_known_what_is_shown_of_a_chat(store):
    chat, summaries = await a_chat_of(store), summaries_of(store)

    assert ListedChat("Login", 0, None) == await summaries.listed_chat(chat.id)
    await summaries.summarise(chat, "It was broken.", turns=7)

    assert ListedChat("Login", 0, 7) == await summaries.listed_chat(chat.id)
    assert await summaries.listed_chat(new_chat_id()) is None


async def test_a_turn_counts_when_its_prompt_was_answered(store):
    asked = [user("a"), assistant(call("c")), *answered("c"), assistant("b"), user("c"), user("d")]
    unseen = [hidden(), replace(assistant("e"), compressed=True)]
    new = NewChat(new_chat_id(), ANN)
    await store.ledger.create(CreateChat(new, (*asked, *unseen)))
    shown = await summaries_of(store).listed_chat(new.id)
    other = NewChat(new_chat_id(), ANN)
    await store.ledger.create(CreateChat(other, (*asked, *unseen, assistant("f"))))

    assert 1 == shown.turns_done
    assert 2 == (await summaries_of(store).listed_chat(other.id)).turns_done


async def test_no_version_moves_with_a_summary_nor_the_time_of_the_last_change(store):
    chat = await a_chat_of(store)
    before = await store.rows(chat.id)

    await summaries_of(store).label(chat, "Fixed it")
    await summaries_of(store).summarise(chat, "It was broken.", turns=7)

    after = await store.rows(chat.id)
    assert (before.chat, before.times) == (after.chat, after.times)
