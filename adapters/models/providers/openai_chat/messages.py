"""The messages of a prompt as Chat Completions wants them. Pure.

Tools of the provider itself do not exist here: their calls and results are left out of what the
assistant said.
"""

import base64
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, assert_never

import msgspec
from msgspec import UNSET, Raw, UnsetType

from actors.law.parts.json_text import notes_of
from actors.law.parts.message import FilePart, ReasoningPart, TextPart, ToolCallPart
from actors.law.parts.prompt import (
    AssistantOutput,
    Prompt,
    PromptMessage,
    ToolAnswer,
    ToolResults,
    UserInput,
)
from actors.law.parts.vendors import Dialect
from adapters.models.providers.facts.mistral import is_mistral, short_id
from adapters.models.providers.openai_chat import wire

_encode = msgspec.json.Encoder().encode

METADATA = "openai_chat"  # our key in a part's notes: reasoning_details, extra_content

# The newest messages are written with each step: what a call without an answer is given in its
# place changes when the answer comes.
UNSETTLED = 4
CACHED_MESSAGES_MAX = 2  # the newest ones carry a cache mark, beside the last system text

_AUDIO_FORMATS = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
}
_SKIP_SIGNATURE = "skip_thought_signature_validator"  # Gemini's word for: there is none
_MARK = wire.CacheControl("ephemeral")
# Mistral refuses a user's message right behind the result of a tool; this stands between them.
_BETWEEN_RESULT_AND_USER = "I have read the results."


def written_messages(prompt: Prompt, dialect: Dialect) -> list[wire.Message] | Raw:
    """Return the messages; what was written of them in an earlier step is not written again.

    Dialects in which what was said later changes how earlier messages are written are left out.
    """
    if prompt.written is None or _looks_back(prompt, dialect):
        return messages(prompt, dialect)

    def write(part: Sequence[PromptMessage], _are_last: bool) -> bytes:
        return _encode([each for said in part for each in _spoken(said, dialect)])[1:-1]

    settled = max(0, len(prompt.messages) - UNSETTLED)
    said = prompt.written.array(prompt.messages, settled, (__name__, dialect), write)
    if not prompt.system:
        return Raw(said)
    system = _encode([wire.Message("system", text) for text in prompt.system])
    return Raw(b"%b,%b" % (system[:-1], said[1:]) if len(said) > len(b"[]") else system)


def _looks_back(prompt: Prompt, dialect: Dialect) -> bool:
    is_mistral_like = dialect.mistral or is_mistral(prompt.model)
    return dialect.gemini or dialect.marks_cache or is_mistral_like


def messages(prompt: Prompt, dialect: Dialect) -> list[wire.Message]:
    said = [wire.Message("system", text) for text in prompt.system]
    systems, turn_begins = len(said), 0
    for message in prompt.messages:
        said.extend(_spoken(message, dialect))
        if isinstance(message, UserInput):
            turn_begins = len(said)
    if dialect.gemini:
        _sign(said[turn_begins:])
    if dialect.mistral or is_mistral(prompt.model):
        said = list(_as_mistral_wants(said))
    if prompt.cached and dialect.marks_cache and prompt.model.startswith("anthropic/"):
        newest = said[max(systems, len(said) - CACHED_MESSAGES_MAX) :]
        for message_to_keep in (*said[max(0, systems - 1) : systems], *newest):
            _mark(message_to_keep)
    return said


def _spoken(message: PromptMessage, dialect: Dialect) -> Iterable[wire.Message]:
    match message:
        case UserInput():
            return (wire.Message("user", _content(message, dialect)),)
        case AssistantOutput():
            spoken = _assistant(message, dialect)
            return () if spoken is None else (spoken,)
        case ToolResults(answers):
            return _answers(answers, dialect)
        case _:
            assert_never(message)


def _content(message: UserInput, dialect: Dialect) -> str | list[wire.ContentPart]:
    match message.parts:
        case (TextPart(text),):
            return text
        case parts:
            return [
                wire.ContentPart("text", text=part.text)
                if isinstance(part, TextPart)
                else _file(part, dialect)
                for part in parts
            ]


def _file(file: FilePart, dialect: Dialect) -> wire.ContentPart:
    assert file.data is not None, "files of a prompt are there"
    kind = file.media_type
    if kind.startswith("text/"):
        text = base64.b64decode(file.data).decode("utf-8", "replace")
        return wire.ContentPart("text", text=text)
    if not dialect.takes_files:
        return _not_shown(file)
    if kind.startswith("image/"):
        return wire.ContentPart("image_url", image_url=wire.ImageUrl(_data_url(file)))
    if kind == "application/pdf":
        name = file.name or "document.pdf"
        return wire.ContentPart("file", file=wire.File(name, _data_url(file)))
    if kind in _AUDIO_FORMATS:
        audio = wire.Audio(file.data, _AUDIO_FORMATS[kind])
        return wire.ContentPart("input_audio", input_audio=audio)
    return _not_shown(file)


def _not_shown(file: FilePart) -> wire.ContentPart:
    subject = f"file {file.name}" if file.name else file.media_type
    return wire.ContentPart("text", text=f"[{subject}, not shown]")


def _data_url(file: FilePart) -> str:
    return f"data:{file.media_type};base64,{file.data}"


def _assistant(message: AssistantOutput, dialect: Dialect) -> wire.Message | None:
    text = "".join(part.text for part in message.parts if isinstance(part, TextPart))
    calls = [
        _call(part)
        for part in message.parts
        if isinstance(part, ToolCallPart) and not part.provider_executed
    ]
    if not (text or calls):
        return None
    spoken = wire.Message("assistant", text or UNSET, calls or UNSET)
    thoughts = [part for part in message.parts if isinstance(part, ReasoningPart)]
    match dialect.thoughts:
        case "reasoning_content":
            spoken.reasoning_content = "".join(part.text for part in thoughts) or UNSET
        case "reasoning_details":
            spoken.reasoning_details = [d for part in thoughts for d in _details(part)] or UNSET
        case None:
            pass
        case _:
            assert_never(dialect.thoughts)
    return spoken


def _call(part: ToolCallPart) -> wire.ToolCall:
    function = wire.Function(part.name, part.args or "{}")
    extra = notes_of(part.provider_metadata, METADATA).get("extra_content")
    kept: wire.Extra | UnsetType = msgspec.convert(extra, wire.Extra) if extra else UNSET
    return wire.ToolCall(part.id, function, extra_content=kept)


def _details(part: ReasoningPart) -> list[dict[str, Any]]:
    """Return thoughts exactly as they came, because they are signed or encrypted."""
    noted = notes_of(part.provider_metadata, METADATA)
    return msgspec.convert(noted.get("reasoning_details", []), list[dict[str, Any]])


def _answers(answers: Iterable[ToolAnswer], dialect: Dialect) -> Iterator[wire.Message]:
    """Yield the results of tools.

    Only text can be a result here. So files follow all results in a message of the user, and the
    name of its tool stands before each of them.
    """
    files: list[wire.ContentPart] = []
    for answer in answers:
        text = answer.text
        if answer.media is not None:
            file = _file(answer.media, dialect)
            if file.text is not UNSET:
                text = f"{text}\n{file.text}" if text else file.text
            else:
                kind = answer.media.media_type
                text = text or f"[{kind}, in the next message]"
                label = wire.ContentPart("text", text=f"[{kind}, the result of {answer.name}]")
                files += (label, file)
        yield wire.Message("tool", text, tool_call_id=answer.id)
    if files:
        yield wire.Message("user", files)


def _sign(turn: list[wire.Message]) -> None:
    """Sign the calls of the turn under way.

    Gemini checks these calls, and wants the first of each message signed.
    """
    for message in turn:
        if message.tool_calls and message.tool_calls[0].extra_content is UNSET:
            signed = wire.Extra(wire.ExtraGoogle(thought_signature=_SKIP_SIGNATURE))
            message.tool_calls[0].extra_content = signed


def _as_mistral_wants(said: list[wire.Message]) -> Iterator[wire.Message]:
    """Yield the messages with the ids that Mistral takes, and in the order that it takes."""
    before = ""
    for message in said:
        for call in message.tool_calls or ():
            call.id = short_id(call.id)
        if message.tool_call_id:
            message.tool_call_id = short_id(message.tool_call_id)
        if before == "tool" and message.role == "user":
            yield wire.Message("assistant", _BETWEEN_RESULT_AND_USER)
        before = message.role
        yield message


def _mark(message: wire.Message) -> None:
    if isinstance(message.content, list):
        message.content[-1].cache_control = _MARK
    else:
        message.cache_control = _MARK
