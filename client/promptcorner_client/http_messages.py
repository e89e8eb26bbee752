"""HTTP as both clients speak it: requests for httpx, answers and events out of bytes. Pure."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar, cast
from uuid import UUID

import httpcore2
import httpx2
import msgspec

from promptcorner_client import api, websocket
from promptcorner_client.api import ApiRequest, Empty
from promptcorner_client.errors import RequestRefused, refusal_of
from promptcorner_client.resuming import ResumableStream
from promptcorner_client.wire import ChatStreamEvent

ANSWER_SECONDS = 60.0  # for a whole answer; a model may have to write a title first
HEARTBEAT_SECONDS = 15.0  # the daemon is never silent for longer on an open stream
SILENCE_SECONDS = 3 * HEARTBEAT_SECONDS  # then the connection counts as lost

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode
_decode_events = msgspec.json.Decoder(list[ChatStreamEvent] | ChatStreamEvent).decode


def headers(token: str) -> Mapping[str, str]:
    """Return the headers of every request."""
    return {"authorization": f"Bearer {token}", "accept": "application/json"}


def request_arguments(request: ApiRequest[Any]) -> Mapping[str, Any]:
    """Return a request as the arguments of httpx."""
    content = request.content if request.body is None else _encode(request.body)
    media_type = {} if request.body is None else {"content-type": "application/json"}
    return {
        "method": request.method,
        "url": request.path,
        "params": list(request.query),
        "content": content or None,
        "headers": {**media_type, **request.headers},
    }


def read_answer(request: ApiRequest[T], response: httpx2.Response) -> T:
    """Return the answer in the type that the request names; raise RequestRefused if it is none."""
    if response.status_code != request.status:
        raise refusal(response)
    if request.answer is bytes:
        return cast("T", response.content)  # as it is
    content = b"{}" if request.answer is Empty else response.content
    return msgspec.json.decode(content, type=request.answer)


def refusal(response: httpx2.Response) -> RequestRefused:
    """Return the error for a response whose body has been read."""
    after = response.headers.get("retry-after", "")
    return refusal_of(response.status_code, response.content, retry_after=after)


def with_key(request: ApiRequest[T], key: str) -> ApiRequest[T]:
    """Return the request with an idempotency key, if the daemon keeps keys of such requests.

    A request that has to be made twice because its answer was lost is then carried out once.
    """
    if api.takes_key(request) and not request.is_repeatable:
        return api.once(request, key)
    return request


def event_stream_arguments(chat: UUID, stream: ResumableStream) -> Mapping[str, Any]:
    """Return the request for the server-sent events of a chat as the arguments of httpx."""
    return {"url": f"{api.CHATS}/{chat}/stream/sse", "params": dict(stream.resume_parameters)}


def websocket_arguments(chat: UUID, stream: ResumableStream) -> Mapping[str, Any]:
    """Return the request for its WebSocket, for servers that have no server-sent events."""
    params = dict(stream.resume_parameters)
    url = f"{api.CHATS}/{chat}/stream"
    return {"method": "GET", "headers": websocket.headers(), "url": url, "params": params}


def lacks_event_stream(response: httpx2.Response) -> bool:
    """Tell whether the server knows no server-sent events, or not the chat."""
    return response.status_code in (404, 405)


@contextmanager
def as_httpx_errors() -> Iterator[None]:
    """Raise errors of the layer below HTTP under the names that httpx has for them."""
    try:
        yield
    except (httpcore2.NetworkError, httpcore2.TimeoutException) as error:
        raise httpx2.ReadError(str(error) or type(error).__name__) from error


def events_of(message: httpx2.ServerSentEvent) -> list[ChatStreamEvent]:
    """Return the events in a message of the stream.

    A message with a name of its own, a heartbeat or a farewell, holds none.
    """
    return decode_events(message.data) if message.event == "message" else []


def decode_events(text: str) -> list[ChatStreamEvent]:
    """Return the events in the text of a message; an empty text is a heartbeat and holds none."""
    events = _decode_events(text) if text else []
    return events if isinstance(events, list) else [events]
