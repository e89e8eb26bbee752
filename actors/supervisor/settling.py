"""A task that gives back, or stops for good, a chat that this process holds and no actor runs.

Its writes are fenced by the holder: a process that has taken the chat meanwhile is not disturbed.
"""

from collections.abc import Sequence
from typing import assert_never

import trio

from actors.law.chat import StoredChat
from actors.law.ids import ChatId, Holder, chat_name
from actors.law.requests import Abandon, Request
from actors.law.states import Status
from actors.law.store.ports import Applied, Ledger, StaleFence, StoredChats, fence_of
from actors.supervisor.decide import GiveBack, Park, requests_to_park
from runtime.backoff import delay_seconds
from runtime.children import run_child
from runtime.ends import Broken, Crashed, Finished, Stopped
from runtime.log import emit
from runtime.scope import CausedScope

RETRY_FIRST_SECONDS = 0.2  # after the store did not answer
RETRY_CAP_SECONDS = 10.0


async def settle(
    chat: ChatId, holder: Holder, verdict: GiveBack | Park, *, ledger: Ledger, reading: StoredChats
) -> bool:
    """Return True once the chat is not held here any more.

    Return False if it cannot be written, because the law or what is stored is broken. Then the chat
    stays held, so that it does not go from process to process.
    """

    async def write() -> None:
        while not await _written(chat, holder, verdict, ledger=ledger, reading=reading):
            pass  # it moved between the look and the write

    if isinstance(verdict, GiveBack):
        await trio.sleep(verdict.after_seconds)
    attempt = 0
    while True:
        end = await run_child(CausedScope(), write)
        match end:
            case Finished() | Stopped():
                return True
            case Broken(error):
                emit("chat.stuck", "error", chat=chat_name(chat), error=error)
                return False
            case Crashed(error):
                attempt += 1
                if attempt == 1:
                    emit("settling.failed", "warning", chat=chat_name(chat), error=error)
                await trio.sleep(_pause(attempt))
            case _:
                assert_never(end)


async def _written(
    chat: ChatId, holder: Holder, verdict: GiveBack | Park, *, ledger: Ledger, reading: StoredChats
) -> bool:
    stored = await reading.view(chat)
    if not isinstance(stored, StoredChat) or stored.chat.holder != holder:
        return True
    answer = await ledger.apply(
        chat, requests_for(verdict, stored.chat.status), fence=fence_of(stored.chat)
    )
    if isinstance(answer, StaleFence):
        return False
    assert isinstance(answer, Applied), f"{chat_name(chat)}: the law refused to let go: {answer}"
    if isinstance(verdict, Park):
        emit("chat.parked", "error", chat=chat_name(chat), error=verdict.error)
    return True


def requests_for(verdict: GiveBack | Park, status: Status) -> Sequence[Request]:
    return (Abandon(),) if isinstance(verdict, GiveBack) else requests_to_park(status)


def _pause(attempt: int) -> float:
    return delay_seconds(attempt, first_seconds=RETRY_FIRST_SECONDS, cap_seconds=RETRY_CAP_SECONDS)
