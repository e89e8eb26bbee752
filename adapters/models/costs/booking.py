"""What models cost where no message says so: booked as soon as they have answered.

That is what is asked for beside a turn (titles, labels and summaries for lists, advice), and what
a turn was answered without committing it. A model that fails is not booked: nothing tells what it
cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import trio

from actors.chat.turn.ports import Model, Prices, Side
from actors.law.ids import ChatId, chat_name
from actors.law.parts.assemble import Answer
from actors.law.parts.message import Cost
from adapters.models.costs.side_costs import SideCosts
from runtime.log import emit

BOOKED_SECONDS = 5.0  # for one booking; then it is missed, as is one that the store refuses


@dataclass(frozen=True, slots=True)
class Bookkeeper:
    """Fulfils `actors.chat.turn.ports.Books` and `actors.upkeep.background.asking.AnswerBooks`."""

    costs: SideCosts
    prices: Prices

    async def book(self, chat: ChatId, what: Side, costs: Sequence[Cost]) -> None:
        if not costs:
            return
        try:
            # Whoever is told to stop now has paid all the same.
            with trio.fail_after(BOOKED_SECONDS, shield=True):
                await self.costs.add(chat, what, costs)
        except Exception as error:  # noqa: BLE001  # what was bought is there all the same
            emit("cost.missed", "warning", chat=chat_name(chat), what=what, error=error)

    async def book_answer(self, chat: ChatId, what: Side, model: Model, answer: Answer) -> None:
        await self.book(chat, what, [self.prices.cost(model, answer.usage)])
