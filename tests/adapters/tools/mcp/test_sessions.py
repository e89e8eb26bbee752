"""Sessions of chats at work, when there are as many as there may be."""

from contextlib import asynccontextmanager
from uuid import UUID

import pytest
import trio.testing

from actors.law.ids import ChatId
from adapters.tools.mcp.faults import BUG, ServerFault
from adapters.tools.mcp.http import Visit
from adapters.tools.mcp.sdk.loading import load
from adapters.tools.mcp.servers import OAuthToken
from adapters.tools.mcp.sessions import (
    SESSIONS_MAX,
    Session,
    SessionUnreachable,
    call_in_session,
    open_sessions,
)
from adapters.tools.mcp.wiring import ServerCalls
from runtime.ends import holds_assertion
from tests.adapters.tools.mcp.given import Known, Renewing, configured, using
from tests.fakes.tool_server import Raw, a_server

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


async def test_one_that_is_left_while_it_begins_ends_at_once(autojump_clock):
    @asynccontextmanager
    async def a_silent_server():
        await trio.sleep_forever()
        yield object()

    async with open_sessions() as (sessions, _):
        session = sessions.begin(ONE, UUID(int=0), a_silent_server, Visit())
        await trio.testing.wait_all_tasks_blocked()
        sessions.leave(ONE)
        with trio.fail_after(1.0):
            await session.ended.wait()

        with pytest.raises(SessionUnreachable):
            await session.client()


async def failed(open):
    """A session that ended so, and what is said of it to who asks."""
    session = Session(open)
    await session.run()

    async def current():
        return session

    with pytest.raises(ServerFault) as fault:
        await call_in_session(current, "echo", {})
    return str(fault.value)


def crashes_in(caplog):
    return [each.fields["error"] for each in caplog.records if each.message == "mcp.crashed"]


@pytest.mark.parametrize(
    "error",
    [
        AssertionError("s3cret"),
        ExceptionGroup("", [OSError("gone"), ExceptionGroup("", [AssertionError("s3cret")])]),
    ],
)
async def test_an_assertion_that_failed_in_a_session_is_told_to_the_log(
    autojump_clock, caplog, error
):
    load()

    @asynccontextmanager
    async def broken():
        yield object()
        raise error

    assert BUG == await failed(broken)
    assert crashes_in(caplog)
    assert all(map(holds_assertion, crashes_in(caplog)))


async def test_what_merely_went_wrong_is_told_to_who_asks_alone(autojump_clock, caplog):
    load()

    @asynccontextmanager
    async def gone():
        raise OSError("no such host")
        yield

    assert "no such host" == await failed(gone)
    assert [] == crashes_in(caplog)


class WrongRenewing(Renewing):
    async def replace_refused(self, server, user, *, refused, is_new):
        raise AssertionError("a token is renewed twice")


async def test_an_assertion_beside_a_session_is_told_to_the_log_too(caplog):
    load()
    token = OAuthToken(access_token="tok-en", token_type="bearer")
    async with a_server({"tools/list": Raw(status=401)}) as wire, open_sessions() as (sessions, _):
        one = configured(wire, auth_type="oauth2")
        reached = ServerCalls(Known(one), WrongRenewing(token), sessions)

        assert () == await reached.tools(using(one), one)

    [error] = crashes_in(caplog)
    assert "renewed twice" in str(error)
    assert BUG == reached.faults[one.id]
