"""Functions of a program as tools that a model may call: how they are declared, and run.

    @tool
    async def weather(city: str, days: int = 1) -> dict[str, object]:
        \"""The weather of a city, for some days.\"""
        return {"sky": "clear", "days": days}

What the model is told of the parameters is read off their types; what it sends is checked against
them before the function runs. With a JSON schema of one's own, `tool(schema={...})`, the function
takes one argument: the object as it came.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_type_hints, overload

import anyio.to_thread
import msgspec
from anyio.lowlevel import RunVar

from adapters.tools.schemas import read, schema_of

SECONDS = 120.0  # that a call may take; then its result is an error that says so
# For all that a chat waits for at a time; what has not ended then is answered as late. After 300 s
# the daemon answers in our place.
SECONDS_MAX = 270.0
# Functions that block, at once, with those whose calls were given up; others wait for a thread.
# The threads are ours: the program's own are not used up, however its tools hang.
THREADS_MAX = 64
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what every provider takes for a name
NO_OBJECT = "the arguments are not a JSON object; send the call again with well-formed ones"

Arguments = Mapping[str, Any]
Function = Callable[..., Any]
"""Of the parameters, or of the one object; async or not. What it returns goes out as JSON."""


_threads: RunVar[anyio.CapacityLimiter] = RunVar("threads of tools")


class ToolError(Exception):
    """Raised by a tool: these words are for the model. Of any other exception it is told nothing
    but that there was one."""


@dataclass(frozen=True, slots=True)
class ClientTool:
    """A tool that this program runs."""

    name: str
    description: str
    schema: Mapping[str, Any]
    seconds: float
    function: Function
    read: Callable[[str], Arguments | str]  # the arguments out of their JSON, or what is wrong
    run: Callable[[Arguments], Awaitable[Any]]

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The function itself, for who calls it from Python."""
        return self.function(*args, **named)

    @property
    def definition(self) -> Mapping[str, Any]:
        """As a new chat is told of it."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": self.schema,
        }


@overload
def tool(function: Function, /) -> ClientTool: ...


@overload
def tool(
    *,
    name: str = "",
    description: str = "",
    schema: Mapping[str, Any] | None = None,
    seconds: float = SECONDS,
) -> Callable[[Function], ClientTool]: ...


def tool(
    function: Function | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    schema: Mapping[str, Any] | None = None,
    seconds: float = SECONDS,
) -> ClientTool | Callable[[Function], ClientTool]:
    """Name and description are the function's own, unless others are given. A function that is not
    async runs in a thread, which is left to itself when its time is over."""

    def of(function: Function) -> ClientTool:
        called = name or getattr(function, "__name__", "")
        if not NAME.fullmatch(called):
            raise ValueError(f"tool {called!r}: a name is 1 to 64 letters, digits, _ and -")
        if not 0 < seconds <= SECONDS_MAX:
            raise ValueError(
                f"tool {called}: seconds are {seconds:g}, can be up to {SECONDS_MAX:g}"
            )
        says = description or inspect.getdoc(function) or ""
        if schema is not None:
            fields, given = partial(_object, schema), partial(_given, function)
            return ClientTool(called, says, schema, seconds, function, fields, given)
        taken = _struct_of(function, called)
        shown = msgspec.json.decode(schema_of(taken))
        fields, named = partial(_fields, taken), partial(_named, function)
        return ClientTool(called, says, shown, seconds, function, fields, named)

    return of if function is None else of(function)


def definitions(tools: Sequence[ClientTool]) -> list[Mapping[str, Any]]:
    """What a new chat is told of them: its `unsafe_dynamic_tools`."""
    names = [tool.name for tool in tools]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"tools: {', '.join(sorted(twice))} come twice; names are for one tool")
    return [tool.definition for tool in tools]


def _struct_of(function: Function, called: str) -> type[msgspec.Struct]:
    """The parameters, as what can be read from JSON and described by a schema."""
    hints = get_type_hints(function, include_extras=True)
    fields: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        where = f"tool {called}: parameter {parameter.name}"
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{where}: cannot be given by name; give it a name, or pass a schema")
        if parameter.name not in hints:
            raise TypeError(f"{where}: has no type; annotate it, or pass a schema")
        field: tuple[Any, ...] = (parameter.name, hints[parameter.name])
        if parameter.default is not parameter.empty:
            default = parameter.default
            field = (*field, msgspec.field(default_factory=partial(_same, default)))
        fields.append(field)
    return msgspec.defstruct(called, fields, kw_only=True)


def _fields(taken: type[msgspec.Struct], args: str) -> Arguments | str:
    """Of a call whose arguments could not be read the daemon has none: that is no harm where there
    are no parameters."""
    if not args:
        return NO_OBJECT if taken.__struct_fields__ else {}
    try:
        found = read(taken, args)
    except RecursionError:
        return NO_OBJECT
    return found if isinstance(found, str) else msgspec.structs.asdict(found)


def _object(schema: Mapping[str, Any], args: str) -> Arguments | str:
    if not args and not schema.get("properties"):
        return {}
    try:
        return msgspec.json.decode(args, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return NO_OBJECT


async def _named(function: Function, arguments: Arguments) -> Any:
    return await _result(partial(function, **arguments), function)


async def _given(function: Function, arguments: Arguments) -> Any:
    return await _result(partial(function, arguments), function)


def _limiter() -> anyio.CapacityLimiter:
    try:
        return _threads.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(THREADS_MAX)
        _threads.set(limiter)
        return limiter


async def _result(call: Callable[[], Any], function: Function) -> Any:
    if inspect.iscoroutinefunction(function):
        return await call()
    (came,) = await anyio.to_thread.run_sync(
        lambda: (call(),), abandon_on_cancel=True, limiter=_limiter()
    )
    return await came if inspect.isawaitable(came) else came


def _same(value: Any) -> Any:
    return value
