"""The endpoints by which users erase a chat, and admins all that a user has; and the receipts.

An erasure is answered when it has ended, or after a while, when it goes on by itself: the status
says which, and the receipt can be asked for.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec
import trio
from msgspec import UNSET

from actors.law.ids import UserId, chat_name
from actors.law.refusals import ChatNotFound
from actors.law.states import RUNNABLE
from actors.law.store.ports import Ledger
from adapters.access.admission import Admission, VisibleChat
from adapters.access.changes import refusal_response
from adapters.chats.housekeeping.erasing import (
    Eraser,
    Erasure,
    ErasureRefusal,
)
from adapters.chats.housekeeping.hold_routes import user_of_path
from adapters.chats.housekeeping.schemas import ErasureReceipt, ErasureReceipts
from adapters.chats.overviews import PinStore
from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, Parameter, json_response
from adapters.http.refusals import HttpError, not_found, query_refused
from adapters.models.routes.checks import People
from runtime.log import emit

CHAT = "/api/v2/chats/{chat}"
USER_DATA = "/api/v2/users/{user}/chat-data"
ERASURES = "/api/v2/erasures"
ERASE_SECONDS = 10.0  # of a request; what is not done by then is done by the housekeeper
BATCH = 500  # messages in one batch of a request: other requests go on beside it
REST_SECONDS = 0.005  # between two of them
LISTED_MAX = 100  # receipts in one answer

HELD = "A legal hold keeps it."
HELD_DETAIL = "nothing was erased; an admin can lift the hold at"
AT_WORK = "at work: interrupt it, or wait until it has ended, and ask again"


class ErasureRoutes:
    """Handlers of erasures."""

    def __init__(
        self,
        admission: Admission,
        eraser: Eraser,
        *,
        ledger: Ledger,
        pins: PinStore,
        people: People,
    ) -> None:
        self._admission = admission
        self._eraser = eraser
        self._ledger = ledger
        self._pins = pins
        self._people = people

    def endpoints(self) -> Sequence[Endpoint]:
        done = {200: ErasureReceipt, 202: ErasureReceipt}
        return (
            Endpoint(
                method="DELETE",
                path=CHAT,
                handle=self.erase_chat,
                summary="Erase a chat and its agents for good, with all that belongs to them",
                tag="chats",
                answers=done,
                refusals=(409,),
            ),
            Endpoint(
                method="DELETE",
                path=USER_DATA,
                handle=self.erase_user,
                summary="Erase all chats of a user for good, and what else they have",
                tag="housekeeping",
                access=Access.ADMIN,
                scope="users",
                answers=done,
                refusals=(409,),
            ),
            Endpoint(
                method="GET",
                path=ERASURES,
                handle=self.page,
                summary="The receipts of what was erased, the newest first.",
                tag="housekeeping",
                access=Access.HIDDEN,
                scope="settings",
                parameters=(Parameter(name="before", type=datetime),),
                answers={200: ErasureReceipts},
            ),
            Endpoint(
                method="GET",
                path=f"{ERASURES}/{{erasure}}",
                handle=self.receipt,
                summary="One receipt: for admins, for those who asked, for those whose chats went.",
                tag="housekeeping",
                answers={200: ErasureReceipt},
            ),
        )

    async def erase_chat(self, call: Call) -> HttpResponse:
        chat = await self._admission.to_update(call)
        if not chat.is_root:
            detail = f"erase {chat.root_id} instead"
            raise HttpError(400, "An agent's chat is erased with its root.", detail=detail)
        await self._archive(chat)
        begun = await self._eraser.begin_chat(chat.id, call.user.id, owner=chat.owner_id)
        if begun is ErasureRefusal.ON_HOLD:
            raise HttpError(409, HELD, detail=f"{HELD_DETAIL} {CHAT}/legal-hold")
        if isinstance(begun, ErasureRefusal):
            raise not_found()
        emit("chat.erasing", "info", chat=chat_name(chat.id), by=call.user.username)
        return await self._answer(begun, call)

    async def erase_user(self, call: Call) -> HttpResponse:
        user = await user_of_path(self._people, call)
        if busy := await self._eraser.at_work(user):
            which = "a chat is" if busy == 1 else f"{busy} chats are"
            raise HttpError(409, "The user has chats at work.", detail=f"{which} {AT_WORK}")
        begun = await self._eraser.begin_user(user, call.user.id)
        if begun is ErasureRefusal.ON_HOLD:
            detail = (
                f"{HELD_DETAIL} {USER_DATA.replace('chat-data', 'legal-hold')}, or on the chats"
            )
            raise HttpError(409, HELD, detail=f"{detail} that /api/v2/legal-holds names")
        if isinstance(begun, ErasureRefusal):
            raise HttpError(409, "It is being erased already.", detail=f"see {ERASURES}")
        emit("user.erasing", "info", user=user, by=call.user.username)
        return await self._answer(begun, call)

    async def page(self, call: Call) -> HttpResponse:
        said = call.one("before")
        try:
            before = None if said is None else msgspec.convert(said, datetime, strict=False)
        except msgspec.ValidationError:
            raise query_refused("before", "is no time") from None
        found = await self._eraser.page(before=before, most=LISTED_MAX)
        return json_response(200, ErasureReceipts([receipt_json(each) for each in found]))

    async def receipt(self, call: Call) -> HttpResponse:
        return json_response(200, receipt_json(await self._read(call.uuid("erasure"), call)))

    async def _archive(self, chat: VisibleChat) -> None:
        """Archive a family, so that no turn begins in it any more."""
        if chat.archived:
            return
        if chat.status in RUNNABLE:
            raise HttpError(409, "The chat is at work.", detail=f"it is {AT_WORK}")
        answer = await self._ledger.archive_family(chat.id, archived=True)
        if isinstance(answer, ChatNotFound):
            raise not_found()
        if not isinstance(answer, tuple):
            raise refusal_response(answer)
        if chat.pin_order:
            await self._pins.close_gaps(chat.owner_id)

    async def _answer(self, request: UUID, call: Call) -> HttpResponse:
        """Erase for a while, and answer with the receipt."""
        with trio.move_on_after(ERASE_SECONDS):
            is_over = False
            while not is_over:
                is_over = await self._go_on(request)
                await trio.sleep(REST_SECONDS)
        receipt = await self._read(request, call)
        return json_response(200 if receipt.ended_at else 202, receipt_json(receipt))

    async def _go_on(self, request: UUID) -> bool:
        """Do one batch. Return whether no more can be done now."""
        pool = self._eraser.pool
        async with pool.connection() as connection, connection.transaction() as tx:
            done = await self._eraser.step(tx, most=BATCH, request=request)
        self._eraser.tell(done)
        if not (done.is_last and not done.count):
            return False
        async with pool.connection() as connection, connection.transaction() as tx:
            done = await self._eraser.step_user(tx, self._ledger, most=BATCH, request=request)
        self._eraser.tell(done)
        return done.is_last

    async def _read(self, id: UUID, call: Call) -> Erasure:
        caller = call.user
        found = await self._eraser.read(id, caller=caller.id, is_admin=caller.is_admin)
        if found is None:
            raise not_found()
        return found


def receipt_json(erasure: Erasure) -> ErasureReceipt:
    """Return a receipt as clients see it."""
    by: UserId | None = erasure.asked_by
    return ErasureReceipt(
        id=erasure.id,
        why=erasure.why,
        chat_id=erasure.root_id or UNSET,
        owner_id=erasure.owner_id,
        asked_by=by or UNSET,
        begun_at=erasure.begun_at,
        ended_at=erasure.ended_at or UNSET,
        chats=erasure.chats,
        messages=erasure.messages,
        files=erasure.files,
        workspaces=erasure.workspaces,
        other_rows=erasure.other_rows,
        bytes=erasure.bytes,
    )
