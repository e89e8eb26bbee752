"""Tools of ours that are deeds: the arguments are read, the deed is done, and its document told."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from actors.chat.turn.ports import Calling, ToolOutput
from actors.chat.turn.steps import error_output
from actors.law.parts.message import JsonText
from adapters.tools.schemas import read

Told = Mapping[str, Any]
Arguments = type[msgspec.Struct]
Deed = Callable[[Calling, Any], Awaitable[Told | ToolOutput]]


class Wrong(Exception):
    """The call cannot be served; the words are for the model, and what is told beside them."""

    def __init__(self, why: str, **beside: str) -> None:
        super().__init__(why)
        self.beside = beside


async def served(calling: Calling, arguments: Arguments, do: Deed) -> ToolOutput:
    asked = read(arguments, calling.call.args or "{}")
    if isinstance(asked, str):
        return error_output(asked)
    try:
        done = await do(calling, asked)
    except Wrong as wrong:
        if not wrong.beside:
            return error_output(str(wrong))
        return told({"error": str(wrong), **wrong.beside}, is_error=True)
    return done if isinstance(done, ToolOutput) else told(done)


def told(document: Told, *, is_error: bool = False) -> ToolOutput:
    return ToolOutput(JsonText(json.dumps(document, ensure_ascii=False)), is_error=is_error)
