"""Titles on PostgreSQL: written only over the one that was read, and nothing else moves."""

from actors.law.ids import ChatId
from actors.law.requests import Acquire, CreateChat, FinishTurn, NewChat, RecordGenerationAttempt
from actors.law.store.hints import TitleChanged
from actors.law.store.ports import Applied, fence_of
from adapters.chats.upkeep_stores import TitleStorage
from tests.actors.law.chats import ANN, HOLDER, user
from tests.adapters.postgres.stores import new_chat_id


async def a_chat_called(store, title) -> ChatId:
    new = NewChat(new_chat_id(), ANN, title=title)
    await store.ledger.create(CreateChat(new, (user("hello"),)))
    store.told.clear()
    return new.id


def titles_of(store):
    return TitleStorage(store.pool, tell=store.telling)


async def title_of(store, chat):
    [(title,)] = await store.execute("SELECT title FROM chats WHERE id = %(chat)s", chat=chat)
    return title


async def test_a_chat_is_renamed_and_watchers_are_told(store):
    chat = await a_chat_called(store, "why does it…")

    renamed = await titles_of(store).rename(chat, "Crash at start", was="why does it…")

    assert renamed
    assert "Crash at start" == await title_of(store, chat)
    assert [TitleChanged(chat, ANN)] == store.told


async def test_a_chat_that_was_named_meanwhile_keeps_its_title(store):
    chat = await a_chat_called(store, "Mine")

    renamed = await titles_of(store).rename(chat, "Crash at start", was="why does it…")

    assert not renamed
    assert "Mine" == await title_of(store, chat)
    assert [] == store.told


async def test_a_chat_that_is_gone_is_not_renamed(store):
    assert not await titles_of(store).rename(new_chat_id(), "Crash", was="")
    assert [] == store.told


async def test_no_version_moves_with_a_title_nor_the_time_of_the_last_change(store):
    chat = await a_chat_called(store, "was")
    before = await store.rows(chat)

    await titles_of(store).rename(chat, "is", was="was")

    after = await store.rows(chat)
    assert (before.chat, before.times) == (after.chat, after.times)


async def test_it_is_known_what_a_chat_is_called(store):
    chat = await a_chat_called(store, "Mine")
    titles = titles_of(store)

    assert await titles.is_called(chat, "Mine")
    assert not await titles.is_called(chat, "mine")
    assert not await titles.is_called(new_chat_id(), "Mine")


async def test_a_step_commits_all_the_same_after_its_chat_was_renamed(store):
    chat = await a_chat_called(store, "was")
    await store.ledger.apply(chat, [Acquire(HOLDER), RecordGenerationAttempt()])
    held = await store.reading.view(chat)

    await titles_of(store).rename(chat, "is", was="was")
    answer = await store.ledger.commit(held, [FinishTurn()], fence=fence_of(held.chat))

    assert isinstance(answer, Applied)
    assert "is" == await title_of(store, chat)
