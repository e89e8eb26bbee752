"""The retry of a store that is away for a moment: work that is done is not thrown away.

Only what may be asked twice is retried: reading, and writes behind a fence. A write that went
through although its answer was lost finds a stale fence the second time, and nothing is doubled.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from actors.law.ids import ChatId, chat_name
from runtime.backoff import delay_seconds
from runtime.ends import holds_assertion
from runtime.log import emit

TRIES_MAX = 10  # in 21 s; then the work fails as a whole, and is begun anew
FIRST_SECONDS = 0.1
CAP_SECONDS = 5.0

T = TypeVar("T")


async def retry_store(chat: ChatId, what: str, ask: Callable[[], Awaitable[T]]) -> T:
    """Return what `ask` answers in the end, or raise the error of the last try.

    A failed assertion is no error of the store and is raised at once.
    """
    for attempt in range(1, TRIES_MAX):
        try:
            return await ask()
        except Exception as error:
            if holds_assertion(error):
                raise
            if attempt == 1:  # the last try tells why by failing; there may be thousands of chats
                emit("store.unanswered", "warning", chat=chat_name(chat), what=what, error=error)
        pause = delay_seconds(attempt, first_seconds=FIRST_SECONDS, cap_seconds=CAP_SECONDS)
        await trio.sleep(pause)
    return await ask()
