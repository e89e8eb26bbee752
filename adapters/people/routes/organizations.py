"""The one organization, of which all users are members: clients ask for its id."""

from collections.abc import Sequence

from adapters.http.endpoints import Call, Endpoint, HttpResponse, Parameter, json_response
from adapters.http.refusals import not_found
from adapters.people.auth.wiring import Auth
from adapters.people.routes.checks import USERS, user_filter, user_of_path
from adapters.people.routes.schemas import (
    Member,
    Organization,
    is_organization,
    present_member,
    present_organization,
)

ORGANIZATIONS = "/api/v2/organizations"


class Organizations:
    """Routes of the organization and its members."""

    def __init__(self, auth: Auth) -> None:
        self._auth = auth
        self._one = present_organization(auth.deployment)

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
                summary="Members, with whom chats can be shared, in order of their names",
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
        page = await self._auth.users.page(user_filter(call))
        return json_response(200, [present_member(user, self._one.id) for user in page.users])

    async def of_user(self, call: Call) -> HttpResponse:
        await user_of_path(self._auth, call)
        return json_response(200, [self._one])

    async def one_of_user(self, call: Call) -> HttpResponse:
        await user_of_path(self._auth, call)
        return await self.read(call)

    def _refuse_another(self, call: Call) -> None:
        if not is_organization(call.path["organization"], self._one.id):
            raise not_found()
