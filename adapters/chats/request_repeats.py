"""Requests that may come twice: the second one gets the answer of the first, and does nothing.

    Idempotency-Key: any name that the client has not used for another request in a day

What a request did and its name are written in one transaction, by the ledger. The answer is noted
after it; if the process did not come so far, the answer is made again from what is stored.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256

import trio

from actors.law.ids import ChatId, MessageId, QueuedId, UserId
from actors.law.store.ports import Receipt
from actors.upkeep.age_rules import AgeRule
from adapters.http.endpoints import Call, HttpResponse
from adapters.http.refusals import HttpError, Validation
from adapters.postgres.driver.faults import DatabaseFault
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL
from runtime.log import emit

HEADER = "idempotency-key"
KEY_CHARACTERS_MAX = 255  # a longer one is refused
NOTE_SECONDS_MAX = 5.0  # for the note of an answer; then it is made again when it is needed
KEPT_SECONDS = 24 * 3600.0  # of a name; then it may be used anew
RECEIPT_RULE = AgeRule(
    name="receipts",
    help="names that clients gave to requests, with the answers",
    delete=SQL["forget_receipts"],
    count=SQL["count_old_receipts"],
    seconds=KEPT_SECONDS,
)


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """A request that was served: what it made, and the answer if one was noted."""

    request: bytes
    chat: ChatId
    message_ids: tuple[MessageId, ...]
    queued_ids: tuple[QueuedId, ...]
    answer: tuple[int, bytes] | None  # None: the process did not come so far


class Receipts:
    """The store of requests that were served under a name."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def find(self, user: UserId, key: str) -> ServedRequest | None:
        """Return the request that was served under this name, or None."""
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["receipt"], {"user": user, "key": key})
        if not found:
            return None
        [(request, chat, messages, queued, status, answer)] = found
        return ServedRequest(
            request,
            chat,
            tuple(messages or ()),
            tuple(queued or ()),
            None if status is None else (status, answer),
        )

    async def note_answer(self, user: UserId, key: str, *, status: int, answer: bytes) -> None:
        """Keep the answer of a request that was served."""
        answering = {"user": user, "key": key, "status": status, "answer": answer}
        async with self._pool.connection() as connection:
            await connection.execute(SQL["answer_receipt"], answering)


ServeCall = Callable[
    [Call, Receipt | None], Awaitable[HttpResponse]
]  # the receipt goes to the ledger
ServeAgain = Callable[[Call, ServedRequest], Awaitable[HttpResponse]]  # from what is stored


class RequestRepeats:
    """The handling of requests that may come twice."""

    def __init__(self, receipts: Receipts) -> None:
        self._receipts = receipts
        self._underway: set[tuple[object, str]] = set()  # no more than requests being served

    async def once(self, call: Call, serve: ServeCall, *, again: ServeAgain) -> HttpResponse:
        """Serve the call by `serve`, unless it has been served under this name before."""
        key = call.headers.get(HEADER)
        if key is None:
            return await serve(call, None)
        receipt = Receipt(call.user.id, _checked(key), _digest(call))
        name = (receipt.user, receipt.key)
        if name in self._underway:
            raise HttpError(
                409,
                "A request with this Idempotency-Key is being served.",
                detail="ask again when it has been answered",
            )
        self._underway.add(name)
        try:
            return await self._served(call, serve, again, receipt=receipt)
        finally:
            self._underway.discard(name)

    async def _served(
        self, call: Call, serve: ServeCall, again: ServeAgain, *, receipt: Receipt
    ) -> HttpResponse:
        former = await self._former(call, again, receipt)
        if former is not None:
            return former
        try:
            answer = await serve(call, receipt)
        except HttpError as refused:
            refusal = refused
        else:
            await self._note(receipt, answer)
            return answer
        # Another process may have served it meanwhile: then it is not refused.
        former = await self._former(call, again, receipt)
        if former is None:
            raise refusal
        return former

    async def _former(self, call: Call, again: ServeAgain, receipt: Receipt) -> HttpResponse | None:
        """Return the answer that the request of this name got. None: it has not been served."""
        found = await self._receipts.find(receipt.user, receipt.key)
        if found is None:
            return None
        if found.request != receipt.request:
            raise HttpError(
                422,
                "This Idempotency-Key was used for another request.",
                detail="use a new key for each request, and the same one only to repeat it",
            )
        if found.answer is not None:
            status, body = found.answer
            return HttpResponse(status, body)
        answer = await again(call, found)
        await self._note(receipt, answer)
        return answer

    async def _note(self, receipt: Receipt, answer: HttpResponse) -> None:
        assert isinstance(answer.body, bytes), "what is repeated is whole"
        with trio.move_on_after(NOTE_SECONDS_MAX):
            try:
                await self._receipts.note_answer(
                    receipt.user, receipt.key, status=answer.status, answer=answer.body
                )
            except DatabaseFault as fault:
                emit("receipt.unanswered", "warning", key=receipt.key, error=fault)


def _checked(key: str) -> str:
    if not (0 < len(key) <= KEY_CHARACTERS_MAX and key.isprintable()):
        fact = f"must be 1 to {KEY_CHARACTERS_MAX} visible characters"
        raise HttpError(
            400, "Invalid Idempotency-Key.", detail=fact, validations=(Validation(HEADER, fact),)
        )
    return key


def _digest(call: Call) -> bytes:
    """Return a digest of request and address: a key stands for one request to one address."""
    place = sorted(call.path.items())
    return sha256(repr((place, list(call.query))).encode() + b"\n" + call.body).digest()
