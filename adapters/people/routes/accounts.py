"""Accounts of users: their names, their roles, and whether they are let in."""

from collections.abc import Sequence

from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, Parameter, json_response
from adapters.http.refusals import HttpError
from adapters.people.auth.wiring import LINK_PATH, Auth
from adapters.people.routes import checks
from adapters.people.routes.checks import (
    BODY_BYTES_MAX,
    USERS,
    changed_user,
    user_filter,
    user_of_path,
)
from adapters.people.routes.schemas import (
    MessageAnswer,
    NewUser,
    NewUserAnswer,
    Profile,
    Roles,
    ShownUser,
    UserRoles,
    UsersPage,
    present_new_user,
    present_user,
)
from adapters.people.store.users import User, UserRefusal, UserStatus


class Accounts:
    """Routes that list, add, change and delete users."""

    def __init__(self, auth: Auth) -> None:
        self._auth = auth
        self._organization = auth.deployment.organization_id

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=USERS,
                handle=self.list,
                summary="Users, in order of their names",
                tag="users",
                access=Access.ADMIN,
                scope="users",
                answers={200: UsersPage},
                parameters=(
                    Parameter(name="q", help="words that all match; status:active, role:owner"),
                    Parameter(name="limit", type=int, help="0 or absent: as many as there may be"),
                    Parameter(name="offset", type=int),
                ),
            ),
            Endpoint(
                method="POST",
                path=USERS,
                handle=self.create,
                summary="Add a user, with a password or with a link to set one",
                tag="users",
                access=Access.ADMIN,
                scope="users",
                body=NewUser,
                body_bytes_max=BODY_BYTES_MAX,
                answers={201: NewUserAnswer},
                refusals=(409,),
            ),
            Endpoint(
                method="GET",
                path=f"{USERS}/{{user}}",
                handle=self.read,
                summary="A user: `me`, or for admins an id or a name",
                tag="users",
                scope="",
                answers={200: ShownUser},
            ),
            Endpoint(
                method="DELETE",
                path=f"{USERS}/{{user}}",
                handle=self.delete,
                summary="Delete a user; their messages stay",
                tag="users",
                access=Access.ADMIN,
                scope="users",
                answers={200: MessageAnswer},
                refusals=(409,),
            ),
            Endpoint(
                method="PUT",
                path=f"{USERS}/{{user}}/profile",
                handle=self.set_profile,
                summary="Set the names and the picture of a user",
                tag="users",
                scope="users",
                body=Profile,
                body_bytes_max=BODY_BYTES_MAX,
                answers={200: ShownUser},
                refusals=(409,),
            ),
        )

    async def list(self, call: Call) -> HttpResponse:
        page = await self._auth.users.page(user_filter(call))
        users = [present_user(user, self._organization) for user in page.users]
        return json_response(200, UsersPage(users, page.count))

    async def create(self, call: Call) -> HttpResponse:
        new = call.read(NewUser)
        email, name, password = new.email or "", new.name or "", new.password or ""
        faults = [
            *checks.username_faults(new.username),
            *checks.name_faults(name),
            *checks.email_faults(email),
            *checks.role_faults(new.roles or ()),
            *(checks.password_faults(password, new.username, email) if password else ()),
        ]
        checks.refuse_if(faults)
        link_begin = "" if password else call.link(LINK_PATH)
        user = changed_user(
            await self._auth.users.add(
                new.username,
                name=name,
                email=email,
                roles=checks.stored_roles(new.roles or ()),
                password_hash=await self._auth.passwords.hashed(password) if password else None,
            )
        )
        if password:
            return json_response(201, present_user(user, self._organization))
        link = await self._auth.invitations.add(user.id)
        address = f"{link_begin}/{link.code}"
        return json_response(201, present_new_user(user, self._organization, address))

    async def read(self, call: Call) -> HttpResponse:
        return self._presented(await user_of_path(self._auth, call))

    async def delete(self, call: Call) -> HttpResponse:
        user = await user_of_path(self._auth, call)
        changed_user(await self._auth.users.delete(user.id))
        self._auth.changed(user.id)
        return json_response(200, MessageAnswer("User has been deleted!"))

    async def set_profile(self, call: Call) -> HttpResponse:
        user = await user_of_path(self._auth, call)
        new = call.read(Profile)
        username = user.username if new.username is None else new.username
        name = user.name if new.name is None else new.name
        avatar_url = user.avatar_url if new.avatar_url is None else new.avatar_url
        faults = [
            *(checks.username_faults(username) if username != user.username else ()),
            *checks.name_faults(name),
            *checks.url_faults("avatar_url", avatar_url),
        ]
        checks.refuse_if(faults)
        changed = changed_user(
            await self._auth.users.set_profile(
                user.id, username=username, name=name, avatar_url=avatar_url
            )
        )
        self._auth.changed(user.id)
        return self._presented(changed)

    def _presented(self, user: User) -> HttpResponse:
        return json_response(200, present_user(user, self._organization))


class UserRights:
    """Routes about what a user may do, and whether they are let in."""

    def __init__(self, auth: Auth) -> None:
        self._auth = auth

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=f"{USERS}/{{user}}/roles",
                handle=self.roles,
                summary="The roles of a user",
                tag="users",
                scope="",
                answers={200: UserRoles},
            ),
            Endpoint(
                method="PUT",
                path=f"{USERS}/{{user}}/roles",
                handle=self.set_roles,
                summary="Make a user an owner, or a member again",
                tag="users",
                access=Access.ADMIN,
                scope="users",
                body=Roles,
                body_bytes_max=BODY_BYTES_MAX,
                answers={200: ShownUser},
                refusals=(409,),
            ),
            Endpoint(
                method="PUT",
                path=f"{USERS}/{{user}}/status/suspend",
                handle=self.suspend,
                summary="Suspend a user: they are not let in, with none of their tokens",
                tag="users",
                access=Access.ADMIN,
                scope="users",
                answers={200: ShownUser},
                refusals=(409,),
            ),
            Endpoint(
                method="PUT",
                path=f"{USERS}/{{user}}/status/activate",
                handle=self.activate,
                summary="Let a user in again",
                tag="users",
                access=Access.ADMIN,
                scope="users",
                answers={200: ShownUser},
            ),
        )

    async def roles(self, call: Call) -> HttpResponse:
        user = await user_of_path(self._auth, call)
        return json_response(200, UserRoles(sorted(user.roles)))

    async def set_roles(self, call: Call) -> HttpResponse:
        user = await user_of_path(self._auth, call)
        roles = call.read(Roles).roles
        checks.refuse_if(checks.role_faults(roles))
        return self._changed(await self._auth.users.set_roles(user.id, checks.stored_roles(roles)))

    async def suspend(self, call: Call) -> HttpResponse:
        user = await user_of_path(self._auth, call)
        if user.id == call.user.id:
            raise HttpError(
                409, "You cannot suspend yourself!", detail="ask another owner to do so"
            )
        return self._changed(await self._auth.users.set_status(user.id, UserStatus.SUSPENDED))

    async def activate(self, call: Call) -> HttpResponse:
        user = await user_of_path(self._auth, call)
        return self._changed(await self._auth.users.set_status(user.id, UserStatus.ACTIVE))

    def _changed(self, outcome: User | UserRefusal) -> HttpResponse:
        user = changed_user(outcome)
        self._auth.changed(user.id)
        return json_response(200, present_user(user, self._auth.deployment.organization_id))
