"""Web push over the API: the browsers of a user, what each of them shows, and a trial."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID

from msgspec import Struct

from adapters.chats.notices.push.encryption import decoded_keys
from adapters.chats.notices.push.keys import SenderKeys
from adapters.chats.notices.push.subscriptions import SubscriptionStore
from adapters.chats.notices.webhooks.schemas import address_faults
from adapters.http.endpoints import (
    Access,
    Call,
    Endpoint,
    HttpResponse,
    json_response,
    no_content,
)
from adapters.http.refusals import HttpError, not_found
from adapters.models.routes.checks import People, refuse_if, target_user
from adapters.settings.secrets import CannotOpen
from adapters.tools.mcp.oauth.guard import Network

PUSH = "/api/v2/users/{user}/webpush"
BODY_BYTES_MAX = 16 * 1024
INVALID = "Invalid subscription."


class WebpushSubscriptionRequest(Struct, frozen=True):
    """A browser as it describes itself to whom it lets push."""

    endpoint: str
    auth_key: str
    p256dh_key: str


class DeleteWebpushSubscriptionRequest(Struct, frozen=True):
    endpoint: str


class WebpushWatchingRequest(Struct, frozen=True):
    """The chat that a browser shows at this moment, or null."""

    endpoint: str
    chat_id: UUID | None = None


class WebpushBrowser(Struct, frozen=True):
    """A browser that is pushed to. Its address is a secret between it and us; this is the host."""

    id: UUID
    service: str
    created_at: datetime


class WebpushBrowsers(Struct, frozen=True):
    """The key with which a browser subscribes, and the browsers that have."""

    public_key: str
    subscriptions: Sequence[WebpushBrowser]


@dataclass(frozen=True, slots=True)
class PushDeps:
    """The parts that the routes of web push use."""

    store: SubscriptionStore
    keys: SenderKeys
    people: People
    wake: Callable[[], None]  # the sender
    allowed: Sequence[Network]  # networks of ours that users may have us send into


class PushRoutes:
    """Handlers of web push."""

    def __init__(self, deps: PushDeps) -> None:
        self._deps = deps
        self._store = deps.store

    def endpoints(self) -> Sequence[Endpoint]:
        rows = (
            ("GET", "/subscription", self.list, "The key to subscribe with, and your browsers."),
            ("POST", "/subscription", self.add, "Push to this browser from now on."),
            ("DELETE", "/subscription", self.remove, "Push to this browser no more."),
            ("POST", "/test", self.test, "Push a trial message to all your browsers."),
            ("PUT", "/watching", self.watch, "Say which chat a browser shows for two minutes."),
        )
        bodies = {
            ("POST", "/subscription"): WebpushSubscriptionRequest,
            ("DELETE", "/subscription"): DeleteWebpushSubscriptionRequest,
            ("PUT", "/watching"): WebpushWatchingRequest,
        }
        about_users = tuple(
            Endpoint(
                method=method,
                path=PUSH + path,
                handle=handle,
                summary=summary,
                tag="push",
                body=bodies.get((method, path)),
                body_bytes_max=BODY_BYTES_MAX,
                answers={200: WebpushBrowsers} if method == "GET" else {204: None},
                refusals=(409,),
            )
            for method, path, handle, summary in rows
        )
        return (
            *about_users,
            Endpoint(
                method="POST",
                path="/api/v2/webpush/regenerate-keys",
                handle=self.replace_keys,
                summary="Make another key pair. All browsers have to subscribe anew.",
                tag="push",
                access=Access.ADMIN,
                scope="settings",
                answers={204: None},
            ),
        )

    async def list(self, call: Call) -> HttpResponse:
        user = await target_user(self._deps.people, call)
        try:
            key = await self._deps.keys.public()
        except CannotOpen as closed:
            raise HttpError(
                409,
                "The key pair of web push cannot be opened.",
                detail=f"{closed}: POST /api/v2/webpush/regenerate-keys makes another",
            ) from None
        found = [
            WebpushBrowser(row.id, urlsplit(row.endpoint).netloc, row.created_at)
            for row in await self._store.of(user)
        ]
        return json_response(200, WebpushBrowsers(key, found))

    async def add(self, call: Call) -> HttpResponse:
        user = await target_user(self._deps.people, call)
        asked = call.read(WebpushSubscriptionRequest)
        refuse_if(address_faults("endpoint", asked.endpoint, allowed=self._deps.allowed), INVALID)
        try:
            keys = decoded_keys(asked.p256dh_key, asked.auth_key)
        except ValueError as error:
            field, _, fact = str(error).partition(": ")
            refuse_if([(field, fact)], INVALID)
            raise AssertionError("a fault was refused") from error
        await self._store.add(user, asked.endpoint, keys)
        return no_content()

    async def remove(self, call: Call) -> HttpResponse:
        user = await target_user(self._deps.people, call)
        if not await self._store.remove(user, call.read(DeleteWebpushSubscriptionRequest).endpoint):
            raise not_found()
        return no_content()

    async def test(self, call: Call) -> HttpResponse:
        user = await target_user(self._deps.people, call)
        if not await self._store.test(user):
            raise HttpError(409, "No browser is pushed to.", detail="subscribe with one first")
        self._deps.wake()
        return no_content()

    async def watch(self, call: Call) -> HttpResponse:
        user = await target_user(self._deps.people, call)
        asked = call.read(WebpushWatchingRequest)
        if not await self._store.watch(user, asked.endpoint, asked.chat_id):
            raise not_found()
        return no_content()

    async def replace_keys(self, call: Call) -> HttpResponse:
        await self._deps.keys.replace()
        return no_content()
