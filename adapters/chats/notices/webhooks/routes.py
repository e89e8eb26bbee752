"""Webhooks over the API: of a user, and of the deployment, whose are told of all users' events."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from actors.law.ids import UserId
from adapters.chats.notices.outbox.deliveries import DeliveryState
from adapters.chats.notices.webhooks.posting import secret_subject
from adapters.chats.notices.webhooks.schemas import (
    CreateWebhookRequest,
    UpdateWebhookRequest,
    Webhook,
    WebhookDeliveries,
    WebhookDelivery,
    WebhookWithSecret,
    delivery_of,
    kinds_of,
    webhook_faults,
    webhook_of,
)
from adapters.chats.notices.webhooks.signing import new_secret
from adapters.chats.notices.webhooks.store import WebhookRow, WebhookStore
from adapters.http.endpoints import (
    Access,
    Call,
    Endpoint,
    HttpResponse,
    Parameter,
    json_response,
    no_content,
)
from adapters.http.refusals import HttpError, not_found, query_refused
from adapters.models.routes.checks import People, refuse_if, target_user
from adapters.settings.secrets import Vault
from adapters.tools.mcp.oauth.guard import Network
from runtime.clock import wall

OF_USERS = "/api/v2/users/{user}/webhooks"
OF_DEPLOYMENT = "/api/v2/webhooks"
BODY_BYTES_MAX = 64 * 1024

INVALID = "Invalid webhook."

OwnerOf = Callable[[Call], Awaitable[UserId | None]]


@dataclass(frozen=True, slots=True)
class WebhookDeps:
    """The parts that the routes of webhooks use."""

    store: WebhookStore
    vault: Vault
    people: People
    wake: Callable[[], None]  # the sender
    allowed: Sequence[Network]  # networks of ours that users may have us send into


class WebhookRoutes:
    """Handlers of webhooks: of the user whom the path names, or of the deployment."""

    def __init__(self, deps: WebhookDeps, *, of_deployment: bool = False) -> None:
        self._deps = deps
        self._store = deps.store
        self._of_deployment = of_deployment

    def endpoints(self) -> Sequence[Endpoint]:
        top = OF_DEPLOYMENT if self._of_deployment else OF_USERS
        one = top + "/{webhook}"
        listed = one + "/deliveries"
        row = self._row
        filters = (
            Parameter(name="state", help="waiting, delivered or failed"),
            Parameter(name="starting_before", help="the last delivery of the page before"),
        )
        return (
            row("GET", top, self.list, "List webhooks.", answers={200: Sequence[Webhook]}),
            row(
                "POST",
                top,
                self.add,
                "Add a webhook. The answer alone has its secret.",
                body=CreateWebhookRequest,
                answers={201: WebhookWithSecret},
                refusals=(409,),
            ),
            row("GET", one, self.show, "Get a webhook.", answers={200: Webhook}),
            row(
                "PATCH",
                one,
                self.change,
                "Change a webhook, or switch it off and on.",
                body=UpdateWebhookRequest,
                answers={200: Webhook},
            ),
            row("DELETE", one, self.remove, "Remove a webhook.", answers={204: None}),
            row(
                "POST",
                one + "/rotate-secret",
                self.rotate,
                "Make a new secret. The former one signs, too, for a day.",
                answers={200: WebhookWithSecret},
            ),
            row(
                "POST",
                one + "/test",
                self.test,
                "Send an event of the type chat.test.",
                answers={202: WebhookDelivery},
                refusals=(409,),
            ),
            row(
                "GET",
                listed,
                self.deliveries,
                "List what was sent and is to be sent, the newest first, 50 a page.",
                parameters=filters,
                answers={200: WebhookDeliveries},
            ),
            row(
                "POST",
                listed + "/{delivery}/replay",
                self.replay,
                "Send an event again, under the same id.",
                answers={202: WebhookDelivery},
                refusals=(409,),
            ),
        )

    async def list(self, call: Call) -> HttpResponse:
        found = await self._store.of(await self._owner(call))
        return json_response(200, [_shown(row) for row in found])

    async def show(self, call: Call) -> HttpResponse:
        found = await self._store.find(await self._owner(call), call.uuid("webhook"))
        return json_response(200, _shown(_there(found)))

    async def add(self, call: Call) -> HttpResponse:
        owner, asked = await self._owner(call), call.read(CreateWebhookRequest)
        self._check(asked.url, asked.events, asked.description)
        id, secret = uuid4(), new_secret()
        added = await self._store.add(
            owner,
            id=id,
            url=asked.url,
            description=asked.description,
            kinds=kinds_of(asked.events),
            secret=self._deps.vault.seal(secret, secret_subject(id)),
            by=call.user.id,
        )
        if added is None:
            raise HttpError(
                409, "There are too many webhooks.", detail="remove one before you add another"
            )
        return json_response(201, WebhookWithSecret(_shown(added), secret))

    async def change(self, call: Call) -> HttpResponse:
        owner, asked = await self._owner(call), call.read(UpdateWebhookRequest)
        self._check(asked.url, asked.events, asked.description)
        changed = await self._store.change(
            owner,
            call.uuid("webhook"),
            url=asked.url,
            description=asked.description,
            kinds=None if asked.events is None else kinds_of(asked.events),
            enabled=asked.enabled,
        )
        return json_response(200, _shown(_there(changed)))

    async def remove(self, call: Call) -> HttpResponse:
        if not await self._store.remove(await self._owner(call), call.uuid("webhook")):
            raise not_found()
        return no_content()

    async def rotate(self, call: Call) -> HttpResponse:
        owner, id, secret = await self._owner(call), call.uuid("webhook"), new_secret()
        sealed = self._deps.vault.seal(secret, secret_subject(id))
        changed = _there(await self._store.rotate(owner, id, sealed))
        return json_response(200, WebhookWithSecret(_shown(changed), secret))

    async def test(self, call: Call) -> HttpResponse:
        owner, id = await self._owner(call), call.uuid("webhook")
        _there(await self._store.find(owner, id))
        made = await self._store.test(owner, id, by=call.user.id)
        if made is None:
            raise _switched_off()
        self._deps.wake()
        return json_response(202, delivery_of(made))

    async def deliveries(self, call: Call) -> HttpResponse:
        owner, id = await self._owner(call), call.uuid("webhook")
        state, before = call.one("state") or None, call.one("starting_before")
        if state is not None and state not in {one.value for one in DeliveryState}:
            raise query_refused("state", f"{state[:32]!r} is not waiting, delivered or failed")
        try:
            last = UUID(before) if before else None
        except ValueError:
            raise query_refused("starting_before", "is not a UUID") from None
        _there(await self._store.find(owner, id))
        found = await self._store.deliveries(owner, id, state=state, before=last)
        return json_response(200, WebhookDeliveries([delivery_of(row) for row in found]))

    async def replay(self, call: Call) -> HttpResponse:
        owner, id = await self._owner(call), call.uuid("webhook")
        found = _there(await self._store.find(owner, id))
        again = await self._store.replay(owner, id, call.uuid("delivery"))
        if again is None:
            raise not_found() if found.disabled_at is None else _switched_off()
        self._deps.wake()
        return json_response(202, delivery_of(again))

    async def _owner(self, call: Call) -> UserId | None:
        return None if self._of_deployment else await target_user(self._deps.people, call)

    def _check(
        self, url: str | None, events: Sequence[str] | None, description: str | None
    ) -> None:
        faults = webhook_faults(url, events, description, allowed=self._deps.allowed)
        refuse_if(faults, INVALID)

    def _row(
        self,
        method: str,
        path: str,
        handle: Callable[[Call], Awaitable[HttpResponse]],
        summary: str,
        **more: Any,
    ) -> Endpoint:
        return Endpoint(
            method=method,
            path=path,
            handle=handle,
            summary=summary,
            tag="webhooks",
            access=Access.ADMIN if self._of_deployment else Access.USER,
            scope="settings",
            body_bytes_max=BODY_BYTES_MAX,
            **more,
        )


def _shown(row: WebhookRow) -> Webhook:
    return webhook_of(row, now=wall())


def _there(row: WebhookRow | None) -> WebhookRow:
    if row is None:
        raise not_found()
    return row


def _switched_off() -> HttpError:
    return HttpError(
        409, "The webhook is switched off.", detail='switch it on first: PATCH {"enabled": true}'
    )
