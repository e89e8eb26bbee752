"""Checks for the tests of a plugin: what the daemon expects of its tools, providers and sources.

Each is an async function that runs on trio and raises `ContractBroken`, with a sentence that says
what is wrong. Any test runner will do:

    def test_the_tool():
        trio.run(partial(check_tool, weather, works=[{"city": "Oslo"}], refused=[{}]))

The daemon's own tools, providers and sessions pass the same checks (`tests/contracts`).
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Protocol, cast
from uuid import UUID

import trio

from actors.law.parts import deltas
from actors.law.parts.message import TextPart
from actors.law.parts.prompt import Prompt, UserInput
from promptcorner.ext.identity import Identity, IdentityRequest
from promptcorner.ext.providers import (
    DELTAS_MAX,
    NAME_CHARACTERS_MAX,
    PROVIDER_NAME,
    ModelProvider,
)
from promptcorner.ext.tools import NAME, RESULT_BYTES_MAX, CallResult, ToolContext

LET_GO_SECONDS = 1.0  # after a cancellation, for the work to end; the daemon waits as long
CALL_SECONDS = 10.0  # for one call, answer or request of a check; then the check fails
CONTEXT = ToolContext(UUID(int=1), UUID(int=2), "call-1")
BROKEN_ARGUMENTS = ("{", "[]", '"text"', "null")
STRANGE_REQUESTS = (
    IdentityRequest("GET", "/", {}, "192.0.2.1", is_from_trusted_proxy=False),
    IdentityRequest("POST", "/a\ufffd", {"cookie": "=;=", "authorization": "x"}, "", False),
)


class ContractBroken(AssertionError):
    """Says what a part of a plugin does that the daemon does not expect of it."""


def require(condition: object, words: str) -> None:
    if not condition:
        raise ContractBroken(words)


# tools


class CheckedTool(Protocol):
    """A tool as it is checked; every `PluginTool` is one."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def schema(self) -> str: ...
    async def call(self, context: ToolContext, arguments: str) -> CallResult: ...


async def check_tool(
    tool: CheckedTool,
    *,
    works: Sequence[Mapping[str, Any]],
    refused: Sequence[Mapping[str, Any]] = (),
    context: ToolContext = CONTEXT,
) -> None:
    """Check what a tool says of itself, that calls with the arguments of `works` succeed and those
    with the arguments of `refused` end with an error, and that a cancelled call ends."""
    require(works, "name at least one set of arguments with which the tool works")
    require(NAME.fullmatch(tool.name), f"{tool.name!r} is no name for a tool")
    require(tool.description.strip(), f"{tool.name}: has no description, which the model reads")
    check_schema(tool.name, tool.schema)
    for arguments in works:
        said = await _result(tool, json.dumps(arguments), context)
        require(not said.is_error, f"{tool.name}: {arguments} should work, but: {said.json:.500}")
        await _check_cancelled_call(tool, json.dumps(arguments), context)
    for text in (*map(json.dumps, refused), *BROKEN_ARGUMENTS):
        said = await _result(tool, text, context)
        require(said.is_error, f"{tool.name}: {text} should be refused, but: {said.json:.500}")
        found = json.loads(said.json)
        require(
            isinstance(found, dict) and found.get("error"),
            f'{tool.name}: a refusal is {{"error": "words for the model"}}, not {said.json:.500}',
        )


def check_schema(name: str, schema: str) -> None:
    """Check that every provider takes this schema of arguments."""
    found = json.loads(schema)
    require(isinstance(found, dict), f"{name}: its schema is not an object")
    require(found.get("type") == "object", f"{name}: the type of its schema must be object")
    properties = found.get("properties")
    require(isinstance(properties, dict), f"{name}: its schema has no properties")
    required = found.get("required", [None])
    require(required, f"{name}: an empty `required` is refused by providers")
    unknown = set(required) - {None, *properties}
    require(not unknown, f"{name}: requires {unknown}, which its schema does not describe")
    require('"$ref"' not in schema, f"{name}: its schema has references, which providers refuse")


async def _result(tool: CheckedTool, arguments: str, context: ToolContext) -> CallResult:
    with trio.move_on_after(CALL_SECONDS) as limit:
        said = await tool.call(context, arguments)
    require(not limit.cancelled_caught, f"{tool.name}: did not end within {CALL_SECONDS:g} s")
    json.loads(said.json)
    size = len(said.json.encode())
    require(size <= RESULT_BYTES_MAX, f"{tool.name}: its result has {size} bytes")
    return said


async def _check_cancelled_call(tool: CheckedTool, arguments: str, context: ToolContext) -> None:
    async def call() -> None:
        await tool.call(context, arguments)

    await _check_lets_go(tool.name, call)


async def _check_lets_go(name: str, work: Callable[[], Any]) -> None:
    """Cancel work at its first await: it has to end soon, and to leave no task behind."""
    before = trio.lowlevel.current_statistics().tasks_living
    began = trio.current_time()
    with trio.move_on_after(CALL_SECONDS):
        with trio.move_on_after(0):
            await work()
        await trio.lowlevel.checkpoint()
    seconds = trio.current_time() - began
    require(seconds <= LET_GO_SECONDS, f"{name}: took {seconds:.1f} s to end when cancelled")
    left = trio.lowlevel.current_statistics().tasks_living - before
    require(left <= 0, f"{name}: left {left} tasks running")


# providers

Stream = Callable[[Prompt], AsyncIterator[deltas.Delta]]


async def check_provider(provider: ModelProvider, *, prompt: Prompt | None = None) -> None:
    """Check what a provider says of itself, and the answer of each of its models to a prompt."""
    is_named = PROVIDER_NAME.fullmatch(provider.name) and len(provider.name) <= NAME_CHARACTERS_MAX
    require(is_named, f"{provider.name!r} is no name for a provider")
    require(provider.models, f"{provider.name}: has no models")
    names = [model.name for model in provider.models]
    require(len(set(names)) == len(names), f"{provider.name}: names a model twice")
    for name in names:
        asked = hello(name) if prompt is None else replace(prompt, model=name)
        await check_stream(f"{provider.name}/{name}", provider.stream, asked)


async def check_stream(name: str, stream: Stream, prompt: Prompt) -> None:
    """Check the deltas of one answer, and that an answer can be given up at any moment."""
    said = await _answer(name, stream, prompt)
    check_deltas(name, said)

    async def ask() -> None:
        await _answer(name, stream, prompt)

    await _check_lets_go(name, ask)

    async def give_up() -> None:
        async with aclosing(cast("Any", stream(prompt))) as answer:
            async for _ in answer:
                return

    before = trio.lowlevel.current_statistics().tasks_living
    with trio.move_on_after(CALL_SECONDS) as limit:
        await give_up()
    require(not limit.cancelled_caught, f"{name}: cannot be closed after its first delta")
    await trio.lowlevel.checkpoint()
    left = trio.lowlevel.current_statistics().tasks_living - before
    require(left <= 0, f"{name}: left {left} tasks running when it was closed")


def hello(model: str) -> Prompt:
    """Return the shortest prompt for a model."""
    return Prompt(model, (UserInput((TextPart("Say hello."),)),))


async def _answer(name: str, stream: Stream, prompt: Prompt) -> list[deltas.Delta]:
    said: list[deltas.Delta] = []
    with trio.move_on_after(CALL_SECONDS) as limit:
        async with aclosing(cast("Any", stream(prompt))) as answer:
            async for delta in answer:
                said.append(delta)
                require(len(said) <= DELTAS_MAX, f"{name}: says more than {DELTAS_MAX} deltas")
    require(not limit.cancelled_caught, f"{name}: no end within {CALL_SECONDS:g} s")
    return said


def check_deltas(name: str, said: Sequence[deltas.Delta]) -> None:
    """Check the rules that every stream of deltas keeps."""
    require(said, f"{name}: says nothing, not even that it has finished")
    ends = [
        delta for delta in said if isinstance(delta, deltas.AnswerFinished | deltas.AnswerFailed)
    ]
    require(
        len(ends) == 1 and said[-1] is ends[0],
        f"{name}: its last delta, and no other, has to be Finished",
    )
    open_blocks: set[str] = set()
    ended_blocks: set[str] = set()
    inputs: dict[str, str] = {}
    called: set[str] = set()
    for delta in said:
        match delta:
            case deltas.TextDelta(block=block) | deltas.ReasoningDelta(block=block):
                require(block not in ended_blocks, f"{name}: the block {block} had ended before")
                open_blocks.add(block)
            case deltas.TextEnded(block=block) | deltas.ReasoningEnded(block=block):
                open_blocks.discard(block)
                ended_blocks.add(block)
            case deltas.ToolInputStarted(id=id) | deltas.ToolInputDelta(id=id):
                require(id not in called, f"{name}: the call {id} was whole before")
                more = delta.args_delta if isinstance(delta, deltas.ToolInputDelta) else ""
                inputs[id] = inputs.get(id, "") + more
            case deltas.ToolCall(id=id, args=args):
                require(id and id not in called, f"{name}: names two calls {id!r}")
                called.add(id)
                streamed = inputs.pop(id, "")
                require(
                    not streamed or streamed == args,
                    f"{name}: the arguments of {id} are others than those that streamed",
                )
            case _:
                pass
    if isinstance(said[-1], deltas.AnswerFinished):
        require(not open_blocks, f"{name}: the blocks {sorted(open_blocks)} do not end")
        require(not inputs, f"{name}: the calls {sorted(inputs)} are never whole")


# identity sources


class CheckedSource(Protocol):
    """An identity source as it is checked; every `IdentitySource` is one."""

    async def identify(self, request: IdentityRequest) -> Identity | None: ...


async def check_identity(
    source: CheckedSource,
    *,
    known: Mapping[str, IdentityRequest],
    unknown: Sequence[IdentityRequest],
) -> None:
    """Check that each request of `known` (by username) is that user's, that those of `unknown`,
    and requests that show nothing, are nobody's, and that a cancelled question ends.

    Name in `unknown` what somebody would send who wants to be taken for another: the right header
    from the wrong address, a signature that is not yours.
    """
    require(unknown, "name at least one request that must not be believed")
    for username, request in known.items():
        for _ in range(2):
            found = await _identity(source, request)
            require(found is not None, f"the request of {username} is not known")
            assert found is not None
            require(found.username == username, f"{username} is taken for {found.username}")
            require(found.scopes, f"the request of {username} may do nothing: it has no scopes")

        async def ask(request: IdentityRequest = request) -> None:
            await source.identify(request)

        await _check_lets_go(username, ask)
    for request in (*unknown, *STRANGE_REQUESTS):
        found = await _identity(source, request)
        require(found is None, f"{request} is taken for {found and found.username}")


async def _identity(source: CheckedSource, request: IdentityRequest) -> Identity | None:
    with trio.move_on_after(CALL_SECONDS) as limit:
        found = await source.identify(request)
    require(not limit.cancelled_caught, f"no answer within {CALL_SECONDS:g} s to {request}")
    return found
