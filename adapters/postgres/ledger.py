"""The ledger on PostgreSQL: the law, applied inside transactions.

The long way (`apply`) locks the chat, gives the bundle its snapshot, reads what the law needs, asks
it, writes what it decides and commits: two round trips, the COMMIT with the second. The short way
(`commit`) is for the process that holds the chat and knows what is stored: the law is asked first,
and one statement writes its answer if the snapshot it was computed from still stands. Whenever the
short way does not get through, the long way finds out why.

Commit, then tell: hints leave when the commit is certain, and never for what was rolled back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import trio
from psycopg.errors import UniqueViolation

from actors.law import requests as ask
from actors.law.change import Change, join, no_change
from actors.law.chat import NO_FILES, Chat, StoredChat
from actors.law.ids import ChatId, chat_name
from actors.law.refusals import AlreadyServed, ChatNotFound, NotAllowed, NotRoot, Refusal
from actors.law.states import State
from actors.law.store.hints import Tell, UntoldHint, hints_of_change, hints_of_chat, tell_all
from actors.law.store.needs import Needs, ends_work, files_of, needs, needs_the_time
from actors.law.store.ports import Applied, CommitListener, Fence, Receipt, StaleFence, fence_holds
from actors.law.transitions import bundle, create, may_be_archived_by_rule, transition
from adapters.postgres.codec import rows, statements, writing
from adapters.postgres.codec.rows import ChatRow
from adapters.postgres.committing import (
    ANSWER_SECONDS_MAX,
    Committer,
    WriteFailure,
    WriteResult,
    applied_of,
    ignore_commit,
    written_of,
)
from adapters.postgres.driver.connection import Transaction
from adapters.postgres.driver.faults import AnswerLost, DatabaseFault
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row, Statement
from adapters.postgres.queries import SQL


class _Refused(Exception):
    """An answer that leaves a transaction, which is thereby rolled back."""

    def __init__(self, answer: Refusal | StaleFence) -> None:
        self.answer = answer


class PostgresLedger:
    """The ledger. Fulfils `actors.law.store.ports.Ledger`."""

    def __init__(
        self,
        pool: Pool,
        committer: Committer,
        *,
        tell: Tell,
        lease_seconds: float,
        on_commit: CommitListener = ignore_commit,
    ) -> None:
        self._pool = pool
        self._committer = committer
        self._tell = tell
        self._on_commit = on_commit
        self._lease_seconds = lease_seconds

    async def create(
        self,
        request: ask.CreateChat,
        then: Sequence[ask.Request] = (),
        *,
        receipt: Receipt | None = None,
    ) -> Applied | Refusal:
        chat, parent = request.chat.id, request.chat.parent_id
        wanted = files_of(request) | needs(then).files
        asked = [statements.now(), *([statements.files(chat, wanted)] if wanted else [])]
        if parent is not None:
            asked.append(statements.lock_parent(parent))
        try:
            async with self._pool.connection() as connection, connection.transaction() as tx:
                [[(tx.xid, now)], *found] = await tx.run(asked, ask_xid=False)
                if parent is not None:
                    request = _in_family(request, found.pop())
                files = rows.files_of(found[0]) if found else NO_FILES
                made = _accepted(create(request, now=now, files=files))
                made = join(made, _accepted(bundle(made.after, then)))
                sending = writing.insert_chat(request.chat, made)
                committed = await self._commit(
                    tx, [made], sending, fresh=[bool(then)], receipt=receipt
                )
        except _Refused as refused:
            assert not isinstance(refused.answer, StaleFence), "nothing is fenced here"
            return refused.answer
        except UniqueViolation as error:
            if _is_repeated(error):
                return _repeated(receipt)
            return NotAllowed("CreateChat", None, f"the id {chat} is taken")
        [applied] = await self._answer(committed)
        return applied

    async def commit(
        self, held: StoredChat, requests: Sequence[ask.Request], *, fence: Fence
    ) -> Applied | Refusal | StaleFence:
        chat, wanted = held.chat, needs(requests)
        lost = None
        unknown = needs_the_time(held, requests) or wanted.edits or wanted.files - held.files.linked
        if not unknown:  # what `held` cannot tell, the long way reads
            change = bundle(_next_snapshot(held), requests)
            if isinstance(change, Change) and fence_holds(fence, chat):
                sending = writing.write(change, held=chat.snapshot_version, by_holder=True)
                hints = hints_of_change(change, holder_is_fresh=True, by_holder=True)
                outcome = await self._committer.write(chat.id, sending, hints, change)
                if isinstance(outcome, WriteResult):
                    return applied_of(change, outcome)
                lost = change if outcome is WriteFailure.UNKNOWN else None
        return await self.apply(chat.id, requests, fence=fence, lost=lost, by_holder=True)

    async def wake(self, resting: StoredChat, requests: Sequence[ask.Request]) -> Applied | None:
        wanted = needs(requests)
        if wanted.edits or wanted.files or needs_the_time(resting, requests):
            return None  # what `resting` cannot tell, the long way reads
        change = bundle(_next_snapshot(resting), requests)
        if not isinstance(change, Change):
            return None
        sending = writing.write(
            change, held=resting.chat.snapshot_version, by_holder=True, wakes=True
        )
        hints = hints_of_change(change, holder_is_fresh=True)
        await trio.lowlevel.checkpoint_if_cancelled()
        with trio.fail_after(2 * ANSWER_SECONDS_MAX, shield=True):
            outcome = await self._committer.write(change.chat.id, sending, hints, change)
        if isinstance(outcome, WriteResult):
            return applied_of(change, outcome)
        if outcome is WriteFailure.MOVED_ON:
            return None
        applied = await self.apply(change.chat.id, requests, lost=change)
        return applied if isinstance(applied, Applied) else None

    async def archive_family(
        self, root: ChatId, *, archived: bool, at_snapshot: int | None = None
    ) -> tuple[Applied, ...] | Refusal:
        seconds = self._lease_seconds
        try:
            async with self._pool.connection() as connection, connection.transaction() as tx:
                first = await self._locked(tx, root, needs(()))
                if not first.stored.chat.is_root:
                    raise _Refused(NotRoot(root))
                if at_snapshot is not None:
                    why_not = may_be_archived_by_rule(first.found, at_snapshot=at_snapshot)
                    if why_not is not None:
                        raise _Refused(why_not)
                [found, erased] = await tx.run(
                    [
                        statements.lock_children(root, lease_seconds=seconds),
                        (SQL["is_being_erased"], {"root": root}),
                    ]
                )
                if erased:
                    raise _Refused(ChatNotFound(root))
                children = [ChatRow.of(row) for row in found]
                queues = await tx.run([statements.queue(row.id) for row in children])
                family = [first, *map(_Locked.of, children, queues)]
                changes = [_accepted(_archived(member.stored, archived)) for member in family]
                sending = writing.write_together([_by_lock(change) for change in changes])
                fresh = [member.holder_is_fresh for member in family]
                committed = await self._commit(tx, changes, sending, fresh=fresh)
        except _Refused as refused:
            assert not isinstance(refused.answer, StaleFence), "nothing is fenced here"
            return refused.answer
        return tuple(await self._answer(committed))

    async def apply(
        self,
        chat: ChatId,
        requests: Sequence[ask.Request],
        *,
        fence: Fence | None = None,
        receipt: Receipt | None = None,
        lost: Change | None = None,
        by_holder: bool = False,
    ) -> Applied | Refusal | StaleFence:
        lent = self._pool.connection(ahead=by_holder or ends_work(requests))
        try:
            async with lent as connection, connection.transaction() as tx:
                locked = await self._locked(tx, chat, needs(requests))
                if lost is not None and await self._was_written(tx, locked, lost):
                    raise _Stands
                stored = locked.stored
                if fence is not None and not fence_holds(fence, stored.chat):
                    raise _Refused(StaleFence(fence, locked.found))
                change = _accepted(bundle(stored, requests))
                sending = writing.write_together([_by_lock(change)])
                fresh = locked.holder_is_fresh or change.chat.holder != stored.chat.holder
                committed = await self._commit(
                    tx, [change], sending, fresh=[fresh], receipt=receipt, by_holder=by_holder
                )
        except _Refused as refused:
            return refused.answer
        except UniqueViolation as error:
            if not _is_repeated(error):
                raise
            return _repeated(receipt)
        except _Stands:
            assert lost is not None, "only a lost change can turn out to stand"
            told = self._tell_hints([lost], [True], by_holder=by_holder)
            committed = _Committed([lost], told, None)
        [applied] = await self._answer(committed)
        return applied

    async def _was_written(self, tx: Transaction, locked: "_Locked", lost: Change) -> bool:
        """Return whether a lost change was written. Raise AnswerLost if it cannot be told: what
        others have written since may have taken its messages away."""
        found = locked.found
        if (was_written := locked.was_written(lost)) is None:
            [[(was_written,)]] = await tx.run([writing.is_said(lost)])
            if not was_written and found.snapshot_version > lost.chat.snapshot_version:
                tell_all(hints_of_chat(found, holder_is_fresh=locked.holder_is_fresh), self._tell)
                raise AnswerLost(f"{chat_name(found.id)}: it cannot be told if it was committed")
        return bool(was_written)

    async def _locked(self, tx: Transaction, chat: ChatId, wanted: Needs) -> "_Locked":
        """Lock a chat in one trip: BEGIN, the lock, and after it all that the law asks for."""
        asked = {
            "chat": statements.lock_chat(chat, lease_seconds=self._lease_seconds),
            "queue": statements.queue(chat),
            "tail": statements.tail(chat, before=wanted.edits),
        }
        if wanted.edits is not None:
            asked["suffix"] = statements.suffix(chat, wanted.edits)
        if wanted.files:
            asked["files"] = statements.files(chat, wanted.files)
        answers = await tx.run(list(asked.values()), ask_xid=False)
        found = dict(zip(asked, answers, strict=True))
        if not found["chat"]:
            raise _Refused(ChatNotFound(chat))
        row = rows.LockedRow.of(found["chat"][0])
        tx.xid = row.xid
        suffix = [rows.SuffixRow.of(each) for each in found.get("suffix", [])]
        return _Locked.of(
            row,
            found["queue"],
            tail=rows.tail_of([rows.TailRow.of(each) for each in found["tail"]]),
            suffix=rows.suffix_of(suffix, wanted.edits),
            files=rows.files_of(found.get("files", [])),
        )

    async def _commit(
        self,
        tx: Transaction,
        changes: Sequence[Change],
        sending: Statement,
        *,
        fresh: Sequence[bool],
        receipt: Receipt | None = None,
        by_holder: bool = False,
    ) -> "_Committed":
        kept = [] if receipt is None else [statements.keep(receipt, changes[0])]
        answers = await tx.commit([sending, *kept])
        found = None if answers is None else answers[0]
        # Nothing may come between: the commit stands now.
        if found is not None:
            for applied in _all_applied(changes, found):
                self._on_commit(applied)
        return _Committed(changes, self._tell_hints(changes, fresh, by_holder=by_holder), found)

    async def _answer(self, committed: "_Committed") -> list[Applied]:
        """Return what changes that stand have done. If the rows that tell it were lost, they are
        read again.

        That waits until their own connection is given back: if all of them were lost together, each
        would wait for the next.
        """
        found = committed.rows
        if found is None:
            asked = [statements.inserted_rows(change) for change in committed.changes]
            try:
                async with self._pool.connection() as connection:
                    found = [row for [row] in await connection.run(asked)]
            except DatabaseFault as fault:
                chats = ", ".join(chat_name(change.chat.id) for change in committed.changes)
                raise AnswerLost(
                    f"{chats}: committed, but not which rows are new; {fault}"
                ) from fault
        return _all_applied(committed.changes, found, committed.untold)

    def _tell_hints(
        self, changes: Sequence[Change], fresh: Sequence[bool], *, by_holder: bool
    ) -> tuple[UntoldHint, ...]:
        hints = [
            hint
            for change, holder_is_fresh in zip(changes, fresh, strict=True)
            for hint in hints_of_change(
                change, holder_is_fresh=holder_is_fresh, by_holder=by_holder
            )
        ]
        return tell_all(hints, self._tell)


class _Stands(Exception):
    """A change that was thought lost had been written: this transaction has nothing to do."""


@dataclass(frozen=True, slots=True)
class _Committed:
    """Changes that stand and have been told."""

    changes: Sequence[Change]
    untold: tuple[UntoldHint, ...]
    rows: Sequence[Row] | None  # None: the answer was lost


@dataclass(frozen=True, slots=True)
class _Locked:
    """A chat under this transaction's lock."""

    stored: StoredChat
    holder_version: int
    holder_is_fresh: bool

    @classmethod
    def of(cls, row: ChatRow, queue: Sequence[Row], **more: Any) -> "_Locked":
        waiting = tuple(rows.queued_of(rows.QueuedRow.of(each)) for each in queue)
        stored = StoredChat(rows.chat_of(row), row.now, queue=waiting, **more)
        return cls(stored, row.holder_version, row.holder_is_fresh)

    @property
    def found(self) -> Chat:
        """The chat as it was before the lock gave it a new snapshot."""
        chat = self.stored.chat
        return replace(chat, snapshot_version=chat.snapshot_version - 1)

    def was_written(self, change: Change) -> bool | None:
        """Return whether a lost change was written; None if its messages have to be looked at.

        `holder_version` is the last snapshot written by the holder of the chat, who may have given
        it back with that, or by who woke it. Several may wake it at one snapshot; the holder tells
        them apart as long as it has the chat.
        """
        last, this, holder = self.holder_version, change.chat.snapshot_version, change.chat.holder
        if change.before.chat.holder is not None or last < this:
            return last == this
        return True if last == this and holder == self.found.holder is not None else None


def _in_family(request: ask.CreateChat, parent: Sequence[Row]) -> ask.CreateChat:
    """Give a new child the policy of consent that its family has by now."""
    new = request.chat
    may_be_born, policy = parent[0] if parent else (False, "")
    if not may_be_born:
        rule = f"its parent {new.parent_id} is archived"
        raise _Refused(NotAllowed("CreateChat", None, rule))
    return replace(request, chat=replace(new, approval_policy=policy))


def _repeated(receipt: Receipt | None) -> AlreadyServed:
    assert receipt is not None, "only a receipt can be there already"
    return AlreadyServed(receipt.key)


def _is_repeated(error: UniqueViolation) -> bool:
    return error.diag.table_name == "receipts"


def _accepted(made: Change | Refusal) -> Change:
    if isinstance(made, Change):
        return made
    raise _Refused(made)


def _archived(stored: StoredChat, archived: bool) -> Change | Refusal:
    """Archive a member of a family. One that is archived already is only shown again."""
    if stored.chat.archived == archived and stored.state is not State.INVALID:
        return no_change(stored)
    return transition(stored, ask.SetArchived(archived))


def _by_lock(change: Change) -> writing.Write:
    """Encode a change made under a lock, which has given the chat its new snapshot already."""
    return writing.write(change, held=change.chat.snapshot_version, by_holder=False)


def _next_snapshot(held: StoredChat) -> StoredChat:
    version = held.chat.snapshot_version + 1
    return replace(held, chat=replace(held.chat, snapshot_version=version))


def _all_applied(
    changes: Sequence[Change], found: Sequence[Row], untold: tuple[UntoldHint, ...] = ()
) -> list[Applied]:
    written = {row[0]: written_of(row, untold) for row in found}
    return [applied_of(change, written[change.chat.id]) for change in changes]
