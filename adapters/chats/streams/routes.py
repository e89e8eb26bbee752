"""A chat as it lives, over a WebSocket or as server-sent events; and what becomes of all chats."""

from collections.abc import Sequence
from functools import partial

from actors.law.ids import UserId
from actors.streams.feeds.diff import Position
from actors.streams.feeds.registry import ChatFeeds, OwnerFeeds
from adapters.access.admission import Admission, Visible
from adapters.chats.streams.event_stream import EventStream
from adapters.chats.streams.guests import Guests, Uninvited
from adapters.chats.streams.positions import have_of, have_of_event
from adapters.chats.streams.read_cursors import ReadCursors
from adapters.chats.streams.serving import POLICY, serve_owner, serve_socket
from adapters.chats.wire.streams import ChatStreamEvent, ChatWatchEvent
from adapters.http.endpoints import Call, Caller, Endpoint, HttpResponse, Parameter, Socket, Upgrade
from adapters.http.refusals import HttpError
from runtime.scope import CausedScope

STREAM = "/api/experimental/chats/{chat}/stream"
WATCH = "/api/experimental/chats/watch"
EVENT_STREAM = "text/event-stream; charset=utf-8"

_PARAMETERS = (
    Parameter(name="after_id", type=int, help="the newest message that you have"),
    Parameter(name="after_part", help="the last piece that you have: HISTORY.ATTEMPT.SEQ"),
)
# What stands between us and the client must not keep anything back.
_UNBUFFERED = (("cache-control", "no-cache"), ("x-accel-buffering", "no"))


class Streams:
    def __init__(
        self, feeds: ChatFeeds, admission: Admission, *, read_cursors: ReadCursors, guests: Guests
    ) -> None:
        self._feeds = feeds
        self._admission = admission
        self._read_cursors = read_cursors
        self._guests = guests

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
                summary="The same as server-sent events; goes on after Last-Event-ID.",
                tag="streams",
                parameters=_PARAMETERS,
                answers={200: ChatStreamEvent},
                refusals=(503,),
            ),
        )

    async def stream(self, call: Call) -> Upgrade:
        visible = await self._admission.to_read(call)
        have = have_of(call)
        self._make_sure_of_room()
        return Upgrade(partial(self._serve, visible, call.user, have))

    async def stream_sse(self, call: Call) -> HttpResponse:
        visible = await self._admission.to_read(call)
        have = have_of_event(call)
        self._make_sure_of_room()
        events = EventStream(self._feeds, visible.id, have, seen=partial(self._seen, visible))
        body = events if visible.by_owner else self._guests.served(visible, call.user, events)
        return HttpResponse(200, body, media_type=EVENT_STREAM, headers=_UNBUFFERED)

    def _make_sure_of_room(self) -> None:
        if self._feeds.is_full:
            raise HttpError(503, "Too many chats are watched here.", detail="try again later")

    async def _serve(self, visible: Visible, who: Caller, have: Position, socket: Socket) -> None:
        scope = CausedScope()
        self._seen(visible)
        try:
            with self._guests.watching(visible, who, partial(scope.cancel, Uninvited())), scope:
                await serve_socket(socket, self._feeds, visible.id, have)
        finally:
            self._seen(visible)
        if scope.interrupted_by is not None:
            await socket.close(POLICY, "you may read this chat no more")

    def _seen(self, visible: Visible) -> None:
        """Only the owner's reading is remembered."""
        if visible.by_owner:
            self._read_cursors.seen(visible.id)


class Watch:
    def __init__(self, owners: OwnerFeeds) -> None:
        self._owners = owners

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=WATCH,
                handle=self.watch,
                summary="What becomes of your chats from now on; one event each.",
                tag="streams",
                answers={101: ChatWatchEvent},
                refusals=(426,),
                is_socket=True,
            ),
        )

    async def watch(self, call: Call) -> Upgrade:
        return Upgrade(partial(self._serve, call.user.id))

    async def _serve(self, owner: UserId, socket: Socket) -> None:
        await serve_owner(socket, self._owners, owner)
