"""A conversation that is summed up in the middle of a turn, whatever the model makes of that."""

import pytest
import trio

from actors.chat.actor import ChatActor
from actors.chat.turn.retries import SUMMARY_FAILURES_MAX
from actors.chat.turn.scribe import NO_SUMMARY, NOT_SHORTER
from actors.chat.turn.work import HeldChat
from actors.law.chat import UserMessage
from actors.law.parts.deltas import FinishReason
from actors.law.parts.message import Cost, TextPart
from actors.law.requests import (
    Acquire,
    BusyBehaviour,
    EditMessage,
    Interrupt,
    RequestCompaction,
    RetryTurn,
)
from runtime.children import run_child
from runtime.scope import CausedScope
from tests.actors.chat.stage import ANN
from tests.actors.chat.turn.long_talk import (
    DONE,
    FULL,
    GOES_ON,
    NO_SUCH_CAP,
    OUT_OF_ROOM,
    SUMS_UP,
    THOUGHT,
    WORKS,
    a_long_chat,
    asked_for_summary,
    ended,
    roles,
    settled,
)
from tests.actors.law.chats import HOLDER
from tests.fakes.scripted import (
    HANGS,
    OVERLOADED,
    call,
)


async def test_the_call_that_sums_up_is_the_next_call_of_the_chat_with_a_question_more(
    autojump_clock,
):
    stage = await settled(WORKS, SUMS_UP, GOES_ON)

    first, summary, after = stage.provider.prompts
    assert [False, True, False] == [asked_for_summary(each) for each in stage.provider.prompts]
    assert first.messages == summary.messages[: len(first.messages)]
    assert (first.tools, first.system) == (summary.tools, summary.system)
    assert "none" == summary.tool_choice
    [handed_over] = after.messages
    assert handed_over.parts[0].text.endswith("\n\nthe summary")
    assert (DONE, "waiting", ["success"]) == (roles(stage), stage.status, stage.counted)
    assert [] == stage.booked


async def test_thoughts_that_eat_the_answer_are_left_out_the_second_time(autojump_clock):
    stage = await settled(WORKS, [*THOUGHT, OUT_OF_ROOM], SUMS_UP, GOES_ON)

    _, first, plain, _ = stage.provider.prompts
    assert (None, "high") == (first.settings.max_output_tokens, first.settings.effort)
    assert (4096, "low") == (plain.settings.max_output_tokens, plain.settings.effort)
    assert plain.settings.options.thinking_budget_tokens is None
    assert first.messages == plain.messages
    assert (DONE, "waiting", ["success"]) == (roles(stage), stage.status, stage.counted)
    assert [("compaction", [2])] == stage.booked
    assert Cost(2, "table") == stage.rows[4].cost


async def test_a_summary_that_breaks_off_at_its_cap_is_none(autojump_clock):
    stage = await settled(WORKS, ["the beginn", OUT_OF_ROOM], SUMS_UP, GOES_ON)

    assert "the beginn" not in str(stage.rows)
    assert DONE == roles(stage)


async def test_a_provider_that_wants_to_be_told_a_cap_is_told_the_chats_own(autojump_clock):
    stage = await settled(WORKS, [NO_SUCH_CAP], SUMS_UP, GOES_ON)

    assert [None, 4096] == [p.settings.max_output_tokens for p in stage.provider.prompts[1:3]]
    assert (DONE, []) == (roles(stage), stage.booked)


async def test_a_model_that_never_sums_up_stops_the_chat_after_a_few_attempts(autojump_clock):
    stage = await settled(WORKS, [ended()])

    assert 1 + 2 * SUMMARY_FAILURES_MAX == len(stage.provider.prompts)
    assert ("error", NO_SUMMARY.why) == (stage.status, stage.row.last_error.message)
    assert "uat" == roles(stage)
    assert ["error"] * SUMMARY_FAILURES_MAX == stage.counted
    assert [("compaction", [2])] * 2 * SUMMARY_FAILURES_MAX == stage.booked


async def test_a_chat_that_stopped_so_is_summed_up_by_whoever_can(autojump_clock):
    provider, chat = a_long_chat(WORKS, [ended()])
    async with chat as stage:
        await trio.sleep(600)
        assert "error" == stage.status

        provider.scripts = [SUMS_UP, GOES_ON]
        taken = await taken_up(stage, RequestCompaction())

        assert ("waiting", "uatsssa") == (taken.status, roles(taken))


async def test_a_summary_that_was_asked_for_and_failed_is_made_by_a_retry(autojump_clock):
    provider, chat = a_long_chat(GOES_ON)
    async with chat as stage:
        await trio.sleep(60)
        provider.scripts = [[ended()]]
        failed = await taken_up(stage, RequestCompaction())
        assert ("error", "ua") == (failed.status, roles(failed))

        provider.scripts = [SUMS_UP]
        again = await taken_up(stage, RetryTurn())

        assert ("waiting", "uasss") == (again.status, roles(again))


async def taken_up(stage, request):
    """Ask this of a chat that nobody holds any more, and let another actor take it up."""
    applied = await stage.store.apply(stage.chat, [request, Acquire(HOLDER)])
    actor = ChatActor(HOLDER, HeldChat(applied.stored), stage.world)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(run_child, CausedScope(), actor.run)
        await trio.sleep(600)
        nursery.cancel_scope.cancel()
    return stage


async def test_who_asks_for_a_summary_gets_one_however_little_it_saves(autojump_clock):
    provider, chat = a_long_chat(GOES_ON)
    async with chat as stage:
        await trio.sleep(60)

        provider.scripts = [["longer than all that was said " * 10, ended()]]
        taken = await taken_up(stage, RequestCompaction())

        assert ("waiting", "uasss") == (taken.status, roles(taken))


async def test_a_summary_as_long_as_what_it_replaces_is_none(autojump_clock):
    stage = await settled(WORKS, ["x" * 4 * 79_000, ended()])

    assert ("error", NOT_SHORTER.why) == (stage.status, stage.row.last_error.message)
    assert 1 + SUMMARY_FAILURES_MAX == len(stage.provider.prompts)
    assert "uat" == roles(stage)


async def test_a_summary_may_take_its_time(autojump_clock):
    stage = await settled(WORKS, [500, *SUMS_UP], GOES_ON, seconds=700)

    assert (DONE, "waiting", ["success"]) == (roles(stage), stage.status, stage.counted)
    assert 500_000 == stage.rows[4].runtime_ms


async def test_a_summary_that_does_not_end_is_a_timeout_and_is_tried_again(autojump_clock):
    endless = [each for _ in range(10) for each in (100, "on and ")] + [HANGS]
    stage = await settled(WORKS, endless, SUMS_UP, GOES_ON, seconds=950)

    assert ["timeout", "success"] == stage.counted
    assert (DONE, "waiting", 1) == (roles(stage), stage.status, stage.provider.hung_up)


async def test_what_fails_for_a_moment_is_tried_as_often_as_any_call(autojump_clock):
    stage = await settled(WORKS, *[[OVERLOADED]] * 8, SUMS_UP, GOES_ON)

    assert ["error"] * 8 + ["success"] == stage.counted
    assert DONE == roles(stage)


# with everything else


async def test_a_message_that_steers_is_read_behind_the_summary(autojump_clock):
    provider, chat = a_long_chat(WORKS, [5, *SUMS_UP], GOES_ON)
    async with chat as stage:
        await trio.sleep(3)
        await stage.send("left", busy=BusyBehaviour.STEER)
        await trio.sleep(60)

        assert "uatsssua" == roles(stage)
        texts = [said.parts[0].text for said in provider.prompts[-1].messages]
        assert ["left"] == texts[1:]


async def test_a_message_that_interrupts_ends_the_summary_and_leaves_nothing_of_it(
    autojump_clock,
):
    provider, chat = a_long_chat(WORKS, [5, *SUMS_UP], SUMS_UP, GOES_ON)
    async with chat as stage:
        await trio.sleep(3)
        await stage.send("left", busy=BusyBehaviour.INTERRUPT)
        await trio.sleep(60)

        assert ("uatusssa", "waiting") == (roles(stage), stage.status)
        assert 1 == provider.hung_up


async def test_calls_of_the_client_are_awaited_before_anything_is_summed_up(autojump_clock):
    asks = [call("q", "ask"), ended(FULL, FinishReason.TOOL_CALLS)]

    stage = await settled(asks, SUMS_UP, dynamic=("ask",), seconds=60)

    assert ("requires_action", 1) == (stage.status, len(stage.provider.prompts))


async def test_a_summary_that_came_too_late_is_paid_for_all_the_same(autojump_clock):
    _, chat = a_long_chat(WORKS, [5, *SUMS_UP], GOES_ON)
    async with chat as stage:
        await trio.sleep(3)
        await edited_unheard(stage)
        await trio.sleep(60)

        assert [("compaction", [2])] == stage.world.books.booked
        assert [("user", "other"), ("assistant", "done")] == stage.said
        assert [] == stage.world.telemetry.ends


async def edited_unheard(stage):
    first = stage.store.chats[stage.chat].messages[0].id
    edit = EditMessage(first, UserMessage((TextPart("other"),), ANN))
    await stage.store.apply(stage.chat, [edit])


async def test_an_answer_that_came_too_late_is_paid_for_all_the_same(autojump_clock):
    _, chat = a_long_chat([2, "late", ended()], GOES_ON)
    async with chat as stage:
        await trio.sleep(1)
        await edited_unheard(stage)
        await trio.sleep(60)

        assert [("answer", [2])] == stage.world.books.booked
        assert [("user", "other"), ("assistant", "done")] == stage.said


async def test_an_answer_that_says_nothing_is_paid_for_all_the_same(autojump_clock):
    stage = await settled([ended()])

    assert [("answer", [2])] == stage.booked
    assert ("waiting", "u") == (stage.status, roles(stage))


async def test_what_breaks_off_is_paid_for_and_nobody_knows_how_much(autojump_clock):
    stage = await settled([OVERLOADED], ["Hel", OVERLOADED], GOES_ON)

    assert [("answer", [None])] == stage.booked
    assert "ua" == roles(stage)


async def test_a_summary_that_breaks_off_is_paid_for_likewise(autojump_clock):
    failing = [[OVERLOADED], ["the beginn", 1000]]

    stage = await settled(WORKS, *failing, SUMS_UP, GOES_ON, seconds=700)

    assert [("compaction", [None])] == stage.booked
    assert DONE == roles(stage)


async def test_summaries_that_break_off_stop_the_chat_after_a_few_attempts(autojump_clock):
    stage = await settled(WORKS, ["the beginn", OVERLOADED])

    assert 1 + SUMMARY_FAILURES_MAX == len(stage.provider.prompts)
    assert ("error", "overloaded", True) == (
        stage.status,
        stage.row.last_error.kind,
        stage.row.last_error.retryable,
    )
    assert [("compaction", [None])] * SUMMARY_FAILURES_MAX == stage.booked


async def test_of_a_summary_that_is_interrupted_every_answer_is_paid_for_once(autojump_clock):
    _, chat = a_long_chat(WORKS, [*THOUGHT, OUT_OF_ROOM], ["the beginn", HANGS])
    async with chat as stage:
        await trio.sleep(3)
        before = list(stage.world.books.booked)
        await stage.ask(Interrupt())
        await trio.sleep(60)

        assert [("compaction", [2])] == before
        assert [("compaction", [2]), ("compaction", [None])] == stage.world.books.booked
        assert ("waiting", "uat") == (stage.status, roles(stage))


async def test_a_summary_that_an_interrupt_keeps_from_being_written_is_paid_for(autojump_clock):
    _, chat = a_long_chat(WORKS, [2, *SUMS_UP])
    async with chat as stage:
        await trio.sleep(1)
        stage.balky.hang("commit")
        await stage.balky.reached.wait()
        await stage.ask(Interrupt())
        await trio.sleep(60)

        assert [("compaction", [2])] == stage.world.books.booked
        assert ("waiting", "uat") == (stage.status, roles(stage))


async def test_what_had_broken_off_and_is_kept_at_an_interrupt_is_paid_for_once(autojump_clock):
    _, chat = a_long_chat(["Hel", OVERLOADED])
    async with chat as stage:
        await trio.sleep(0.5)
        await stage.ask(Interrupt())
        await trio.sleep(5)

        assert [("answer", [None])] == stage.world.books.booked
        assert [("user", "hello"), ("assistant", "Hel")] == stage.said
        assert stage.rows[-1].cost is None


async def test_an_answer_that_is_kept_because_it_came_too_late_is_paid_for_once(autojump_clock):
    _, chat = a_long_chat([2, "late", ended()])
    async with chat as stage:
        await trio.sleep(1)
        await stage.store.apply(stage.chat, [Interrupt()])  # of which the actor does not hear
        await trio.sleep(60)

        assert [("answer", [2])] == stage.world.books.booked
        assert [("user", "hello"), ("assistant", "late")] == stage.said
        assert stage.rows[-1].cost is None


@pytest.mark.parametrize(
    ("scripts", "rows"), [([[2, "late", ended()]], "ua"), ([WORKS, [2, *SUMS_UP], GOES_ON], DONE)]
)
async def test_what_was_written_although_nobody_heard_of_it_is_paid_for_once(
    autojump_clock, scripts, rows
):
    _, chat = a_long_chat(*scripts)
    async with chat as stage:
        await trio.sleep(1)
        stage.balky.lose_answer("commit", 1)
        await trio.sleep(60)

        assert ([], rows) == (stage.world.books.booked, roles(stage))
        assert Cost(2, "table") in [row.cost for row in stage.rows]
