"""Requests to our own API from inside, in the name of the caller of a page.

What a page may know and do, and in which form, is decided in one place: the rows of the API.
"""

from collections.abc import Sequence

from adapters.http.endpoints import Call, Endpoint, HttpResponse
from adapters.http.refusals import HttpError, forbidden
from adapters.http.requests import HttpRequest
from adapters.http.routing import RouteMatch, RouteTree

JSON = "application/json"


class ApiCaller:
    """Calls the rows of the API for the pages."""

    def __init__(self, rows: Sequence[Endpoint]) -> None:
        self._rows = RouteTree(rows)

    async def get(self, call: Call, path: str) -> bytes:
        """Return the body of the answer to this caller; `HttpError` if it is refused."""
        return await self._ask(call, "GET", path, b"")

    async def post(self, call: Call, path: str, body: bytes) -> bytes:
        """Send JSON in this caller's name, and return the body of the answer."""
        return await self._ask(call, "POST", path, body)

    async def _ask(self, call: Call, method: str, target: str, body: bytes) -> bytes:
        path, _, query = target.partition("?")
        request = HttpRequest(method, path, query, {})
        found = self._rows.find(method, request.segments)
        assert isinstance(found, RouteMatch), f"{method} {path} is a row of the API"
        if not call.user.may(found.row.needed_scope):
            raise forbidden(f"the token lacks the scope for this: {found.row.scope}")
        answer = await found.row.handle(
            Call(
                call.user,
                found.path,
                request.query,
                {"content-type": JSON},
                body,
                address=call.address,
                scheme=call.scheme,
                own=call.own,
            )
        )
        assert isinstance(answer, HttpResponse), "pages ask for documents"
        assert isinstance(answer.body, bytes), "pages ask for documents"
        if answer.status >= 400:
            raise HttpError(answer.status, "This was refused.")
        return answer.body
