"""One-time links: a page to set a password, which logs in who does."""

from collections.abc import Sequence
from urllib.parse import parse_qsl

from adapters.api.auth.opening import LINK_PATH, Auth
from adapters.api.auth.pages import HEADERS, asking, gone, welcome
from adapters.api.auth.passwords import fault_of
from adapters.api.endpoints import Access, Answer, Call, Endpoint
from adapters.api.routes.people.sessions import begin
from adapters.api.routes.people.whom import BODY_BYTES_MAX

LOOKS_PER_MINUTE = 30  # of one address
HTML = "text/html; charset=utf-8"
FIELDS_MAX = 10  # of the form; what is over is not looked at


class Joining:
    def __init__(self, auth: Auth) -> None:
        self._auth = auth

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=f"{LINK_PATH}/{{code}}",
                handle=self.look,
                says="The page of a one-time link; looking does not use it up",
                tag="sessions",
                access=Access.OPEN,
                rate_per_minute=LOOKS_PER_MINUTE,
                answers={200: str},
                refusals=(404,),
            ),
            Endpoint(
                method="POST",
                path=f"{LINK_PATH}/{{code}}",
                handle=self.take,
                says="Use a one-time link: set the password (a form: password, again), log in",
                tag="sessions",
                access=Access.OPEN,
                body_bytes_max=BODY_BYTES_MAX,
                rate_per_minute=LOOKS_PER_MINUTE,
                answers={200: str},
                refusals=(404,),
            ),
        )

    async def look(self, call: Call) -> Answer:
        user = await self._auth.invitations.whom(call.path["code"])
        return _page(404, gone()) if user is None else _page(200, asking(user.username))

    async def take(self, call: Call) -> Answer:
        code, form = call.path["code"], _form(call.body)
        user = await self._auth.invitations.whom(code)
        if user is None:
            return _page(404, gone())
        password = form.get("password", "")
        fault = fault_of(password, user.username, user.email)
        if fault is None and password != form.get("again"):
            fault = "is not the same both times"
        if fault is not None:
            return _page(400, asking(user.username, f"The password {fault}."))
        hashed = await self._auth.passwords.hashed(password)
        user = await self._auth.invitations.take(code, hashed)
        if user is None:  # somebody was faster
            return _page(404, gone())
        self._auth.changed(user.id)
        session = await begin(self._auth, call, user)
        return _page(200, welcome(user.username), session.headers)


def _form(body: bytes) -> dict[str, str]:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return {}
    return dict(parse_qsl(text, keep_blank_values=True)[:FIELDS_MAX])


def _page(status: int, html: str, headers: Sequence[tuple[str, str]] = ()) -> Answer:
    return Answer(status, html.encode(), HTML, (*HEADERS, *headers))
