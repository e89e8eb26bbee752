"""Who is let in, at the real door: with which tokens, until when, to what."""

from datetime import UTC, datetime, timedelta
from time import time

import pytest
import trio

from actors.law.store.hints import HintsLost, PersonChanged
from adapters.http.endpoints import ALL, SCOPES
from adapters.people.store.users import OWNER, UserStatus
from tests.adapters.people.auth.stage import ADMIN_TOKEN, a_door

ME = "/api/v2/users/me"
CHAT = "/api/chats/1"
CHALLENGE = ['Bearer realm="promptcorner"']


async def test_who_shows_a_good_token_is_who_he_is(door):
    ann = await door.joins("ann")

    answer = await door.asks("GET", ME, token=ann.token)

    assert (200, "ann") == (answer.status, answer.json["username"])


PLACES = {
    "cookie": {"headers": {"cookie": "coder_session_token={}"}},
    "query": {"query": "?coder_session_token={}"},
    "header": {"headers": {"coder-session-token": "{}"}},
    "bearer": {"headers": {"authorization": "BEARER {}"}},
    "access token": {"query": "?access_token={}"},
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
async def test_a_token_is_good_wherever_it_stands(door, place):
    ann = await door.joins("ann")
    headers = {k: v.format(ann.token) for k, v in place.get("headers", {}).items()}

    answer = await door.asks("GET", ME + place.get("query", "").format(ann.token), headers=headers)

    assert (200, "ann") == (answer.status, answer.json["username"])


BAD = {
    "no token": None,
    "an unknown one": "0123456789-0123456789012345678901",
    "one of another form": "opaque",
    "one that is too long": "x" * 10_000,
    "one that is no ascii": "t\u00e9",
}


@pytest.mark.parametrize("token", BAD.values(), ids=BAD)
async def test_who_shows_no_good_token_is_nobody(door, token):
    answer = await door.asks("GET", ME, token=token)

    assert (401, CHALLENGE) == (answer.status, answer.header("www-authenticate"))
    assert {"message", "detail"} == set(answer.json)


async def test_what_is_too_long_for_a_token_is_not_looked_for(door):
    before = door.auth.callers.statistics().read_count

    await door.asks("GET", ME, token="x" * 10_000)

    assert before == door.auth.callers.statistics().read_count


async def test_the_first_token_counts_even_if_a_later_one_is_good(door):
    ann = await door.joins("ann")

    answer = await door.asks(
        "GET", ME, token=ann.token, headers={"cookie": "coder_session_token=stale"}
    )

    assert 401 == answer.status


async def test_an_open_door_lets_in_who_shows_something_bad(door):
    answer = await door.asks(
        "GET", "/api/v2/users/first", headers={"cookie": "coder_session_token=stale"}
    )

    assert 200 == answer.status


async def test_a_good_token_is_looked_for_once(door):
    ann = await door.joins("ann")
    before = door.auth.callers.statistics().read_count

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(lambda: door.asks("GET", CHAT, token=ann.token))

    assert 1 == door.auth.callers.statistics().read_count - before


SPOILING = {
    "revoked by his user": lambda door, ann, boss: door.asks(
        "DELETE", f"/api/v2/users/me/keys/{ann.token[:10]}", token=ann.token
    ),
    "revoked by an admin": lambda door, ann, boss: door.asks(
        "DELETE", f"/api/v2/users/ann/keys/{ann.token[:10]}", token=boss.token
    ),
    "logged out": lambda door, ann, boss: door.asks(
        "POST", "/api/v2/users/logout", token=ann.token
    ),
    "suspended": lambda door, ann, boss: door.asks(
        "PUT", "/api/v2/users/ann/status/suspend", token=boss.token
    ),
    "deleted": lambda door, ann, boss: door.asks("DELETE", "/api/v2/users/ann", token=boss.token),
}


@pytest.mark.parametrize("spoil", SPOILING.values(), ids=SPOILING)
async def test_what_lets_nobody_in_any_more_is_refused_at_once_in_every_process(people, spoil):
    # One bus for both: what goes over the wire between processes is another test's business.
    async with a_door(people) as here, a_door(people, bus=here.bus) as there:
        ann, boss = await here.joins("ann"), await here.joins("boss", roles=[OWNER])
        before = [(await door.asks("GET", CHAT, token=ann.token)).status for door in (here, there)]

        assert (await spoil(here, ann, boss)).status < 300

        after = [(await door.asks("GET", CHAT, token=ann.token)).status for door in (here, there)]
        assert [200, 200] == before
        assert [401, 401] == after


async def test_who_is_let_in_again_is_let_in_with_the_same_token(door):
    ann, boss = await door.joins("ann"), await door.joins("boss", roles=[OWNER])
    await door.asks("PUT", "/api/v2/users/ann/status/suspend", token=boss.token)
    await door.asks("GET", CHAT, token=ann.token)

    await door.asks("PUT", "/api/v2/users/ann/status/activate", token=boss.token)

    assert 200 == (await door.asks("GET", CHAT, token=ann.token)).status


async def test_who_is_made_less_is_less_at_the_next_request(door):
    boss = await door.joins("boss", roles=[OWNER])
    assert 200 == (await door.asks("GET", "/api/v2/users", token=boss.token)).status

    await door.asks("PUT", "/api/v2/users/boss/roles", token=ADMIN_TOKEN, json={"roles": []})

    assert 403 == (await door.asks("GET", "/api/v2/users", token=boss.token)).status


async def test_a_token_is_believed_for_a_while_by_who_hears_of_nothing(door):
    ann = await door.joins("ann")
    await door.asks("GET", CHAT, token=ann.token)

    await door.auth.tokens.revoke(ann.user.id, ann.token[:10])

    assert 200 == (await door.asks("GET", CHAT, token=ann.token)).status
    door.bus.hear(PersonChanged(ann.user.id))
    assert 401 == (await door.asks("GET", CHAT, token=ann.token)).status


async def test_who_may_have_missed_news_believes_nothing_that_he_kept(door):
    ann = await door.joins("ann")
    await door.asks("GET", CHAT, token=ann.token)
    await door.auth.tokens.revoke(ann.user.id, ann.token[:10])

    door.bus.hear(HintsLost())

    assert 401 == (await door.asks("GET", CHAT, token=ann.token)).status


async def test_a_token_that_is_kept_ends_when_it_expires(people, rushing_clock):
    async with a_door(people) as door:
        ann = await door.joins("ann")
        await door.rows("UPDATE tokens SET expires_at = now() + interval '15 seconds'")
        assert 200 == (await door.asks("GET", CHAT, token=ann.token)).status

        rushing_clock.jump(15)  # for the database it is not even one

        assert 401 == (await door.asks("GET", CHAT, token=ann.token)).status


# What a token with this scope may do, of: read chats, write chats, read users, write users.
MAY = {
    "all": (True, True, True, True),
    "chats": (True, True, False, False),
    "chats:read": (True, False, False, False),
    "users": (False, False, True, True),
    "users:read": (False, False, True, False),
    "models": (False, False, False, False),
    "models:read": (False, False, False, False),
    "settings": (False, False, False, False),
    "settings:read": (False, False, False, False),
}


@pytest.mark.parametrize("scope", SCOPES)
async def test_a_token_is_good_for_its_scope_alone(door, scope):
    ann = await door.joins("ann", scopes=[scope])
    asked = (
        ("GET", CHAT),
        ("POST", CHAT),
        ("GET", f"{ME}/keys/tokens"),
        ("PUT", f"{ME}/profile"),
    )

    may = []
    for method, path in asked:
        answer = await door.asks(method, path, token=ann.token, json={})
        may.append(answer.status < 300)
        assert answer.status in (200, 403)

    assert MAY[scope] == tuple(may)


@pytest.mark.parametrize("scope", SCOPES)
async def test_any_token_may_ask_whose_it_is(door, scope):
    ann = await door.joins("ann", scopes=[scope])

    assert "ann" == (await door.asks("GET", ME, token=ann.token)).json["username"]


async def test_a_scope_lets_nobody_do_what_he_himself_may_not(door):
    ann = await door.joins("ann", scopes=["users"])

    assert 403 == (await door.asks("GET", "/api/v2/users", token=ann.token)).status


async def test_the_scopes_are_those_of_the_table():
    assert set(SCOPES) == set(MAY)
    assert ALL in SCOPES


@pytest.mark.parametrize(
    ("path", "nobody", "member", "admin"),
    [("/admin", 401, 403, 200), ("/hidden", 401, 404, 200), ("/nowhere", 404, 404, 404)],
)
async def test_what_admins_may_others_may_not_or_do_not_learn_of(door, path, nobody, member, admin):
    ann = await door.joins("ann")

    tokens = None, ann.token, ADMIN_TOKEN

    answers = [(await door.asks("GET", path, token=token)).status for token in tokens]
    assert [nobody, member, admin] == answers


STREAM = "/api/chats/1"


async def ticket(door, token, path=STREAM):
    answer = await door.asks("POST", f"{ME}/stream-ticket", token=token, json={"path": path})
    assert 201 == answer.status
    return answer.json["ticket"]


async def test_a_ticket_opens_its_path_for_reading_and_nothing_else(door):
    ann = await door.joins("ann")
    shown = await ticket(door, ann.token)

    opened = await door.asks("GET", f"{STREAM}?ticket={shown}")

    assert {"username": "ann", "scopes": ["chats:read"]} == opened.json
    assert 401 == (await door.asks("GET", f"/api/chats/2?ticket={shown}")).status
    assert 401 == (await door.asks("POST", f"{STREAM}?ticket={shown}")).status
    assert 401 == (await door.asks("GET", f"{STREAM}?ticket={shown}x")).status


async def test_a_ticket_is_good_for_half_a_minute(door):
    ann = await door.joins("ann")
    before = datetime.now(UTC)
    answer = await door.asks("POST", f"{ME}/stream-ticket", token=ann.token, json={"path": STREAM})
    expires, after = datetime.fromisoformat(answer.json["expires_at"]), datetime.now(UTC)

    old = door.auth.signing.ticket(ann.token[:10], STREAM, expires=int(time()) - 1)

    half_a_minute, second = timedelta(seconds=30), timedelta(seconds=1)
    assert before + half_a_minute - second < expires <= after + half_a_minute
    assert 401 == (await door.asks("GET", f"{STREAM}?ticket={old}")).status


async def test_a_ticket_is_void_with_the_token_it_was_made_for(door):
    ann = await door.joins("ann")
    shown = await ticket(door, ann.token)
    assert 200 == (await door.asks("GET", f"{STREAM}?ticket={shown}")).status

    await door.asks("DELETE", f"{ME}/keys/{ann.token[:10]}", token=ann.token)

    assert 401 == (await door.asks("GET", f"{STREAM}?ticket={shown}")).status


@pytest.mark.parametrize(("scopes", "status"), [(["chats:read"], 201), (["users"], 403)])
async def test_who_may_read_chats_may_have_a_ticket(door, scopes, status):
    ann = await door.joins("ann", scopes=scopes)

    answer = await door.asks("POST", f"{ME}/stream-ticket", token=ann.token, json={"path": STREAM})

    assert status == answer.status


@pytest.mark.parametrize("path", ["", "elsewhere", "/api/x?a=b", "/api/" + "x" * 512])
async def test_a_ticket_is_for_a_path_of_the_api(door, path):
    ann = await door.joins("ann")

    answer = await door.asks("POST", f"{ME}/stream-ticket", token=ann.token, json={"path": path})

    assert (400, "path") == (answer.status, answer.json["validations"][0]["field"])


async def test_what_was_used_is_noted_beside_the_requests(door):
    ann = await door.joins("ann")
    await door.asks("GET", CHAT, token=ann.token)
    [before] = (await door.auth.users.by_ids([ann.user.id])).values()

    await door.auth.token_use.write()

    [after] = (await door.auth.users.by_ids([ann.user.id])).values()
    assert (None, UserStatus.DORMANT) == (before.last_seen_at, before.status)
    assert after.last_seen_at is not None
    assert after.status is UserStatus.ACTIVE
