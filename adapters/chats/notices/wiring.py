"""The wiring of notices: inboxes and their watchers, webhooks, web push, and the sender."""

import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import httpx2
import trio

from actors.law.store.ports import Bus
from adapters.chats.notices.inbox import FORGOTTEN_MAX as NOTICES_FORGOTTEN_MAX
from adapters.chats.notices.inbox import InboxStore
from adapters.chats.notices.inbox_feeds import InboxFeeds
from adapters.chats.notices.inbox_routes import InboxRoutes
from adapters.chats.notices.outbox.deliveries import Delivery, Outcome, Receiver
from adapters.chats.notices.outbox.sender import SEND_SECONDS, Sender
from adapters.chats.notices.outbox.store import FORGOTTEN_MAX as DELIVERIES_FORGOTTEN_MAX
from adapters.chats.notices.outbox.store import DeliveryStore
from adapters.chats.notices.preferences import PreferenceRoutes, PreferenceStore
from adapters.chats.notices.push.keys import SenderKeys
from adapters.chats.notices.push.posting import PushPoster
from adapters.chats.notices.push.routes import PushDeps, PushRoutes
from adapters.chats.notices.push.subscriptions import SubscriptionStore
from adapters.chats.notices.webhooks.posting import WebhookPoster
from adapters.chats.notices.webhooks.routes import WebhookDeps, WebhookRoutes
from adapters.chats.notices.webhooks.store import WebhookStore
from adapters.http.endpoints import Routes
from adapters.models.routes.checks import People
from adapters.postgres.driver.faults import DatabaseFault
from adapters.postgres.driver.pool import Pool
from adapters.settings.secrets import Vault
from adapters.tools.mcp.oauth.guard import GuardedTransport, Network
from runtime.children import Child, open_children
from runtime.log import emit
from runtime.restart import Restart

FORGET_SECONDS = 3_600.0  # between two looks for what is old or too much
REST_SECONDS = 0.5  # in its place while a statement removes as much as it may
LEAVE_SECONDS = 5.0  # for deliveries on their way when the process stops; then they are made again


@dataclass(frozen=True, slots=True)
class NoticeParts:
    """The parts of notices. Call `leave` first when the process ends: watchers go elsewhere."""

    routes: Sequence[Routes]
    inbox: InboxStore
    feeds: InboxFeeds
    sender: Sender

    def leave(self) -> None:
        """End all watchers, so that they go on at another process."""
        self.feeds.leave()

    def statistics(self) -> Mapping[str, Any]:
        return {"inbox": self.feeds.statistics(), "outbox": self.sender.statistics()}


@asynccontextmanager
async def open_notices(
    pool: Pool,
    bus: Bus,
    vault: Vault,
    *,
    people: People,
    access_url: str,
    allowed: Sequence[Network],
) -> AsyncIterator[NoticeParts]:
    """Tell users, their browsers and webhooks of what concerns them, for the length of the block.

    `access_url` is where users reach us; `allowed` are the networks of ours that users may have us
    send into.
    """
    inbox, outbox = InboxStore(pool, tell=bus.tell), DeliveryStore(pool)
    feeds = InboxFeeds(inbox)
    async with (
        sending_client(allowed) as client,
        open_children("notices", capacity=3) as children,
    ):
        keys = SenderKeys(pool, vault)
        webhooks = WebhookPoster(client, vault)
        pushed = PushPoster(client, keys, vault, access_url=access_url)

        async def send(delivery: Delivery) -> Outcome:
            poster = webhooks if delivery.target is Receiver.WEBHOOK else pushed
            return await poster.send(delivery)

        sender = Sender(outbox, send, chance=random.random)
        hooks = WebhookDeps(WebhookStore(pool), vault, people, sender.wake, allowed)
        devices = PushDeps(SubscriptionStore(pool, vault), keys, people, sender.wake, allowed)
        children.start(Child(name="inboxes", body=feeds.run, restart=Restart()))
        children.start(
            Child(
                name="sender",
                body=sender.run,
                restart=Restart(),
                tell_to_stop=sender.leave,
                grace_seconds=LEAVE_SECONDS,
            )
        )

        async def forget() -> NoReturn:
            await forget_old(inbox, outbox)

        children.start(Child(name="old notices", body=forget, restart=Restart()))
        with feeds.follow(bus), bus.follow_commits(sender.note_commit):
            routes = (
                InboxRoutes(inbox, feeds),
                PreferenceRoutes(PreferenceStore(pool), people),
                PushRoutes(devices),
                WebhookRoutes(hooks),
                WebhookRoutes(hooks, of_deployment=True),
            )
            yield NoticeParts(routes, inbox, feeds, sender)


@asynccontextmanager
async def sending_client(allowed: Sequence[Network]) -> AsyncIterator[httpx2.AsyncClient]:
    """Open the HTTP client for addresses that users have named."""
    client = httpx2.AsyncClient(
        transport=GuardedTransport(allowed), timeout=SEND_SECONDS, trust_env=False
    )
    async with client:
        yield client


async def forget_old(inbox: InboxStore, outbox: DeliveryStore) -> NoReturn:
    """Remove what is old until cancelled; what cannot be removed now is tried again later."""
    while True:
        rest_seconds = FORGET_SECONDS
        try:
            notices = await inbox.forget(looked_seconds=2 * FORGET_SECONDS)
            deliveries = await outbox.forget()
            if notices >= NOTICES_FORGOTTEN_MAX or deliveries >= DELIVERIES_FORGOTTEN_MAX:
                rest_seconds = REST_SECONDS
        except DatabaseFault as fault:
            emit("notices.kept", "warning", error=fault)
        await trio.sleep(rest_seconds)
