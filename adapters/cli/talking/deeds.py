"""What `promptcorner chat` does, once it is known what is wanted."""

import sys
from functools import partial

import msgspec
from rich.console import Console

from adapters.cli.tables import documented, table
from adapters.cli.talking.talk import INTERRUPTED, Wanted, converse
from adapters.settings import names
from adapters.settings.refusals import CannotStart
from promptcorner_client import api
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.errors import RequestRefused, ServerUnreachable
from promptcorner_client.sync_client import Client

__all__ = ["Wanted", "list_chats", "talk"]

HEAD = ("id", "status", "moved", "title")
TITLE_CHARACTERS_MAX = 60


def talk(url: str, token: str, wanted: Wanted) -> int:
    try:
        return names.run(partial(_talk, url, token, wanted))
    except (RequestRefused, ServerUnreachable) as fault:
        raise _told(fault) from None
    except KeyboardInterrupt:
        return INTERRUPTED


async def _talk(url: str, token: str, wanted: Wanted) -> int:
    async with AsyncClient(url, token) as client:
        return await converse(client, wanted, Console(highlight=False))


def list_chats(url: str, token: str, *, as_json: bool) -> int:
    try:
        with Client(url, token) as client:
            chats = client.request(api.list_chats())
    except (RequestRefused, ServerUnreachable) as fault:
        raise _told(fault) from None
    if as_json:
        sys.stdout.write(documented(msgspec.to_builtins(chats)))
        return 0
    rows = [
        (
            str(chat.id),
            chat.status,
            chat.updated_at.strftime("%Y-%m-%d %H:%M"),
            chat.title[:TITLE_CHARACTERS_MAX],
        )
        for chat in chats
    ]
    sys.stdout.write(table(HEAD, rows))
    return 0


def _told(fault: RequestRefused | ServerUnreachable) -> CannotStart:
    if isinstance(fault, RequestRefused) and fault.status == 401:
        return CannotStart(
            "token",
            "the daemon does not know it",
            "if it keeps its data elsewhere, set PROMPTCORNER_DATA_DIR; or set PROMPTCORNER_TOKEN",
        )
    return CannotStart("chat", str(fault))
