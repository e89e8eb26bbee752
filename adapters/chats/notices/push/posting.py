"""An event posted to the push service of a browser, which passes it on and cannot read it.

The address of the service comes from a browser, so a user may name any: requests go through the
guard, as those of webhooks do.
"""

import os
from urllib.parse import urlsplit

import httpx2
import msgspec
from cryptography.hazmat.primitives.asymmetric import ec

from actors.law.store.news import NewsKind
from adapters.chats.notices.outbox.deliveries import Delivery, Outcome, Refused, TargetGone
from adapters.chats.notices.push.encryption import (
    CURVE,
    SALT_BYTES,
    TEXT_BYTES_MAX,
    TOKEN_SECONDS,
    encrypted,
    sender_token,
)
from adapters.chats.notices.push.keys import SenderKeys
from adapters.chats.notices.push.subscriptions import opened_keys
from adapters.chats.notices.webhooks.posting import post
from adapters.chats.notices.wording import UNTITLED, words_of
from adapters.settings.secrets import CannotOpen, Vault
from runtime.clock import wall

ICON = "/favicon.ico"
KEPT_SECONDS = 12 * 3_600  # by the service, for a browser that is away
BODY_CHARACTERS_MAX = 300  # what is over is left out
URGENT = {NewsKind.NEEDS_YOU.value, NewsKind.FAILED.value}
# By these a service says that the subscription is not, or no longer, one of ours.
DEAD = {400, 403, 404, 410}


class PushPoster:
    """Posts events to push services."""

    def __init__(
        self, client: httpx2.AsyncClient, keys: SenderKeys, vault: Vault, *, access_url: str
    ) -> None:
        self._client = client
        self._keys = keys
        self._vault = vault
        # Services may refuse a contact that they cannot reach; without one they know only the key.
        self._contact = access_url if access_url.startswith("https://") else ""

    async def send(self, delivery: Delivery) -> Outcome:
        """Post the event of a delivery, and return what came of it."""
        if delivery.url is None or delivery.secret is None:
            return TargetGone("the browser has unsubscribed")
        try:
            keys = opened_keys(self._vault, delivery.target_id, delivery.secret)
            private = await self._keys.private()
        except CannotOpen as closed:
            return Refused(str(closed))
        body = encrypted(
            message_of(delivery),
            keys,
            ephemeral=ec.generate_private_key(CURVE),
            salt=os.urandom(SALT_BYTES),
        )
        parts = urlsplit(delivery.url)
        token = sender_token(
            private,
            audience=f"{parts.scheme}://{parts.netloc}",
            expires_at=int(wall().timestamp()) + TOKEN_SECONDS,
            contact=self._contact,
        )
        headers = {
            "authorization": token,
            "content-encoding": "aes128gcm",
            "content-type": "application/octet-stream",
            "ttl": str(KEPT_SECONDS),
            "urgency": "high" if delivery.kind in URGENT else "normal",
            "topic": delivery.event_id.hex,  # a second message of it takes the place of the first
        }
        outcome = await post(self._client, delivery.url, body, headers)
        if isinstance(outcome, Refused) and outcome.status in DEAD:
            return TargetGone(f"its push service answered {outcome.status}", outcome.status)
        return outcome


def message_of(delivery: Delivery) -> bytes:
    """Return what the browser is told, as JSON that is short enough for one message."""
    if delivery.kind == "test":
        title, body, url = "promptcorner", "This browser is told what needs you.", "/"
    else:
        detail = msgspec.json.decode(delivery.detail)
        chat = delivery.root_id or delivery.chat_id
        title = delivery.title or UNTITLED
        body = words_of(delivery.kind, chat, delivery.title, detail, markdown=False).content
        url = "/" if chat is None else f"/c/{chat}"
    message: dict[str, object] = {
        "icon": ICON,
        "title": title[:BODY_CHARACTERS_MAX],
        "body": body[:BODY_CHARACTERS_MAX],
        "tag": str(delivery.event_id),
        "data": {"url": url},
    }
    text = msgspec.json.encode(message)
    assert len(text) <= TEXT_BYTES_MAX, "600 characters fit into a message"
    return text
