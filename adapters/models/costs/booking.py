"""What models cost where no message says so: booked as soon as they have answered.

What is asked for beside a turn (titles, labels and summaries for lists, advice) is asked of a model
whose answers are booked. A model that fails is not: what that cost nobody tells.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

import trio

from actors.chat.turn.ports import Batch, Model, Models, Prices, Provider, Side, Titles
from actors.law.chat import Chat, ChatError, Message
from actors.law.ids import ChatId, chat_name
from actors.law.parts.assemble import Answer
from actors.law.parts.deltas import ProviderFailure
from actors.law.parts.message import Cost, Usage
from actors.law.parts.prompt import Prompt
from adapters.models.costs.side_costs import SideCosts
from runtime.log import emit

BOOKED_SECONDS = 5.0  # for one booking; then it is missed, as is one that the store refuses


@dataclass(frozen=True, slots=True)
class Bookkeeper:
    """Fulfils `actors.chat.turn.ports.Books`."""

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

    def booked(self, model: Model, chat: ChatId, what: Side) -> Model:
        """The same model; what it says as a whole is booked."""

        async def book(usage: Usage) -> None:
            await self.book(chat, what, [self.prices.cost(model, usage)])

        return replace(model, provider=_BookedProvider(model.provider, book))


@dataclass(frozen=True, slots=True)
class _BookedProvider:
    """Fulfils `actors.chat.turn.ports.Provider`."""

    provider: Provider
    book: Callable[[Usage], Awaitable[None]]

    def stream(self, prompt: Prompt) -> AbstractAsyncContextManager[AsyncIterator[Batch]]:
        return self.provider.stream(prompt)

    async def generate(self, prompt: Prompt) -> Answer | ProviderFailure:
        said = await self.provider.generate(prompt)
        if isinstance(said, Answer):
            await self.book(said.usage)
        return said


@dataclass(frozen=True, slots=True)
class BookedTitles:
    """Fulfils `actors.chat.turn.ports.Titles`."""

    titles: Titles
    keeper: Bookkeeper

    def begin(self, chat: Chat, history: Sequence[Message], model: Model) -> None:
        self.titles.begin(chat, history, self.keeper.booked(model, chat.id, "title"))


@dataclass(frozen=True, slots=True)
class BookedSummaries:
    """The port Models of labels and summaries."""

    models: Models
    keeper: Bookkeeper

    async def model_for(self, chat: Chat) -> Model | ChatError:
        model = await self.models.model_for(chat)
        if isinstance(model, ChatError):
            return model
        return self.keeper.booked(model, chat.id, "summary")
