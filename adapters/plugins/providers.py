"""The providers of plugins, asked like those of vendors.

What a generator says is checked in the plugin's own thread: nothing that is no delta comes out of
it, and no more than an answer may have. What goes wrong ends the answer with a failure in words.
"""

import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from typing import Any, get_args, get_type_hints

from actors.chat.turn.ports import Batch
from actors.law.failures.wording import failure
from actors.law.parts import deltas
from actors.law.parts.assemble import Assembly, ModelAnswer
from actors.law.parts.deltas import FailureKind, ProviderFailure
from actors.law.parts.json_text import is_json
from actors.law.parts.message import JsonText
from actors.law.parts.prompt import Prompt
from actors.law.parts.vendors import PLUGIN
from adapters.models.provider_config import (
    ModelConfig,
    ProviderConfig,
    named_model,
    named_provider,
)
from adapters.plugins.calls import PluginFault, PluginUnavailable
from adapters.plugins.loop import PluginLoop
from adapters.plugins.plugins import Plugins
from adapters.plugins.streams import open_stream
from promptcorner.ext import ModelProvider, ProviderError
from promptcorner.ext.providers import (
    ANSWER_CHARACTERS_MAX,
    ANSWER_SECONDS_MAX,
    COUNT_MAX,
    DELTAS_MAX,
    MESSAGE_CHARACTERS_MAX,
)
from runtime.clock import now, wall

Delta = deltas.Delta
# What a plugin may say. The tools that a provider runs itself are for vendors.
SAYABLE = (
    deltas.TextDelta,
    deltas.TextEnded,
    deltas.ReasoningDelta,
    deltas.ReasoningEnded,
    deltas.ToolInputStarted,
    deltas.ToolInputDelta,
    deltas.ToolCall,
    deltas.SourceFound,
    deltas.FileMade,
    deltas.UsageReported,
    deltas.AnswerFinished,
)


def plugin_models(plugins: Plugins) -> Sequence[ModelConfig]:
    """Return the models of all providers of plugins."""
    return [
        ModelConfig(
            named_model(config.name, model.name),
            config,
            model.name,
            context_limit=model.context_limit,
        )
        for plugin in plugins
        for provider in plugin.parts.providers
        for config in [_config(plugin.loop, provider)]
        for model in provider.models
    ]


def _config(loop: PluginLoop, provider: ModelProvider) -> ProviderConfig:
    return ProviderConfig(
        named_provider(provider.name),
        PLUGIN.type,
        provider.name,
        variable=f"the plugin {loop.name}",
        ready_made=PluginProvider(loop, provider),
    )


@dataclass(frozen=True, slots=True)
class PluginProvider:
    """Fulfils `actors.chat.turn.ports.ConfiguredProvider`."""

    loop: PluginLoop
    provider: ModelProvider

    @asynccontextmanager
    async def stream(self, prompt: Prompt) -> AsyncIterator[AsyncIterator[Batch]]:
        async with AsyncExitStack() as stack:
            yield _Answer(self, prompt, stack)

    async def generate(self, prompt: Prompt) -> ModelAnswer | ProviderFailure:
        assembly = Assembly()
        async with self.stream(prompt) as batches:
            async for batch in batches:
                for delta in batch:
                    if isinstance(delta, deltas.AnswerFailed):
                        return delta.failure
                    assembly.add(delta, wall())
        return assembly.answer()

    def failed(self, error: Exception) -> Delta:
        """Return the end of an answer that met an error, and count it if it is a fault."""
        if isinstance(error, ProviderError):
            try:
                return deltas.AnswerFailed(_as_it_says(error))
            except PluginFault as fault:
                error = fault
        self.loop.note_failure(error, provider=self.provider.name)
        why = str(error) if isinstance(error, PluginFault) else "the log of the server says how"
        return deltas.AnswerFailed(
            failure(
                FailureKind.GENERIC,
                PLUGIN.type,
                retryable=isinstance(error, PluginUnavailable),
                message=f"The plugin {self.loop.name} failed: {why}.",
            )
        )


def _as_it_says(error: ProviderError) -> ProviderFailure:
    """Return the failure that a provider tells of on purpose. PluginFault: it makes no sense."""
    name = type(error).__name__
    for field, types in _OF_ERRORS.items():
        value = getattr(error, field, None)
        if not isinstance(value, types):
            raise PluginFault(_not_of(types, value, field, name))
    seconds = float(error.retry_after_seconds)
    if not 0 <= seconds < math.inf:
        raise PluginFault(f"retry_after_seconds of its {name} is {seconds:g}")
    try:
        words = str(error)
    except Exception:  # noqa: BLE001  the plugin's own code raised it
        raise PluginFault(f"its {name} cannot be read") from None
    if len(words) > MESSAGE_CHARACTERS_MAX:
        words = words[: MESSAGE_CHARACTERS_MAX - 1] + "…"
    return failure(
        error.kind,
        PLUGIN.type,
        retryable=error.retryable,
        message=words or None,
        retry_after_seconds=seconds,
        too_long=error.prompt_too_long,
    )


_OF_ERRORS: Mapping[str, tuple[type, ...]] = {
    "kind": (FailureKind,),
    "retryable": (bool,),
    "retry_after_seconds": (int, float),
    "prompt_too_long": (bool,),
}


def _not_of(types: Sequence[type], value: object, field: str, owner: str) -> str:
    wanted = " or ".join(each.__name__ for each in types)
    return f"{field} of its {owner} is a {type(value).__name__}, must be {wanted}"


class _Answer:
    """Iterates over the deltas of an answer, in batches; used by one task."""

    def __init__(self, provider: PluginProvider, prompt: Prompt, stack: AsyncExitStack) -> None:
        self._provider = provider
        self._prompt = prompt
        self._stack = stack
        self._batches: AsyncIterator[Batch] | None = None
        self._is_over = False

    def __aiter__(self) -> "_Answer":
        return self

    async def __anext__(self) -> Batch:
        if self._is_over:
            raise StopAsyncIteration
        try:
            batch = await self._next()
        except Exception as error:  # noqa: BLE001  the plugin's own code raised it
            batch = (self._provider.failed(error),)
        self._is_over = isinstance(batch[-1], deltas.AnswerFinished | deltas.AnswerFailed)
        return batch

    async def _next(self) -> Batch:
        if self._batches is None:
            make = partial(self._provider.provider.stream, self._prompt)
            stream = open_stream(self._provider.loop, make, _AnswerCheck().is_last)
            self._batches = await self._stack.enter_async_context(stream)
        try:
            return await anext(self._batches)
        except StopAsyncIteration:
            raise PluginFault("its answer has no end: AnswerFinished is missing") from None


# in the plugin's thread


class _AnswerCheck:
    """Checks the deltas of one answer, as they are said."""

    def __init__(self) -> None:
        self._began: float | None = None  # on the clock of the plugin's loop
        self._count = self._characters = 0

    def is_last(self, delta: object) -> bool:
        """Return whether this delta is the end. PluginFault: it is none, or there are too many."""
        self._began = now() if self._began is None else self._began
        if not isinstance(delta, SAYABLE):
            raise PluginFault(f"it said a {type(delta).__name__}, which is no delta")
        self._characters += _check(delta)
        self._count += 1
        if self._count > DELTAS_MAX:
            raise PluginFault(f"its answer has more than {DELTAS_MAX} deltas")
        if self._characters > ANSWER_CHARACTERS_MAX:
            raise PluginFault(f"its answer has more than {ANSWER_CHARACTERS_MAX} characters")
        if now() - self._began > ANSWER_SECONDS_MAX:
            raise PluginFault(f"its answer takes more than {ANSWER_SECONDS_MAX:g} s")
        return isinstance(delta, deltas.AnswerFinished)


def _check(record: Any) -> int:
    """Check the types of a delta's fields, and return how many characters are in them."""
    characters = 0
    for name, types, is_json_text in _fields_of(type(record)):  # type: ignore[arg-type]
        value = getattr(record, name)
        if not isinstance(value, types):
            raise PluginFault(_not_of(types, value, name, type(record).__name__))
        if isinstance(value, str):
            characters += len(value)
            if not value.isascii() and any("\ud800" <= each <= "\udfff" for each in value):
                raise PluginFault(f"{name} of its {type(record).__name__} has half a character")
            if is_json_text and name != "args" and not is_json(value):
                raise PluginFault(f"{name} of its {type(record).__name__} is not JSON")
        elif isinstance(value, int) and value < 0:
            raise PluginFault(f"{name} of its {type(record).__name__} is below 0")
        elif isinstance(value, int) and value > COUNT_MAX:
            raise PluginFault(f"{name} of its {type(record).__name__} is above {COUNT_MAX}")
        elif is_dataclass(value):
            characters += _check(value)
    if isinstance(record, _CALLS) and record.provider_executed:
        raise PluginFault("it said that it runs tools itself, which only vendors can")
    return characters


_CALLS = (deltas.ToolCall, deltas.ToolInputDelta, deltas.ToolInputStarted)


@cache
def _fields_of(record: type) -> Sequence[tuple[str, tuple[type, ...], bool]]:
    """Return the fields of a record: name, types, and whether it is JSON as text."""
    hints: Mapping[str, Any] = get_type_hints(record)
    found = []
    for field in fields(record):
        parts = get_args(hints[field.name]) or (hints[field.name],)
        is_json_text = JsonText in parts
        types = tuple(str if each is JsonText else each for each in parts)
        found.append((field.name, types, is_json_text))
    return found
