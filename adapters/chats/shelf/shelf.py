"""The shelf that chats stand on, on PostgreSQL: looked at, put in order, labelled."""

from collections.abc import Mapping
from dataclasses import replace

import msgspec
import trio

from actors.law.ids import ChatId, UserId
from actors.law.store.hints import Tell, TitleChanged
from adapters.chats.shelf.rows import families_of, files_of, shelved_of
from adapters.chats.shelf.wanted import ListFilter
from adapters.chats.shelved import ChatOverview, CostSum, TreeCost
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Json, Parameters, Row
from adapters.postgres.queries import SQL

# Before a search what is new in it has its words gathered: so many messages with each statement,
# some tenths of a second, and no longer than so long. What is left is found by the next search.
GATHERED_MESSAGES_MAX = 1_000
GATHERING_SECONDS_MAX = 10.0
SORTED_MESSAGES = 100  # so many at once are put into the index; fewer may wait for the server to
# Of one message; what stands behind is not found. PostgreSQL has no vectors above a megabyte.
SEARCHED_CHARACTERS_MAX = 200_000


class OverviewStore:
    def __init__(self, pool: Pool, *, tell: Tell, lease_seconds: float) -> None:
        self._pool = pool
        self._tell = tell
        self._lease_seconds = lease_seconds

    async def chat(self, chat: ChatId) -> ChatOverview | None:
        """With its children and files. Who may see it has been settled."""
        asked = {"chat": chat, "lease_seconds": self._lease_seconds}
        found = await self._execute(SQL["shelved_chat"], asked)
        if not found:
            return None
        [*_, is_unheld, files] = found[0]
        [family] = families_of([shelved_of(row[:-2]) for row in found])
        return replace(family, files=files_of(files), is_unheld=is_unheld)

    async def page(self, caller: UserId, wanted: ListFilter) -> list[ChatOverview]:
        """Roots in the order of the shelf, with their children."""
        if wanted.search is not None and not await self._is_searchable(caller, wanted.search):
            return []
        asked = {
            "caller": caller,
            "mine": wanted.mine,
            "theirs": wanted.theirs,
            "archived": wanted.archived,
            "unread": wanted.unread,
            "title": wanted.title,
            "search": wanted.search,
            "labels": _labels(wanted.labels),
            "after": wanted.after,
            "limit": wanted.limit,
            "offset": wanted.offset,
        }
        found = await self._execute(SQL["shelved_page"], asked)
        return families_of([shelved_of(row) for row in found])

    async def cost(self, chat: ChatId) -> TreeCost:
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
        """Watchers are told, if it was not called that before."""
        for (owner,) in await self._execute(SQL["retitle"], {"chat": chat, "title": title}):
            self._tell(TitleChanged(chat, owner))

    async def relabel(self, chat: ChatId, labels: Mapping[str, str]) -> None:
        await self._execute(SQL["relabel"], {"chat": chat, "labels": _labels(labels)})

    async def set_plan_mode(self, chat: ChatId, plan_mode: str) -> None:
        await self._execute(SQL["set_plan_mode"], {"chat": chat, "plan_mode": plan_mode})

    async def mark_read(self, chat: ChatId) -> None:
        """Its owner has seen what models have said so far."""
        await self._execute(SQL["mark_read"], {"chat": chat})

    async def _is_searchable(self, caller: UserId, search: str) -> bool:
        """Whether there is anything to search for. Then all that he may find can be found."""
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

    async def _execute(self, sql: str, parameters: Parameters) -> list[Row]:
        async with self._pool.connection() as connection:
            return await connection.execute(sql, parameters)


def _labels(labels: Mapping[str, str]) -> Json:
    return Json(msgspec.json.encode(dict(labels)))
