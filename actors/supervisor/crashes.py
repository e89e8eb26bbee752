"""Counts of how often the actors of chats have crashed here in a row. Pure."""

from collections import OrderedDict

from actors.law.ids import ChatId
from runtime.ends import Crashed, End

REMEMBERED_MAX = 1_024  # chats whose crashes are counted; the oldest is forgotten


class CrashCounts:
    """Counts the crashes of chats. An actor that ends in another way has its chat forgiven."""

    def __init__(self) -> None:
        self._counts: OrderedDict[ChatId, int] = OrderedDict()

    def count(self, chat: ChatId, end: End) -> int:
        """Count the end of a chat's actor; return how many in a row were crashes."""
        if not isinstance(end, Crashed):
            self._counts.pop(chat, None)
            return 0
        self._counts[chat] = self._counts.get(chat, 0) + 1
        self._counts.move_to_end(chat)
        if len(self._counts) > REMEMBERED_MAX:
            self._counts.popitem(last=False)
        return self._counts[chat]
