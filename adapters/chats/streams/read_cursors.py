"""What owners have seen of their chats. Noted behind the streams: nobody waits for it."""

from typing import Protocol

import trio

from actors.law.ids import ChatId, chat_name
from runtime.log import emit

WAITING_MAX = 16_384  # chats whose note waits; of one more nothing is noted until it is seen again


class Marks(Protocol):
    async def mark_read(self, chat: ChatId) -> None:
        """Its owner has seen what models have said so far."""
        ...


class ReadCursors:
    """`run` it; tell `seen` from anywhere."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._waiting: dict[ChatId, None] = {}
        self._more = trio.lowlevel.ParkingLot()

    def seen(self, chat: ChatId) -> None:
        if len(self._waiting) < WAITING_MAX:
            self._waiting[chat] = None
            self._more.unpark()

    async def run(self) -> None:
        """Until cancelled. A note that cannot be made is made the next time."""
        while True:
            while not self._waiting:
                await self._more.park()
            chat = next(iter(self._waiting))
            del self._waiting[chat]
            try:
                await self._marks.mark_read(chat)
            except Exception as error:  # noqa: BLE001  the edge of a unit of work
                emit("read_cursor.missed", "warning", chat=chat_name(chat), error=error)
