"""Accounts: who has one, and what he is called."""

from collections.abc import Sequence

from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, Parameter, json_response
from adapters.people.auth.opening import LINK_PATH, Auth
from adapters.people.routes import naming, shown
from adapters.people.routes.listing import wanted
from adapters.people.routes.whom import BODY_BYTES_MAX, USERS, settled, whom
from adapters.people.store.user import User
from adapters.people.wire import NewUser, NewUserAnswer, Profile, Said, ShownUser, UsersPage


class Accounts:
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
                summary="A user: `me`, or an id or a name for who may see others",
                tag="users",
                scope="",
                answers={200: ShownUser},
            ),
            Endpoint(
                method="DELETE",
                path=f"{USERS}/{{user}}",
                handle=self.delete,
                summary="Delete a user; what he said stays",
                tag="users",
                access=Access.ADMIN,
                scope="users",
                answers={200: Said},
                refusals=(409,),
            ),
            Endpoint(
                method="PUT",
                path=f"{USERS}/{{user}}/profile",
                handle=self.set_profile,
                summary="What a user is called, and his picture",
                tag="users",
                scope="users",
                body=Profile,
                body_bytes_max=BODY_BYTES_MAX,
                answers={200: ShownUser},
                refusals=(409,),
            ),
        )

    async def list(self, call: Call) -> HttpResponse:
        page = await self._auth.users.page(wanted(call))
        users = [shown.user(user, self._organization) for user in page.users]
        return json_response(200, UsersPage(users, page.count))

    async def create(self, call: Call) -> HttpResponse:
        new = call.read(NewUser)
        email, name, password = new.email or "", new.name or "", new.password or ""
        faults = [
            *naming.username_faults(new.username),
            *naming.name_faults(name),
            *naming.email_faults(email),
            *naming.role_faults(new.roles or ()),
            *(naming.password_faults(password, new.username, email) if password else ()),
        ]
        naming.refuse_if(faults)
        begins = "" if password else call.link(LINK_PATH)
        user = settled(
            await self._auth.users.add(
                new.username,
                name=name,
                email=email,
                roles=naming.stored_roles(new.roles or ()),
                password_hash=await self._auth.passwords.hashed(password) if password else None,
            )
        )
        if password:
            return json_response(201, shown.user(user, self._organization))
        link = await self._auth.invitations.add(user.id)
        address = f"{begins}/{link.code}"
        return json_response(201, shown.new_user(user, self._organization, address))

    async def read(self, call: Call) -> HttpResponse:
        return self._shown(await whom(self._auth, call))

    async def delete(self, call: Call) -> HttpResponse:
        user = await whom(self._auth, call)
        settled(await self._auth.users.delete(user.id))
        self._auth.changed(user.id)
        return json_response(200, Said("User has been deleted!"))

    async def set_profile(self, call: Call) -> HttpResponse:
        user = await whom(self._auth, call)
        new = call.read(Profile)
        username = user.username if new.username is None else new.username
        name = user.name if new.name is None else new.name
        avatar_url = user.avatar_url if new.avatar_url is None else new.avatar_url
        faults = [
            *(naming.username_faults(username) if username != user.username else ()),
            *naming.name_faults(name),
            *naming.url_faults("avatar_url", avatar_url),
        ]
        naming.refuse_if(faults)
        changed = settled(
            await self._auth.users.set_profile(
                user.id, username=username, name=name, avatar_url=avatar_url
            )
        )
        self._auth.changed(user.id)
        return self._shown(changed)

    def _shown(self, user: User) -> HttpResponse:
        return json_response(200, shown.user(user, self._organization))
