"""One question to a model beside the turn, asked again while that may help.

The pauses and the number of tries are those of a turn, but nothing of them is stored: whoever asks
sets a limit in time, and what does not come within it does not come.
"""

from dataclasses import replace
from itertools import count
from random import random
from typing import Protocol

import trio

from actors.chat.turn import retries
from actors.chat.turn.ports import Model, Side
from actors.law.chat import ChatError
from actors.law.ids import ChatId
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import ProviderFailure
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
from runtime.clock import wall


class AnswerBooks(Protocol):
    """Keeps what answers cost that become no message of a chat."""

    async def book_answer(
        self, chat: ChatId, what: Side, model: Model, answer: ModelAnswer
    ) -> None:
        """Note the cost of one answer. What cannot be noted is logged, and disturbs nobody."""
        ...


async def ask(
    model: Model, prompt: Prompt, *, books: AnswerBooks, chat: ChatId, what: Side
) -> ModelAnswer | ProviderFailure:
    """Return the answer, or the failure after which the model is not asked again.

    A model that takes no temperature is asked once more without one. The answer is booked for the
    chat. The caller sets the limit in time.
    """
    said = await _asked(model, prompt)
    if isinstance(said, ProviderFailure) and rejects_temperature(said):
        said = await _asked(model, without_temperature(prompt))
    if isinstance(said, ModelAnswer):
        await books.book_answer(chat, what, model, said)
    return said


def without_temperature(prompt: Prompt) -> Prompt:
    return replace(prompt, settings=replace(prompt.settings, temperature=None))


def rejects_temperature(failure: ProviderFailure) -> bool:
    """Tell whether the model takes no temperature. A provider says so in words only."""
    if failure.retryable:
        return False
    return "temperature" in f"{failure.message} {failure.detail}".lower()


async def _asked(model: Model, prompt: Prompt) -> ModelAnswer | ProviderFailure:
    for failures_count in count(1):
        said = await model.provider.generate(prompt)
        if isinstance(said, ModelAnswer):
            return said
        following = retries.retry_after(
            said, failures_count=failures_count, now=wall(), chance=random()
        )
        if isinstance(following, ChatError):
            return said
        await trio.sleep(following.after_seconds)
    raise AssertionError("failures are counted without end")


def brief(settings: CallSettings, *, output_tokens_max: int) -> CallSettings:
    """The model's settings for an answer of a few words, always the same for the same question.

    What says where a request may go and what becomes of it stays; what makes a model think or
    write at length is left out, and with it all that shapes the chat's own answers.
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
