"""Erasing on PostgreSQL: it begins, goes on batch by batch, and ends with a receipt.

An erasure that was cut short, by the end of its process or a fault, goes on with the next batch of
the housekeeper or of a request: all that has to be known about it is its row. What other parts of
the daemon have to hear of a batch is told when it is committed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from uuid import UUID, uuid4

from actors.law.ids import ChatId, UserId
from actors.law.states import Status
from actors.law.store.hints import (
    CatalogueChanged,
    ChatMoved,
    ForgeTokenChanged,
    InboxChanged,
    Tell,
)
from actors.law.store.ports import Ledger
from adapters.postgres.driver.connection import Transaction
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row
from adapters.postgres.queries import SQL, Record
from runtime.log import emit

HOLDS_LOCK = 776678_267638  # of legal holds against erasures; beside that of migrations
FAMILIES_MAX = 200  # in one batch; the others wait for the next
FAMILY_EACH = 30  # messages that the end of a family takes as much work as: its rows lie all over
FILES_MAX = 500  # of a user, in one batch
FIRST = UUID(int=0)  # below all ids


class ErasureCause(Enum):
    """The reason for an erasure."""

    RETENTION = "retention"  # it was archived long ago
    CHAT = "chat"  # a user has asked for it
    USER = "user"  # an admin has asked for all that a user has


class ErasureNames(Record, frozen=True):
    """An erasure, without its sums."""

    id: UUID
    why: str
    root_id: ChatId | None  # None: of all that a user had
    owner_id: UserId
    asked_by: UserId | None
    begun_at: datetime
    ended_at: datetime | None


class Erasure(ErasureNames, frozen=True):
    """An erasure with its sums, those that belong to it included: the receipt."""

    chats: int
    messages: int
    files: int
    workspaces: int
    other_rows: int
    bytes: int


class ErasureRefusal(Enum):
    """The reason why nothing is erased."""

    ON_HOLD = "it is on legal hold"
    NOT_ARCHIVED = "it is not archived"
    GONE = "it is being erased already, or gone"


@dataclass(frozen=True, slots=True)
class ErasedBatch:
    """The work of one batch, to be told when it is committed."""

    messages: int = 0
    bytes: int = 0
    chats: tuple[ChatMoved, ...] = ()
    workspaces: tuple[UUID, ...] = ()
    is_last: bool = False
    user: UserId | None = None  # whose settings, rules and tokens were erased

    @property
    def count(self) -> int:
        """Return by how much the batch counts: a chat without messages is some work as well."""
        return self.messages + len(self.chats)


class Eraser:
    """Erases families of chats and what else users have. Its methods that take a transaction leave
    its end, and `tell` behind it, to their caller."""

    def __init__(self, pool: Pool, *, tell: Tell, removed: Callable[[UUID], None]) -> None:
        self.pool = pool
        self._tell = tell
        self._removed = removed  # the directory of this workspace has to go

    async def begin_old(
        self, tx: Transaction, *, seconds: float, after: UUID, most: int
    ) -> tuple[Sequence[UUID], int]:
        """Begin to erase families that were archived so long ago, with ids behind this one. Return
        those that were looked at, in order, and how many of them have begun."""
        await self._share_holds(tx)
        asked = {"seconds": seconds, "after": after, "most": most}
        [found] = await tx.run([(SQL["lock_old_roots"], asked)])
        roots = [id for (id,) in found]
        return roots, len(await self._begin(tx, roots, ErasureCause.RETENTION))

    async def begin_chat(self, root: ChatId, by: UserId, *, owner: UserId) -> UUID | ErasureRefusal:
        """Begin to erase an archived family of this owner, because a user has asked for it."""
        async with self.pool.connection() as connection, connection.transaction() as tx:
            await self._share_holds(tx)
            [locked] = await tx.run([(SQL["lock_roots"], {"roots": [root]})])
            begun = await self._begin(tx, [id for (id,) in locked], ErasureCause.CHAT, by=by)
            if not locked:
                return ErasureRefusal.NOT_ARCHIVED
            if begun:
                await self._unlabel(tx, owner, [root])
            else:
                [holds] = await tx.run([(SQL["holds_of_root"], {"root": root})])
                return ErasureRefusal.ON_HOLD if holds else ErasureRefusal.GONE
        return UUID(str(begun[0][0]))

    async def begin_user(self, user: UserId, by: UserId) -> UUID | ErasureRefusal:
        """Begin to erase what a user has. One that is under way goes on as it is."""
        async with self.pool.connection() as connection, connection.transaction() as tx:
            await self._share_holds(tx)
            [[(is_held, families)]] = await tx.run([(SQL["user_holds"], {"user": user})])
            if is_held or families:
                return ErasureRefusal.ON_HOLD
            beginning = {"id": uuid4(), "user": user, "asked_by": by}
            [begun] = await tx.run([(SQL["begin_user_erasure"], beginning)])
        return UUID(str(begun[0][0])) if begun else ErasureRefusal.GONE

    async def step(self, tx: Transaction, *, most: int, request: UUID | None) -> ErasedBatch:
        """Erase about `most` messages of families of which the erasure has begun; with the last
        messages of all that are in the batch they are gone. `request`: only of this one."""
        families = min(FAMILIES_MAX, max(1, most // FAMILY_EACH))
        asked = {"request": request, "most": families}
        [found] = await tx.run([(SQL["lock_erasures"], asked)])
        roots = [ErasureNames.of(row).root_id for row in found]
        if not roots:
            return ErasedBatch(is_last=True)
        erasing = {"roots": roots, "most": most}
        [[(messages, size)]] = await tx.run([(SQL["erase_messages"], erasing)])
        if messages >= most:
            return ErasedBatch(messages, size)
        [files] = await tx.run([(SQL["lock_lone_files"], {"roots": roots})])
        ending = {"roots": roots, "files": [id for (id,) in files]}
        [gone] = await tx.run([(SQL["erase_families"], ending)])
        chats = tuple(_moved(row) for row in gone if not row[3])
        places = tuple(row[0] for row in gone if row[3])
        is_last = len(roots) < families
        return ErasedBatch(messages, size, chats, places, is_last)

    async def step_user(
        self, tx: Transaction, ledger: Ledger, *, most: int, request: UUID | None
    ) -> ErasedBatch:
        """Go on with the erasure of all that a user has: their families, then the rest."""
        [found] = await tx.run([(SQL["erasures_of_users"], {"id": request})])
        if not found:
            return ErasedBatch(is_last=True)
        erasure = ErasureNames.of(found[0])
        theirs = {"user": erasure.owner_id, "begun_at": erasure.begun_at, "most": FAMILIES_MAX}
        [roots] = await tx.run([(SQL["roots_of_user"], theirs)])
        for root, archived in roots:
            if not archived:
                await ledger.archive_family(root, archived=True)  # unless it is at work by now
        if roots:
            await self._share_holds(tx)
            [locked] = await tx.run([(SQL["lock_roots"], {"roots": [id for id, _ in roots]})])
            ids = [id for (id,) in locked]
            if await self._begin(tx, ids, ErasureCause.USER, erasure.id, erasure.asked_by):
                await self._unlabel(tx, erasure.owner_id, ids)
                return ErasedBatch()
        done = await self.step(tx, most=most, request=erasure.id)
        if done.count or not done.is_last:
            return done
        # What is at work, or has been put on hold since, is left until that has ended.
        await self._share_holds(tx)
        [[(has_chats,)], [(is_held, _)]] = await tx.run(
            [(SQL["has_chats"], theirs), (SQL["user_holds"], theirs)]
        )
        if has_chats or is_held:
            return ErasedBatch(is_last=True)
        return await self._erase_rest(tx, erasure, theirs)

    def tell(self, batch: ErasedBatch) -> None:
        """Tell of a batch that is committed: to watchers, and to those who keep directories, or
        what a user had set."""
        for moved in batch.chats:
            self._tell(moved)
        for workspace in batch.workspaces:
            self._removed(workspace)
        if batch.user is not None:
            for news in (CatalogueChanged, ForgeTokenChanged, InboxChanged):
                self._tell(news(batch.user))
        if batch.chats:
            emit("chats.erased", "info", chats=len(batch.chats), messages=batch.messages)

    async def read(self, id: UUID, *, caller: UserId, is_admin: bool) -> Erasure | None:
        """Return a receipt, if this caller may see it."""
        asked = {"id": id, "caller": caller, "is_admin": is_admin}
        async with self.pool.connection() as connection:
            found = await connection.execute(SQL["erasure"], asked)
        return Erasure.of(found[0]) if found else None

    async def page(self, *, before: datetime | None, most: int) -> Sequence[Erasure]:
        async with self.pool.connection() as connection:
            found = await connection.execute(SQL["erasures_page"], {"before": before, "most": most})
        return [Erasure.of(row) for row in found]

    async def at_work(self, user: UserId) -> int:
        """Return how many chats of a user are at work."""
        async with self.pool.connection() as connection:
            [(count,)] = await connection.execute(SQL["user_at_work"], {"user": user})
        return int(count)

    async def count_old(self, seconds: float) -> int:
        async with self.pool.connection() as connection:
            [(count,)] = await connection.execute(SQL["count_old_roots"], {"seconds": seconds})
        return int(count)

    async def _share_holds(self, tx: Transaction) -> None:
        await tx.run([(SQL["share_holds"], {"lock": HOLDS_LOCK})])

    async def _unlabel(self, tx: Transaction, owner: UserId, roots: Sequence[UUID]) -> None:
        """Take the labels off families that are erased on request, and off what they have cost."""
        await tx.run(
            [
                (SQL["unlabel_spend"], {"user": owner, "roots": roots}),
                (SQL["unlabel_chats"], {"roots": roots}),
            ]
        )

    async def _begin(
        self,
        tx: Transaction,
        roots: Sequence[UUID],
        why: ErasureCause,
        request: UUID | None = None,
        by: UserId | None = None,
    ) -> list[Row]:
        if not roots:
            return []
        beginning = {"why": why.value, "roots": roots, "request": request, "asked_by": by}
        [begun] = await tx.run([(SQL["begin_erasures"], beginning)])
        return begun

    async def _erase_rest(
        self, tx: Transaction, erasure: ErasureNames, theirs: dict[str, object]
    ) -> ErasedBatch:
        [files] = await tx.run([(SQL["lock_user_files"], {**theirs, "most": FILES_MAX})])
        if files:
            erasing = {"id": erasure.id, "files": [file for (file,) in files]}
            [[(count,)]] = await tx.run([(SQL["erase_user_files"], erasing)])
            if count:
                return ErasedBatch()
        user = erasure.owner_id
        await tx.run([(SQL["unlabel_spend"], {"user": user, "roots": []})])
        [places] = await tx.run([(SQL["erase_user_rest"], {**theirs, "id": erasure.id})])
        return ErasedBatch(workspaces=tuple(place for (place,) in places), user=user)


def _moved(row: Row) -> ChatMoved:
    """Return the news by which watchers look again, and find that the chat is gone. Its snapshot is
    not the next one, which watchers would take for a change that they know."""
    id, owner, snapshot, _ = row
    return ChatMoved(
        ChatId(id), snapshot + 2, 0, 0, 0, 0, Status.WAITING, True, None, None, UserId(owner)
    )
