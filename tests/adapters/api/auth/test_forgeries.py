"""What a browser was made to ask by a page of somebody else is not done."""

import pytest

from tests.adapters.api.auth.stage import PASSWORD

CHAT = "/api/chats/1"
LOGIN = "/api/v2/users/login"


@pytest.fixture
async def session(door):
    """(token, answer to forgeries) of a browser that has logged in."""
    await door.joins("ann")
    answer = await door.asks("POST", LOGIN, json={"username": "ann", "password": PASSWORD})
    return answer.cookies["coder_session_token"], answer.cookies["csrf_token"]


# (method, what is shown beside the cookie: {0} the token, {1} the answer to forgeries) → status
TABLE = {
    "GET": ("GET", {}, "", 200),
    "HEAD": ("HEAD", {}, "", 200),
    "POST": ("POST", {}, "", 400),
    "DELETE": ("DELETE", {}, "", 400),
    "POST with the answer": ("POST", {"x-csrf-token": "{1}"}, "", 200),
    "DELETE with the answer": ("DELETE", {"x-csrf-token": "{1}"}, "", 200),
    "POST with a wrong answer": ("POST", {"x-csrf-token": "{1}x"}, "", 400),
    "POST with an empty answer": ("POST", {"x-csrf-token": ""}, "", 400),
    "POST with the token for an answer": ("POST", {"x-csrf-token": "{0}"}, "", 400),
    "POST with the token as header": ("POST", {"coder-session-token": "{0}"}, "", 200),
    "POST with the token as bearer": ("POST", {"authorization": "Bearer {0}"}, "", 200),
    "POST with the token in the query": ("POST", {}, "?coder_session_token={0}", 200),
    "POST with the token as access token": ("POST", {}, "?access_token={0}", 200),
    "POST with another token as header": ("POST", {"coder-session-token": "x"}, "", 400),
}


@pytest.mark.parametrize(("method", "headers", "query", "status"), TABLE.values(), ids=TABLE)
async def test_a_cookie_alone_changes_nothing(door, session, method, headers, query, status):
    shown = {name: value.format(*session) for name, value in headers.items()}
    shown["cookie"] = f"coder_session_token={session[0]}"

    answer = await door.asks(method, CHAT + query.format(*session), headers=shown)

    assert status == answer.status
    if status == 400:
        assert answer.body.startswith(b"CSRF token missing or wrong")


async def test_who_shows_a_header_alone_needs_no_answer(door, session):
    assert 200 == (await door.asks("POST", CHAT, token=session[0])).status


async def test_an_answer_is_that_of_its_session(door, session):
    other = await door.asks("POST", LOGIN, json={"username": "ann", "password": PASSWORD})

    answer = await door.asks(
        "POST",
        CHAT,
        headers={
            "cookie": f"coder_session_token={session[0]}",
            "x-csrf-token": other.cookies["csrf_token"],
        },
    )

    assert 400 == answer.status


async def test_what_is_no_session_is_told_so_and_not_that_it_was_forged(door):
    answer = await door.asks("POST", CHAT, headers={"cookie": "coder_session_token=stale"})

    assert 401 == answer.status


async def test_one_logs_in_whatever_cookie_a_browser_still_has(door, session):
    for cookie in (session[0], "stale"):
        answer = await door.asks(
            "POST",
            LOGIN,
            json={"username": "ann", "password": PASSWORD},
            headers={"cookie": f"coder_session_token={cookie}"},
        )

        assert 201 == answer.status
