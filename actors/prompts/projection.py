"""The projection of stored rows to a prompt: every rule, in the order in which they apply. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from actors.law.chat import Message
from actors.law.failures.wording import failure, subject
from actors.law.parts.deltas import FailureKind, ProviderFailure
from actors.law.parts.message import FilePart
from actors.law.parts.prompt import PromptMessage, ToolResults, UserInput
from actors.prompts.converting import StoredFiles
from actors.prompts.growing import GrowingPrompt
from actors.prompts.provider_tools import guard, sanitise
from actors.prompts.selecting import IdentityOf, Target


@dataclass(frozen=True, slots=True)
class Projection:
    """The messages of a prompt."""

    system: tuple[str, ...]
    messages: tuple[PromptMessage, ...]
    removed: int = 0  # parts that the guard had to take out; worth a log entry
    # Of text and data, if they have been counted.
    bytes_count: int | None = field(default=None, compare=False)


def project(
    history: Sequence[Message],
    *,
    target: Target,
    identity_of: IdentityOf,
    files: StoredFiles,
    known: GrowingPrompt | None = None,
) -> Projection | ProviderFailure:
    """Project a history for a target.

    `known` is what this target was told of this history in an earlier step; it grows.
    """
    growing = GrowingPrompt() if known is None else known
    messages = growing.messages(history, files, target, identity_of)
    if not target.rules.is_anthropic:
        return Projection(growing.systems, messages, bytes_count=growing.text_bytes())
    if not growing.is_light and (refusal := _too_large(messages, target)):
        return refusal
    if not growing.has_provider_tools:
        return Projection(growing.systems, growing.merged(), bytes_count=growing.text_bytes())
    guarded = guard(sanitise(messages), target.provider)
    if isinstance(guarded, ProviderFailure):
        return guarded
    return Projection(growing.systems, guarded.messages, guarded.removed)


def _too_large(messages: Sequence[PromptMessage], target: Target) -> ProviderFailure | None:
    bytes_max, provider = target.rules.image_bytes_max, target.provider
    if bytes_max is None:
        return None
    for file in _files(messages):
        if file.media_type.startswith("image/") and _size(file) >= bytes_max:
            limit = f"{bytes_max // 1024 // 1024} MiB"
            message = (
                f"An image in this chat is {limit} or larger, which {subject(provider)} does"
                " not accept. Switch to another provider, edit the message with the image, or start"
                " a new chat."
            )
            return failure(FailureKind.CONFIG, provider, message=message)
    return None


def _files(messages: Sequence[PromptMessage]) -> list[FilePart]:
    users = (each for each in messages if isinstance(each, UserInput))
    tools = (each for each in messages if isinstance(each, ToolResults))
    attached = [part for each in users for part in each.parts if isinstance(part, FilePart)]
    media = (answer.media for each in tools for answer in each.answers)
    return attached + [file for file in media if file is not None]


def _size(file: FilePart) -> int:
    """Return the number of bytes that the base64 stands for."""
    data = file.data or ""
    return len(data) * 3 // 4 - data[-2:].count("=")
