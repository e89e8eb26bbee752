"""What a browser was made to ask by a page of somebody else is not done."""

import pytest

from tests.adapters.people.auth.stage import PASSWORD

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


OURS = "http://corner.example"
# What a browser says of the page that made it ask; whether that page is ours.
PAGES = {
    "nothing": ({}, True),
    "ours": ({"origin": OURS}, True),
    "ours, in capitals": ({"origin": OURS.upper()}, True),
    "ours, by its whole name": ({"origin": f"{OURS}:80"}, True),
    "ours, fetched": ({"origin": OURS, "sec-fetch-site": "same-origin"}, True),
    "a person": ({"sec-fetch-site": "none"}, True),
    "ours, by the referer": ({"referer": f"{OURS}/settings?a=b"}, True),
    "another": ({"origin": "https://evil.example"}, False),
    "another, that begins like ours": ({"origin": f"{OURS}.evil.example"}, False),
    "another, with ours for a user": ({"origin": f"{OURS}@evil.example"}, False),
    "another port": ({"origin": f"{OURS}:8080"}, False),
    "ours, behind a proxy that speaks https": ({"origin": "https://corner.example"}, True),
    "another port of another scheme": ({"origin": "https://corner.example:80"}, False),
    "none that has a name": ({"origin": "null"}, False),
    "an empty one": ({"origin": ""}, False),
    "two": ({"origin": f"{OURS}, https://evil.example"}, False),
    "another, fetched": ({"sec-fetch-site": "cross-site"}, False),
    "a neighbour": ({"origin": OURS, "sec-fetch-site": "same-site"}, False),
    "another, by the referer": ({"referer": "https://evil.example/page"}, False),
    "ours by the origin, whatever the referer": (
        {"origin": OURS, "referer": "https://evil.example/"},
        True,
    ),
}


@pytest.mark.parametrize(("headers", "is_ours"), PAGES.values(), ids=PAGES)
async def test_a_page_of_somebody_else_logs_nobody_in(door, headers, is_ours):
    await door.joins("ann")

    answer = await door.asks(
        "POST", LOGIN, json={"username": "ann", "password": PASSWORD}, headers=headers
    )

    assert (201 if is_ours else 403) == answer.status
    assert is_ours == bool(answer.cookies)


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize(("headers", "is_ours"), PAGES.values(), ids=PAGES)
async def test_a_page_of_somebody_else_changes_nothing(door, session, headers, is_ours, method):
    """Even if it should have come by the answer to forgeries."""
    token, csrf = session
    shown = {"cookie": f"coder_session_token={token}", "x-csrf-token": csrf, **headers}

    answer = await door.asks(method, CHAT, headers=shown)

    assert (200 if is_ours else 403) == answer.status


async def test_who_shows_a_token_may_ask_from_any_page(door, session):
    foreign = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}

    assert 200 == (await door.asks("POST", CHAT, token=session[0], headers=foreign)).status


@pytest.mark.parametrize(
    ("media_type", "status"),
    [
        ("application/json", 201),
        ("Application/JSON; charset=utf-8", 201),
        ("text/plain", 415),
        ("text/plain; application/json", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data", 415),
        ("", 415),
    ],
)
async def test_a_login_is_json_and_says_so(door, media_type, status):
    """A form can be made to send JSON that calls itself text."""
    await door.joins("ann")

    answer = await door.asks(
        "POST",
        LOGIN,
        json={"username": "ann", "password": PASSWORD},
        headers={"content-type": media_type},
    )

    assert status == answer.status
    assert (status == 201) == bool(answer.cookies)
