"""Webhooks and their deliveries as clients see them, and what clients ask. Pure."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from ipaddress import ip_address
from urllib.parse import urlsplit
from uuid import UUID

from msgspec import Struct

from actors.law.store.news import NewsKind
from adapters.chats.notices.webhooks.posting import type_of
from adapters.chats.notices.webhooks.store import DeliveryRow, WebhookRow
from adapters.tools.mcp.oauth.guard import Network

URL_CHARACTERS_MAX = 2_048
DESCRIPTION_CHARACTERS_MAX = 500
# What a webhook may be told of, in the order in which people are shown it.
KINDS_BY_TYPE = {
    type_of(kind.value): kind for kind in NewsKind if kind is not NewsKind.WEBHOOK_DISABLED
}
_NO_URL = re.compile(r"[\x00-\x20\x7f]")


class Webhook(Struct, frozen=True):
    """A program that is told of events."""

    id: UUID
    url: str
    description: str
    events: Sequence[str]
    enabled: bool
    disabled_reason: str  # "": its owner has switched it off
    failing_since: datetime | None  # null: the last attempt was answered well
    former_secret_until: datetime | None  # until then messages have two signatures
    created_at: datetime


class WebhookWithSecret(Struct, frozen=True):
    """A webhook with its secret, which is shown once."""

    webhook: Webhook
    secret: str


class CreateWebhookRequest(Struct, frozen=True):
    url: str
    events: Sequence[str] | None = None  # null: all
    description: str = ""


class UpdateWebhookRequest(Struct, frozen=True):
    """A change of a webhook. What is null stays."""

    url: str | None = None
    events: Sequence[str] | None = None
    description: str | None = None
    enabled: bool | None = None


class WebhookDelivery(Struct, frozen=True):
    """An event for a webhook, and how it is with it."""

    id: UUID
    message_id: str  # the `webhook-id` of every attempt
    type: str
    chat_id: UUID | None
    state: str  # waiting, delivered or failed
    attempts: int
    created_at: datetime
    next_attempt_at: datetime | None
    finished_at: datetime | None
    last_status: int | None
    last_error: str


class WebhookDeliveries(Struct, frozen=True):
    deliveries: Sequence[WebhookDelivery]


def webhook_of(row: WebhookRow, *, now: datetime) -> Webhook:
    """Return a webhook as clients see it."""
    until = row.former_until
    return Webhook(
        row.id,
        row.url,
        row.description,
        [type_of(kind) for kind in row.kinds],
        row.disabled_at is None,
        row.disabled_why,
        row.failing_since,
        until if until is not None and until > now else None,
        row.created_at,
    )


def delivery_of(row: DeliveryRow) -> WebhookDelivery:
    """Return a delivery as clients see it."""
    return WebhookDelivery(
        row.id,
        f"msg_{row.event_id.hex}",
        type_of(row.kind),
        row.chat_id,
        row.state,
        row.attempts_count,
        row.created_at,
        row.due_at if row.finished_at is None else None,
        row.finished_at,
        row.last_status,
        row.last_error,
    )


def kinds_of(events: Sequence[str] | None) -> Sequence[str]:
    """Return the kinds of these types of events; all if none is named."""
    named = list(KINDS_BY_TYPE) if events is None else events
    return list(dict.fromkeys(KINDS_BY_TYPE[one].value for one in named))


def webhook_faults(
    url: str | None,
    events: Sequence[str] | None,
    description: str | None,
    *,
    allowed: Sequence[Network],
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a webhook that a client wants."""
    if url is not None:
        yield from address_faults("url", url, allowed=allowed)
    if events is not None and not events:
        yield "events", "names none; leave it out for all"
    for event in events or ():
        if event not in KINDS_BY_TYPE:
            yield "events", f"{event[:64]!r} is none of: {', '.join(KINDS_BY_TYPE)}"
    if description is not None and len(description) > DESCRIPTION_CHARACTERS_MAX:
        yield "description", f"may have {DESCRIPTION_CHARACTERS_MAX} characters"
    if description is not None and "\0" in description:
        yield "description", "has a zero byte in it"


def address_faults(
    field: str, url: str, *, allowed: Sequence[Network]
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with an address that a user has us send to. Where it leads is looked at
    before each request; here only its form is."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        parts, host, has_port = urlsplit(""), "", False
    if len(url) > URL_CHARACTERS_MAX:
        yield field, f"has {len(url)} characters, may have {URL_CHARACTERS_MAX}"
    elif not host or not has_port or _NO_URL.search(url) or not url.isascii():
        yield field, "must be an absolute https URL"
    elif parts.username or parts.password:
        yield field, "must not have a name or password in it"
    elif parts.scheme != "https" and not (parts.scheme == "http" and _is_near(host, allowed)):
        yield field, "must be an https URL (http only to addresses in private_networks)"


def _is_near(host: str, allowed: Sequence[Network]) -> bool:
    """Return whether it is the address of a machine in a network of ours that is allowed."""
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return any(address in net for net in allowed if net.version == address.version)
