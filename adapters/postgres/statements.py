"""The named statements of the ledger with their parameters: what is sent, in our words. Pure."""

from collections.abc import Iterable, Set

from actors.ids import ChatId, FileId, MessageId
from actors.machine.change import Change
from actors.machine.requests import NewChat
from adapters.postgres import rows
from adapters.postgres.queries import SQL
from adapters.postgres.values import Json, Statement

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


def insert_chat(new: NewChat, change: Change) -> Statement:
    return SQL["insert_chat"], {"change": Json(rows.created(new, change))}


def write_changes(changes: Iterable[bytes]) -> Statement:
    return SQL["write_changes"], {"changes": Json(b"[" + b",".join(changes) + b"]")}


def inserted(change: Change) -> Statement:
    chat = change.chat
    positions = [row.position for row in change.queue if row.id < 0]
    return SQL["inserted"], {
        "chat": chat.id,
        "snapshot": chat.snapshot_version,
        "positions": positions,
    }
