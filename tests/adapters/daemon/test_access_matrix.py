"""One table for the whole API: every row, asked by everybody; and nothing tells what exists.

The rows come from the document that the assembled API gives of itself, so a row without a line in
access_matrix.py fails here.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import uuid4

import h11
import pytest
import trio

from tests.adapters.daemon.access_matrix import CALLERS, LINES
from tests.adapters.edges import HEADER
from tests.adapters.requests_of import a_world, asked
from tests.patience import PATIENCE_SECONDS

OUTSIDERS = ("nobody", "stranger", "former")
METHODS = ("get", "put", "post", "patch", "delete")
# What only those may know to exist who may see it, and the name of one that there is not.
SECRETS = {
    "chat": str(uuid4()),
    "file": str(uuid4()),
    "workspace": str(uuid4()),
    "user": str(uuid4()),
    "key": "0123456789",
    "name": "no-such-skill",
}
UPGRADE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-key": "MDEyMzQ1Njc4OWFiY2RlZg==",
    "sec-websocket-version": "13",
}
STREAMS = ("/watch", "/stream", "/stream/sse")


@dataclass(frozen=True)
class Got:
    status: int
    body: bytes


@pytest.mark.slow
async def test_every_row_of_the_api_has_a_line(edge):
    document = (await edge.nobody.get("/openapi.json")).document

    rows = {
        (method.upper(), path)
        for path, item in document["paths"].items()
        for method in item
        if method in METHODS
    }

    assert rows == set(LINES)


@pytest.mark.slow
async def test_everybody_may_do_what_the_table_says_and_nothing_tells_what_exists(edge):
    of_chats = [line for line in LINES if "{chat}" in line[1]]
    async with a_world(edge, chats=len(of_chats) + 1) as world:
        usual, *chats = world.chats
        own = dict(zip(of_chats, chats, strict=True))

        wrong = [
            fault
            for line, statuses in LINES.items()
            for caller in CALLERS
            async for fault in faults(world, line, caller, own.get(line, usual), statuses[caller])
        ]

    assert not wrong, "\n".join(map(str, wrong))


async def faults(world, line, caller, chat, expected):
    asking = await asked(world, line, caller, chat)
    got = await ask(world, line, caller, asking)
    if expected != got.status:
        yield (*line, caller, f"expected {expected}", got.status, got.body[:100])
    if got.status < 400 or not (caller in OUTSIDERS or got.status == 404):
        return
    for place, nothing in SECRETS.items():
        if f"{{{place}}}" in line[1]:
            elsewhere = {**asking.places, place: nothing}
            if got != await ask(world, line, caller, asking, places=elsewhere):
                yield (*line, caller, f"is told whether there is such a {place}")


async def ask(world, line, caller, asking, places=None):
    method, path = line
    who = world.people[caller]
    for place, value in (places or asking.places).items():
        path = path.replace(f"{{{place}}}", value)
    headers = {**asking.headers}
    token = asking.token or who.token
    if token:
        headers[HEADER] = token
    if path.endswith(STREAMS):
        return await head_of(who.url, f"{path}?{asking.query}", headers)
    with trio.fail_after(PATIENCE_SECONDS):
        answer = await who.ask(
            method,
            f"{path}?{asking.query}",
            asking.document,
            body=asking.body,
            headers=headers,
        )
    who.client.cookies.clear()  # one client asks for all of them
    return Got(answer.status, answer.body)


async def head_of(url, target, headers):
    """Of a stream: it would go on for ever, so its head will do, and the body of a refusal."""
    address = urlsplit(url)
    protocol = h11.Connection(h11.CLIENT)
    request = {"host": address.netloc, **({} if "/sse" in target else UPGRADE), **headers}
    with trio.fail_after(PATIENCE_SECONDS):
        async with await trio.open_tcp_stream(address.hostname, address.port) as stream:
            asked = h11.Request(method="GET", target=target, headers=list(request.items()))
            await stream.send_all(protocol.send(asked) + protocol.send(h11.EndOfMessage()))
            head, body = None, b""
            while True:
                event = protocol.next_event()
                if event is h11.NEED_DATA:
                    protocol.receive_data(await stream.receive_some(65536))
                elif isinstance(event, h11.Response | h11.InformationalResponse):
                    head = event
                    if head.status_code < 400:
                        return Got(head.status_code, b"")
                elif isinstance(event, h11.Data):
                    body += event.data
                else:
                    return Got(head.status_code, bytes(body))
