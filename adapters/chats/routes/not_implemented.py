"""Endpoints that clients know and that do nothing here.

Those that are not built answer 501, those that are gone for good answer 410.
"""

from collections.abc import Iterator, Sequence

import trio

from adapters.access.admission import Admission
from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse
from adapters.http.refusals import HttpError

CHATS = "/api/v2/chats"
MCP_HTTP = "/api/experimental/mcp/http"

NOT_BUILT = (("chats as MCP tools", "GET POST DELETE", MCP_HTTP),)

GONE = (
    ("GET POST", CHATS + "/providers"),
    ("PATCH DELETE", CHATS + "/providers/{provider}"),
    ("GET", CHATS + "/user-provider-configs"),
    ("PUT DELETE", CHATS + "/user-provider-configs/{provider}"),
)


class NotImplementedRoutes:
    """Handlers that refuse every request."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission

    def endpoints(self) -> Sequence[Endpoint]:
        parts = Endpoint(
            method="GET",
            path=f"{CHATS}/{{chat}}/stream/parts",
            handle=self.parts,
            summary="Not built: pieces of answers between servers of another kind",
            tag="later",
            refusals=(426, 501),
        )
        return (parts, *_not_built(), *_removed_endpoints())

    async def parts(self, call: Call) -> HttpResponse:
        """Refuse the stream, as far as the caller may know of the chat."""
        await self._admission.to_read(call)
        if call.headers.get("upgrade", "").lower() != "websocket":
            headers = (("upgrade", "websocket"), ("connection", "upgrade"))
            raise HttpError(426, "This is a WebSocket endpoint.", headers=headers)
        detail = "pieces for other servers: this server has none yet"
        raise HttpError(501, "Not implemented.", detail=detail)


def _not_built() -> Iterator[Endpoint]:
    for what, methods, path in NOT_BUILT:
        refused = HttpError(501, "Not implemented.", detail=f"{what}: this server has none yet")
        for method in methods.split():
            yield _row(method, path, f"Not there yet: {what}", refused)


def _removed_endpoints() -> Iterator[Endpoint]:
    refused = HttpError(
        410,
        "This endpoint is gone.",
        detail="providers are at /api/v2/ai/providers, users' keys at"
        " /api/v2/users/{user}/ai-provider-keys",
    )
    for methods, path in GONE:
        for method in methods.split():
            yield _row(method, path, "Gone: see /api/v2/ai/providers", refused)


def _row(method: str, path: str, says: str, refused: HttpError) -> Endpoint:
    async def refuse(call: Call) -> HttpResponse:
        await trio.lowlevel.checkpoint()
        raise refused

    return Endpoint(
        method=method,
        path=path,
        handle=refuse,
        summary=says,
        tag="later",
        access=Access.USER,
        refusals=(refused.status,),
    )
