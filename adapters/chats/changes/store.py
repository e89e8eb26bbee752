"""Branches of chats and tokens at forges, on PostgreSQL. What is sealed comes and goes sealed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from actors.law.ids import ChatId, UserId
from actors.law.store.hints import DiffStatusChanged, ForgeTokenChanged, Tell
from adapters.chats.changes.pull_requests import FRESH_SECONDS, PullRequest
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Json, Row
from adapters.postgres.queries import SQL, Record

CLAIM_SECONDS = 90.0  # for one process to ask a forge; then another may


class StaleBranch(Record, frozen=True):
    """A branch whose forge is to be asked, as one process has claimed it."""

    chat_id: ChatId
    owner_id: UserId
    host: str
    path: str
    branch: str
    is_archived: bool
    sealed: bytes | None
    failure: str  # of the token, as it was seen last
    seconds_since_push: float | None
    seconds_since_work: float


class ChatBranch(Record, frozen=True):
    """The branch of a chat with all that is known of it."""

    chat_id: ChatId
    owner_id: UserId
    remote_origin: str
    branch: str
    host: str | None
    path: str | None
    pull_request: bytes | None
    sealed: bytes | None
    delayed_seconds: float | None

    @property
    def known(self) -> PullRequest | None:
        if self.pull_request is None:
            return None
        return msgspec.json.decode(self.pull_request, type=PullRequest)


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchNote:
    """A branch that a chat was seen to work on."""

    chat: ChatId
    remote_origin: str
    branch: str
    host: str | None = None  # of the forge, and the repository there; None: it is at none
    path: str | None = None
    is_push: bool = False
    is_news: bool = False  # what the forge has said may be old by now
    owner: UserId | None = None  # who has to own the chat; None: that is known


@dataclass(frozen=True, slots=True)
class ForgeTokenRow:
    """A user's token at a forge, as it is stored."""

    host: str
    failure: str
    delayed_until: datetime | None
    created_at: datetime
    sealed: bytes = field(repr=False)


class BranchStore:
    """The rows of branches. Changes that are shown are told as `DiffStatusChanged`."""

    def __init__(self, pool: Pool, *, tell: Tell) -> None:
        self._pool = pool
        self._tell = tell

    async def note(self, note: BranchNote) -> bool:
        """Note the branch of a chat. Return False if there is no such chat of this owner."""
        asked = {
            "chat": note.chat,
            "owner": note.owner,
            "remote_origin": note.remote_origin,
            "branch": note.branch,
            "host": note.host,
            "path": note.path,
            "is_push": note.is_push,
            "is_news": note.is_news or note.is_push,
            "fresh_seconds": FRESH_SECONDS,
        }
        found = await self._run(SQL["note_branch"], asked)
        for owner, is_other in found:
            if is_other:
                self._tell(DiffStatusChanged(note.chat, owner))
        return bool(found)

    async def of_chat(self, chat: ChatId) -> ChatBranch | None:
        found = await self._run(SQL["branch_of_chat"], {"chat": chat})
        return ChatBranch.of(found[0]) if found else None

    async def claim(
        self, claim: UUID, hosts: Sequence[str], *, rows_max: int
    ) -> Sequence[StaleBranch]:
        """Return branches whose forge is to be asked; no other process asks for CLAIM_SECONDS."""
        asked = {
            "claim": claim,
            "hosts": list(hosts),
            "rows_max": rows_max,
            "claim_seconds": CLAIM_SECONDS,
        }
        return list(map(StaleBranch.of, await self._run(SQL["claim_stale_branches"], asked)))

    async def record(
        self,
        claim: UUID,
        row: StaleBranch,
        *,
        seconds: float | None,
        found: PullRequest | None,
        is_answer: bool,
    ) -> bool:
        """Write what the forge has said and when to ask it again. Return whether that is news.
        Without an answer what is known stays."""
        asked = {
            "claim": claim,
            "chat": row.chat_id,
            "is_answer": is_answer,
            "pull_request": None if found is None else Json(msgspec.json.encode(found)),
            "seconds": seconds,
        }
        written = await self._run(SQL["record_pull_request"], asked)
        is_news = bool(written and written[0][0])
        if is_news:
            self._tell(DiffStatusChanged(row.chat_id, row.owner_id))
        return is_news

    async def release(self, claim: UUID, chats: Sequence[ChatId]) -> None:
        await self._run(SQL["release_branches"], {"claim": claim, "chats": list(chats)})

    async def delay(self, user: UserId, host: str, seconds: float) -> None:
        """Have no process ask this forge for this user for so long."""
        asked = {"user": user, "host": host, "seconds": seconds}
        await self._run(SQL["delay_forge"], asked)

    async def note_token(self, user: UserId, host: str, sealed: bytes, failure: str) -> None:
        """Note why the forge does not take a token; "": it does."""
        asked = {"user": user, "host": host, "sealed": sealed, "failure": failure}
        await self._run(SQL["note_forge_token"], asked)

    async def _run(self, sql: str, asked: Mapping[str, Any]) -> list[Row]:
        async with self._pool.connection() as connection:
            return await connection.execute(sql, asked)


class ForgeTokenStore:
    """The rows of tokens. Every change is told as `ForgeTokenChanged`."""

    def __init__(self, pool: Pool, *, tell: Tell) -> None:
        self._pool = pool
        self._tell = tell

    async def of(self, user: UserId) -> Mapping[str, ForgeTokenRow]:
        """Return a user's tokens by the hosts of the forges."""
        rows = [ForgeTokenRow(*row) for row in await self._run(SQL["forge_tokens_of"], user=user)]
        return {row.host: row for row in rows}

    async def holders(self, user: UserId | None = None) -> Sequence[tuple[UserId, str]]:
        """Return who has a token at which host: one user, or all."""
        found = await self._run(SQL["holders_of_forge_tokens"], user=user)
        return [(UserId(id), host) for id, host in found]

    async def examined(self, rows_max: int) -> Sequence[tuple[UserId, str, bytes, bool, float]]:
        """Return the newest tokens of all users: whose, at which host, sealed; whether the forge
        refuses it, and for how long it asks for patience."""
        found = await self._run(SQL["examine_forge_tokens"], rows_max=rows_max)
        return [(UserId(user), *rest) for user, *rest in found]

    async def put(self, user: UserId, host: str, sealed: bytes) -> None:
        await self._run(SQL["put_forge_token"], user=user, host=host, sealed=sealed)
        self._tell(ForgeTokenChanged(user))

    async def delete(self, user: UserId, host: str) -> bool:
        """Delete a token. Return whether there was one."""
        found = await self._run(SQL["delete_forge_token"], user=user, host=host)
        self._tell(ForgeTokenChanged(user))
        return bool(found)

    async def _run(self, sql: str, /, **asked: Any) -> list[Row]:
        async with self._pool.connection() as connection:
            return await connection.execute(sql, asked)


def forge_token_subject(user: UserId, host: str) -> str:
    """Return what the sealed token of a user is about."""
    return f"the token of user {user} at {host}"
