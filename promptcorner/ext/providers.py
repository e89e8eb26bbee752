"""Providers of models that a plugin brings: an async generator of deltas for each prompt."""

import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from actors.law.parts.deltas import Delta, FailureKind
from actors.law.parts.prompt import Prompt

PROVIDER_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
NAME_CHARACTERS_MAX = 64
# Of one answer; the next delta ends it with a failure that says so.
DELTAS_MAX = 1_000_000
ANSWER_CHARACTERS_MAX = 64 * 1024 * 1024
ANSWER_SECONDS_MAX = 3_600.0
MESSAGE_CHARACTERS_MAX = 2_000  # of the words of a `ProviderError`; the rest is not shown
COUNT_MAX = 2**53 - 1  # of tokens; a larger count is a fault


class ProviderError(Exception):
    """Raised by a provider that cannot answer. Its text is shown to the user of the chat.

    A failure that is `retryable` is tried again, after `retry_after_seconds` if that is not 0.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: FailureKind = FailureKind.GENERIC,
        retryable: bool = False,
        retry_after_seconds: float = 0.0,
        prompt_too_long: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retryable = retryable
        self.retry_after_seconds = retry_after_seconds
        self.prompt_too_long = prompt_too_long  # the chat is summarised, and asked again


@dataclass(frozen=True, slots=True)
class PluginModel:
    """A model that a provider has."""

    name: str
    context_limit: int | None = None  # in tokens; None: not known, chats are not summarised for it


class ModelProvider(ABC):
    """A provider of models. One object serves all chats of a process, many at once."""

    name: str  # lower-case letters, digits and `-`; users see it before the name of the model
    models: Sequence[PluginModel]

    @abstractmethod
    def stream(self, prompt: Prompt) -> AsyncGenerator[Delta, None]:
        """Answer a prompt, as an async generator. Its last delta is `Finished`.

        `prompt.model` is the name of one of `models`. The generator is closed when nobody wants the
        rest of the answer, and may be cancelled at any await.
        """
