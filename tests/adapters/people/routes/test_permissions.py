"""Permissions of callers, by rules and over the API."""

from uuid import UUID

import pytest

from actors.law.ids import UserId
from adapters.http.endpoints import ALL, Caller, TokenSource, with_implied_scopes
from adapters.people.routes.permissions import (
    CHECKS_MAX,
    RULES,
    CheckedObject,
    PermissionCheck,
    may,
)

ANN = UserId(UUID(int=1))
OTHER = str(UUID(int=2))


def a_caller(*, is_admin=False, scopes=(ALL,)):
    implied = with_implied_scopes(scopes)
    return Caller(ANN, "ann", is_admin, implied, "token", TokenSource.HEADER)


def check(kind, action, owner=""):
    return PermissionCheck(CheckedObject(kind, owner_id=owner), action)


@pytest.mark.parametrize(
    ("kind", "action", "owner", "member", "admin"),
    [
        ("chat", "create", "", True, True),
        ("chat", "read", "me", True, True),
        ("chat", "read", str(ANN), True, True),
        ("chat", "read", OTHER, False, True),
        ("chat", "read", "", False, True),
        ("chat", "delete", "me", False, False),
        ("template", "read", "", True, True),
        ("template", "create", "", False, False),
        ("ai_provider", "read", "", False, True),
        ("chat_model_config", "read", "", True, True),
        ("chat_model_config", "update", "me", False, True),
        ("api_key", "create", "me", True, True),
        ("api_key", "create", OTHER, False, True),
        ("user", "create", "", False, True),
        ("user", "update_personal", "me", True, True),
        ("audit_log", "read", "", False, False),
        ("chat", "fly", "me", False, False),
    ],
)
def test_members_may_act_on_their_own_objects_and_admins_on_all(kind, action, owner, member, admin):
    asked = check(kind, action, owner)

    assert (member, admin) == (may(a_caller(), asked), may(a_caller(is_admin=True), asked))


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [("chats", {"create", "read", "update", "share"}), ("chats:read", {"read"}), ("users", set())],
)
def test_a_token_allows_no_more_than_its_scope(scope, allowed):
    caller = a_caller(is_admin=True, scopes=(scope,))

    found = {action for action in RULES["chat"].actions if may(caller, check("chat", action))}

    assert allowed == found


def test_members_are_allowed_only_actions_that_exist():
    for rule in RULES.values():
        assert rule.own | rule.any <= rule.actions


@pytest.mark.slow
async def test_checks_are_answered_by_their_names(edge):
    asked = {
        "mine": {"object": {"resource_type": "chat", "owner_id": "me"}, "action": "read"},
        "all": {"object": {"resource_type": "chat"}, "action": "read"},
    }

    member = await edge.member.post("/api/v2/authcheck", {"checks": asked})
    admin = await edge.admin.post("/api/v2/authcheck", {"checks": asked})
    many = {str(number): asked["mine"] for number in range(CHECKS_MAX + 1)}
    refused = await edge.member.post("/api/v2/authcheck", {"checks": many})

    assert {"mine": True, "all": False} == member.document
    assert {"mine": True, "all": True} == admin.document
    assert 400 == refused.status


@pytest.mark.slow
async def test_roles_are_listed_and_say_whether_the_caller_may_give_them(edge):
    found = [(await who.get("/api/v2/users/roles")).document for who in (edge.member, edge.admin)]

    assert [[("owner", False)], [("owner", True)]] == [
        [(role["name"], role["assignable"]) for role in roles] for roles in found
    ]
