"""Facts of chats that lists do not have: what each costs and does now."""

from collections.abc import Sequence
from uuid import UUID

import trio
from msgspec import UNSET

from adapters.cli.board.rows import ChatDetail, step_of
from promptcorner_client import api
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.errors import RequestRefused, ServerUnreachable
from promptcorner_client.wire import Chat, ChatMessage

MESSAGES_LOOKED_AT = 8  # the latest; among them is the last answer, with its count of tokens
AT_ONCE = 4  # chats that are asked about together


async def detail_of(client: AsyncClient, chat: Chat) -> ChatDetail:
    """Return the facts of a chat; those of its cost are of all its agents, too."""
    request = api.messages(chat.id, limit=MESSAGES_LOOKED_AT, results="cut")
    page = await client.request(request)
    paid = await client.request(api.cost(chat.id))
    tokens, tokens_max = _tokens(page.messages)
    return ChatDetail(
        step=step_of(page.messages[0] if page.messages else None),
        tokens=tokens,
        tokens_max=tokens_max,
        cost_micros=paid.total_cost_micros,
        unpriced_count=paid.unpriced_request_count,
    )


async def details_of(client: AsyncClient, chats: Sequence[Chat]) -> dict[UUID, ChatDetail]:
    """Return the facts of several chats; one that is gone or may not be read has none."""
    found: dict[UUID, ChatDetail] = {}
    limit = trio.CapacityLimiter(AT_ONCE)

    async def ask(chat: Chat) -> None:
        async with limit:
            try:
                found[chat.id] = await detail_of(client, chat)
            except (RequestRefused, ServerUnreachable):
                return

    async with trio.open_nursery() as nursery:
        for chat in chats:
            nursery.start_soon(ask, chat)
    return found


def _tokens(messages: Sequence[ChatMessage]) -> tuple[int | None, int | None]:
    """Return the tokens of the conversation and how many fit, by the last answer that says it."""
    for message in messages:  # the newest first
        usage = message.usage
        if usage is not UNSET and usage.input_tokens is not UNSET:
            used = (usage.input_tokens or 0) + (usage.output_tokens or 0)
            limit = usage.context_limit
            return used, None if limit is UNSET else limit
    return None, None
