"""Statements that read and lock, with their parameters in our words. Pure."""

from collections.abc import Set
from typing import Any

from actors.law.change import Change
from actors.law.ids import ChatId, FileId, MessageId
from actors.law.store.ports import Receipt
from adapters.postgres.driver.values import Statement
from adapters.postgres.queries import SQL

_NEWEST = MessageId(2**63 - 1)


def now() -> Statement:
    return SQL["now"], ()


def lock_chat(chat: ChatId, *, lease_seconds: float) -> Statement:
    return SQL["lock_chat"], {"chat": chat, "lease_seconds": lease_seconds}


def lock_children(root: ChatId, *, lease_seconds: float) -> Statement:
    return SQL["lock_children"], {"root": root, "lease_seconds": lease_seconds}


def queue(chat: ChatId) -> Statement:
    return SQL["queue"], {"chat": chat}


def tail(chat: ChatId, *, before: MessageId | None = None) -> Statement:
    return SQL["tail"], {"chat": chat, "before": _NEWEST if before is None else before}


def suffix(chat: ChatId, message: MessageId) -> Statement:
    return SQL["suffix"], {"chat": chat, "message": message}


def files(chat: ChatId, wanted: Set[FileId]) -> Statement:
    return SQL["files"], {"chat": chat, "wanted": sorted(wanted)}


def parent(chat: ChatId) -> Statement:
    return SQL["lock_parent"], {"parent": chat}


def inserted(change: Change) -> Statement:
    return SQL["inserted"], _written(change)


def keep(receipt: Receipt, change: Change) -> Statement:
    """Return the statement that keeps a receipt behind the write of `change`."""
    named = {"user": receipt.user, "key": receipt.key, "request": receipt.request}
    return SQL["keep_receipt"], named | _written(change)


def _written(change: Change) -> dict[str, Any]:
    """Return where to find the rows that the write of `change` has made."""
    chat = change.chat
    positions = [row.position for row in change.queue if row.id < 0]
    return {"chat": chat.id, "snapshot": chat.snapshot_version, "positions": positions}
