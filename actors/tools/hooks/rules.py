"""The rules of what follows from the answers of a policy hook. Pure.

Whatever goes wrong with asking counts as no: the chat stops, and nothing runs that was not allowed.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from actors.law.chat import Body, Chat, ChatError, Message, Role, Visibility
from actors.law.parts.message import (
    FilePart,
    HookContextPart,
    HookNoticePart,
    JsonText,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from actors.tools.hooks.port import HookEvent, HookFailed, HookReply, HookSubject

DENIED, FAILED = "hook_denied", "hook_dispatch_failed"  # kinds of errors


def subject_of(chat: Chat, history: Sequence[Message] = ()) -> HookSubject:
    """Return what the server is told of a chat at work."""
    prompt = next((row.id for row in reversed(history) if _is_prompt(row.body)), None)
    return HookSubject(
        chat.id,
        chat.owner_id,
        chat.workspace_id,
        "" if prompt is None else str(prompt),
        chat.parent_id,
        chat.root,
    )


def _is_prompt(body: Body) -> bool:
    is_said = body.role is Role.USER and body.visibility is not Visibility.MODEL
    return is_said and not body.compressed


def failed_error(event: HookEvent, failed: HookFailed) -> ChatError:
    """Return the error of a chat that stops because its hook could not be asked."""
    return ChatError(
        f"A policy hook of this deployment could not be asked ({event}), so the chat has stopped."
        " Try again; if it happens again, ask the administrator to look at the hook's server.",
        kind=FAILED,
        detail=f"{failed.fault}: {failed.detail}",
    )


# prompts


@dataclass(frozen=True, slots=True)
class PromptDenied:
    """A prompt that may not be sent, and why, in words for its sender."""

    why: str


def prompt_data(parts: Sequence[Part]) -> dict[str, Any]:
    """Return a prompt as the server is asked about it."""
    shown = [document for part in parts if (document := _prompt_part(part)) is not None]
    return {"prompt": prompt_text(parts), "parts": shown}


def prompt_text(parts: Sequence[Part]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def _prompt_part(part: Part) -> dict[str, Any] | None:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case FilePart():
            file = {"type": "file", "media_type": part.media_type, "name": part.name}
            return file if part.file_id is None else {**file, "file_id": str(part.file_id)}
        case HookContextPart() | HookNoticePart():
            return None
        case _:
            return {"type": "other"}


def prompt_after(
    parts: tuple[Part, ...], reply: HookReply
) -> tuple[Part, ...] | PromptDenied | HookFailed:
    """Return the parts of a prompt as they are stored after the answer.

    An override is an object with the text `prompt`, which takes the place of all text; files stay.
    """
    if reply.decision == "deny":
        return PromptDenied(reply.user_message or reply.reason or "no reason was given")
    if reply.override is not None:
        override = _object_of(reply.override)
        if override is None or override.keys() != {"prompt"}:
            return HookFailed("protocol_error", "input_override must have `prompt` and no more")
        if not isinstance(override["prompt"], str) or not override["prompt"].strip():
            return HookFailed("protocol_error", "input_override.prompt must be a text")
        others = tuple(part for part in parts if not isinstance(part, TextPart))
        parts = (TextPart(override["prompt"], hook_rewritten=True), *others)
    if reply.model_context:
        parts = (*parts, HookContextPart(reply.model_context))
    return (*parts, *notice_parts(reply))


def notice_parts(reply: HookReply) -> tuple[HookNoticePart, ...]:
    return (HookNoticePart(reply.user_message),) if reply.user_message else ()


# calls


@dataclass(frozen=True, slots=True)
class DeniedCall:
    """A call that is answered with an error instead of being run."""

    call: ToolCallPart
    why: str


def call_data(call: ToolCallPart) -> dict[str, Any]:
    """Return a call as the server is asked about it. Arguments that are no JSON go as text."""
    return {
        "tool_use_id": call.id,
        "tool_name": call.name,
        "tool_input": _value_of(call.args or JsonText("{}")),
    }


def result_data(call: ToolCallPart, result: ToolResultPart) -> dict[str, Any]:
    """Return a call and what came of it as the server is told of them."""
    field = "tool_error" if result.is_error else "tool_response"
    return {**call_data(call), field: _value_of(result.result)}


def call_after(call: ToolCallPart, reply: HookReply) -> ToolCallPart | DeniedCall | HookFailed:
    """Return the call as it is stored and run after the answer."""
    if reply.decision == "deny":
        return DeniedCall(call, reply.reason or "no reason was given")
    if reply.override is None:
        return call
    if _object_of(reply.override) is None:
        return HookFailed("protocol_error", "input_override must be an object without doubled keys")
    return replace(call, args=reply.override, hook_rewritten=True)


def doubled_ids(calls: Sequence[ToolCallPart]) -> bool:
    """Tell whether two calls share an id: then an answer about one might be taken for the
    other's."""
    return len({call.id for call in calls}) < len(calls)


def denied_result(denied: DeniedCall) -> ToolResultPart:
    """Return what the model is told of a call that was denied."""
    call = denied.call
    return ToolResultPart(
        call.id,
        call.name,
        JsonText(json.dumps({"error": denied_words(denied.why)}, ensure_ascii=False)),
        is_error=True,
        mcp_server_config_id=call.mcp_server_config_id,
    )


DENIED_BEGIN = "a policy hook of this deployment has denied this call"  # the page looks for it


def denied_words(why: str) -> str:
    return f"{DENIED_BEGIN}; it was not run. They say: {why}"


# words for the model


def context_row(text: str, *, nudges: bool = False) -> Body:
    """Return the message by which a hook tells the model something; users do not see it."""
    return Body(Role.USER, (HookContextPart(text, nudges),), visibility=Visibility.MODEL)


def is_nudge(body: Body) -> bool:
    """Tell whether a message makes the model go on although it had come to its end."""
    return any(isinstance(part, HookContextPart) and part.nudges for part in body.parts)


def was_nudged(history: Sequence[Message]) -> bool:
    """Tell whether a hook has made the model go on since a user said something. It may do so
    once."""
    for row in reversed(history):
        if row.deleted:
            continue
        if is_nudge(row.body):
            return True
        if _is_prompt(row.body):
            return False
    return False


def _object_of(text: JsonText) -> dict[str, Any] | None:
    """Return a JSON object, or None if it is none, or if a name in it stands twice."""
    try:
        value = json.loads(text, object_pairs_hook=_single)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice")
    return found


def _value_of(text: JsonText) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
