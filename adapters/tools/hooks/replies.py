"""The answers of a hook's server, read strictly: what is not understood counts as no. Pure.

An answer is empty, or one JSON object with nothing behind it and no name that is not known. So a
server that means to deny and misspells it does not allow by mistake.
"""

import json
from collections.abc import Mapping
from typing import Any

from actors.law.parts.message import JsonText
from actors.tools.hooks.port import DECIDED_EVENTS, HookEvent, HookFailed, HookReply

REPLY_BYTES_MAX = 1 << 20  # a longer answer counts as no
CONTEXT_BYTES_MAX = 16 * 1024  # of what it tells the model; likewise
MESSAGE_CHARACTERS_MAX = 10_000  # of what it tells the user, and of a reason; the rest is cut

_NAMES = frozenset({"permission", "model_context", "user_message"})
_PERMISSION_NAMES = frozenset({"decision", "reason", "input_override"})


class _Unfit(Exception):
    """An answer that is not as it has to be; the text says why."""


def read_reply(event: HookEvent, status: int, body: bytes) -> HookReply | HookFailed:
    """Return the answer in a response, or why there is none in it."""
    if not 200 <= status < 300:
        led = "; it is not followed" if 300 <= status < 400 else ""
        return HookFailed("http_error", f"the server answered {status}{led}")
    if len(body) > REPLY_BYTES_MAX:
        return _unfit(f"the answer is longer than {REPLY_BYTES_MAX} bytes")
    if not body.strip():
        return HookReply()
    try:
        return _reply(event, _object(body))
    except _Unfit as unfit:
        return _unfit(str(unfit))


def _unfit(why: str) -> HookFailed:
    return HookFailed("protocol_error", why)


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body, object_pairs_hook=_single, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise _Unfit("the answer is not one JSON object") from None
    if not isinstance(value, dict):
        raise _Unfit("the answer is not one JSON object")
    return value


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Unfit("a name stands twice in the answer")
    return found


def _no_constant(name: str) -> None:
    raise _Unfit(f"{name} is not JSON")


def _reply(event: HookEvent, said: Mapping[str, Any]) -> HookReply:
    _check_names(said, _NAMES, "the answer")
    context = _text(said, "model_context")
    if len(context.encode(errors="replace")) > CONTEXT_BYTES_MAX:
        raise _Unfit(f"model_context is longer than {CONTEXT_BYTES_MAX} bytes")
    message = _text(said, "user_message")[:MESSAGE_CHARACTERS_MAX]
    if said.get("permission") is None:
        return HookReply(model_context=context, user_message=message)
    permission = said["permission"]
    if event not in DECIDED_EVENTS:
        raise _Unfit(f"there is nothing to decide about {event}")
    if not isinstance(permission, dict):
        raise _Unfit("permission is no object")
    _check_names(permission, _PERMISSION_NAMES, "permission")
    decision, override = permission.get("decision"), permission.get("input_override")
    if decision not in ("allow", "deny"):
        raise _Unfit("permission.decision is neither allow nor deny")
    if decision == "allow" and override is None:
        raise _Unfit("permission allows without input_override; an empty answer does that")
    if decision == "deny" and override is not None:
        raise _Unfit("permission denies, and has an input_override")
    return HookReply(
        decision,
        _text(permission, "reason")[:MESSAGE_CHARACTERS_MAX],
        None if override is None else JsonText(json.dumps(override, ensure_ascii=False)),
        context,
        message,
    )


def _check_names(said: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    unknown = sorted(said.keys() - known)
    if unknown:
        raise _Unfit(f"{where} has a name that is not known: {unknown[0][:64]}")


def _text(said: Mapping[str, Any], name: str) -> str:
    """Return a text as it may be stored; null counts as none."""
    value = said.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _Unfit(f"{name} is no text")
    return value.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
