"""Personal tokens over the API: made, listed, revoked; never more than who makes them."""

import pytest

from adapters.http.endpoints import SCOPES
from adapters.people.store import tokens as bounds
from tests.adapters.people.auth.stage import ADMIN_TOKEN

KEYS = "/api/v2/users/me/keys"
TOKENS = f"{KEYS}/tokens"
HOUR = 3600 * 10**9


async def make(door, token, **new):
    return await door.asks("POST", TOKENS, token=token, json=new)


async def test_a_token_is_shown_once_and_works(door):
    ann = await door.joins("ann")

    made = await make(door, ann.token, token_name="bot", lifetime=HOUR)

    assert (201, {"key"}) == (made.status, set(made.json))
    key = made.json["key"]
    assert 200 == (await door.asks("GET", "/api/v2/users/me", token=key)).status
    listed = await door.asks("GET", TOKENS, token=key)
    assert key[11:].encode() not in listed.body


async def test_what_is_shown_of_a_token_is_what_clients_want(door):
    ann = await door.joins("ann")
    key = (await make(door, ann.token, token_name="bot", lifetime=HOUR)).json["key"]

    by_id = (await door.asks("GET", f"{KEYS}/{key[:10]}", token=ann.token)).json
    by_name = (await door.asks("GET", f"{TOKENS}/bot", token=ann.token)).json
    [listed] = [
        token
        for token in (await door.asks("GET", TOKENS, token=ann.token)).json
        if token["token_name"] == "bot"
    ]

    assert by_id == by_name == listed
    assert {
        "id": key[:10],
        "user_id": str(ann.user.id),
        "username": "ann",
        "login_type": "token",
        "scope": "all",
        "scopes": ["all"],
        "token_name": "bot",
        "lifetime_seconds": 3600,
        "last_used": "0001-01-01T00:00:00Z",
    } == {
        name: value
        for name, value in by_id.items()
        if name not in ("created_at", "updated_at", "expires_at")
    }


@pytest.mark.parametrize("lifetime", [None, 0])
async def test_a_token_is_good_for_thirty_days_if_nobody_says(door, lifetime):
    ann = await door.joins("ann")

    key = (await make(door, ann.token, lifetime=lifetime)).json["key"]

    shown = (await door.asks("GET", f"{KEYS}/{key[:10]}", token=ann.token)).json
    assert (30 * 86_400, key[:10]) == (shown["lifetime_seconds"], shown["token_name"])


WRONG = {
    "a scope of others": ({"scopes": ["application_connect"]}, "scopes"),
    "one wrong scope": ({"scopes": ["all", "king"]}, "scopes"),
    "a life that is over": ({"lifetime": -1}, "lifetime"),
    "a life of an instant": ({"lifetime": 1}, "lifetime"),
    "a life without end": ({"lifetime": 2**62}, "lifetime"),
    "a long name": ({"token_name": "x" * 65}, "token_name"),
    "an invisible name": ({"token_name": "a\0b"}, "token_name"),
}


@pytest.mark.parametrize(("new", "field"), WRONG.values(), ids=WRONG)
async def test_a_token_is_refused_with(door, new, field):
    ann = await door.joins("ann")

    answer = await make(door, ann.token, **new)

    assert (400, field) == (answer.status, answer.json["validations"][0]["field"])


async def test_a_name_is_taken_and_at_some_point_there_are_enough(door, monkeypatch):
    monkeypatch.setattr(bounds, "PERSONAL_MAX", 2)
    ann = await door.joins("ann")
    await make(door, ann.token, token_name="bot")

    taken = await make(door, ann.token, token_name="bot")
    full = await make(door, ann.token, token_name="other")

    assert (409, 409) == (taken.status, full.status)
    assert bounds.TokenRefusal.FULL.value == full.json["detail"]


@pytest.mark.parametrize("scope", SCOPES)
async def test_a_token_makes_no_token_that_may_do_more(door, scope):
    ann = await door.joins("ann", scopes=["users", "chats:read"])

    answer = await make(door, ann.token, scopes=[scope])

    may = {"users", "users:read", "chats:read"}
    assert (201 if scope in may else 403) == answer.status


async def test_an_admin_makes_and_revokes_tokens_of_others(door):
    ann = await door.joins("ann")

    made = await door.asks(
        "POST", "/api/v2/users/ann/keys/tokens", token=ADMIN_TOKEN, json={"scope": "chats"}
    )
    key = made.json["key"]
    me = await door.asks("GET", "/api/v2/users/me", token=key)
    path = f"/api/v2/users/ann/keys/{key[:10]}"
    revoked = await door.asks("DELETE", path, token=ADMIN_TOKEN)

    assert (201, str(ann.user.id), 204) == (made.status, me.json["id"], revoked.status)
    assert 401 == (await door.asks("GET", "/api/v2/users/me", token=key)).status
    assert 404 == (await door.asks("DELETE", path, token=ADMIN_TOKEN)).status


async def test_nobody_revokes_the_tokens_of_others(door):
    ann, bob = await door.joins("ann"), await door.joins("bob")

    own = await door.asks("DELETE", f"{KEYS}/{bob.token[:10]}", token=ann.token)
    others = await door.asks("DELETE", f"/api/v2/users/bob/keys/{bob.token[:10]}", token=ann.token)

    assert (404, 404) == (own.status, others.status)
    assert own.body == others.body


async def test_what_the_configuration_sets_is_revoked_there(door):
    good = await door.auth.tokens.of_hash(bounds.hash_of(ADMIN_TOKEN))

    answer = await door.asks("DELETE", f"{KEYS}/{good.token}", token=ADMIN_TOKEN)

    assert 409 == answer.status
    assert 200 == (await door.asks("GET", "/api/v2/users/me", token=ADMIN_TOKEN)).status


@pytest.mark.parametrize(("who", "names"), [("ann", {"a"}), ("admin", {"a", "b"})])
async def test_only_admins_list_the_tokens_of_all(door, who, names):
    ann, bob = await door.joins("ann"), await door.joins("bob")
    await make(door, ann.token, token_name="a")
    await make(door, bob.token, token_name="b")
    token = ADMIN_TOKEN if who == "admin" else ann.token

    answer = await door.asks("GET", f"{TOKENS}?include_all=true", token=token)

    assert names == {t["token_name"] for t in answer.json} & {"a", "b"}


async def test_tokens_that_have_expired_are_listed_on_request(door):
    ann = await door.joins("ann")
    await make(door, ann.token, token_name="old")
    await door.rows("UPDATE tokens SET expires_at = now() WHERE name = 'old'")

    async def names(query):
        answer = await door.asks("GET", f"{TOKENS}{query}", token=ann.token)
        return {token["token_name"] for token in answer.json}

    assert "old" not in await names("")
    assert "old" in await names("?include_expired=true")


async def test_clients_learn_how_long_a_token_may_be_good(door):
    ann = await door.joins("ann")

    answer = await door.asks("GET", f"{TOKENS}/tokenconfig", token=ann.token)

    longest = answer.json["max_token_lifetime"]
    assert 201 == (await make(door, ann.token, token_name="long", lifetime=longest)).status
    assert 400 == (await make(door, ann.token, lifetime=longest + 10**9)).status


async def test_a_token_that_was_made_to_expire_is_refused_and_still_listed(door):
    ann = await door.joins("ann")
    key = (await make(door, ann.token, token_name="bot", lifetime=HOUR)).json["key"]
    path = f"{KEYS}/{key[:10]}/expire"

    answers = [(await door.asks("PUT", path, token=ann.token)).status for _ in range(2)]

    assert [204, 204] == answers
    assert 401 == (await door.asks("GET", "/api/v2/users/me", token=key)).status
    listed = (await door.asks("GET", f"{TOKENS}?include_expired=true", token=ann.token)).json
    now = (await door.asks("GET", TOKENS, token=ann.token)).json
    assert "bot" in [each["token_name"] for each in listed]
    assert "bot" not in [each["token_name"] for each in now]


async def test_a_token_of_another_user_or_of_the_configuration_does_not_expire(door):
    ann, bob = await door.joins("ann"), await door.joins("bob")
    good = await door.auth.tokens.of_hash(bounds.hash_of(ADMIN_TOKEN))

    others = await door.asks("PUT", f"{KEYS}/{bob.token[:10]}/expire", token=ann.token)
    configured = await door.asks("PUT", f"{KEYS}/{good.token}/expire", token=ADMIN_TOKEN)

    assert (404, 409) == (others.status, configured.status)
    for token in (bob.token, ADMIN_TOKEN):
        assert 200 == (await door.asks("GET", "/api/v2/users/me", token=token)).status
