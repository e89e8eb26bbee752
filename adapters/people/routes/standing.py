"""What a user may do, and whether he may come in at all."""

from collections.abc import Sequence

from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, json_response
from adapters.http.refusals import HttpError
from adapters.people.auth.opening import Auth
from adapters.people.routes import naming, shown
from adapters.people.routes.whom import BODY_BYTES_MAX, USERS, settled, whom
from adapters.people.store.user import Standing, User
from adapters.people.store.users import Not
from adapters.people.wire import Roles, ShownUser, UserRoles


class Standings:
    def __init__(self, auth: Auth) -> None:
        self._auth = auth

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=f"{USERS}/{{user}}/roles",
                handle=self.roles,
                summary="What a user may do beside what everybody may",
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
                summary="Let a user in no more, nor any token of his",
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
        user = await whom(self._auth, call)
        return json_response(200, UserRoles(sorted(user.roles)))

    async def set_roles(self, call: Call) -> HttpResponse:
        user = await whom(self._auth, call)
        roles = call.read(Roles).roles
        naming.refuse_if(naming.role_faults(roles))
        return self._changed(await self._auth.users.set_roles(user.id, naming.stored_roles(roles)))

    async def suspend(self, call: Call) -> HttpResponse:
        user = await whom(self._auth, call)
        if user.id == call.user.id:
            raise HttpError(
                409, "You cannot suspend yourself!", detail="ask another owner to do so"
            )
        return self._changed(await self._auth.users.set_standing(user.id, Standing.SUSPENDED))

    async def activate(self, call: Call) -> HttpResponse:
        user = await whom(self._auth, call)
        return self._changed(await self._auth.users.set_standing(user.id, Standing.ACTIVE))

    def _changed(self, outcome: User | Not) -> HttpResponse:
        user = settled(outcome)
        self._auth.changed(user.id)
        return json_response(200, shown.user(user, self._auth.deployment.organization_id))
