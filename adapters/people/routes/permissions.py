"""Permissions of the caller: clients ask for them, to hide what cannot be used.

A check names a kind of object, an action, and perhaps the owner of the object. Without an owner it
is about all objects of the kind: only admins may do to them what others may do to their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from adapters.http.endpoints import AREAS, Call, Caller, Endpoint, HttpResponse, json_response
from adapters.http.refusals import HttpError, Validation
from adapters.people.routes.checks import BODY_BYTES_MAX, ME, USERS
from adapters.people.routes.schemas import ROLES

CHECKS_MAX = 200  # of one request; more are refused
READ, CREATE, UPDATE, DELETE = "read", "create", "update", "delete"


class CheckedObject(Struct, frozen=True):
    """An object of a kind, or all of them; `owner_id` may be `me`."""

    resource_type: str
    owner_id: str = ""
    organization_id: str = ""
    resource_id: str = ""
    any_org: bool = False


class PermissionCheck(Struct, frozen=True):
    object: CheckedObject
    action: str


class PermissionRequest(Struct, frozen=True):
    """Checks by names that the client chooses. The answer has the same names."""

    checks: Mapping[str, PermissionCheck]


class AssignableRole(Struct, frozen=True):
    """A role that a user may be given."""

    name: str
    display_name: str
    assignable: bool  # by the caller
    built_in: bool = True
    organization_id: str = ""
    site_permissions: Sequence[Any] = ()
    organization_permissions: Sequence[Any] = ()
    user_permissions: Sequence[Any] = ()


@dataclass(frozen=True, slots=True)
class ResourceRule:
    """The actions on a kind of object, and those of them that members may do."""

    area: str  # the scopes of a token that are needed; "": none
    actions: frozenset[str]
    own: frozenset[str] = frozenset()  # what members may do to their own objects
    any: frozenset[str] = frozenset()  # what members may do to every object


def _rule(area: str, actions: str, own: str = "", any: str = "") -> ResourceRule:
    return ResourceRule(
        area, frozenset(actions.split()), frozenset(own.split()), frozenset(any.split())
    )


# Every check of a kind that is not in this table is answered with false.
RULES: Mapping[str, ResourceRule] = MappingProxyType(
    {
        "chat": _rule("chats", "create read update share", "create read update share", "create"),
        "workspace": _rule("chats", "read start stop delete", "read start stop delete"),
        "template": _rule("chats", "read use", any="read use"),
        "chat_model_config": _rule("models", "create read update delete", any="read"),
        "ai_provider": _rule("models", "create read update delete"),
        "deployment_config": _rule("settings", "read update"),
        "user": _rule(
            "users",
            "create read update delete read_personal update_personal",
            "read read_personal update_personal",
        ),
        "api_key": _rule("users", "create read update delete", "create read update delete"),
        "assign_role": _rule("users", "read assign unassign", any="read"),
        "organization": _rule("", "read", any="read"),
        "organization_member": _rule("", "read", any="read"),
    }
)


def may(caller: Caller, check: PermissionCheck) -> bool:
    """Return whether a caller may do an action to an object, or to all objects of a kind."""
    rule = RULES.get(check.object.resource_type)
    if rule is None or check.action not in rule.actions:
        return False
    needed = f"{rule.area}:read" if rule.area in AREAS and check.action == READ else rule.area
    if not caller.may(needed):
        return False
    is_own = check.object.owner_id in (ME, str(caller.id), caller.username)
    allowed = rule.any | rule.own if is_own else rule.any
    return caller.is_admin or check.action in allowed


class Permissions:
    """Routes that tell what the caller may do, and which roles there are."""

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="POST",
                path="/api/v2/authcheck",
                handle=self.check,
                summary="Tell for each check whether the caller may do it",
                tag="users",
                scope="",
                body=PermissionRequest,
                body_bytes_max=BODY_BYTES_MAX,
                answers={200: Mapping[str, bool]},
            ),
            Endpoint(
                method="GET",
                path=f"{USERS}/roles",
                handle=self.roles,
                summary="The roles that users can have",
                tag="users",
                scope="",
                answers={200: Sequence[AssignableRole]},
            ),
        )

    async def check(self, call: Call) -> HttpResponse:
        checks = call.read(PermissionRequest).checks
        if len(checks) > CHECKS_MAX:
            detail = f"holds {len(checks)} checks, may hold {CHECKS_MAX}"
            raise HttpError(400, "Too many checks.", validations=(Validation("checks", detail),))
        return json_response(200, {name: may(call.user, each) for name, each in checks.items()})

    async def roles(self, call: Call) -> HttpResponse:
        shown = [
            AssignableRole(name, display_name, assignable=call.user.is_admin)
            for name, display_name in ROLES.items()
        ]
        return json_response(200, shown)
