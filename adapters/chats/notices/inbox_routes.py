"""The inbox of a user over the API: a list, read marks, and what comes as it comes."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from uuid import UUID

import trio
from msgspec import Struct

from actors.law.ids import UserId
from adapters.chats.notices.inbox import INBOX_KINDS, InboxFilter, InboxStore
from adapters.chats.notices.inbox_feeds import InboxFeeds, InboxWatcher, WatchersFull
from adapters.chats.notices.wording import (
    ICON,
    KINDS_BY_TEMPLATE,
    TEMPLATE_IDS,
    NoticeRow,
    words_of_row,
)
from adapters.chats.streams.events import as_frames, encode_json
from adapters.chats.streams.serving import GOING_AWAY, TRY_LATER
from adapters.http.endpoints import (
    Call,
    Endpoint,
    HttpResponse,
    Parameter,
    Socket,
    SocketClosed,
    Upgrade,
    json_response,
    no_content,
)
from adapters.http.refusals import HttpError, Validation, query_refused

INBOX = "/api/v2/notifications/inbox"

NAMED_MAX = 100  # targets, and templates, in one query; more are refused
_OF_THE_CALLER = {"ticket", "access_token", "coder_session_token"}  # the door reads these
READ_STATUSES = {"": None, "all": None, "read": True, "unread": False}
FORMATS = ("markdown", "plaintext")

_FILTERS = (
    Parameter(name="targets", help="ids of chats, with commas: only what leads to all of these"),
    Parameter(name="templates", help="ids of templates, with commas: only notices of these"),
    Parameter(name="read_status", help="all, read or unread"),
)
_BEFORE = Parameter(name="starting_before", help="the last notice of the page before")
_FORMAT = Parameter(name="format", help="of the content: markdown or plaintext")


class InboxAction(Struct, frozen=True):
    label: str
    url: str


class InboxNotification(Struct, frozen=True):
    """A notice. Of one kind all have the same template."""

    id: UUID
    user_id: UUID
    template_id: UUID
    targets: Sequence[UUID]
    title: str
    content: str
    icon: str
    actions: Sequence[InboxAction]
    read_at: datetime | None
    created_at: datetime


class InboxNotifications(Struct, frozen=True):
    notifications: Sequence[InboxNotification]
    unread_count: int


class InboxNotificationChange(Struct, frozen=True):
    """A notice that has come, or whose mark was changed."""

    notification: InboxNotification
    unread_count: int


class UpdateInboxReadStatus(Struct, frozen=True):
    is_read: bool


class InboxRoutes:
    """Handlers of the inbox."""

    def __init__(self, store: InboxStore, feeds: InboxFeeds) -> None:
        self._store = store
        self._feeds = feeds

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=INBOX,
                handle=self.list,
                summary="Your notices, the newest first, 25 a page.",
                tag="inbox",
                parameters=(*_FILTERS, _BEFORE),
                answers={200: InboxNotifications},
            ),
            Endpoint(
                method="GET",
                path=f"{INBOX}/watch",
                handle=self.watch,
                summary="Notices as they come; one object each.",
                tag="inbox",
                parameters=(*_FILTERS, _FORMAT),
                answers={101: InboxNotificationChange},
                refusals=(426,),
                is_socket=True,
            ),
            Endpoint(
                method="PUT",
                path=f"{INBOX}/{{notification}}/read-status",
                handle=self.set_read,
                summary="Mark a notice as read or unread.",
                tag="inbox",
                body=UpdateInboxReadStatus,
                answers={200: InboxNotificationChange},
            ),
            Endpoint(
                method="PUT",
                path=f"{INBOX}/mark-all-as-read",
                handle=self.read_all,
                summary="Mark all your notices as read.",
                tag="inbox",
                answers={204: None},
            ),
        )

    async def list(self, call: Call) -> HttpResponse:
        _check_names(call, *_FILTERS, _BEFORE)
        before = call.one("starting_before")
        found, unread = await self._store.page(
            call.user.id,
            filter_of(call),
            before=_id_of("starting_before", before) if before else None,
        )
        return json_response(200, InboxNotifications([presented(row) for row in found], unread))

    async def watch(self, call: Call) -> Upgrade:
        _check_names(call, *_FILTERS, _FORMAT)
        wanted, form = filter_of(call), call.one("format") or FORMATS[0]
        if form not in FORMATS:
            raise query_refused("format", f"{form[:32]!r} is neither markdown nor plaintext")
        known, _ = await self._store.news(call.user.id)
        serve = partial(self._serve, call.user.id, [row.id for row in known], wanted, form)
        return Upgrade(serve)

    async def set_read(self, call: Call) -> HttpResponse:
        asked = call.read(UpdateInboxReadStatus)
        row, unread = await self._store.set_read(
            call.user.id, call.uuid("notification"), is_read=asked.is_read
        )
        if row is None:  # clients of this API expect this status and no other
            raise HttpError(
                500, "The notice could not be marked.", detail="there is none of this id in it"
            )
        return json_response(200, InboxNotificationChange(presented(row), unread))

    async def read_all(self, call: Call) -> HttpResponse:
        await self._store.read_all(call.user.id)
        return no_content()

    async def _serve(
        self, user: UserId, known: Sequence[UUID], wanted: InboxFilter, form: str, socket: Socket
    ) -> None:
        try:
            with self._feeds.watching(user, known) as watcher:
                has_ended = await _tell(socket, watcher, wanted, markdown=form == FORMATS[0])
        except WatchersFull as full:
            await socket.close(TRY_LATER, str(full))
            return
        if has_ended:
            await socket.close(GOING_AWAY, "the server is stopping")


async def _tell(
    socket: Socket, watcher: InboxWatcher, wanted: InboxFilter, *, markdown: bool
) -> bool:
    """Send notices, and return whether there will be no more; False: the client has gone."""
    has_ended = False
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_cancel_when_closed, socket, nursery.cancel_scope)
        try:
            while (told := await watcher.next()) is not None:
                row, unread = told
                if wanted.wants(row):
                    change = InboxNotificationChange(presented(row, markdown=markdown), unread)
                    await socket.send(as_frames([encode_json(change)]))
            has_ended = True
        except SocketClosed:
            pass
        nursery.cancel_scope.cancel()
    return has_ended


async def _cancel_when_closed(socket: Socket, scope: trio.CancelScope) -> None:
    await socket.until_closed()
    scope.cancel()


def presented(row: NoticeRow, *, markdown: bool = True) -> InboxNotification:
    """Return a notice as clients see it."""
    words = words_of_row(row, markdown=markdown)
    template = next(
        (id for kind, id in TEMPLATE_IDS.items() if kind.value == row.kind), UUID(int=0)
    )
    return InboxNotification(
        id=row.id,
        user_id=row.user_id,
        template_id=template,
        targets=[] if row.chat_id is None else [row.chat_id],
        title=words.title,
        content=words.content,
        icon=ICON,
        actions=[InboxAction(words.label, words.path)] if words.path else [],
        read_at=row.read_at,
        created_at=row.created_at,
    )


def filter_of(call: Call) -> InboxFilter:
    """Read the filters of the query. Refused if they make no sense."""
    status = call.one("read_status") or ""
    if status not in READ_STATUSES:
        raise query_refused("read_status", f"{status[:32]!r} is not all, read or unread")
    templates = _ids_of(call, "templates")
    kinds = [KINDS_BY_TEMPLATE[id] for id in templates if id in KINDS_BY_TEMPLATE]
    return InboxFilter(
        _ids_of(call, "targets"), kinds if templates else INBOX_KINDS, READ_STATUSES[status]
    )


def _ids_of(call: Call, name: str) -> Sequence[UUID]:
    listed = [text for text in (call.one(name) or "").split(",") if text.strip()]
    if len(listed) > NAMED_MAX:
        raise query_refused(name, f"names {len(listed)}, at most {NAMED_MAX}")
    return [_id_of(name, text.strip()) for text in listed]


def _id_of(name: str, text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise query_refused(name, f"{text[:64]!r} is not a UUID") from None


def _check_names(call: Call, *known: Parameter) -> None:
    """Refuse parameters that this endpoint does not know: a filter that is ignored would show more
    than was asked for."""
    names = {parameter.name for parameter in known} | _OF_THE_CALLER
    strange = sorted({name for name, _ in call.query} - names)
    if strange:
        raise HttpError(
            400,
            "invalid query parameters",
            validations=[Validation(name[:64], "is not a parameter of this") for name in strange],
        )
