"""Callers without a token, whom an identity source of a plugin knows."""

from math import inf

import pytest

from adapters.http.refusals import HttpError
from adapters.people.auth.callers import IDENTITY, IdentifiedUser
from adapters.people.store.users import OWNER
from tests.adapters.people.auth.stage import a_door

ME, CHAT, ADMIN = "/api/v2/users/me", "/api/chats/1", "/admin"


class Source:
    """Believes a header, and counts how often it is asked."""

    def __init__(self):
        self.asked = 0
        self.error = None

    async def __call__(self, request):
        self.asked += 1
        if self.error is not None:
            raise self.error
        user = request.headers.get("x-user")
        scopes = request.headers.get("x-scopes", "all").split()
        return IdentifiedUser(user, frozenset(scopes)) if user else None


@pytest.fixture
def source():
    return Source()


@pytest.fixture
async def door(people, source):
    async with a_door(people, identify=source) as door:
        await door.joins("ann")
        yield door


def of(user, **more):
    return {"headers": {"x-user": user, **more}}


async def test_a_request_without_a_token_is_whose_the_source_says(door):
    answer = await door.asks("GET", ME, **of("ann"))

    assert (200, "ann") == (answer.status, answer.json["username"])


async def test_a_request_of_nobody_is_refused_as_before(door, source):
    answer = await door.asks("GET", ME)

    assert (401, 1) == (answer.status, source.asked)


async def test_a_token_comes_before_the_source(door, source):
    bob = await door.joins("bob")

    answer = await door.asks("GET", ME, token=bob.token, **of("ann"))
    bad = await door.asks("GET", ME, token="unknown", **of("ann"))

    assert (200, "bob") == (answer.status, answer.json["username"])
    assert (401, 0) == (bad.status, source.asked)


@pytest.mark.parametrize("user", ["nobody", "", " ann"])
async def test_a_user_who_does_not_exist_is_not_let_in(door, user):
    assert 401 == (await door.asks("GET", ME, **of(user))).status


@pytest.mark.parametrize("end", [("PUT", "/status/suspend"), ("DELETE", "")])
async def test_a_user_who_is_suspended_or_deleted_is_not_let_in(door, end):
    boss = await door.joins("boss", roles=[OWNER])
    before = await door.asks("GET", ME, **of("ann"))
    method, path = end
    await door.asks(method, f"/api/v2/users/ann{path}", token=boss.token)

    after = await door.asks("GET", ME, **of("ann"))

    assert (200, 401) == (before.status, after.status)
    ann = f"{IDENTITY}{(await id_of(door, 'ann'))}"
    assert await door.auth.callers.good_until(ann) is None


async def id_of(door, name):
    [[id]] = await door.rows("SELECT id FROM users WHERE username = %(name)s", name=name)
    return id


async def test_scopes_and_roles_both_have_to_allow_it(door):
    boss = await door.joins("boss", roles=[OWNER])
    asks = [
        (of("ann"), "GET", ADMIN, 403),
        (of(boss.user.username), "GET", ADMIN, 200),
        (of("ann", **{"x-scopes": "chats"}), "POST", CHAT, 200),
        (of("ann", **{"x-scopes": "chats:read"}), "GET", CHAT, 200),
        (of("ann", **{"x-scopes": "chats:read"}), "POST", CHAT, 403),
        (of("ann", **{"x-scopes": "models"}), "GET", CHAT, 403),
    ]

    found = [(await door.asks(method, path, **who)).status for who, method, path, _ in asks]

    assert [status for *_, status in asks] == found


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "page", [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}]
)
async def test_what_a_page_of_another_site_makes_a_browser_ask_is_refused(door, method, page):
    answer = await door.asks(method, CHAT, **of("ann", **page))

    assert 403 == answer.status


async def test_our_own_page_needs_nothing_more(door):
    own = {"origin": "http://corner.example", "sec-fetch-site": "same-origin"}

    assert 200 == (await door.asks("POST", CHAT, **of("ann", **own))).status


async def test_a_source_that_fails_refuses_those_alone_who_show_nothing_else(door, source):
    bob = await door.joins("bob")
    source.error = HttpError(503, "It could not be found out who asks.")

    assert 503 == (await door.asks("GET", ME)).status
    assert 200 == (await door.asks("GET", ME, token=bob.token)).status


async def test_a_stream_of_such_a_caller_lives_as_long_as_its_user_may_come_in(door):
    ann = f"{IDENTITY}{await id_of(door, 'ann')}"

    assert inf == await door.auth.callers.good_until(ann)
    nobody = f"{IDENTITY}00000000-0000-0000-0000-000000000009"
    assert await door.auth.callers.good_until(nobody) is None


async def test_such_a_caller_has_nothing_to_log_out_of(door):
    assert 200 == (await door.asks("POST", "/api/v2/users/logout", **of("ann"))).status
    assert 200 == (await door.asks("GET", ME, **of("ann"))).status


async def test_such_a_caller_can_get_a_ticket(door):
    stream = "/api/chats/1"
    made = await door.asks("POST", f"{ME}/stream-ticket", json={"path": stream}, **of("ann"))

    read = await door.asks("GET", f"{stream}?ticket={made.json['ticket']}")

    assert (200, "ann") == (read.status, read.json["username"])
