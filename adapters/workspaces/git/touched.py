"""The paths that the calls of chats have touched, read from what is said in the chats.

Nothing is noted when a call runs: a chat that is not watched costs nothing. A watch reads once what
the chats have called so far, and then what they call.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from actors.law.ids import ChatId, UserId
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row
from adapters.postgres.queries import SQL
from adapters.workspaces.git.roots import TouchedPath

CALLS_MAX = 5_000  # that are read at once; of more the newest
CHATS_MAX = 1_000  # of the families of one watch; the agents spawned last are left out
PATHS_MAX = 2_000  # of one chat; those touched longest ago are forgotten

_WRITES_FILES = ("write_file", "edit_files")
_RUNS = "execute"
# Also what a command goes on with, and what a server in the workspace may do (its tools have "__").
_MAY_WRITE = frozenset({*_WRITES_FILES, _RUNS, "process_output", "process_signal"})


@dataclass(frozen=True, slots=True)
class CallsRead:
    """The answer to what is new in chats: a call may have changed files, or one has begun."""

    wrote: bool = False
    began: bool = False


@dataclass(slots=True)
class ChatCalls:
    """The paths that one chat's calls have touched, and how far it was read."""

    read_up_to: int = 0  # the id of a message
    paths: dict[TouchedPath, None] = field(default_factory=dict)  # touched last: last

    def touch(self, path: TouchedPath) -> None:
        self.paths.pop(path, None)
        self.paths[path] = None
        if len(self.paths) > PATHS_MAX:
            del self.paths[next(iter(self.paths))]


class TouchedPaths:
    """The paths that the chats of one watch have touched."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._chats: dict[ChatId, ChatCalls] = {}
        self._families: Mapping[ChatId, Collection[ChatId]] = {}  # by the chat that is watched
        self.owners: frozenset[UserId] = frozenset()

    def knows(self, chat: ChatId) -> bool:
        return chat in self._chats

    async def read_families(self, watched: Collection[ChatId]) -> None:
        """Read which chats belong to those that are watched."""
        found = await self._run(SQL["watched_families"], chats=list(watched), most=CHATS_MAX)
        families: dict[ChatId, set[ChatId]] = {}
        for top, chat, _ in found:
            families.setdefault(top, set()).add(chat)
        self.owners = frozenset(owner for _, _, owner in found)
        self._families = families
        self._chats = {chat: self._chats.get(chat) or ChatCalls() for _, chat, _ in found}

    async def read_calls(self, chats: Collection[ChatId] | None = None) -> CallsRead:
        """Read what is new in these chats, or in all of them."""
        wanted = [chat for chat in self._chats if chats is None or chat in chats]
        after = [self._chats[chat].read_up_to for chat in wanted]
        found = await self._run(SQL["calls_of_chats"], chats=wanted, after=after, most=CALLS_MAX)
        wrote = began = False
        for chat, message, is_result, name, *arguments in reversed(found):
            calls = self._chats[chat]
            calls.read_up_to = max(calls.read_up_to, message)
            may_write = name in _MAY_WRITE or "__" in (name or "")
            wrote = wrote or (is_result and may_write)
            began = began or (not is_result and may_write)
            for path in () if is_result else _paths_of(name, *arguments):
                calls.touch(path)
        return CallsRead(wrote, began)

    def of(self, watched: ChatId) -> list[TouchedPath]:
        """Return what a watched chat and its agents have touched; touched last: first."""
        family = self._families.get(watched, ())
        return [path for chat in family for path in reversed(self._chats[chat].paths)]

    async def _run(self, sql: str, /, **asked: object) -> list[Row]:
        async with self._pool.connection() as connection:
            return await connection.execute(sql, asked)


def _paths_of(
    name: str, path: str | None, workdir: str | None, files: bytes | None
) -> Iterator[TouchedPath]:
    """Yield the paths of one call. Arguments are what a model made of them."""
    if name == _RUNS:
        yield TouchedPath((workdir or "").strip(), is_workdir=True)
    elif name in _WRITES_FILES:
        several = [] if files is None else msgspec.json.decode(files)
        yield from (
            TouchedPath(each.strip()) for each in (path, *several) if isinstance(each, str) and each
        )
