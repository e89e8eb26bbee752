"""Consent in families of chats, on PostgreSQL."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from actors.law.chat import Approval, Verdict
from actors.law.ids import ChatId, UserId
from actors.tools.approval_rules import START
from adapters.postgres.codec.parts import storable_id, storable_text
from adapters.postgres.codec.rows import approvals_of
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Parameters, Row
from adapters.postgres.queries import SQL

DECISIONS_SHOWN = 50  # of a family, the newest; older ones stay in the table


@dataclass(frozen=True, slots=True)
class WaitingChat:
    """A chat that waits for a person, and the calls that it asks about."""

    chat: ChatId
    title: str
    approvals: Sequence[Approval]


@dataclass(frozen=True, slots=True)
class Grant:
    """A tool that a user has allowed always."""

    tool: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision on one call, and who made it."""

    chat: ChatId
    tool_call_id: str
    tool: str
    verdict: Verdict
    words: str
    by: str | None  # None: no person, and the time was over
    at: datetime


class ConsentStore:
    """Fulfils `actors.tools.approvals.Grants`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of(self, root: ChatId, chat: ChatId) -> Set[str]:
        """Return the names of the tools that are always allowed in a chat."""
        asked = {"root": root, "chat": chat, "start": START}
        return frozenset(tool for (tool,) in await self._run(SQL["granted_tools"], asked))

    async def grants(self, root: ChatId) -> Sequence[Grant]:
        """Return what is always allowed in a family."""
        asked = {"root": root, "start": START}
        return [Grant(*row) for row in await self._run(SQL["grants"], asked)]

    async def revoke(self, root: ChatId, tool: str, by: UserId) -> None:
        """Revoke a grant: the tool is asked about from now on."""
        asked = {"root": root, "tool": storable_text(tool), "by": by, "start": START}
        await self._run(SQL["revoke_grant"], asked)

    async def waiting_chats(self, root: ChatId) -> Sequence[WaitingChat]:
        """Return the members of a family that wait for a person, the root first."""
        found = await self._run(SQL["asking_family"], {"root": root})
        return [WaitingChat(id, title, _open(approvals)) for id, title, approvals in found]

    async def decisions(self, root: ChatId) -> Sequence[Decision]:
        """Return the latest decisions, the newest first."""
        return await self._decisions(root, limit=DECISIONS_SHOWN)

    async def latest(
        self, root: ChatId, call: str, *, chat: ChatId | None, since: datetime | None = None
    ) -> Decision | None:
        """Return the last decision on a call with this id, of this chat or of any of the family."""
        found = await self._decisions(root, chat=chat, call=storable_id(call), since=since, limit=1)
        return found[0] if found else None

    async def _decisions(
        self,
        root: ChatId,
        *,
        chat: ChatId | None = None,
        call: str | None = None,
        since: datetime | None = None,
        limit: int,
    ) -> Sequence[Decision]:
        asked = {"root": root, "chat": chat, "call": call, "since": since, "limit": limit}
        return [_decision(row) for row in await self._run(SQL["decisions"], asked)]

    async def set_policy(self, root: ChatId, policy: str) -> Sequence[ChatId]:
        """Set the policy of a family. Return those of its members that are at work."""
        async with self._pool.connection() as connection, connection.transaction() as tx:
            [_, found] = await tx.run(
                [
                    (SQL["lock_root"], {"root": root}),
                    (SQL["set_approval_policy"], {"root": root, "policy": policy}),
                ]
            )
        return [id for id, is_at_work in found if is_at_work]

    async def _run(self, sql: str, parameters: Parameters) -> Sequence[Row]:
        async with self._pool.connection() as connection:
            return await connection.execute(sql, parameters)


def _open(raw: bytes) -> Sequence[Approval]:
    return [approval for approval in approvals_of(raw) if approval.is_open]


def _decision(row: Row) -> Decision:
    chat, call, tool, verdict, words, by, at = row
    id = call.encode().decode("unicode_escape")
    return Decision(chat, id, tool, Verdict(verdict), words, by, at)
