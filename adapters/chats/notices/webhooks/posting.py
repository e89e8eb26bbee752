"""An event posted to a webhook: the body, and what its answer means.

The address is one that a user has named, so requests go through the guard: it looks at what the
name means now and refuses our own networks. Redirects are not followed, and bodies of answers are
not read.
"""

from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import partial
from uuid import UUID

import httpx2
import msgspec

from adapters.chats.notices.outbox.deliveries import (
    Delivered,
    Delivery,
    Outcome,
    Refused,
    TargetGone,
)
from adapters.chats.notices.webhooks.signing import headers_of
from adapters.settings.secrets import CannotOpen, Vault
from adapters.tools.mcp.oauth.guard import AddressRefused
from runtime.clock import wall

USER_AGENT = "promptcorner-webhooks"
GONE = 410


def secret_subject(webhook: UUID) -> str:
    """Return the subject that a webhook's secret is sealed for."""
    return f"webhook/{webhook} secret"


def type_of(kind: str) -> str:
    """Return the name of an event in messages: `chat.` and its kind, as in the settings."""
    return f"chat.{kind}"


def body_of(delivery: Delivery) -> bytes:
    """Return the body of an event: the same in every attempt. Of what is said in a chat it holds
    nothing but its title, and an error's words."""
    data: dict[str, object] = {
        "chat_id": delivery.chat_id,
        "root_chat_id": delivery.root_id,
        "user_id": delivery.user_id,
        "title": delivery.title,
        **msgspec.json.decode(delivery.detail),
    }
    return msgspec.json.encode(
        {"type": type_of(delivery.kind), "timestamp": delivery.created_at, "data": data}
    )


class WebhookPoster:
    """Posts events to webhooks."""

    def __init__(self, client: httpx2.AsyncClient, vault: Vault) -> None:
        self._client = client
        self._vault = vault

    async def send(self, delivery: Delivery) -> Outcome:
        """Post the event of a delivery, and return what came of it."""
        if delivery.url is None or delivery.secret is None:
            return TargetGone("the webhook was removed or switched off")
        try:
            open_secret = partial(self._vault.open, about=secret_subject(delivery.target_id))
            sealed = [delivery.secret, *filter(None, [delivery.former_secret])]
            secrets = [open_secret(each) for each in sealed]
        except CannotOpen as closed:
            return Refused(str(closed))
        body = body_of(delivery)
        signed = headers_of(
            f"msg_{delivery.event_id.hex}",
            seconds=int(wall().timestamp()),
            body=body,
            secrets=secrets,
        )
        headers = {**signed, "content-type": "application/json", "user-agent": USER_AGENT}
        return await post(self._client, delivery.url, body, headers)


async def post(
    client: httpx2.AsyncClient, url: str, body: bytes, headers: dict[str, str]
) -> Outcome:
    """Post to an address that a user has named, and return what came of it."""
    try:
        async with client.stream(
            "POST", url, content=body, headers=headers, follow_redirects=False
        ) as answer:
            status = answer.status_code
            after = answer.headers.get("retry-after", "")
    except AddressRefused as refused:
        return Refused(str(refused))
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        return Refused(str(error) or type(error).__name__)
    if 200 <= status < 300:
        return Delivered(status)
    if status == GONE:
        return TargetGone("it answered 410: it is gone", status)
    redirected = " (redirects are not followed)" if 300 <= status < 400 else ""
    return Refused(f"it answered {status}{redirected}", status, seconds_until(after, now=wall()))


def seconds_until(retry_after: str, *, now: datetime) -> float:
    """Return for how long an answer asks to wait: 0 if it does not, or makes no sense."""
    if retry_after.isdecimal() and len(retry_after) <= 9:
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - now).total_seconds())
    except (ValueError, TypeError):  # the latter of a date without a zone
        return 0.0
