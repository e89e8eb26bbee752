"""The named statements of the ledger with their parameters: what is sent, in our words. Pure."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from enum import IntEnum

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


class Extent(IntEnum):
    """How much of a chat a change writes. A larger statement can write a smaller change too, at
    two or three times the cost on the server."""

    COLUMNS = 1
    STEPS = 2
    EVERYTHING = 3


_WRITE = {
    Extent.COLUMNS: SQL["write_columns"],
    Extent.STEPS: SQL["write_steps"],
    Extent.EVERYTHING: SQL["write_changes"],
}


@dataclass(frozen=True, slots=True)
class Write:
    """A change, encoded: good only while the chat is at the snapshot that it names as held."""

    json: bytes
    extent: Extent


def write(change: Change, *, held: int, by_holder: bool) -> Write:
    if change.queue != change.before.queue or change.unsaid or change.links:
        extent = Extent.EVERYTHING
    else:
        extent = Extent.STEPS if change.said else Extent.COLUMNS
    return Write(rows.written(change, held=held, by_holder=by_holder), extent)


def write_together(writes: Sequence[Write]) -> Statement:
    """One statement for all, as large as the largest of them needs."""
    changes = Json(b"[" + b",".join([write.json for write in writes]) + b"]")
    return _WRITE[max(write.extent for write in writes)], {"changes": changes}


def inserted(change: Change) -> Statement:
    chat = change.chat
    positions = [row.position for row in change.queue if row.id < 0]
    return SQL["inserted"], {
        "chat": chat.id,
        "snapshot": chat.snapshot_version,
        "positions": positions,
    }
