"""Files that chats make: there and linked, or neither."""

from dataclasses import replace
from uuid import uuid4

from actors.law.chat import FILES_PER_CHAT_MAX
from actors.law.ids import FileId
from actors.law.requests import CreateChat, NewChat
from actors.prompts.converting import StoredFile
from actors.prompts.ports import Document
from adapters.chats.files.store import ChatFileKeeper, PromptFiles
from tests.actors.law.chats import ANN, user
from tests.adapters.postgres.stores import new_chat_id


async def a_chat_of(store):
    created = await store.ledger.create(CreateChat(NewChat(new_chat_id(), ANN), (user("plan it"),)))
    return created.chat


def a_plan(content=b"# Plan"):
    return Document(FileId(uuid4()), "PLAN.md", "text/markdown", content)


async def linked(store, chat):
    found = await store.execute("SELECT file_id FROM chat_files WHERE chat_id = %(c)s", c=chat.id)
    return {file for (file,) in found}


async def test_a_file_is_kept_and_linked(store):
    chat, plan = await a_chat_of(store), a_plan()

    assert await ChatFileKeeper(store.pool).keep(chat, plan)

    assert {plan.id} == await linked(store, chat)
    found = await PromptFiles(store.pool).read({plan.id})
    assert {plan.id: StoredFile("text/markdown", "PLAN.md", b"# Plan")} == found


async def test_the_same_file_again_changes_nothing(store):
    chat, plan = await a_chat_of(store), a_plan()
    files = ChatFileKeeper(store.pool)
    await files.keep(chat, plan)

    assert await files.keep(chat, replace(plan, content=b"other"))

    found = await PromptFiles(store.pool).read({plan.id})
    assert b"# Plan" == found[plan.id].data


async def test_beyond_the_limit_nothing_is_kept_but_what_is_there_is_there(store):
    chat, files = await a_chat_of(store), ChatFileKeeper(store.pool)
    plans = [a_plan() for _ in range(FILES_PER_CHAT_MAX)]
    for plan in plans:
        assert await files.keep(chat, plan)
    late = a_plan()

    assert not await files.keep(chat, late)

    assert late.id not in await linked(store, chat)
    assert {} == await PromptFiles(store.pool).read({late.id})
    assert await files.keep(chat, plans[0])


async def test_a_chat_that_is_gone_keeps_no_file(store):
    chat = await a_chat_of(store)
    await store.execute("DELETE FROM chats WHERE id = %(c)s", c=chat.id)
    plan = a_plan()

    assert not await ChatFileKeeper(store.pool).keep(chat, plan)
