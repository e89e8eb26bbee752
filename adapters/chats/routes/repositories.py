"""Requests about the repository of a chat's workspace, which are not built here.

Clients send them before they know whether a chat has a workspace at all. Without one they get the
answer that means "there is nothing" to them, and else 501.
"""

from collections.abc import Sequence

from adapters.access.admission import Admission
from adapters.chats.overviews import OverviewStore
from adapters.http.endpoints import Call, Endpoint, HttpResponse
from adapters.http.refusals import HttpError

CHAT = "/api/v2/chats/{chat}"
NO_WORKSPACE = "Chat has no workspace to watch."  # clients look for these words


class RepositoryRoutes:
    """Handlers that say that there is nothing to show."""

    def __init__(self, admission: Admission, overviews: OverviewStore) -> None:
        self._admission = admission
        self._overviews = overviews

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=f"{CHAT}/stream/git",
                handle=self.workspace_stream,
                summary="Not built: git. Without a workspace the answer is 400.",
                tag="later",
                refusals=(501,),
            ),
            Endpoint(
                method="GET",
                path=f"{CHAT}/stream/parts",
                handle=self.parts,
                summary="Not built: pieces of answers between servers of another kind",
                tag="later",
                refusals=(426, 501),
            ),
        )

    async def workspace_stream(self, call: Call) -> HttpResponse:
        found = await self._overviews.admitted(call, self._admission)
        if found.overview.row.workspace_id is None:
            raise HttpError(400, NO_WORKSPACE)
        raise _not_built("streams of a workspace")

    async def parts(self, call: Call) -> HttpResponse:
        await self._admission.to_read(call)
        if call.headers.get("upgrade", "").lower() != "websocket":
            headers = (("upgrade", "websocket"), ("connection", "upgrade"))
            raise HttpError(426, "This is a WebSocket endpoint.", headers=headers)
        raise _not_built("pieces for other servers")


def _not_built(what: str) -> HttpError:
    return HttpError(501, "Not implemented.", detail=f"{what}: this server has none yet")
