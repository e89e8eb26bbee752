"""Bedrock's event stream as Anthropic's events. Pure."""

import base64
import binascii
from collections.abc import Iterable, Iterator

import msgspec

from adapters.models.providers.broken import BrokenStream, Reported
from adapters.models.providers.eventstream import Message, MessageParser
from adapters.models.providers.sse import readable

_STATUS = {
    "internalServerException": 500,
    "modelStreamErrorException": 424,
    "modelTimeoutException": 408,
    "serviceUnavailableException": 503,
    "throttlingException": 429,
    "validationException": 400,
}


class _Chunk(msgspec.Struct):
    bytes: str


class _Exception(msgspec.Struct):
    message: str = ""


_CHUNKS = msgspec.json.Decoder(_Chunk)
_EXCEPTIONS = msgspec.json.Decoder(_Exception)


class EventSplit:
    """Bytes of the stream in, the JSON of Anthropic's events out."""

    def __init__(self) -> None:
        self._parser = MessageParser()

    def __call__(self, data: bytes) -> Iterable[bytes]:
        return self._events(self._parser.feed(data))

    def _events(self, messages: list[Message]) -> Iterator[bytes]:
        for message in messages:
            kind = message.headers.get(":message-type")
            if kind != "event":
                raise Reported(_reported(message))
            if message.headers.get(":event-type") == "chunk":
                yield _unpacked(message.payload)


def _unpacked(payload: bytes) -> bytes:
    try:
        return readable(base64.b64decode(_CHUNKS.decode(payload).bytes, validate=True))
    except (msgspec.MsgspecError, binascii.Error) as error:
        raise BrokenStream(f"bedrock: chunk: {error}") from error


def _reported(message: Message) -> str:
    """With the status that a refused request of this kind has, which is how it is classified."""
    headers = message.headers
    kind = headers.get(":exception-type") or headers.get(":error-code") or "unknown"
    try:
        text = _EXCEPTIONS.decode(message.payload).message
    except msgspec.MsgspecError:
        text = headers.get(":error-message", "")
    status = f"status {_STATUS[kind]}: " if kind in _STATUS else ""
    return f"{status}{kind}: {text}"
