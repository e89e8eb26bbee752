"""Questions to a model beside the turn, asked again while that may help.

The pauses and the number of tries are those of a turn, but nothing of them is stored. The caller
sets a limit in time; an answer that does not come within it does not come.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import count
from random import random
from typing import Protocol

import trio

from actors.chat.turn import answering, retries
from actors.chat.turn.deps import TurnLimits
from actors.chat.turn.ports import CostPurpose, Model
from actors.chat.turn.spending import OverLimit
from actors.chat.turn.work import Attempt
from actors.law.chat import ChatError, Role
from actors.law.ids import ChatId, EpisodeKey
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import ProviderFailure
from actors.law.parts.message import Reservation, TextPart
from actors.law.parts.prompt import (
    AnthropicOptions,
    CallSettings,
    GoogleOptions,
    OpenAICompatOptions,
    OpenAIOptions,
    OpenRouterOptions,
    Prompt,
    ProviderOptions,
    VercelOptions,
)
from actors.streams.pieces import Piece
from runtime.clock import wall


class AnswerBooks(Protocol):
    """Keeps what answers cost that become no message of a chat."""

    async def reserve(
        self, chat: ChatId, what: CostPurpose, model: Model, prompt: Prompt
    ) -> Reservation | OverLimit | None:
        """Set money aside for a call beside a turn, or return why it may not be made."""
        ...

    def give_back(self, reservation: Reservation | None) -> None:
        """Give back what was set aside for a call that has come to nothing. Returns at once."""
        ...

    async def book_answer(
        self,
        chat: ChatId,
        what: CostPurpose,
        model: Model,
        answer: ModelAnswer,
        reservation: Reservation | None = None,
    ) -> None:
        """Note the cost of one answer. What cannot be noted is logged."""
        ...


Pause = Callable[[float], Awaitable[bool]]
"""Sleeps so many seconds, and returns whether to ask again behind it."""


async def sleep(seconds: float) -> bool:
    """Sleep, and ask again whatever happens."""
    await trio.sleep(seconds)
    return True


async def ask_aside(
    model: Model,
    prompt: Prompt,
    *,
    books: AnswerBooks,
    chat: ChatId,
    what: CostPurpose,
    pause: Pause = sleep,
) -> ModelAnswer | ProviderFailure:
    """Return the answer, or the failure after which the model is not asked again.

    A model that takes no temperature is asked once more without one. The answer is booked for the
    chat. The caller sets the limit in time.
    """

    async def ask() -> ModelAnswer | ProviderFailure:
        said = await _until_answered(lambda: model.provider.generate(prompt), pause=pause)
        if isinstance(said, ProviderFailure) and rejects_temperature(said):
            plain = without_temperature(prompt)
            said = await _until_answered(lambda: model.provider.generate(plain), pause=pause)
        return said

    return await paid(ask, model, prompt, books=books, chat=chat, what=what)


async def paid(
    ask: Callable[[], Awaitable[ModelAnswer | ProviderFailure]],
    model: Model,
    prompt: Prompt,
    *,
    books: AnswerBooks,
    chat: ChatId,
    what: CostPurpose,
) -> ModelAnswer | ProviderFailure:
    """Return what `ask` returns, with money set aside before, and its answer booked. If a limit
    does not allow the call, it is not made."""
    reserved = await books.reserve(chat, what, model, prompt)
    if isinstance(reserved, OverLimit):
        return reserved.failure(model.vendor)
    said: ModelAnswer | ProviderFailure | None = None
    try:
        said = await ask()
    finally:
        if not isinstance(said, ModelAnswer):
            books.give_back(reserved)
    if isinstance(said, ModelAnswer):
        await books.book_answer(chat, what, model, said, reserved)
    return said


def without_temperature(prompt: Prompt) -> Prompt:
    return replace(prompt, settings=replace(prompt.settings, temperature=None))


def rejects_temperature(failure: ProviderFailure) -> bool:
    """Tell whether the model takes no temperature. A provider says so in words only."""
    if failure.retryable:
        return False
    return "temperature" in f"{failure.message} {failure.detail}".lower()


async def consult(
    model: Model,
    prompt: Prompt,
    key: EpisodeKey,
    *,
    limits: TurnLimits,
    show_text: Callable[[str], object],
    start_over: Callable[[], object],
) -> ModelAnswer | ProviderFailure:
    """Ask a model for advice, and show its words as they come.

    It is asked again while that may help; before that, `start_over` takes back what was shown of
    the failed attempt. The caller sets the limit in time.
    """

    def show(role: Role, piece: Piece, *, alone: bool = False) -> None:
        if isinstance(piece, TextPart):
            show_text(piece.text)

    async def ask_once() -> ModelAnswer | ProviderFailure:
        asked = await answering.ask(model, prompt, Attempt(key), limits, show=show)
        return asked.said

    return await _until_answered(ask_once, start_over)


def advice_in(answer: ModelAnswer) -> str:
    """Return the text of an answer; it is empty if there is no advice in it."""
    return "".join(part.text for part in answer.parts if isinstance(part, TextPart)).strip()


async def _until_answered(
    ask_once: Callable[[], Awaitable[ModelAnswer | ProviderFailure]],
    before_retry: Callable[[], object] = lambda: None,
    *,
    pause: Pause = sleep,
) -> ModelAnswer | ProviderFailure:
    """Return the answer, or the failure after which another attempt would not help."""
    for failures_count in count(1):
        said = await ask_once()
        if isinstance(said, ModelAnswer):
            return said
        following = retries.retry_after(
            said, failures_count=failures_count, now=wall(), chance=random()
        )
        if isinstance(following, ChatError):
            return said
        before_retry()
        if not await pause(following.after_seconds):
            return said
    raise AssertionError("failures are counted without end")


def brief(settings: CallSettings, *, output_tokens_max: int) -> CallSettings:
    """Return the model's settings for an answer of a few words, always the same for one question.

    Settings that say where a request may go and what becomes of it stay. Those that make a model
    think or write at length are left out, and so are those that shape the chat's own answers.
    """
    return CallSettings(
        max_output_tokens=output_tokens_max,
        temperature=0.0,
        options=None if settings.options is None else _brief(settings.options),
    )


def _brief(options: ProviderOptions) -> ProviderOptions:
    match options:
        case AnthropicOptions():
            return replace(options, thinking_budget_tokens=None, thinking_display=None)
        case OpenAIOptions():
            return replace(
                options,
                instructions=None,
                logit_bias=None,
                max_completion_tokens=None,
                prediction=None,
                reasoning_summary=None,
                text_verbosity=None,
            )
        case GoogleOptions():
            return replace(
                options,
                cached_content=None,
                include_thoughts=None,
                thinking_budget=None,
                thinking_level=None,
            )
        case OpenRouterOptions() | VercelOptions():
            return replace(options, logit_bias=None, reasoning=None)
        case OpenAICompatOptions():
            return options
