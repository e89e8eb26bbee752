"""JSON as the vendors write it, and server-sent events made of it. Pure."""

from typing import Any, TypeVar

import msgspec

from adapters.rehearsal.said import BadRequest

_Wire = TypeVar("_Wire")


def decoded(decoder: "msgspec.json.Decoder[_Wire]", body: bytes) -> _Wire:
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadRequest(str(error)) from None


def compact(value: Any) -> bytes:
    return msgspec.json.encode(value)


def pretty(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def named(name: str, data: bytes) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), data)


def unnamed(data: bytes) -> bytes:
    return b"data: %b\n\n" % data
