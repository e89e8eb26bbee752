"""The list of chats, followed over connections that break and daemons that are replaced.

Each connection begins with the whole list, because nobody tells what was missed; then come events
of `/chats/watch`. Where the daemon listens is looked up anew for each, so that one that was started
again at another port is found by its data directory.
"""

import random
import re
from collections.abc import Awaitable, Callable
from math import inf
from uuid import UUID

import httpx2
import msgspec
import trio

from adapters.cli.board.rows import BoardFilter, BoardState
from adapters.cli.daemon_place import DaemonPlace
from adapters.settings.refusals import CannotStart
from promptcorner_client import api, http_messages, websocket
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.errors import RequestRefused, ServerUnreachable, StreamEnded
from promptcorner_client.shared import delay_seconds
from promptcorner_client.websocket import READ_BYTES, WebSocketReader
from promptcorner_client.wire import Chat

WATCH = "/api/v2/chats/watch"
PAGE = 50  # chats that are asked for at once
CHATS_MAX = 200  # of a list; older ones are found by a search
FIRST_SECONDS, CAP_SECONDS = 0.25, 5.0  # before the next connection
INVALID = 400
ARCHIVED = "archived:true"  # in a search
FILTER = re.compile(r"\w+:[^:]+")  # of the search, as docs/web.md has them
GONE = ("deleted", "unshared")

Faults = (httpx2.TransportError, RequestRefused, ServerUnreachable, StreamEnded)


class ListNews(msgspec.Struct, frozen=True):
    """An event of the list; of a chat that is gone only the id is read."""

    kind: str
    chat: msgspec.Raw


class GoneChat(msgspec.Struct, frozen=True):
    """The part of a chat that is gone."""

    id: UUID


class ChatListWatcher:
    """Follows the list of a user's chats, and tells of it by calls that must not wait."""

    def __init__(
        self,
        locate: Callable[[], DaemonPlace],
        *,
        on_list: Callable[[list[Chat]], None],
        on_chat: Callable[[Chat], None],
        on_gone: Callable[[UUID], None],
        on_trouble: Callable[[str], None],
    ) -> None:
        self._locate = locate
        self._on_list = on_list
        self._on_chat = on_chat
        self._on_gone = on_gone
        self._on_trouble = on_trouble
        self.query = ""
        self.place: DaemonPlace | None = None  # of the connection that there is
        self._attempt = 0
        self._connection: trio.CancelScope | None = None

    def reload(self, query: str) -> None:
        """Ask for the list anew, of the chats that match a search."""
        self.query, self._attempt = query, 0
        if self._connection is not None:
            self._connection.cancel()

    async def run(self) -> None:
        """Follow the list until cancelled."""
        while True:
            self._attempt += 1
            with trio.move_on_after(inf) as self._connection:
                try:
                    await self._follow()
                except Faults as fault:
                    self._on_trouble(_trouble(fault))
                except CannotStart as refusal:  # its key or its address cannot be read just now
                    self._on_trouble(f"no connection, it is tried again: {refusal}")
                await trio.sleep(
                    delay_seconds(
                        max(self._attempt, 1),
                        first_seconds=FIRST_SECONDS,
                        cap_seconds=CAP_SECONDS,
                        spread=0.5,
                        chance=random.random(),
                    )
                )

    async def _follow(self) -> None:
        """Tell the whole list and then its news, over one connection."""
        place = self._locate()
        headers = {"authorization": f"Bearer {place.token}", **websocket.headers()}
        async with (
            place.client() as client,
            httpx2.AsyncClient(
                base_url=place.url,
                timeout=http_messages.ANSWER_SECONDS,
                transport=place.transport(),
            ) as http,
            http.stream(
                "GET", WATCH, headers=headers, timeout=http_messages.SILENCE_SECONDS
            ) as response,
        ):
            try:
                if response.status_code != 101:
                    await response.aread()
                    raise http_messages.refusal(response)
                # What changes while the list is read comes behind it.
                chats = await read_chats(client, self.query)
                self.place, self._attempt = place, 0
                self._on_list(chats)
                await self._read(response)
            finally:
                self.place = None

    async def _read(self, response: httpx2.Response) -> None:
        network, reader = response.extensions["network_stream"], WebSocketReader()
        while True:
            while (text := reader.next_message()) is not None:
                if text:
                    self._tell(msgspec.json.decode(text, type=ListNews))
            with http_messages.as_httpx_errors():
                data = await network.read(READ_BYTES, timeout=http_messages.SILENCE_SECONDS)
                if reply := reader.feed(data):
                    await network.write(reply, timeout=http_messages.SILENCE_SECONDS)

    def _tell(self, news: ListNews) -> None:
        if news.kind in GONE:
            self._on_gone(msgspec.json.decode(news.chat, type=GoneChat).id)
        else:
            self._on_chat(msgspec.json.decode(news.chat, type=Chat))


def query_of(state: BoardState) -> str:
    """Return the search that the daemon is asked for: filters such as `unread:true` as they
    are, and words together. It leaves out archived chats by itself."""
    terms = state.search.replace('"', " ").split()
    wanted = [each for each in terms if FILTER.fullmatch(each)]
    if words := " ".join(each for each in terms if each not in wanted):
        wanted.append(f'search:"{words}"')
    return " ".join([*wanted, *([ARCHIVED] if state.filter is BoardFilter.ARCHIVED else [])])


async def read_chats(client: AsyncClient, query: str) -> list[Chat]:
    """Return the latest chats that match a search, `CHATS_MAX` at most."""
    found: list[Chat] = []
    while len(found) < CHATS_MAX:
        after = found[-1].id if found else None
        page = await client.request(api.list_chats(query, limit=PAGE, after_id=after))
        found += page
        if len(page) < PAGE:
            break
    return found


def _trouble(fault: Exception) -> str:
    if isinstance(fault, RequestRefused) and fault.status == INVALID:
        return f"the daemon does not understand that: {fault.detail or fault.message}"
    return f"no connection, it is tried again: {_words(fault)}"


def _words(fault: Exception) -> str:
    return str(fault) or type(fault).__name__


async def ask_quietly(asking: Awaitable[None], on_trouble: Callable[[str], None]) -> None:
    """Await a request of the board; what fails is said, and ends nothing."""
    try:
        await asking
    except Faults as fault:
        on_trouble(_words(fault))
