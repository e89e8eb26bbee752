"""Chats as their users see them, apart from what is said in them; on PostgreSQL.

A chat is read with its children and files, or as one of a page of a list. Titles, labels, pins and
the mark of what has been read are written here; who may see the chat has been settled before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec
import trio

from actors.law.chat import ChatError
from actors.law.ids import ChatId, UserId
from actors.law.states import Status
from actors.law.store.hints import Tell, TitleChanged
from actors.law.store.ports import Applied
from adapters.access.admission import Admission, VisibleChat
from adapters.chats.overview_rows import (
    ChatOverview,
    ContextState,
    CostSum,
    DiffState,
    FileInfo,
    OverviewRow,
    SearchExcerpt,
    SingleOverviewRow,
    TreeCost,
)
from adapters.http.endpoints import Call
from adapters.http.refusals import not_found
from adapters.postgres.codec.parts import unescaped
from adapters.postgres.codec.rows import approvals_of
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Json, Parameters, Row
from adapters.postgres.queries import SQL

PAGE_DEFAULT = 50  # chats, where a request names no number
# A process beats six times in a lease. It may have ended when so much of one passed without a beat.
SILENT_SHARE = 0.25

# Before a search what is new in the chats has its words gathered: so many messages with each
# statement, some tenths of a second, and no longer than so long. The next search finds the rest.
GATHERED_MESSAGES_MAX = 1_000
GATHERING_SECONDS_MAX = 10.0
SORTED_MESSAGES = 100  # so many at once are put into the index; fewer may wait for the server to
# Of one message; what stands behind is not found. PostgreSQL has no vectors above a megabyte.
SEARCHED_CHARACTERS_MAX = 200_000
EXCERPT_CHARACTERS_MAX = 400  # of the words around what was found; the rest is left out

_T = TypeVar("_T")


class AdmittedRow(SingleOverviewRow, frozen=True):
    """An overview of a chat, as a statement returns it together with the caller's access to it."""

    mode: str
    by_owner: bool

    @property
    def visible(self) -> VisibleChat:
        """Return the chat as admission knows it."""
        fields = VisibleChat.__struct_fields__
        return VisibleChat(**{name: getattr(self, name) for name in fields})


@dataclass(frozen=True, slots=True)
class AdmittedOverview:
    """A chat as its caller may see it."""

    chat: VisibleChat
    overview: ChatOverview

    def after(self, applied: Applied) -> ChatOverview:
        """Return the overview as it was right after a request was applied, without reading it."""
        chat, row = applied.chat, self.overview.row
        row = msgspec.structs.replace(
            row,
            status=chat.status,
            archived=chat.archived,
            updated_at=applied.at if applied.change.touched else row.updated_at,
            last_model_config_id=chat.last_model_config_id,
            last_reasoning_effort=chat.last_reasoning_effort,
            asked_by=None,  # the chat goes to work, so no question of it is open
        )
        approvals = tuple(approval for approval in chat.approvals if approval.is_open)
        return replace(
            self.overview,
            row=row,
            last_error=chat.last_error,
            approvals=approvals,
            place_in_line=None,
            takeover_seconds=None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFilter:
    """Roots for which all of it holds."""

    mine: bool = True  # those that the caller owns
    theirs: bool = False  # those that others share with the caller
    archived: bool = False
    statuses: Sequence[Status] = ()  # one of these; none: any
    needs_me: bool | None = None  # the caller has to look at it, or at one of its agents
    unread: bool | None = None  # None: either
    title: str | None = None  # a part of it, as LIKE has it
    search: str | None = None  # words in a title or in one message, or a pull request's number
    pr_statuses: Sequence[str] = ()  # of its pull request, one of these; none: any, or none
    pr: int | None = None  # the number of its pull request
    pr_title: str | None = None  # a part of it, as LIKE has it
    repo: str | None = None  # a part of its remote's address, or of its pull request's
    diff_url: str | None = None  # the address of its pull request, or of one of its agents'
    labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # all of these
    after: ChatId | None = None  # only those that stand behind it
    limit: int = PAGE_DEFAULT
    offset: int = 0


class OverviewStore:
    """The store of what users see of chats and change about them."""

    def __init__(self, pool: Pool, *, tell: Tell, lease_seconds: float) -> None:
        self._pool = pool
        self._tell = tell
        self._lease = {
            "lease_seconds": lease_seconds,
            "silent_seconds": lease_seconds * SILENT_SHARE,
        }

    async def chat(self, chat: ChatId) -> ChatOverview | None:
        """Return a chat with its children and files. Who may see it has been settled."""
        asked = {"chat": chat, **self._lease}
        found = await self._execute(SQL["overview_of_chat"], asked)
        return _family(list(map(SingleOverviewRow.of, found))) if found else None

    async def admitted(
        self, call: Call, admission: Admission, *, ahead: bool = False
    ) -> AdmittedOverview:
        """Return the chat of the path as the caller may see it, with its children and files, in one
        statement; `ahead` of others, if work is to be ended. Refused as not found if they may
        not."""
        chat = ChatId(call.uuid("chat"))
        asked = admission.access_parameters(call.user, chat) | self._lease
        found = await self._execute(SQL["overview_for_caller"], asked, ahead=ahead)
        if not found:
            raise not_found()
        rows = list(map(AdmittedRow.of, found))
        return AdmittedOverview(rows[0].visible, _family(rows))

    async def page(self, caller: UserId, wanted: ListFilter) -> list[ChatOverview]:
        """Return the roots that are wanted, pinned ones first, with their children."""
        if wanted.search is not None and not await self._is_searchable(caller, wanted.search):
            return []
        found = await self._execute(SQL["overview_page"], _parameters(caller, wanted))
        return _families([_overview(OverviewRow.of(row)) for row in found])

    async def excerpts(
        self, chats: Sequence[ChatId], search: str
    ) -> Mapping[ChatId, SearchExcerpt]:
        """Return where a search found something in what is said in these chats, which it found. A
        chat that has it in its title only is left out."""
        asked = {"chats": list(chats), "search": search, "characters_max": SEARCHED_CHARACTERS_MAX}
        found = await self._execute(SQL["search_excerpts"], asked)
        return {
            chat: SearchExcerpt(id, " ".join(text.split())[:EXCERPT_CHARACTERS_MAX])
            for chat, id, text in found
        }

    async def count(self, caller: UserId, wanted: ListFilter) -> int:
        """Return how many roots are wanted, and at most `wanted.limit`."""
        if wanted.search is not None and not await self._is_searchable(caller, wanted.search):
            return 0
        [(count,)] = await self._execute(SQL["count_chats"], _parameters(caller, wanted))
        return int(count)

    async def cost(self, chat: ChatId) -> TreeCost:
        """Return what the chat's family has cost."""
        whole, own, beside = CostSum(), CostSum(), dict[str, CostSum]()
        for what, is_own, *sums in await self._execute(SQL["cost_of_tree"], {"chat": chat}):
            paid = CostSum(*sums)
            whole += paid
            if is_own:
                own += paid
            if what is not None:
                beside[what] = beside.get(what, CostSum()) + paid
        return TreeCost(whole, own, beside)

    async def retitle(self, chat: ChatId, title: str) -> None:
        """Give the chat a title, and tell its watchers if it is another one."""
        for (owner,) in await self._execute(SQL["retitle"], {"chat": chat, "title": title}):
            self._tell(TitleChanged(chat, owner))

    async def relabel(self, chat: ChatId, labels: Mapping[str, str]) -> None:
        """Replace the labels of a chat."""
        await self._execute(SQL["relabel"], {"chat": chat, "labels": _labels(labels)})

    async def set_plan_mode(self, chat: ChatId, plan_mode: str) -> None:
        """Switch the plan mode of a chat."""
        await self._execute(SQL["set_plan_mode"], {"chat": chat, "plan_mode": plan_mode})

    async def mark_read(self, chat: ChatId) -> None:
        """Note that the owner has seen what models have said so far."""
        await self._execute(SQL["mark_read"], {"chat": chat})

    async def mark_unread(self, chat: ChatId) -> None:
        """Note that the owner has still to see what a model has said last, if anything was said."""
        await self._execute(SQL["mark_unread"], {"chat": chat})

    async def _is_searchable(self, caller: UserId, search: str) -> bool:
        """Gather the words of all that the caller may find. Return whether `search` has any."""
        [(has_words,)] = await self._execute(SQL["has_words"], {"search": search})
        if not has_words:
            return False
        gathering = {
            "caller": caller,
            "messages_max": GATHERED_MESSAGES_MAX,
            "characters_max": SEARCHED_CHARACTERS_MAX,
        }
        with trio.move_on_after(GATHERING_SECONDS_MAX):
            gathered, behind = 0, GATHERED_MESSAGES_MAX
            while behind >= GATHERED_MESSAGES_MAX:
                [(behind,)] = await self._execute(SQL["gather_words"], gathering)
                gathered += behind
            if gathered >= SORTED_MESSAGES:
                await self._execute(SQL["sort_in_words"], ())
        return True

    async def _execute(self, sql: str, parameters: Parameters, *, ahead: bool = False) -> list[Row]:
        async with self._pool.connection(ahead=ahead) as connection:
            return await connection.execute(sql, parameters)


def _parameters(caller: UserId, wanted: ListFilter) -> dict[str, Any]:
    return {
        "caller": caller,
        "mine": wanted.mine,
        "theirs": wanted.theirs,
        "archived": wanted.archived,
        "statuses": [status.value for status in wanted.statuses],
        "needs_me": wanted.needs_me,
        "unread": wanted.unread,
        "title": wanted.title,
        "search": wanted.search,
        "pr_statuses": list(wanted.pr_statuses),
        "pr": wanted.pr,
        "pr_title": wanted.pr_title,
        "repo": wanted.repo,
        "diff_url": wanted.diff_url,
        "labels": _labels(wanted.labels),
        "after": wanted.after,
        "limit": wanted.limit,
        "offset": wanted.offset,
    }


def moved_pin(pins: Sequence[ChatId], chat: ChatId, *, place: int) -> tuple[ChatId, ...]:
    """Return the order of the pins after `chat` was given `place`. Pure.

    0 takes it out, a new one comes last, and one that is there moves among its neighbours, at most
    to an end.
    """
    others = [pin for pin in pins if pin != chat]
    if place <= 0:
        return tuple(others)
    at = min(place, len(pins)) - 1 if chat in pins else len(pins)
    return (*others[:at], chat, *others[at:])


class PinStore:
    """The pins of users: an order from 1 to n for each, however many requests move them."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def pin(self, owner: UserId, chat: ChatId, *, place: int) -> None:
        """Pin a chat, or take it out, as `moved_pin` says. One archived meanwhile is not pinned."""
        await self._write(owner, lambda pins: moved_pin(pins, chat, place=place))

    async def close_gaps(self, owner: UserId) -> None:
        """Let the pins move up where a chat was archived."""
        await self._write(owner, tuple)

    async def _write(
        self, owner: UserId, ordered: Callable[[Sequence[ChatId]], Sequence[ChatId]]
    ) -> None:
        asked = {"owner": owner}
        async with self._pool.connection() as connection, connection.transaction() as tx:
            [_, pins] = await tx.run([(SQL["lock_pins"], asked), (SQL["pins"], asked)])
            order = ordered([id for (id,) in pins])
            await tx.commit([(SQL["write_pins"], asked | {"order": list(order)})])


def _overview(row: OverviewRow) -> ChatOverview:
    return ChatOverview(
        row,
        labels=_json(row.labels, dict[str, str]),
        approvals=tuple(call for call in approvals_of(row.approvals) if call.is_open),
        last_error=None if row.last_error is None else _json(unescaped(row.last_error), ChatError),
        context=None if row.context is None else _json(row.context, ContextState),
        diff=None if row.diff is None else _json(row.diff, DiffState),
    )


def _family(rows: Sequence[SingleOverviewRow]) -> ChatOverview:
    """Return the first of these chats with its files, and the others as its children."""
    head = rows[0]
    return replace(
        _overview(head),
        children=tuple(map(_overview, rows[1:])),
        files=() if head.files is None else _json(head.files, tuple[FileInfo, ...]),
        place_in_line=head.place_in_line,
        takeover_seconds=head.takeover_seconds,
    )


def _families(chats: Sequence[ChatOverview]) -> list[ChatOverview]:
    """Return each chat that has no parent among them, with its children; both in their order."""
    known = {chat.row.id for chat in chats}
    children: Mapping[object, list[ChatOverview]] = {id: [] for id in known}
    heads = []
    for chat in chats:
        if chat.row.parent_id in known:
            children[chat.row.parent_id].append(chat)
        else:
            heads.append(chat)
    return [replace(head, children=tuple(children[head.row.id])) for head in heads]


def _labels(labels: Mapping[str, str]) -> Json:
    return Json(msgspec.json.encode(dict(labels)))


def _json(raw: bytes, wanted: type[_T]) -> _T:
    return msgspec.json.decode(raw, type=wanted)
