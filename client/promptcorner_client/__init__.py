"""A client of the chats API: for programs that block, and for programs on asyncio or trio.

sync_client     holds the client for programs that block: `Client`
async_client    holds the client for asyncio and trio: `AsyncClient`
api             lists the requests that can be made, as values
tools           turns functions of a program into tools that a model may call
tool_runner     runs the calls of such tools and sends their results
transcript      keeps what a chat looks like to a program that follows it
errors          defines what is raised, and when a request is made again
resuming        drops from a stream that begins again what was told before
http_messages   makes HTTP requests, and reads answers and events
websocket       reads and writes the frames of a WebSocket
wire            defines the JSON of the API (copied from the daemon)
shared          holds functions that the daemon has as well (copied)
"""

from promptcorner_client.async_client import AsyncClient
from promptcorner_client.errors import RequestRefused, ServerUnreachable
from promptcorner_client.sync_client import Client
from promptcorner_client.tools import ToolError, tool
from promptcorner_client.transcript import Transcript

__all__ = [
    "AsyncClient",
    "Client",
    "RequestRefused",
    "ServerUnreachable",
    "ToolError",
    "Transcript",
    "tool",
]
