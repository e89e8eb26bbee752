"""Requests of the terminal that other clients seldom make, as values. Pure."""

from collections.abc import Sequence
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType

from promptcorner_client import api
from promptcorner_client.api import CHATS, ApiRequest, Content, Empty
from promptcorner_client.wire import ChatQueuedMessage


class QueueOrder(Struct, frozen=True):
    """The queue, in the order in which it will be taken."""

    queued_messages: Sequence[ChatQueuedMessage] = ()


class ServerSummary(Struct, frozen=True):
    """A server of tools."""

    id: UUID
    display_name: str
    slug: str
    availability: str
    enabled: bool
    fault: str | UnsetType = UNSET


class ReaderSummary(Struct, frozen=True):
    """A user, or a group, who may read a chat."""

    id: UUID
    name: str | UnsetType = UNSET
    username: str | UnsetType = UNSET
    display_name: str | UnsetType = UNSET


class ReadersSummary(Struct, frozen=True):
    """All who may read a chat besides its owner."""

    users: Sequence[ReaderSummary]
    groups: Sequence[ReaderSummary]


class MemberSummary(Struct, frozen=True):
    """A member of an organization."""

    user_id: UUID
    username: str


def edit_queued(chat: UUID, queued: int, content: Content) -> ApiRequest[ChatQueuedMessage]:
    """Reword a message that waits; it keeps its place."""
    body = {"content": api.parts(content)}
    return ApiRequest("PATCH", f"{CHATS}/{chat}/queue/{queued}", ChatQueuedMessage, body=body)


def order_queue(chat: UUID, order: Sequence[int]) -> ApiRequest[QueueOrder]:
    """Put the whole queue into another order."""
    return ApiRequest("PUT", f"{CHATS}/{chat}/queue/order", QueueOrder, body={"order": order})


def file_content(file: str) -> ApiRequest[bytes]:
    """Get the content of a file of a chat."""
    return ApiRequest("GET", f"{CHATS}/files/{file}", bytes, is_repeatable=True)


def servers(organization: UUID) -> ApiRequest[list[ServerSummary]]:
    """List the servers of tools."""
    path = f"/api/v2/organizations/{organization}/mcp-servers"
    return ApiRequest("GET", path, list[ServerSummary], is_repeatable=True)


def readers(chat: UUID) -> ApiRequest[ReadersSummary]:
    """List who may read a chat."""
    return ApiRequest("GET", f"{CHATS}/{chat}/acl", ReadersSummary, is_repeatable=True)


def let_read(
    chat: UUID, *, user: UUID | None = None, group: UUID | None = None
) -> ApiRequest[Empty]:
    """Let a user, or all members of a group, read a chat."""
    body: dict[str, object] = {}
    if user is not None:
        body["user_roles"] = {str(user): "read"}
    if group is not None:
        body["group_roles"] = {str(group): "read"}
    return ApiRequest("PATCH", f"{CHATS}/{chat}/acl", Empty, 204, body=body)


def members(organization: UUID, name: str) -> ApiRequest[list[MemberSummary]]:
    """List the members of an organization whose names are like this."""
    path = f"/api/v2/organizations/{organization}/members"
    query = [("q", name), ("limit", "30")]
    return ApiRequest("GET", path, list[MemberSummary], query=query, is_repeatable=True)
