"""The one organization, which everybody is a member of: clients ask for its id."""

from collections.abc import Sequence

from adapters.http.endpoints import Call, Endpoint, HttpResponse, Parameter, json_response
from adapters.http.refusals import not_found
from adapters.people.auth.opening import Auth
from adapters.people.routes import shown
from adapters.people.routes.listing import wanted
from adapters.people.routes.whom import USERS, whom
from adapters.people.wire import Member, Organization

ORGANIZATIONS = "/api/v2/organizations"


class Organizations:
    def __init__(self, auth: Auth) -> None:
        self._auth = auth
        self._one = shown.organization(auth.deployment)

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=ORGANIZATIONS,
                handle=self.all,
                summary="The organizations: one",
                tag="organizations",
                scope="",
                answers={200: list[Organization]},
            ),
            Endpoint(
                method="GET",
                path=f"{ORGANIZATIONS}/{{organization}}",
                handle=self.read,
                summary="An organization by its id or name",
                tag="organizations",
                scope="",
                answers={200: Organization},
            ),
            Endpoint(
                method="GET",
                path=f"{ORGANIZATIONS}/{{organization}}/members",
                handle=self.members,
                summary="Whom one may share chats with, in order of their names",
                tag="organizations",
                scope="",
                answers={200: list[Member]},
                parameters=(
                    Parameter(name="q", help="words that all match"),
                    Parameter(name="limit", type=int, help="0 or absent: as many as there may be"),
                    Parameter(name="offset", type=int),
                ),
            ),
            Endpoint(
                method="GET",
                path=f"{USERS}/{{user}}/organizations",
                handle=self.of_user,
                summary="The organizations of a user: the one",
                tag="organizations",
                scope="",
                answers={200: list[Organization]},
            ),
            Endpoint(
                method="GET",
                path=f"{USERS}/{{user}}/organizations/{{organization}}",
                handle=self.one_of_user,
                summary="The organization of a user by its id or name",
                tag="organizations",
                scope="",
                answers={200: Organization},
            ),
        )

    async def all(self, call: Call) -> HttpResponse:
        return json_response(200, [self._one])

    async def read(self, call: Call) -> HttpResponse:
        self._refuse_another(call)
        return json_response(200, self._one)

    async def members(self, call: Call) -> HttpResponse:
        self._refuse_another(call)
        page = await self._auth.users.page(wanted(call))
        return json_response(200, [shown.member(user, self._one.id) for user in page.users])

    async def of_user(self, call: Call) -> HttpResponse:
        await whom(self._auth, call)
        return json_response(200, [self._one])

    async def one_of_user(self, call: Call) -> HttpResponse:
        await whom(self._auth, call)
        return await self.read(call)

    def _refuse_another(self, call: Call) -> None:
        if call.path["organization"] not in (str(self._one.id), self._one.name):
            raise not_found()
