"""Users as other answers name them (owners, sharees): read once, kept for a short time."""

from collections.abc import Collection

from actors.law.ids import UserId
from adapters.people.store.user import User
from adapters.people.store.users import Users
from adapters.settings.caching import Cache, CacheStatistics

KEPT_SECONDS = 60.0  # that a former name is shown, where a hint got lost
KEPT_MAX = 10_000  # users; beyond it the oldest is read anew


class KnownUsers:
    def __init__(self, users: Users) -> None:
        self._users = users
        self._by_id: Cache[UserId, User] = Cache(
            self._read, keep_seconds=KEPT_SECONDS, max_entries=KEPT_MAX
        )
        self._by_name: Cache[str, User] = Cache(
            users.called, keep_seconds=KEPT_SECONDS, max_entries=KEPT_MAX
        )

    async def of_id(self, id: UserId) -> User | None:
        """Also one that was deleted."""
        return await self._by_id.find(id)

    async def of_ids(self, ids: Collection[UserId]) -> dict[UserId, User]:
        """Those that there are or have been; what is not at hand in one statement."""
        found = {id: user for id in ids if (user := self._by_id.at_hand(id)) is not None}
        missing = [id for id in ids if id not in found]
        if missing:
            before = self._by_id.dropped_count
            read = await self._users.of_ids(missing)
            if self._by_id.dropped_count == before:
                for id, user in read.items():
                    self._by_id.put(id, user)
            found |= read
        return found

    async def called(self, name: str) -> User | None:
        """Who has this name now."""
        return await self._by_name.find(name.lower())

    def forget(self, id: UserId) -> None:
        """He has changed."""
        self._by_id.drop(id)
        self._by_name.drop_those(lambda user: user.id == id)

    def forget_all(self) -> None:
        self._by_id.drop_all()
        self._by_name.drop_all()

    def statistics(self) -> CacheStatistics:
        return self._by_id.statistics()

    async def _read(self, id: UserId) -> User | None:
        return (await self._users.of_ids([id])).get(id)
