"""Accounts over the API: one's own, and for admins everybody's."""

import re
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.people.routes import checks
from adapters.people.store.users import OWNER
from tests.adapters.people.auth.stage import ACCESS_URL, ADMIN_TOKEN, PASSWORD

USERS = "/api/v2/users"
ME = f"{USERS}/me"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


async def test_users_me_is_as_clients_want_it(door):
    me = (await door.asks("GET", ME, token=ADMIN_TOKEN)).json

    assert {
        "username": "admin",
        "name": "",
        "avatar_url": "",
        "email": "",
        "status": "dormant",
        "login_type": "password",
        "organization_ids": [str(door.auth.deployment.organization_id)],
        "roles": [{"name": "owner", "display_name": "Owner"}],
        "is_service_account": False,
        "has_ai_seat": False,
    } == {name: value for name, value in me.items() if not name.endswith("_at") and name != "id"}
    assert str(UUID(me["id"])) == me["id"]
    for name in ("created_at", "updated_at", "last_seen_at"):
        assert TIME.fullmatch(me[name])


async def test_a_member_has_no_role_to_speak_of(door):
    ann = await door.joins("ann")

    assert [] == (await door.asks("GET", ME, token=ann.token)).json["roles"]


async def test_one_sees_oneself_by_id_and_name_too(door):
    ann = await door.joins("ann")
    seen = [
        (await door.asks("GET", f"{USERS}/{name}", token=ann.token)).json
        for name in ("me", "ann", "ANN", str(ann.user.id))
    ]

    assert [seen[0]] * 4 == seen


async def test_a_name_may_look_like_an_id(door):
    name = uuid4().hex
    await door.joins(name)

    assert name == (await door.asks("GET", f"{USERS}/{name}", token=ADMIN_TOKEN)).json["username"]


async def test_for_members_there_is_nobody_else(door):
    ann, bob = await door.joins("ann"), await door.joins("bob")
    gone = await door.joins("gone")
    await door.asks("DELETE", f"{USERS}/gone", token=ADMIN_TOKEN)

    answers = [
        await door.asks("GET", f"{USERS}/{name}", token=ann.token)
        for name in ("bob", str(bob.user.id), "nobody", str(uuid4()), str(gone.user.id))
    ]

    assert [404] * 5 == [answer.status for answer in answers]
    assert 1 == len({answer.body for answer in answers})


async def test_an_admin_sees_everybody(door):
    ann = await door.joins("ann")

    answer = await door.asks("GET", f"{USERS}/{ann.user.id}", token=ADMIN_TOKEN)

    assert (200, "ann") == (answer.status, answer.json["username"])


async def test_who_is_deleted_is_gone_for_admins_too(door):
    ann = await door.joins("ann")
    await door.asks("DELETE", f"{USERS}/ann", token=ADMIN_TOKEN)

    for name in ("ann", ann.user.id):
        assert 404 == (await door.asks("GET", f"{USERS}/{name}", token=ADMIN_TOKEN)).status


@pytest.mark.parametrize(("scope", "status"), [("chats", 403), ("users:read", 200)])
async def test_an_admins_token_shows_others_only_if_it_is_for_users(door, scope, status):
    boss = await door.joins("boss", roles=[OWNER], scopes=[scope])

    answers = [
        (await door.asks("GET", f"{USERS}/{name}/roles", token=boss.token)).status
        for name in ("me", "admin")
    ]

    assert [200, status] == answers


# Of every route about a user: what anybody may do with another's account is nothing.
OTHERS = [
    ("GET", "", None),
    ("PUT", "/profile", {}),
    ("PUT", "/password", {"password": "battery staple"}),
    ("GET", "/roles", None),
    ("GET", "/organizations", None),
    ("GET", "/organizations/default", None),
    ("POST", "/keys/tokens", {}),
    ("GET", "/keys/tokens", None),
    ("GET", "/keys/tokens/tokenconfig", None),
    ("GET", "/keys/tokens/bot", None),
    ("GET", "/keys/0123456789", None),
    ("DELETE", "/keys/0123456789", None),
]


@pytest.mark.parametrize(("method", "path", "json"), OTHERS, ids=lambda it: str(it))
async def test_nobody_learns_of_another_whether_he_exists(door, method, path, json):
    ann, _ = await door.joins("ann"), await door.joins("bob")

    there = await door.asks(method, f"{USERS}/bob{path}", token=ann.token, json=json)
    nowhere = await door.asks(method, f"{USERS}/nobody{path}", token=ann.token, json=json)

    assert (404, 404) == (there.status, nowhere.status)
    assert there.body == nowhere.body


async def test_an_admin_adds_a_user_with_a_link(door):
    new = {"username": "ann", "name": "Ann", "email": "ann@example.org"}

    answer = await door.asks("POST", USERS, token=ADMIN_TOKEN, json=new)

    assert 201 == answer.status
    assert new == {name: answer.json[name] for name in new}
    assert ("dormant", []) == (answer.json["status"], answer.json["roles"])
    link = answer.json["one_time_link"]
    assert link.startswith(f"{ACCESS_URL}/join/")
    assert 200 == (await door.asks("GET", link.removeprefix(ACCESS_URL))).status


async def test_an_admin_adds_a_user_with_a_password(door):
    new = {"username": "ann", "password": PASSWORD, "roles": ["owner", "member"]}

    answer = await door.asks("POST", USERS, token=ADMIN_TOKEN, json=new)

    assert 201 == answer.status
    assert "one_time_link" not in answer.json
    assert ["owner"] == [role["name"] for role in answer.json["roles"]]
    login = {"username": "ann", "password": PASSWORD}
    assert 201 == (await door.asks("POST", f"{USERS}/login", json=login)).status


REFUSED = {
    "no name": ({}, "username"),
    "a name with a blank": ({"username": "a b"}, "username"),
    "a name that is too long": ({"username": "a" * 33}, "username"),
    "a name that is a word of ours": ({"username": "Me"}, "username"),
    "no address": ({"username": "ann", "email": "ann"}, "email"),
    "an address of two": ({"username": "ann", "email": "a@b@c"}, "email"),
    "an invisible name": ({"username": "ann", "name": "a\u0000"}, "name"),
    "a short password": ({"username": "ann", "password": "short"}, "password"),
    "a password that is the name": (
        {"username": "annabellelee", "password": "AnnabelleLee"},
        "password",
    ),
    "an unknown role": ({"username": "ann", "roles": ["king"]}, "roles"),
}


@pytest.mark.parametrize(("new", "field"), REFUSED.values(), ids=REFUSED)
async def test_a_user_is_refused_with(door, new, field):
    answer = await door.asks("POST", USERS, token=ADMIN_TOKEN, json=new)

    assert (400, [field]) == (answer.status, [v["field"] for v in answer.json["validations"]])
    assert 1 == (await door.asks("GET", USERS, token=ADMIN_TOKEN)).json["count"]


async def test_a_name_that_is_taken_is_refused(door):
    await door.joins("ann")

    answer = await door.asks("POST", USERS, token=ADMIN_TOKEN, json={"username": "ANN"})

    assert (409, "User already exists.") == (answer.status, answer.json["message"])


async def test_admins_list_users_in_pages(door):
    for name in ("ann", "bob", "cyd"):
        await door.joins(name)

    page = (await door.asks("GET", f"{USERS}?limit=2&offset=1", token=ADMIN_TOKEN)).json
    found = (await door.asks("GET", f"{USERS}?q=b+status:dormant", token=ADMIN_TOKEN)).json
    owners = (await door.asks("GET", f"{USERS}?q=role:owner", token=ADMIN_TOKEN)).json

    assert (["ann", "bob"], 4) == ([user["username"] for user in page["users"]], page["count"])
    assert ["bob"] == [user["username"] for user in found["users"]]
    assert ["admin"] == [user["username"] for user in owners["users"]]


QUERIES = {
    "limit=-1": "limit",
    "limit=x": "limit",
    "offset=1e3": "offset",
    "limit=1&limit=2": "limit",
    "limit=99999999999": "limit",
    "q=status:odd": "status",
    "q=role:king": "role",
    "q=since:1999": "since",
    "q=" + "+".join(["a"] * 21): "q",
}


@pytest.mark.parametrize("query", QUERIES)
async def test_a_list_is_refused_with_a_query_that_means_nothing(door, query):
    answer = await door.asks("GET", f"{USERS}?{query}", token=ADMIN_TOKEN)

    assert 400 == answer.status
    assert QUERIES[query] == answer.json["validations"][0]["field"]


async def test_one_changes_what_one_is_called(door):
    ann = await door.joins("ann")
    await door.asks("GET", ME, token=ann.token)
    picture = "https://example.org/ann.png"

    answer = await door.asks(
        "PUT", f"{ME}/profile", token=ann.token, json={"username": "anna", "avatar_url": picture}
    )

    changed = (await door.asks("GET", ME, token=ann.token)).json
    assert (200, changed) == (answer.status, answer.json)
    assert ("anna", picture, "") == (changed["username"], changed["avatar_url"], changed["name"])
    assert "anna" == (await door.asks("GET", f"{USERS}/anna", token=ADMIN_TOKEN)).json["username"]
    assert 404 == (await door.asks("GET", f"{USERS}/ann", token=ADMIN_TOKEN)).status


@pytest.mark.parametrize(
    ("profile", "field"),
    [({"username": ""}, "username"), ({"avatar_url": "javascript:1"}, "avatar_url")],
)
async def test_a_profile_is_refused_with(door, profile, field):
    ann = await door.joins("ann")

    answer = await door.asks("PUT", f"{ME}/profile", token=ann.token, json=profile)

    assert (400, field) == (answer.status, answer.json["validations"][0]["field"])


async def test_who_changes_his_password_shows_the_old_one_and_keeps_his_session(door):
    await door.joins("ann")
    login = {"username": "ann", "password": PASSWORD}
    here, there = [
        (await door.asks("POST", f"{USERS}/login", json=login)).json["session_token"]
        for _ in range(2)
    ]
    new = {"password": "battery staple"}
    for token in (here, there):
        assert 200 == (await door.asks("GET", ME, token=token)).status

    wrong = await door.asks(
        "PUT", f"{ME}/password", token=here, json=new | {"old_password": "wrong"}
    )
    absent = await door.asks("PUT", f"{ME}/password", token=here, json=new)
    right = await door.asks(
        "PUT", f"{ME}/password", token=here, json=new | {"old_password": PASSWORD}
    )

    assert [400, 400, 204] == [wrong.status, absent.status, right.status]
    assert "old_password" == wrong.json["validations"][0]["field"]
    assert 401 == (await door.asks("POST", f"{USERS}/login", json=login)).status
    sessions = [(await door.asks("GET", ME, token=token)).status for token in (here, there)]
    assert [200, 401] == sessions


async def test_an_old_password_cannot_be_guessed_without_waiting(standing_clock, door):
    ann = await door.joins("ann")
    guess = {"password": "battery staple", "old_password": "a guess"}

    statuses = [
        (await door.asks("PUT", f"{ME}/password", token=ann.token, json=guess)).status
        for _ in range(10)
    ]

    assert [400] * 6 + [429] * 4 == statuses


async def test_who_knows_his_password_may_change_it_often(door):
    ann = await door.joins("ann")
    same = {"password": PASSWORD, "old_password": PASSWORD}

    statuses = {
        (await door.asks("PUT", f"{ME}/password", token=ann.token, json=same)).status
        for _ in range(10)
    }

    assert {204} == statuses


async def test_who_has_no_password_yet_needs_no_old_one(door):
    new = {"password": "battery staple"}

    assert 204 == (await door.asks("PUT", f"{ME}/password", token=ADMIN_TOKEN, json=new)).status
    login = {"username": "admin"} | new
    assert 201 == (await door.asks("POST", f"{USERS}/login", json=login)).status


async def test_an_admin_sets_the_password_of_another_without_the_old_one(door):
    await door.joins("ann")
    new = {"password": "battery staple"}

    answer = await door.asks("PUT", f"{USERS}/ann/password", token=ADMIN_TOKEN, json=new)

    assert 204 == answer.status
    login = {"username": "ann"} | new
    assert 201 == (await door.asks("POST", f"{USERS}/login", json=login)).status


async def test_an_admin_gives_a_link_to_who_forgot_his_password(door):
    await door.joins("ann")

    answer = await door.asks("POST", f"{USERS}/ann/one-time-link", token=ADMIN_TOKEN)

    assert (201, {"url", "expires_at"}) == (answer.status, set(answer.json))
    path = answer.json["url"].removeprefix(ACCESS_URL)
    assert b"Welcome, ann" in (await door.asks("GET", path)).body


async def test_roles_are_given_and_taken(door):
    await door.joins("ann")
    roles = f"{USERS}/ann/roles"

    given_ = await door.asks("PUT", roles, token=ADMIN_TOKEN, json={"roles": ["owner"]})
    seen = (await door.asks("GET", roles, token=ADMIN_TOKEN)).json
    taken = await door.asks("PUT", roles, token=ADMIN_TOKEN, json={"roles": ["member"]})

    assert (["owner"], {}) == (seen["roles"], seen["organization_roles"])
    assert (200, 200, []) == (given_.status, taken.status, taken.json["roles"])


async def test_an_unknown_role_is_refused(door):
    await door.joins("ann")

    answer = await door.asks(
        "PUT", f"{USERS}/ann/roles", token=ADMIN_TOKEN, json={"roles": ["king"]}
    )

    assert (400, "roles") == (answer.status, answer.json["validations"][0]["field"])


async def test_the_last_admin_stays_one_over_the_api(door):
    ann = await door.joins("ann", roles=[OWNER])
    await door.asks("DELETE", f"{USERS}/admin", token=ann.token)

    statuses = [
        (await door.asks("PUT", f"{ME}/roles", token=ann.token, json={"roles": []})).status,
        (await door.asks("PUT", f"{ME}/status/suspend", token=ann.token)).status,
        (await door.asks("DELETE", ME, token=ann.token)).status,
    ]

    assert [409, 409, 409] == statuses
    assert 200 == (await door.asks("GET", USERS, token=ann.token)).status


async def test_nobody_suspends_himself(door):
    ann = await door.joins("ann", roles=[OWNER])

    answer = await door.asks("PUT", f"{ME}/status/suspend", token=ann.token)

    assert (409, "You cannot suspend yourself!") == (answer.status, answer.json["message"])


async def test_suspended_users_are_shown_as_such(door):
    await door.joins("ann")

    suspended = await door.asks("PUT", f"{USERS}/ann/status/suspend", token=ADMIN_TOKEN)
    activated = await door.asks("PUT", f"{USERS}/ann/status/activate", token=ADMIN_TOKEN)

    assert ["suspended", "active"] == [suspended.json["status"], activated.json["status"]]


async def test_there_is_one_organization_and_everybody_is_in_it(door):
    ann = await door.joins("ann", email="ann@example.org")
    id = str(door.auth.deployment.organization_id)

    answers = [
        (await door.asks("GET", path, token=ann.token)).json
        for path in (
            "/api/v2/organizations",
            f"{ME}/organizations",
        )
    ]
    single = [
        (await door.asks("GET", path, token=ann.token)).json
        for path in (
            f"/api/v2/organizations/{id}",
            "/api/v2/organizations/default",
            f"{ME}/organizations/default",
        )
    ]

    assert [[single[0]]] * 2 == answers
    assert [single[0]] * 3 == single
    assert [] == single[0]["default_org_member_roles"]
    assert (id, "default", True) == (single[0]["id"], single[0]["name"], single[0]["is_default"])
    other = await door.asks("GET", f"/api/v2/organizations/{uuid4()}", token=ann.token)
    assert 404 == other.status


async def test_members_know_of_each_other_what_they_need_to_share(door):
    ann = await door.joins("ann", email="ann@example.org")
    await door.joins("bob", email="bob@example.org")

    answer = await door.asks("GET", "/api/v2/organizations/default/members?q=b", token=ann.token)

    [bob] = answer.json
    assert "bob" == bob["username"]
    assert b"@" not in answer.body


@given(st.text(max_size=40))
def test_a_username_that_passes_can_stand_in_a_path(text):
    faults = list(checks.username_faults(text))

    assert faults or re.fullmatch(r"[A-Za-z0-9-]{1,32}", text)


@given(st.text(max_size=40))
def test_an_address_that_passes_has_no_blank_and_one_at(text):
    faults = list(checks.email_faults(text))

    assert faults or not text or (text.count("@") == 1 and not re.search(r"\s", text))


async def test_no_link_is_made_that_leads_where_only_the_request_says(door):
    """And no user is, whose link that would have been."""
    elsewhere = {"host": "evil.example"}
    new, again = {"username": "ann"}, {"username": "bob", "password": PASSWORD}

    refused = await door.asks("POST", USERS, token=ADMIN_TOKEN, json=new, headers=elsewhere)
    with_password = await door.asks("POST", USERS, token=ADMIN_TOKEN, json=again, headers=elsewhere)
    link = await door.asks(
        "POST", f"{USERS}/bob/one-time-link", token=ADMIN_TOKEN, headers=elsewhere
    )
    made = await door.asks("POST", USERS, token=ADMIN_TOKEN, json=new)

    assert (409, 201, 409, 201) == (
        refused.status,
        with_password.status,
        link.status,
        made.status,
    )
    assert "access_url" in refused.json["detail"]
    assert b"evil.example" not in refused.body + link.body
