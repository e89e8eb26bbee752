"""Tests steer a running model: `PUT /_fake/behaviour`, `GET /_fake/requests`. Pure.

PUT /_fake/behaviour     the settings of the launch with these over them; counts start again
GET /_fake/behaviour     what holds now
GET /_fake/requests      the last requests, oldest first, with keys blotted out
"""

import msgspec

from adapters.rehearsal.pacing import Send
from adapters.rehearsal.rehearsal import Exchange, Rehearsal
from adapters.rehearsal.said import Json
from adapters.rehearsal.settings import Unfit, read, shown
from adapters.rehearsal.wires.http import Head, response

PREFIX = "/_fake/"


def answer(rehearsal: Rehearsal, head: Head, body: bytes) -> Exchange:
    status, document = _answer(rehearsal, head, body)
    return Exchange(iter([Send(0, response(status, document))]))


def _answer(rehearsal: Rehearsal, head: Head, body: bytes) -> tuple[int, Json]:
    match head.method, head.path:
        case "GET", "/_fake/behaviour":
            return 200, shown(rehearsal.behaviour)
        case "PUT", "/_fake/behaviour":
            return _behave(rehearsal, body)
        case "GET", "/_fake/requests":
            kept = [heard.document() for heard in rehearsal.heard]
            return 200, {"count": rehearsal.requests, "requests": kept}
        case _:
            said = "GET and PUT /_fake/behaviour, GET /_fake/requests"
            return 404, {"message": f"there is nothing at {head.method} {head.path}, only {said}"}


def _behave(rehearsal: Rehearsal, body: bytes) -> tuple[int, Json]:
    try:
        said = msgspec.json.decode(body or b"{}", type=dict[str, object])
        behaviour = read(rehearsal.launched, said)
    except (msgspec.DecodeError, UnicodeDecodeError, Unfit) as error:
        return 400, {"message": str(error)}
    rehearsal.behave(behaviour)
    return 200, shown(behaviour)
