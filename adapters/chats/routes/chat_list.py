"""The list of chats: filtered, searched, in pages."""

from collections.abc import Sequence
from uuid import UUID

from actors.law.ids import ChatId
from adapters.chats.shelf.searching import search_of
from adapters.chats.shelf.shelf import OverviewStore
from adapters.chats.shelf.wanted import PAGE_DEFAULT
from adapters.chats.wire.chats import Chat, listed
from adapters.http.endpoints import Call, Endpoint, HttpResponse, Parameter, json_response, number
from adapters.http.refusals import query_refused
from adapters.workspaces.store import OwnedWorkspaces

CHATS = "/api/experimental/chats"

NUMBER_MAX = 2**31 - 1  # of a limit or offset; clients mean 32 bits
WORKSPACES_MAX = 25  # asked about at once; more are refused


class ChatList:
    def __init__(
        self,
        shelf: OverviewStore,
        workspaces: OwnedWorkspaces,
        *,
        organization: UUID,
        sharing: bool = True,
    ) -> None:
        self._shelf = shelf
        self._workspaces = workspaces
        self._organization = organization
        self._sharing = sharing

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=CHATS,
                handle=self.list,
                summary="Your chats, what is pinned first, then what was touched last.",
                tag="chats",
                parameters=(
                    Parameter(name="q", help='terms such as title:"two words" archived:true'),
                    Parameter(name="label", help="key:value; several hold together"),
                    Parameter(name="limit", type=int, help=f"0 or none: {PAGE_DEFAULT}"),
                    Parameter(name="offset", type=int, help="how many to leave out"),
                    Parameter(name="after_id", type=UUID, help="the last chat of the page before"),
                ),
                answers={200: list[Chat]},
            ),
            Endpoint(
                method="GET",
                path=f"{CHATS}/by-workspace",
                handle=self.by_workspace,
                summary="Of each workspace the chat that was touched last.",
                tag="chats",
                parameters=(Parameter(name="workspace_ids", help="ids with commas between them"),),
                answers={200: dict[str, UUID]},
            ),
        )

    async def list(self, call: Call) -> HttpResponse:
        search = search_of(
            call.one("q") or "",
            labels=[value for key, value in call.query if key == "label"],
            limit=number(call, "limit", maximum=NUMBER_MAX) or PAGE_DEFAULT,
            offset=number(call, "offset", maximum=NUMBER_MAX),
            after=_after(call),
            sharing=self._sharing,
        )
        chats = [] if search.is_vain else await self._shelf.page(call.user.id, search.wanted)
        return json_response(200, [listed(chat, organization=self._organization) for chat in chats])

    async def by_workspace(self, call: Call) -> HttpResponse:
        asked = (call.one("workspace_ids") or "").split(",")
        wanted = [text.strip() for text in asked if text.strip()]
        if len(wanted) > WORKSPACES_MAX:
            raise query_refused("workspace_ids", f"holds {len(wanted)}, at most {WORKSPACES_MAX}")
        ids = [_uuid("workspace_ids", text) for text in wanted]
        caller = call.user
        chats = await self._workspaces.chats(ids, caller.id, is_admin=caller.is_admin)
        return json_response(200, chats)


def _after(call: Call) -> ChatId | None:
    text = call.one("after_id")
    return ChatId(_uuid("after_id", text)) if text else None


def _uuid(name: str, text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise query_refused(name, f"{text[:80]!r} is not a UUID") from None
