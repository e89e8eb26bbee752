"""What both clients do alike: a request out of what is asked, an answer out of what came. Pure."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import UUID

import httpcore2
import httpx2
import msgspec

from adapters.chats.wire.streams import ChatStreamEvent
from adapters.client import asks, frames
from adapters.client.asks import Ask, Nothing
from adapters.client.faults import Refused, refused
from adapters.client.following import Following

ANSWER_SECONDS = 60.0  # for a whole answer; a title may have to be thought up by a model
HEARTBEAT_SECONDS = 15.0  # the daemon is never silent for longer on a stream that stands
SILENCE_SECONDS = 3 * HEARTBEAT_SECONDS  # then it is taken for lost

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode
_events = msgspec.json.Decoder(list[ChatStreamEvent] | ChatStreamEvent)


def headers(token: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {token}", "accept": "application/json"}


def request(ask: Ask[Any]) -> Mapping[str, Any]:
    """As httpx takes it."""
    content = ask.content if ask.body is None else _encode(ask.body)
    said = {} if ask.body is None else {"content-type": "application/json"}
    return {
        "method": ask.method,
        "url": ask.path,
        "params": list(ask.query),
        "content": content or None,
        "headers": {**said, **ask.headers},
    }


def answer(ask: Ask[T], came: httpx2.Response) -> T:
    if came.status_code != ask.status:
        raise refusal(came)
    return msgspec.json.decode(b"{}" if ask.answer is Nothing else came.content, type=ask.answer)


def refusal(came: httpx2.Response) -> Refused:
    """What was read of it, in words."""
    after = came.headers.get("retry-after", "")
    return refused(came.status_code, came.content, retry_after=after)


def keyed(ask: Ask[T], key: str) -> Ask[T]:
    """What would otherwise be done twice when it has to be asked twice, is done once."""
    return asks.once(ask, key) if asks.takes_key(ask) and not ask.is_repeatable else ask


def stream_of(chat: UUID, following: Following) -> Mapping[str, Any]:
    """Where the events of a chat are, as httpx takes it."""
    return {"url": f"{asks.CHATS}/{chat}/stream/sse", "params": dict(following.resume)}


def socket_of(chat: UUID, following: Following) -> Mapping[str, Any]:
    """Where they are on servers that know no other way."""
    asked = {"url": f"{asks.CHATS}/{chat}/stream", "params": dict(following.resume)}
    return {"method": "GET", "headers": frames.headers(), **asked}


def has_no_stream(came: httpx2.Response) -> bool:
    """Whether it knows nothing of server-sent events, or of the chat."""
    return came.status_code in (404, 405)


@contextmanager
def faults_of_the_network() -> Iterator[None]:
    """Below HTTP they have other names."""
    try:
        yield
    except (httpcore2.NetworkError, httpcore2.TimeoutException) as error:
        raise httpx2.ReadError(str(error) or type(error).__name__) from error


def events(came: httpx2.ServerSentEvent) -> list[ChatStreamEvent]:
    """Those of one message of the stream; one that has a name of its own, a heartbeat or a
    farewell, has none."""
    return batch(came.data) if came.event == "message" else []


def batch(text: str) -> list[ChatStreamEvent]:
    """Of one message of a stream; an empty one, a heartbeat, has none."""
    found = _events.decode(text) if text else []
    return found if isinstance(found, list) else [found]
