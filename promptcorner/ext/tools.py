"""Tools that a plugin brings: typed async functions that a model may call."""

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, overload
from uuid import UUID

from promptcorner.ext.arguments import (
    ArgumentsFault,
    Read,
    UnreadableSignature,
    encoded,
    signature_of,
)

NAME = re.compile(r"[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*")  # `__` is for the tools of servers
NAME_CHARACTERS_MAX = 64
SECONDS = 60.0
SECONDS_MAX = 3_600.0
DESCRIPTION_CHARACTERS_MAX = 8_192
RESULT_BYTES_MAX = 4 * 1024 * 1024  # of JSON; a larger result becomes an error that says so

Consent = Literal["never", "by_policy", "always"]
"""When a person is asked before a call runs.

never      the tool only reads, and no chat asks about it
by_policy  chats whose policy is `ask` ask about it
always     every chat asks about it, whatever its policy is

The setting `approval_rules` comes before all three.
"""

Function = Callable[..., Awaitable[Any]]


class ToolFailure(Exception):
    """Raised by a tool that cannot do what it was asked. Its text is what the model is told. Of any
    other exception the model is only told that the tool failed; the log has the rest."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Facts about a call, beside its arguments: a parameter of this type gets them."""

    chat_id: UUID
    owner_id: UUID  # of the chat's user
    call_id: str  # the same when a call is run again, so a tool may notice that it has run before
    seconds_since_begun: float = 0.0  # more than 0 when another process has begun this call


@dataclass(frozen=True, slots=True)
class CallResult:
    """The end of a call: JSON text, as the model reads it."""

    json: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class PluginTool:
    """A function that a model may call, and what the daemon has to know of it."""

    name: str
    description: str
    schema: str  # of the arguments: a JSON object with `type` and `properties`
    repeatable: bool  # a call that was running when its process died is simply run again
    consent: Consent
    seconds: float  # that a call may take; then it is cancelled, and its result is an error
    function: Function
    context_name: str | None  # of the parameter that gets the context
    read: Read

    async def call(self, context: ToolContext, arguments: str) -> CallResult:
        """Run the function. What it raises beside `ToolFailure` comes out of here."""
        try:
            values: Mapping[str, Any] = self.read(arguments or "{}")
        except ArgumentsFault as fault:
            return _failed(str(fault))
        known = {} if self.context_name is None else {self.context_name: context}
        try:
            value = await self.function(**values, **known)
        except ToolFailure as failure:
            return _failed(str(failure) or "the tool failed and did not say why")
        return CallResult(encoded({"output": value} if isinstance(value, str) else value))


def _failed(words: str) -> CallResult:
    return CallResult(encoded({"error": words}), is_error=True)


def check_facts(name: object, description: object, consent: object, seconds: object) -> None:
    """Check what is said of a tool. UnreadableSignature: what is wrong with it."""
    is_name = isinstance(name, str) and NAME.fullmatch(name) and len(name) <= NAME_CHARACTERS_MAX
    if not is_name:
        shown = f"{name!r:.80}" if isinstance(name, str) else name
        raise UnreadableSignature(
            f"tool {shown}: a name has 1 to {NAME_CHARACTERS_MAX} letters, digits, - and single _"
        )
    is_read = isinstance(description, str) and 0 < len(description) <= DESCRIPTION_CHARACTERS_MAX
    if not is_read:
        raise UnreadableSignature(
            f"tool {name}: it needs a docstring of up to {DESCRIPTION_CHARACTERS_MAX} characters:"
            " the model reads it"
        )
    if consent not in ("never", "by_policy", "always"):
        raise UnreadableSignature(
            f"tool {name}: consent is {consent!r}, must be never, by_policy or always"
        )
    if not (isinstance(seconds, int | float) and 0 < seconds <= SECONDS_MAX):
        shown = f"{seconds:g}" if isinstance(seconds, int | float) else repr(seconds)
        raise UnreadableSignature(
            f"tool {name}: seconds are {shown}, must be more than 0 and up to {SECONDS_MAX:g}"
        )


@overload
def tool(function: Function, /) -> PluginTool: ...


@overload
def tool(
    *,
    name: str = "",
    description: str = "",
    repeatable: bool = False,
    consent: Consent = "by_policy",
    seconds: float = SECONDS,
) -> Callable[[Function], PluginTool]: ...


def tool(
    function: Function | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    repeatable: bool = False,
    consent: Consent = "by_policy",
    seconds: float = SECONDS,
) -> PluginTool | Callable[[Function], PluginTool]:
    """Make a tool of an async function. Its name and its docstring are the tool's name and
    description, unless others are given. `repeatable` says that running a call twice does no harm:
    without it, a call during which the daemon died is not run again, and the model is told so."""

    def decorate(function: Function) -> PluginTool:
        called = name or getattr(function, "__name__", "")
        says = description or inspect.getdoc(function) or ""
        check_facts(called, says, consent, seconds)
        if not inspect.iscoroutinefunction(function):
            raise UnreadableSignature(f"tool {called}: it must be an async function")
        try:
            schema, context_name, read = signature_of(function, ToolContext)
        except (UnreadableSignature, NameError) as error:
            raise UnreadableSignature(f"tool {called}: {error}") from None
        return PluginTool(
            called, says, schema, repeatable, consent, seconds, function, context_name, read
        )

    return decorate if function is None else decorate(function)
