"""Logging in and out: with what, how often, and what it does not tell."""

import pytest
from argon2 import PasswordHasher

from adapters.people.auth.passwords import BOTH
from adapters.people.store.users import OWNER
from tests.adapters.people.auth.stage import ADMIN_TOKEN, PASSWORD

LOGIN = "/api/v2/users/login"
LOGOUT = "/api/v2/users/logout"
ME = "/api/v2/users/me"


async def log_in(door, password=PASSWORD, address="192.0.2.1", **names):
    return await door.asks("POST", LOGIN, json={"password": password, **names}, address=address)


NAMES = [
    {"username": "ann"},
    {"username": "ANN"},
    {"email": "ann@example.org"},
    {"email": "Ann@Example.org"},
    {"username": "ann@example.org"},
    {"username": None, "email": " ann@example.org "},
]


@pytest.mark.parametrize("names", NAMES, ids=str)
async def test_one_logs_in_with_name_or_address(door, names):
    await door.joins("ann", email="ann@example.org")

    answer = await log_in(door, **names)

    assert 201 == answer.status
    token = answer.json["session_token"]
    assert "ann" == (await door.asks("GET", ME, token=token)).json["username"]


@pytest.mark.parametrize(("scheme", "secure"), [("http", ""), ("https", "; Secure")])
async def test_the_cookies_are_as_safe_as_the_connection(door, scheme, secure):
    await door.joins("ann")

    answer = await door.asks(
        "POST", LOGIN, json={"username": "ann", "password": PASSWORD}, scheme=scheme
    )

    token, csrf = answer.json["session_token"], answer.json["csrf_token"]
    life = f"Max-Age={30 * 86_400}"
    assert [
        f"coder_session_token={token}; Path=/; {life}; HttpOnly; SameSite=Lax{secure}",
        f"csrf_token={csrf}; Path=/; {life}; SameSite=Lax{secure}",
    ] == answer.header("set-cookie")


WRONG = {
    "a wrong password": ("ann", "wrong password"),
    "an empty one": ("ann", ""),
    "nobody": ("nobody", PASSWORD),
    "no name": ("", PASSWORD),
    "who has no password": ("admin", PASSWORD),
    "who is suspended, with his password": ("sue", PASSWORD),
    "who is deleted, with his password": ("del", PASSWORD),
    "a name that the database cannot hold": ("a\0nn", PASSWORD),
}


async def test_who_may_not_come_in_is_not_told_why(door):
    await door.joins("ann")
    boss, sue = await door.joins("boss", roles=[OWNER]), await door.joins("sue")
    await door.asks("PUT", f"/api/v2/users/{sue.user.id}/status/suspend", token=boss.token)
    gone = await door.joins("del")
    await door.asks("DELETE", f"/api/v2/users/{gone.user.id}", token=boss.token)
    answers, runs = [], []

    for number, (name, password) in enumerate(WRONG.values()):
        before = door.auth.passwords.runs_count
        answers.append(await log_in(door, password, username=name, address=f"192.0.2.{number}"))
        runs.append(door.auth.passwords.runs_count - before)

    assert {401} == {answer.status for answer in answers}
    assert 1 == len({answer.body for answer in answers})
    assert {1} == set(runs)
    assert all(answer.header("www-authenticate") for answer in answers)
    assert not any(answer.header("set-cookie") for answer in answers)


async def test_a_good_login_takes_the_same_work(door):
    await door.joins("ann")
    before = door.auth.passwords.runs_count

    await log_in(door, username="ann")

    assert 1 == door.auth.passwords.runs_count - before


@pytest.mark.parametrize("name", ["ann", "nobody"])
async def test_who_fails_too_often_waits_whether_or_not_there_is_such_a_user(
    standing_clock, door, name
):
    await door.joins("ann")
    for _ in range(BOTH.free + 1):
        assert 401 == (await log_in(door, "wrong password", username=name)).status
    before = door.auth.passwords.runs_count

    answer = await log_in(door, username=name)

    assert (429, ["1"]) == (answer.status, answer.header("retry-after"))
    assert 0 == door.auth.passwords.runs_count - before
    elsewhere = await log_in(door, username="ann", address="198.51.100.7")
    assert 201 == elsewhere.status


async def test_logging_out_ends_the_session_and_takes_the_cookies_back(door):
    await door.joins("ann")
    token = (await log_in(door, username="ann")).json["session_token"]

    answer = await door.asks("POST", LOGOUT, token=token)

    assert (200, "Logged out!") == (answer.status, answer.json["message"])
    assert {"coder_session_token": "", "csrf_token": ""} == answer.cookies
    assert all("Max-Age=0" in cookie for cookie in answer.header("set-cookie"))
    assert 401 == (await door.asks("GET", ME, token=token)).status


async def test_what_the_configuration_sets_is_not_logged_out(door):
    assert 200 == (await door.asks("POST", LOGOUT, token=ADMIN_TOKEN)).status
    assert 200 == (await door.asks("GET", ME, token=ADMIN_TOKEN)).status


async def test_a_password_of_former_cost_is_kept_at_todays(door):
    ann = await door.joins("ann")
    former = "$argon2id$v=19$m=16,t=2,p=1$"

    hashed = PasswordHasher(2, 16, 1).hash(PASSWORD)
    assert hashed.startswith(former)
    await door.rows(
        "UPDATE users SET password_hash = %(hash)s WHERE id = %(id)s", hash=hashed, id=ann.user.id
    )

    assert 201 == (await log_in(door, username="ann")).status

    kept = await door.auth.users.password_of(ann.user.id)
    assert kept.startswith("$argon2id$v=19$m=8,t=1,p=1$")
    assert 201 == (await log_in(door, username="ann")).status


async def test_who_logs_in_often_does_not_wait(door):
    await door.joins("ann")

    statuses = {(await log_in(door, username="ann")).status for _ in range(2 * BOTH.free)}

    assert {201} == statuses


async def test_who_logs_in_for_the_first_time_is_active(door):
    ann = await door.joins("ann")
    await door.auth.cached_users.by_id(ann.user.id)

    token = (await log_in(door, username="ann")).json["session_token"]

    me = (await door.asks("GET", ME, token=token)).json
    assert "active" == me["status"]
    assert not me["last_seen_at"].startswith("0001")


async def test_clients_learn_how_one_logs_in_before_they_do(door):
    methods = await door.asks("GET", "/api/v2/users/authmethods")

    assert {"enabled": True} == methods.json["password"]
    assert 200 == (await door.asks("GET", "/api/v2/users/first")).status


async def test_a_user_sees_their_sessions_and_ends_one(door):
    ann = await door.joins("ann")
    here = (await log_in(door, username="ann")).json["session_token"]
    there = (await log_in(door, username="ann")).json["session_token"]
    keys = f"{ME}/keys"

    listed = (await door.asks("GET", f"{keys}/sessions", token=here)).json

    assert [(there[:10], False), (here[:10], True)] == [
        (each["id"], each["is_current"]) for each in listed
    ]
    assert 204 == (await door.asks("DELETE", f"{keys}/{there[:10]}", token=here)).status
    assert 401 == (await door.asks("GET", ME, token=there)).status
    left = (await door.asks("GET", f"{keys}/sessions", token=ann.token)).json
    assert [(here[:10], False)] == [(each["id"], each["is_current"]) for each in left]
