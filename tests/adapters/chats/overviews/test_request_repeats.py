"""Requests under a name: served once, answered as often as they come."""

from uuid import UUID

import pytest
import trio

from actors.law import requests as ask
from actors.law.store.ports import Receipt
from adapters.chats.request_repeats import (
    KEPT_SECONDS,
    KEY_CHARACTERS_MAX,
    RECEIPT_RULE,
    Receipts,
    RequestRepeats,
)
from adapters.http.endpoints import Call, Caller, HttpResponse, TokenSource
from adapters.http.refusals import HttpError
from tests.actors.law.chats import ANN, BOB, BROKEN
from tests.adapters.chats.routes.ground import text
from tests.adapters.postgres.stores import apply_rule
from tests.contracts.given import applied

KEY = [("idempotency-key", "one")]


async def chats(ground):
    return len(await ground.store.all_rows())


async def test_a_second_time_brings_the_first_answer_and_no_second_chat(ground):
    first = await ground.create(headers=KEY)
    await ground.patch(first.said["id"], title="otherwise")

    again = await ground.create(headers=KEY)

    assert (201, first.body) == (again.status, again.body)
    assert 1 == await chats(ground)


async def test_without_a_name_each_is_served(ground):
    await ground.create()
    await ground.create()

    assert 2 == await chats(ground)


async def test_another_request_under_the_name_is_refused_with_words(ground):
    await ground.create(headers=KEY)

    other = await ground.create(headers=KEY, content=[text("something else")])

    assert 422 == other.status
    assert "use a new key" in other.said["detail"]
    assert 1 == await chats(ground)


async def test_a_name_is_of_one_user(ground):
    await ground.create(headers=KEY)

    assert 201 == (await ground.create(BOB, headers=KEY)).status
    assert 2 == await chats(ground)


async def test_what_was_refused_may_be_put_right_under_its_name(ground):
    wrong = await ground.create(headers=KEY, content=[])
    right = await ground.create(headers=KEY)

    assert (400, 201) == (wrong.status, right.status)


@pytest.mark.parametrize("key", ["", "x" * (KEY_CHARACTERS_MAX + 1), "a\tb"])
async def test_a_name_is_something_that_can_be_read(ground, key):
    answer = await ground.create(headers=[("idempotency-key", key)])

    assert (400, 0) == (answer.status, await chats(ground))


async def test_where_the_answer_was_never_given_it_is_made_from_what_is_stored(ground):
    first = await ground.create(headers=KEY)
    await ground.store.execute("UPDATE receipts SET status = NULL, answer = NULL")

    again = await ground.create(headers=KEY)
    once_more = await ground.create(headers=KEY)

    assert (201, first.body) == (again.status, again.body)
    assert (201, first.body) == (once_more.status, once_more.body)
    assert 1 == await chats(ground)


async def test_an_answer_that_is_made_again_says_that_the_chat_is_at_work(ground):
    """As it was when it was created, whatever has become of it."""
    chat = UUID((await ground.create(headers=KEY)).said["id"])
    await applied(ground.store.ledger.apply(chat, [ask.FinishError(BROKEN)]))
    await ground.store.execute("UPDATE receipts SET status = NULL, answer = NULL")

    again = (await ground.create(headers=KEY)).said

    assert (str(chat), "running") == (again["id"], again["status"])
    assert "last_error" not in again


async def test_of_two_answers_the_first_stands(ground):
    await ground.create(headers=KEY)
    receipts = Receipts(ground.store.pool)
    first = (await receipts.find(ANN, "one")).answer

    await receipts.note_answer(ANN, "one", status=500, answer=b"later")

    assert first == (await receipts.find(ANN, "one")).answer


async def test_after_a_day_a_name_means_nothing(ground):
    await ground.create(headers=KEY)
    await ground.store.execute(
        "UPDATE receipts SET created_at = now() - %(s)s * interval '1 second'", s=KEPT_SECONDS + 1
    )
    await apply_rule(ground.store.pool, RECEIPT_RULE)

    assert 201 == (await ground.create(headers=KEY)).status
    assert 2 == await chats(ground)


async def test_within_a_day_it_is_not_forgotten(ground):
    first = await ground.create(headers=KEY)
    await apply_rule(ground.store.pool, RECEIPT_RULE)

    assert first.body == (await ground.create(headers=KEY)).body


async def test_of_many_at_once_through_many_doors_one_is_served(ground):
    """Each door is a process of its own: none knows what the others are about."""
    answers = []

    async def one():
        answers.append(await ground.another().create(headers=KEY))

    async with trio.open_nursery() as nursery:
        for _ in range(6):
            nursery.start_soon(one)

    assert 1 == await chats(ground)
    assert {201} == {answer.status for answer in answers}
    assert 1 == len({answer.said["id"] for answer in answers})


def a_call(key="one", body=b"{}"):
    caller = Caller(ANN, "ann", False, frozenset({"all"}), "token", TokenSource.HEADER)
    return Call(caller, {}, (), {"idempotency-key": key}, body)


async def never(call, done):
    raise AssertionError("nothing was served before")


async def test_one_that_is_being_served_is_not_served_twice(ground):
    repeating = RequestRepeats(Receipts(ground.store.pool))
    begun, go_on = trio.Event(), trio.Event()
    served = []

    async def serve(call, receipt):
        served.append(receipt)
        begun.set()
        await go_on.wait()
        return HttpResponse(200, b"done")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: repeating.once(a_call(), serve, again=never))
        await begun.wait()
        with pytest.raises(HttpError) as refused:
            await repeating.once(a_call(), serve, again=never)
        go_on.set()

    assert 409 == refused.value.status
    assert [Receipt(ANN, "one", served[0].request)] == served


async def test_one_that_broke_off_may_come_again(ground):
    repeating = RequestRepeats(Receipts(ground.store.pool))

    async def breaks(call, receipt):
        raise HttpError(500, "broken")

    async def works(call, receipt):
        return HttpResponse(200, b"done")

    with pytest.raises(HttpError):
        await repeating.once(a_call(), breaks, again=never)

    assert HttpResponse(200, b"done") == await repeating.once(a_call(), works, again=never)


async def test_what_another_process_has_served_meanwhile_is_not_refused(ground):
    chat = await ground.a_chat()
    repeating = RequestRepeats(Receipts(ground.store.pool))

    async def late(call, receipt):
        await ground.store.execute(
            "INSERT INTO receipts (user_id, key, request, chat_id, message_ids)"
            " VALUES (%(u)s, %(k)s, %(r)s, %(c)s, '{5}')",
            u=receipt.user, k=receipt.key, r=receipt.request, c=chat,
        )  # fmt: skip
        raise HttpError(409, "served already")

    async def again(call, done):
        return HttpResponse(200, repr((done.chat, done.message_ids)).encode())

    answer = await repeating.once(a_call(), late, again=again)

    assert HttpResponse(200, repr((chat, (5,))).encode()) == answer
    assert isinstance(chat, UUID)
