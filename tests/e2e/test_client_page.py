"""The client's page in the documents, and servers that know no server-sent events."""

import ast
import re
import textwrap
from urllib.parse import urlsplit

import pytest
import trio

from promptcorner_client import api, errors
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.sync_client import Client
from promptcorner_client.transcript import Transcript
from tests.e2e.clients import LOOK_SECONDS
from tests.e2e.processes import EVENTUALLY_SECONDS, ROOT
from tests.e2e.test_client import BadNetwork, note
from tests.e2e.tool_programs import (
    ADMIN,
    LAMPS,
    MARKS,
    a_program,
    provider,
    results,
    stock,
    url,
    waited,
    without_waiting,
)

__all__ = ["provider", "url", "without_waiting"]
pytestmark = MARKS

BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/client.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("run", ["trio.run(main)", "__import__('asyncio').run(main())"])
def test_the_program_in_the_documents_runs_as_it_is_pasted(url, run):
    [program] = [block for block in BLOCKS if "trio.run(main)" in block]
    question = '"Are there enough lamps for five rooms?"'
    assert (1, 1) == (program.count("http://127.0.0.1:7390"), program.count(question))
    pasted = program.replace("http://127.0.0.1:7390", url).replace(question, repr(LAMPS))
    pasted = pasted.replace("trio.run(main)", run)  # or on anyio's other engine

    with a_program(pasted, PROMPTCORNER_TOKEN=ADMIN) as running:
        said, complaint = running.communicate(timeout=EVENTUALLY_SECONDS)

    assert (0, "Three lamps.\n", "") == (running.returncode, said, complaint)


def test_the_first_example_in_the_documents_runs_as_it_is_pasted(url):
    pasted = BLOCKS[0].replace("http://127.0.0.1:7390", url)
    with a_program(f"token = {ADMIN!r}\n{pasted}") as running:
        said, complaint = running.communicate(timeout=EVENTUALLY_SECONDS)

    assert (0, "") == (running.returncode, complaint)
    assert 2 == len(said.splitlines())


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_every_example_in_the_documents_can_be_read_by_python(number):
    assert compile(BLOCKS[number], "docs/client.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


ATTENDS = """
import trio
from promptcorner_client import api
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.tools import tool

@tool
async def stock(article: str) -> int:
    return 3

async def main(url, token):
"""


async def test_the_program_that_attends_takes_up_what_waits_when_it_starts(url):
    [block] = [block for block in BLOCKS if "client.attend" in block]
    program = f"{ATTENDS}{textwrap.indent(block, '    ')}\ntrio.run(main, {url!r}, {ADMIN!r})"
    async with AsyncClient(url, ADMIN) as client:
        chats = [
            await client.create(LAMPS, tools=[stock], labels={"app": "store"}) for _ in range(3)
        ]
        asking = [await waited(client, chat) for chat in chats]
        with a_program(program) as running, trio.fail_after(EVENTUALLY_SECONDS):
            for chat in chats:
                while (await client.request(api.get_chat(chat.id))).status != "waiting":
                    await trio.sleep(LOOK_SECONDS)
            running.kill()
        seen = [await waited(client, chat) for chat in chats]

    assert ["requires_action"] * 3 == [one.status for one in asking]
    assert [[("stock", "3", False)]] * 3 == [results(one) for one in seen]


class Reference(BadNetwork):
    """A way to a server that knows no stream but the WebSocket."""

    async def _pass_on(self, client):
        head = await client.receive_some()
        if b"/stream/sse" in head.partition(b"\r\n")[0]:
            await client.send_all(NOT_FOUND)
            return
        async with await trio.open_tcp_stream(*self.target) as daemon:
            await daemon.send_all(head)
            async with trio.open_nursery() as both:
                both.start_soon(self._up, client, daemon)
                await self._down(daemon, client)
                both.cancel_scope.cancel()


NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}"
CUTS = 30
# Between two cuts: a message of a WebSocket is heard as a whole, and holds up to 256 events.
BYTES_PASSED = (1, 900, 20_000, 100_000)


def a_reference(url, **more):
    split = urlsplit(url)
    return Reference((split.hostname, split.port), **more)


async def test_a_server_without_server_sent_events_is_followed_over_a_websocket(url):
    reference = a_reference(url, is_bad=False)
    async with reference.open():
        async with AsyncClient(reference.url, ADMIN) as client:
            chat = await client.create(LAMPS, tools=[stock])
            seen = await waited(client, chat, stock)
            with pytest.raises(errors.RequestRefused) as unknown:
                await client.wait(seen.history[0].created_by)

        def block():
            with Client(reference.url, ADMIN) as client:
                return client.wait(chat.id)

        again = await trio.to_thread.run_sync(block)

    assert ("Three lamps.", [("stock", "3", False)]) == (seen.answer, results(seen))
    assert seen.messages == again.messages
    assert 404 == unknown.value.status


async def test_over_a_websocket_that_breaks_nothing_is_lost_or_repeated(url, monkeypatch):
    monkeypatch.setattr(errors, "CAP_SECONDS", 0.05)
    reference = a_reference(url, bytes_passed=BYTES_PASSED)
    seen, pieces = Transcript(), []
    async with reference.open(), AsyncClient(url, ADMIN) as steady:
        chat = await steady.create("[[deltas: 100000]] [[delta-ms: 2]] go on and on")
        async with AsyncClient(reference.url, ADMIN) as client, client.follow(chat.id) as events:
            with trio.fail_after(3 * EVENTUALLY_SECONDS):
                async for event in events:
                    seen.apply(event)
                    note(event, pieces)
                    if reference.cuts >= CUTS and reference.is_bad:
                        reference.is_bad = False
                        await steady.request(api.interrupt(chat.id))
                    if seen.rests_since():
                        break
        stored = await steady.request(api.messages(chat.id))

    assert list(range(1, len(pieces) + 1)) == [seq for seq, _ in pieces]
    assert {message.id: message for message in stored.messages} == seen.messages
