"""Housekeeping as JSON: passes, legal holds, receipts of what was erased."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType

from adapters.chats.wire.chats import Chat
from adapters.http.schemas import REQUIRED


class HousekeepingChore(Struct, frozen=True, kw_only=True):
    name: str
    count: int  # of things that were removed, or in a dry run would be
    bytes: int = 0
    left: bool = False  # there is more to do, in the next pass
    error: str | UnsetType = UNSET  # why it was cut short


class HousekeepingPass(Struct, frozen=True, kw_only=True):
    ended_at: datetime
    seconds: float
    chores: Sequence[HousekeepingChore]


class HousekeepingKeep(Struct, frozen=True, kw_only=True):
    """The days for which things are kept: 0 means for ever."""

    auto_archive_days: int
    retention_days: int
    debug_retention_days: int
    workspace_ttl_ms: int


class Housekeeping(Struct, frozen=True, kw_only=True):
    running: bool  # a process is at it
    keep: HousekeepingKeep
    upgraded_at: datetime | UnsetType = UNSET  # an older database became one with housekeeping
    kept_since_upgrade: bool  # nothing is deleted, because no admin has said since when it may be
    last: HousekeepingPass | UnsetType = UNSET


class RunHousekeeping(Struct, frozen=True):
    dry_run: bool = False


class HousekeepingRun(Struct, frozen=True, kw_only=True):
    dry_run: bool
    ended: bool  # false: it goes on
    chores: Sequence[HousekeepingChore]


class LegalHold(Struct, frozen=True, kw_only=True):
    """A reason for which a family of chats, or all that a user has, is not erased."""

    id: UUID
    chat_id: UUID | UnsetType = UNSET  # of the root of a family
    chat_title: str | UnsetType = UNSET
    user_id: UUID | UnsetType = UNSET
    username: str | UnsetType = UNSET
    reason: str
    set_by: UUID
    set_by_username: str
    set_at: datetime


class ChatOnHold(Chat, frozen=True, kw_only=True):
    """A chat that is on hold, as admins see it."""

    legal_holds: Sequence[LegalHold]


class LegalHolds(Struct, frozen=True):
    holds: Sequence[LegalHold]


class SetLegalHold(Struct, frozen=True):
    reason: Annotated[str | None, REQUIRED] = None


class ErasureReceipt(Struct, frozen=True, kw_only=True):
    """A record of what was erased, without anything of what was in it."""

    id: UUID
    why: str  # chat, user or retention
    chat_id: UUID | UnsetType = UNSET  # of the root of the family
    owner_id: UUID
    asked_by: UUID | UnsetType = UNSET  # absent: the rule of retention did it
    begun_at: datetime
    ended_at: datetime | UnsetType = UNSET  # absent: it goes on
    chats: int
    messages: int
    files: int
    workspaces: int
    other_rows: int
    bytes: int  # of messages and files, as they were stored


class ErasureReceipts(Struct, frozen=True):
    erasures: Sequence[ErasureReceipt]
