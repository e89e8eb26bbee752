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
    """Return the statement that reads the clock of the database."""
    return SQL["now"], ()


def lock_chat(chat: ChatId, *, lease_seconds: float) -> Statement:
    """Return the statement that locks a chat, gives it a new snapshot and reads it."""
    return SQL["lock_chat"], {"chat": chat, "lease_seconds": lease_seconds}


def lock_children(root: ChatId, *, lease_seconds: float) -> Statement:
    """Return the statement that locks the children of a root and gives each a new snapshot."""
    return SQL["lock_children"], {"root": root, "lease_seconds": lease_seconds}


def queue(chat: ChatId) -> Statement:
    """Return the statement that reads the queue of a chat."""
    return SQL["queue"], {"chat": chat}


def tail(chat: ChatId, *, before: MessageId | None = None) -> Statement:
    """Return the statement that reads the end of a history, or of its part before a message."""
    return SQL["tail"], {"chat": chat, "before": _NEWEST if before is None else before}


def suffix(chat: ChatId, message: MessageId) -> Statement:
    """Return the statement that reads what an edit of this message replaces."""
    return SQL["suffix"], {"chat": chat, "message": message}


def files(chat: ChatId, wanted: Set[FileId]) -> Statement:
    """Return the statement that reads which of these files the chat links or could link."""
    return SQL["files"], {"chat": chat, "wanted": sorted(wanted)}


def lock_parent(chat: ChatId) -> Statement:
    """Return the statement that reads whether this chat may get a child, and locks that fact."""
    return SQL["lock_parent"], {"parent": chat}


def inserted_rows(change: Change) -> Statement:
    """Return the statement that reads the ids of what the write of `change` has inserted.

    It is asked when the write stands and its answer was lost.
    """
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
