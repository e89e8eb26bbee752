"""The routes of streams: one chat, by WebSocket or server-sent events, and a user's list of chats.

A client says what it has of a chat by `after_id`, `after_part` or `Last-Event-ID`. The id of a
message stands for all messages up to it. A piece of an attempt, `3.1.7` (history version, attempt,
number), stands for the pieces before it and for all messages as of that history version.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial

from actors.law.ids import UserId
from actors.streams.feeds.diff import Position
from actors.streams.feeds.registry import ChatFeeds, OwnerFeeds
from adapters.access.admission import Admission, VisibleChat
from adapters.chats.streams.events import ChatStreamEvent, ChatWatchEvent, SparseStreamEvent
from adapters.chats.streams.serving import POLICY, EventStream, serve_owner, serve_socket
from adapters.chats.streams.viewers import AccessRevoked, ReadCursors, SharedViewers
from adapters.http.endpoints import (
    Call,
    Caller,
    Endpoint,
    HttpResponse,
    Parameter,
    Socket,
    Upgrade,
    flag,
)
from adapters.http.refusals import HttpError, Validation
from runtime.scope import CausedScope

STREAM = "/api/v2/chats/{chat}/stream"
WATCH = "/api/v2/chats/watch"
EVENT_STREAM = "text/event-stream; charset=utf-8"

_PARAMETERS = (
    Parameter(name="after_id", type=int, help="the newest message that you have"),
    Parameter(name="after_part", help="the last piece that you have: HISTORY.ATTEMPT.SEQ"),
    Parameter(name="seen", type=bool, help="false: this stream does not mark the chat as read"),
)
_WHOLE = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_PART = re.compile(r"([0-9]{1,18})\.([0-9]{1,9})\.([0-9]{1,9})", re.ASCII)
_MOST = 2**63 - 1  # what the database counts with
# Proxies between us and the client must not keep anything back.
_UNBUFFERED = (("cache-control", "no-cache"), ("x-accel-buffering", "no"))


class StreamRoutes:
    """The routes by which one chat is watched."""

    def __init__(
        self,
        feeds: ChatFeeds,
        admission: Admission,
        *,
        read_cursors: ReadCursors,
        viewers: SharedViewers,
    ) -> None:
        self._feeds = feeds
        self._admission = admission
        self._read_cursors = read_cursors
        self._viewers = viewers

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=STREAM,
                handle=self.stream,
                summary="What is said in a chat, and what becomes of it; arrays of events.",
                tag="streams",
                parameters=_PARAMETERS,
                answers={101: list[ChatStreamEvent]},
                refusals=(426, 503),
                is_socket=True,
            ),
            Endpoint(
                method="GET",
                path=f"{STREAM}/sse",
                handle=self.stream_sse,
                summary="The same as server-sent events, without empty fields.",
                tag="streams",
                parameters=_PARAMETERS,
                answers={200: SparseStreamEvent},
                refusals=(503,),
            ),
        )

    async def stream(self, call: Call) -> Upgrade:
        visible = await self._admission.to_read(call)
        position = position_of(call)
        self._check_room()
        reading = self._reading(visible, is_seen=_is_seen(call))
        return Upgrade(partial(self._serve, visible, call.user, position, reading))

    async def stream_sse(self, call: Call) -> HttpResponse:
        visible = await self._admission.to_read(call)
        position = position_of_event(call)
        self._check_room()
        events = EventStream(
            self._feeds,
            visible.id,
            position,
            reading=self._reading(visible, is_seen=_is_seen(call)),
        )
        body = (
            events if visible.by_owner else self._viewers.while_allowed(visible, call.user, events)
        )
        return HttpResponse(200, body, media_type=EVENT_STREAM, headers=_UNBUFFERED)

    def _check_room(self) -> None:
        if self._feeds.is_full:
            raise HttpError(503, "Too many chats are watched here.", detail="try again later")

    async def _serve(
        self,
        visible: VisibleChat,
        caller: Caller,
        position: Position,
        reading: AbstractContextManager[None],
        socket: Socket,
    ) -> None:
        scope = CausedScope()
        with (
            reading,
            self._viewers.watching(visible, caller, partial(scope.cancel, AccessRevoked())),
            scope,
        ):
            await serve_socket(socket, self._feeds, visible.id, position)
        if scope.interrupted_by is not None:
            await socket.close(POLICY, "you may read this chat no more")

    def _reading(self, visible: VisibleChat, *, is_seen: bool) -> AbstractContextManager[None]:
        """Return a context that notes that the chat is read, if its owner reads it."""
        if not visible.by_owner:
            return nullcontext()
        return self._read_cursors.reading(visible.id, is_seen=is_seen)


class WatchRoutes:
    """The route by which a user watches the list of their chats."""

    def __init__(self, owners: OwnerFeeds, shared_lists: OwnerFeeds) -> None:
        self._owners = owners
        self._shared_lists = shared_lists

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=WATCH,
                handle=self.watch,
                summary="What becomes of your chats from now on; one event each.",
                tag="streams",
                parameters=(
                    Parameter(name="shared", type=bool, help="also what others share with you"),
                ),
                answers={101: ChatWatchEvent},
                refusals=(426,),
                is_socket=True,
            ),
        )

    async def watch(self, call: Call) -> Upgrade:
        lists = self._shared_lists if flag(call, "shared") else self._owners
        return Upgrade(partial(self._serve, lists, call.user.id))

    async def _serve(self, lists: OwnerFeeds, owner: UserId, socket: Socket) -> None:
        await serve_owner(socket, lists, owner)


# positions


def position_of(call: Call) -> Position:
    """Read the position from the query. Refused if it makes no sense."""
    after_id, after_part = call.one("after_id"), call.one("after_part")
    has_part = _checked("after_part", after_part, _piece) if after_part else Position()
    if after_id:
        id = _checked("after_id", after_id, _message).message_id
        return Position(id, has_part.history_version, has_part.attempt, has_part.seq)
    return has_part


def position_of_event(call: Call) -> Position:
    """Read the position of an event stream that goes on. The event that the client has seen last
    says more than the query with which the stream was opened. An id that is none of ours was never
    seen."""
    last = call.headers.get("last-event-id", "")
    return _piece(last) or _message(last) or position_of(call)


def _is_seen(call: Call) -> bool:
    return not call.one("seen") or flag(call, "seen")


def _message(text: str) -> Position | None:
    if not _WHOLE.fullmatch(text) or int(text) > _MOST:
        return None
    return Position(message_id=max(0, int(text)))


def _piece(text: str) -> Position | None:
    found = _PART.fullmatch(text)
    if found is None:
        return None
    history_version, attempt, seq = map(int, found.groups())
    return Position(0, history_version, attempt, seq)


def _checked(name: str, text: str, read: Callable[[str], Position | None]) -> Position:
    found = read(text)
    if found is None:
        detail = f"{text[:64]!r} is no place in a chat"
        raise HttpError(400, "invalid query parameters", validations=(Validation(name, detail),))
    return found
