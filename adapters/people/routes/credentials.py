"""What lets a user in: his password, and links with which he sets one."""

from collections.abc import Sequence

from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, json_response, no_content
from adapters.http.refusals import HttpError, Validation
from adapters.people.auth.opening import LINK_PATH, Auth
from adapters.people.auth.throttle import slow_down
from adapters.people.routes import naming
from adapters.people.routes.whom import BODY_BYTES_MAX, USERS, whom
from adapters.people.store.user import User
from adapters.people.wire import NewPassword, OneTimeLink


class Credentials:
    def __init__(self, auth: Auth) -> None:
        self._auth = auth

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="PUT",
                path=f"{USERS}/{{user}}/password",
                handle=self.set_password,
                summary="A new password; who changes his own shows the old one. Other sessions end",
                tag="users",
                scope="users",
                body=NewPassword,
                body_bytes_max=BODY_BYTES_MAX,
                answers={204: None},
            ),
            Endpoint(
                method="POST",
                path=f"{USERS}/{{user}}/one-time-link",
                handle=self.make_link,
                summary="A link with which a user sets his password, once",
                tag="users",
                access=Access.ADMIN,
                scope="users",
                answers={201: OneTimeLink},
            ),
        )

    async def set_password(self, call: Call) -> HttpResponse:
        user = await whom(self._auth, call)
        new = call.read(NewPassword)
        naming.refuse_if(naming.password_faults(new.password, user.username, user.email))
        if user.id == call.user.id:
            await self._refuse_another(call, user, new.old_password or "")
        hashed = await self._auth.passwords.hashed(new.password)
        await self._auth.users.set_password(user.id, hashed, but=call.user.token)
        self._auth.changed(user.id)
        return no_content()

    async def make_link(self, call: Call) -> HttpResponse:
        user = await whom(self._auth, call)
        begins = call.link(LINK_PATH)
        link = await self._auth.invitations.add(user.id)
        return json_response(201, OneTimeLink(f"{begins}/{link.code}", link.expires_at))

    async def _refuse_another(self, call: Call, user: User, password: str) -> None:
        """Who found a browser open does not know the password of who left it."""
        slow_down(self._auth.throttle, user.username, call.address)
        hash = await self._auth.users.password_of(user.id)
        if hash is not None and not await self._auth.passwords.matches(hash, password):
            wrong = Validation("old_password", "is not the password")
            raise HttpError(400, "Old password is incorrect.", validations=(wrong,))
        self._auth.throttle.succeeded(user.username, call.address)
