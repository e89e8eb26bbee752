"""Given-helpers: chats in a store, and what must not move while something is refused."""

from contextlib import asynccontextmanager

from actors.law import requests as ask
from actors.law.parts.message import FilePart
from actors.law.store.ports import Applied, fence_of
from tests.actors.law.chats import ANN, HOLDER, user
from tests.adapters.postgres.stores import new_chat_id


async def applied(asking):
    """The answer, which has to be a commit."""
    answer = await asking
    assert isinstance(answer, Applied), str(answer)
    return answer


async def a_chat(world, *, then=(), parent=None, tools=(), files=(), done=False):
    """A new chat, at work for ANN, or done with its first turn."""
    new = ask.NewChat(
        new_chat_id(),
        ANN,
        parent_id=parent,
        root_id=parent,
        dynamic_tools=tuple(map(ask.DynamicTool, tools)),
    )
    said = user("hello", *(FilePart("text/plain", file_id=file) for file in files))
    finish = (ask.FinishTurn(),) if done else ()
    await applied(world.ledger.create(ask.CreateChat(new, (said,)), (*then, *finish)))
    return new.id


async def a_held_chat(world, **how):
    """A new chat, acquired by HOLDER, its first attempt recorded."""
    return await a_chat(world, then=[ask.Acquire(HOLDER), ask.RecordGenerationAttempt()], **how)


async def a_view(world, chat):
    """What its holder commits from, and the fence for it."""
    held = await world.reading.view(chat)
    return held, fence_of(held.chat)


@asynccontextmanager
async def stays(world, chat):
    """Nothing of `chat` changes in the block, and nothing is told."""
    before, told = await world.rows(chat), len(world.told)
    yield before
    assert before == await world.rows(chat)
    assert world.told[told:] == []
