"""Requests that may come twice: the second gets the answer of the first, and does nothing.

    Idempotency-Key: any name that the client has not used for another request in a day

What a request did and its name are written in one transaction. The answer is noted after it; if
whoever served it did not come so far, the answer is made again from what is stored.
"""

from collections.abc import Awaitable, Callable
from hashlib import sha256

import trio

from actors.law.store.ports import Receipt
from adapters.chats.shelf.receipts import Receipts, ServedRequest
from adapters.http.endpoints import Call, HttpResponse
from adapters.http.refusals import HttpError, Validation
from adapters.postgres.driver.faults import DatabaseFault
from runtime.log import emit

HEADER = "idempotency-key"
KEY_CHARACTERS_MAX = 255  # a longer one is refused
NOTE_SECONDS_MAX = 5.0  # for the note of an answer; then it is made again, should somebody ask

ServeCall = Callable[
    [Call, Receipt | None], Awaitable[HttpResponse]
]  # the receipt goes to the ledger
ServeAgain = Callable[[Call, ServedRequest], Awaitable[HttpResponse]]  # from what is stored


class RequestRepeats:
    def __init__(self, receipts: Receipts) -> None:
        self._receipts = receipts
        self._underway: set[tuple[object, str]] = set()  # no more than requests being served

    async def once(self, call: Call, serve: ServeCall, *, again: ServeAgain) -> HttpResponse:
        """`serve` the call, unless it has been served under this name before."""
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
        """The answer that the request of this name got. None: it has not been served."""
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
                await self._receipts.answered(
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
    """Of what was asked, and of what: a key means one request to one address."""
    place = sorted(call.path.items())
    return sha256(repr((place, list(call.query))).encode() + b"\n" + call.body).digest()
