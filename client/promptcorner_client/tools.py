"""Functions of a program as tools that a model may call.

    @tool
    async def weather(city: str, days: int = 1) -> dict[str, object]:
        \"""The weather of a city, for some days.\"""
        return {"sky": "clear", "days": days}

The schema that the model gets is derived from the types of the parameters, and the arguments that
it sends are checked against it before the function runs. With a JSON schema of your own,
`tool(schema={...})`, the function takes one argument: the object as it came.
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

from promptcorner_client.shared import read_arguments, schema_of

SECONDS = 120.0  # that a call may take; then its result is an error that says so
# For all calls that a chat waits for at a time; the rest is answered as late. After 300 s the
# daemon answers in the place of the program.
SECONDS_MAX = 270.0
# Functions that block and run at once, including those whose calls were given up; others wait for a
# thread. These threads are not those of the program, so tools that hang cannot use them up.
THREADS_MAX = 64
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # names that every provider accepts
NO_OBJECT = "the arguments are not a JSON object; send the call again with well-formed ones"

Arguments = Mapping[str, Any]
Function = Callable[..., Any]
"""Takes the parameters, or the one object; async or not. The result is sent as JSON."""


_threads: RunVar[anyio.CapacityLimiter] = RunVar("threads of tools")


class ToolError(Exception):
    """An error that a tool raises with words for the model.

    Of any other exception the model is told only that there was one.
    """


@dataclass(frozen=True, slots=True)
class ClientTool:
    """A tool that this program runs."""

    name: str
    description: str
    schema: Mapping[str, Any]
    seconds: float
    function: Function
    read: Callable[[str], Arguments | str]  # JSON → arguments, or what is wrong with it
    run: Callable[[Arguments], Awaitable[Any]]

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Call the function as if it were not a tool."""
        return self.function(*args, **named)

    @property
    def definition(self) -> Mapping[str, Any]:
        """The tool as a request for a new chat names it."""
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
    """Make a tool of a function, with its own name and description unless others are given.

    A function that is not async runs in a thread, which is abandoned when its time is over.
    """

    def make(function: Function) -> ClientTool:
        tool_name = name or getattr(function, "__name__", "")
        if not NAME.fullmatch(tool_name):
            raise ValueError(f"tool {tool_name!r}: a name is 1 to 64 letters, digits, _ and -")
        if not 0 < seconds <= SECONDS_MAX:
            raise ValueError(
                f"tool {tool_name}: seconds are {seconds:g}, can be up to {SECONDS_MAX:g}"
            )
        text = description or inspect.getdoc(function) or ""
        if schema is not None:
            read, run = partial(_read_object, schema), partial(_run_with_object, function)
            return ClientTool(tool_name, text, schema, seconds, function, read, run)
        struct = _struct_of(function, tool_name)
        derived = msgspec.json.decode(schema_of(struct))
        read, run = partial(_read_fields, struct), partial(_run_with_fields, function)
        return ClientTool(tool_name, text, derived, seconds, function, read, run)

    return make if function is None else make(function)


def definitions(tools: Sequence[ClientTool]) -> list[Mapping[str, Any]]:
    """Return tools as a request for a new chat names them (`unsafe_dynamic_tools`)."""
    names = [tool.name for tool in tools]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(
            f"tools: {', '.join(sorted(twice))} come twice; a name can stand for one tool only"
        )
    return [tool.definition for tool in tools]


def _struct_of(function: Function, tool_name: str) -> type[msgspec.Struct]:
    """Return the parameters as a struct, which JSON can be read into and a schema derived from."""
    hints = get_type_hints(function, include_extras=True)
    fields: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        where = f"tool {tool_name}: parameter {parameter.name}"
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{where}: cannot be given by name; give it a name, or pass a schema")
        if parameter.name not in hints:
            raise TypeError(f"{where}: has no type; annotate it, or pass a schema")
        field: tuple[Any, ...] = (parameter.name, hints[parameter.name])
        if parameter.default is not parameter.empty:
            default = parameter.default
            field = (*field, msgspec.field(default_factory=partial(_same, default)))
        fields.append(field)
    return msgspec.defstruct(tool_name, fields, kw_only=True)


def _read_fields(struct: type[msgspec.Struct], args: str) -> Arguments | str:
    """Return the arguments, or what is wrong with them.

    A call whose arguments could not be read comes without any, which a function without parameters
    does not mind.
    """
    if not args:
        return NO_OBJECT if struct.__struct_fields__ else {}
    try:
        values = read_arguments(struct, args)
    except RecursionError:
        return NO_OBJECT
    return values if isinstance(values, str) else msgspec.structs.asdict(values)


def _read_object(schema: Mapping[str, Any], args: str) -> Arguments | str:
    if not args and not schema.get("properties"):
        return {}
    try:
        return msgspec.json.decode(args, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return NO_OBJECT


async def _run_with_fields(function: Function, arguments: Arguments) -> Any:
    return await _call(partial(function, **arguments), function)


async def _run_with_object(function: Function, arguments: Arguments) -> Any:
    return await _call(partial(function, arguments), function)


def _limiter() -> anyio.CapacityLimiter:
    try:
        return _threads.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(THREADS_MAX)
        _threads.set(limiter)
        return limiter


async def _call(call: Callable[[], Any], function: Function) -> Any:
    if inspect.iscoroutinefunction(function):
        return await call()
    (result,) = await anyio.to_thread.run_sync(
        lambda: (call(),), abandon_on_cancel=True, limiter=_limiter()
    )
    return await result if inspect.isawaitable(result) else result


def _same(value: Any) -> Any:
    return value
