"""Sessions of chats at work, when there are as many as there may be."""

from contextlib import asynccontextmanager
from uuid import UUID

import trio.testing

from actors.ids import ChatId
from adapters.mcp.reaching import Visit
from adapters.mcp.sessions import SESSIONS_MAX, open_sessions

ONE, OTHER = ChatId(UUID(int=1)), ChatId(UUID(int=2))


@asynccontextmanager
async def a_client():
    yield object()


def full_of(sessions, chat):
    for number in range(SESSIONS_MAX):
        sessions.begin(chat, UUID(int=number), a_client, Visit())


async def test_at_the_bound_the_chat_that_began_first_leaves(autojump_clock):
    async with open_sessions() as (sessions, _):
        full_of(sessions, ONE)

        sessions.begin(OTHER, UUID(int=0), a_client, Visit())
        await trio.testing.wait_all_tasks_blocked()

        assert sessions.current(ONE, UUID(int=0)) is None
        assert sessions.current(OTHER, UUID(int=0)) is not None
        assert 1 == sessions.statistics().open


async def test_where_all_are_leaving_another_may_still_begin(autojump_clock):
    async with open_sessions() as (sessions, _):
        full_of(sessions, ONE)
        sessions.leave(ONE)

        session = sessions.begin(OTHER, UUID(int=0), a_client, Visit())

        assert await session.client()
