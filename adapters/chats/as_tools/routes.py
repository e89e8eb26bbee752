"""The endpoint of the MCP server: streamable HTTP without sessions, one answer to each POST.

A client shows the token that it would show to the API. A tool asks rows of the API with it, through
their own handlers, and what these refuse is the result of the call, in words.
"""

import importlib.metadata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from adapters.chats.as_tools.protocol import (
    ErrorCode,
    ProtocolError,
    RpcRequest,
    discovery,
    error_of,
    greeting,
    kept,
    no_method,
    read_message,
    result_of,
    tool_failure,
    tool_result,
)
from adapters.chats.as_tools.tools import TOOLS, ChatTool, RowRequest
from adapters.http.endpoints import (
    READ_CHATS,
    Call,
    Endpoint,
    HttpResponse,
    json_response,
    no_content,
)
from adapters.http.refusals import HttpError

PATH = "/api/experimental/mcp/http"
BODY_BYTES_MAX = 256 * 1024  # as of a request for a new chat
FACTS_MAX = 10  # of a refusal that names fields; the others are left out
VERSION = importlib.metadata.version("promptcorner")
INSTRUCTIONS = (
    "Chats of promptcorner: each is an agent that works by itself and goes on without you. Create"
    " one, look at its status now and then, and read its messages once it is waiting."
)
_BY_NAME = {tool.name: tool for tool in TOOLS}
_LISTED = {"tools": [tool.listed for tool in TOOLS], **kept()}


class ChatToolRoutes:
    """Handlers of the MCP server. `rows` are those of the API, which its tools ask."""

    def __init__(self, rows: Iterable[Endpoint], *, organization: UUID) -> None:
        self._rows = {(row.method, row.path): row for row in rows}
        self._organization = organization

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="POST",
                path=PATH,
                handle=self.message,
                summary="An MCP server (streamable HTTP) with chats as its tools.",
                tag="chats",
                scope=READ_CHATS,
                body=Mapping[str, Any],
                body_bytes_max=BODY_BYTES_MAX,
                answers={200: Mapping[str, Any], 202: None},
            ),
        )

    async def message(self, call: Call) -> HttpResponse:
        """Answer one message of a client."""
        request: RpcRequest | None = None
        try:
            request = read_message(call.body, call.headers)
            if request is None or request.id is None:
                return no_content(202)
            return json_response(200, result_of(request, await self._result(request, call)))
        except ProtocolError as error:
            # Only a request that was understood has an answer of its own; the others are refused.
            status = 200 if request is not None else 400
            return json_response(status, error_of(request.id if request else None, error))

    async def _result(self, request: RpcRequest, call: Call) -> Mapping[str, Any]:
        match request.method:
            case "initialize":
                return greeting(request, version=VERSION, instructions=INSTRUCTIONS)
            case "server/discover":
                return discovery(INSTRUCTIONS)
            case "ping":
                return {}
            case "tools/list":
                return _LISTED
            case "tools/call":
                return await self._call_tool(request, call)
            case method:
                raise no_method(method)

    async def _call_tool(self, request: RpcRequest, call: Call) -> Mapping[str, Any]:
        name, arguments = request.parameters.get("name"), request.parameters.get("arguments")
        tool = _BY_NAME.get(name) if isinstance(name, str) else None
        if tool is None:
            fact = f"there is no such tool; there are {', '.join(_BY_NAME)}"
            raise ProtocolError(ErrorCode.INVALID_PARAMETERS, fact)
        try:
            asked = msgspec.convert(arguments or {}, tool.arguments)
        except msgspec.ValidationError as error:
            return tool_failure(f"the arguments do not fit: {error}")
        try:
            answer = await self._ask(tool.ask(asked, self._organization), call, tool)
        except HttpError as refused:
            return tool_failure(_words(refused))
        return tool_result(tool.tell(asked, answer))

    async def _ask(self, asked: RowRequest, call: Call, tool: ChatTool) -> Any:
        """Ask a row of the API as the caller would, and return the document of its answer."""
        row = self._rows[asked.method, asked.path]
        if not call.user.may(row.needed_scope):
            raise HttpError(403, f"{tool.name} needs a token with the scope {row.needed_scope}.")
        inner = Call(
            call.caller,
            asked.names,
            tuple(asked.query.items()),
            {},
            b"" if asked.body is None else msgspec.json.encode(asked.body),
            address=call.address,
            scheme=call.scheme,
            own=call.own,
        )
        answer = await row.handle(inner)
        assert isinstance(answer, HttpResponse), "a row that tools ask opens no socket"
        assert isinstance(answer.body, bytes), "a row that tools ask answers at once"
        return msgspec.json.decode(answer.body) if answer.body else None


def _words(refused: HttpError) -> str:
    """Return a refusal of the API as a sentence for a model."""
    body = refused.body
    facts = [f"{each.field}: {each.detail}" for each in body.validations[:FACTS_MAX]]
    said = [body.message.rstrip("."), body.detail, *facts]
    return "; ".join(dict.fromkeys(each for each in said if each))
