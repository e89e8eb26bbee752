"""What is listed once for a turn, and anew for the next, or where somebody else is to be asked."""

from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field

from actors.law.chat import Chat
from actors.law.ids import ChatId, MessageId
from adapters.settings.caching import Cache
from adapters.tools.mcp.listing import ServerTool

TURNS_MAX = 2_000  # whose lists are kept; the one not asked for longest is made anew
KEEP_SECONDS = 3_600.0  # of a turn that takes longer: then its servers are asked once more


@dataclass(frozen=True, slots=True)
class Turn:
    """Which list it is. `asked`: of whom; of others there is another list."""

    chat: ChatId
    begun_by: MessageId | None
    asked: Hashable
    whole: Chat = field(compare=False)


class TurnLists:
    def __init__(self, read: Callable[[Turn], Awaitable[Sequence[ServerTool]]]) -> None:
        self._lists: Cache[Turn, Sequence[ServerTool]] = Cache(
            read, keep_seconds=KEEP_SECONDS, max_entries=TURNS_MAX
        )
        self._last: dict[ChatId, Turn] = {}

    async def of(self, turn: Turn) -> Sequence[ServerTool]:
        if self._last.get(turn.chat) != turn:
            self.forget(turn.chat)
            self._last[turn.chat] = turn
            if len(self._last) > TURNS_MAX:
                self.forget(next(iter(self._last)))
        return await self._lists.get(turn)

    def forget(self, chat: ChatId) -> None:
        if (turn := self._last.pop(chat, None)) is not None:
            self._lists.drop(turn)
