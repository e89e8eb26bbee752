"""Endpoints that clients know and that do nothing here.

What is not built answers 501: the stream by which servers of the reference give each other the
pieces of answers. No client asks there; our processes have a relay of their own, at addresses of
their own, which no user reaches. What is gone for good answers 410. The paths of the reference's
gateway to models (`/api/v2/ai-gateway/…`) are not about chats, and are not there.
"""

from collections.abc import Iterator, Sequence

import trio

from adapters.access.admission import Admission
from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse
from adapters.http.refusals import HttpError

CHATS = "/api/v2/chats"

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
        return (parts, *_removed_endpoints())

    async def parts(self, call: Call) -> HttpResponse:
        """Refuse the stream, as far as the caller may know of the chat."""
        await self._admission.to_read(call)
        if call.headers.get("upgrade", "").lower() != "websocket":
            headers = (("upgrade", "websocket"), ("connection", "upgrade"))
            raise HttpError(426, "This is a WebSocket endpoint.", headers=headers)
        detail = "it is for servers of the reference alone; watch the chat by its stream"
        raise HttpError(501, "Not implemented.", detail=detail)


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
