"""Why work is stopped, at every place where it can be waiting: what is kept, and where the chat is.

The table of causes and outcomes, row by row; each row at each await point of a turn:

    connecting   the model was asked, nothing has come
    mid_delta    something has come, nothing is over
    tool         one tool has finished, another runs
    retrying     an attempt failed, the next one is waited for
    committing   the step is complete and on its way to the store
    committed    the step is stored, its answer is not there yet
"""

from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
import trio

from actors.ids import Holder, RunnerId, WorkerId
from actors.machine.chat import UserMessage
from actors.machine.requests import Acquire, EditMessage, Interrupt
from actors.parts.model import TextPart
from actors.turn.causes import HistoryMoved, LeaseTaken
from runtime.cause import Shutdown
from runtime.ends import Finished, Stopped
from tests.actors.chat.stage import ANN, a_chat_at_work
from tests.fakes.scripted import HANGS, OVERLOADED, ScriptedProvider, ScriptedTools, call

POINTS = ("connecting", "mid_delta", "tool", "retrying", "committing", "committed")
HELLO = ("user", "hello")
CALLS = [("assistant", "fast(a)"), ("assistant", "slow(b)")]
A_DONE = ("tool", 'a={"output": "fast done"}')
B_CUT = ("tool", 'b!{"error": "interrupted before the tool produced a result"}')


@asynccontextmanager
async def stopped_at(point):
    """A chat whose first turn waits at `point`, and would otherwise answer "Better"."""
    tools = None
    scripts = {
        "connecting": [[HANGS]],
        "mid_delta": [["Hel", HANGS]],
        "tool": [[call("a", "fast"), call("b", "slow")]],
        "retrying": [["Hel", OVERLOADED]],
        "committing": [["Hello"]],
        "committed": [["Hello"]],
    }[point]
    if point == "tool":
        tools = ScriptedTools().add("fast").add("slow", HANGS)

    def prepare(store):
        if point == "committing":
            store.hang("commit")
        if point == "committed":
            store.hang_after("commit")

    provider = ScriptedProvider(*scripts, ["Better"])
    async with a_chat_at_work(provider, tools=tools, prepare=prepare) as stage:
        await trio.sleep(0.5)
        if point in ("committing", "committed"):
            assert stage.balky.reached.is_set(), "the story waits where it says"
        yield stage


INTERRUPTED = {
    "connecting": [HELLO],
    "mid_delta": [HELLO, ("assistant", "Hel")],
    "tool": [HELLO, *CALLS, A_DONE, B_CUT],
    "retrying": [HELLO, ("assistant", "Hel")],
    "committing": [HELLO, ("assistant", "Hello")],
    "committed": [HELLO, ("assistant", "Hello")],
}


@pytest.mark.parametrize("point", POINTS)
async def test_a_users_interrupt_keeps_what_was_said_and_ends_the_turn(autojump_clock, point):
    async with stopped_at(point) as stage:
        await stage.ask(Interrupt())
        await trio.sleep(1)
        stage.balky.go()
        await trio.sleep(5)

        assert INTERRUPTED[point] == stage.said
        assert "waiting" == stage.status
        assert stage.row.holder is None
        assert [Finished()] == stage.ends


@pytest.mark.parametrize("point", POINTS)
async def test_an_edit_leaves_nothing_of_the_obsolete_step(autojump_clock, point):
    async with stopped_at(point) as stage:
        first = stage.store.chats[stage.chat].messages[0].id
        await stage.ask(EditMessage(first, UserMessage((TextPart("rather"),), ANN)))
        await trio.sleep(1)
        stage.balky.go()
        await trio.sleep(5)

        if point == "committed":  # the turn was over, the chat given back: somebody will take it
            assert [("user", "rather")] == stage.said
            assert ("running", None) == (stage.status, stage.row.holder)
        else:
            assert [("user", "rather"), ("assistant", "Better")] == stage.said
            assert "waiting" == stage.status


@pytest.mark.parametrize("point", POINTS)
async def test_a_lost_lease_writes_nothing_more(autojump_clock, point):
    async with stopped_at(point) as stage:
        before = stage.said
        other = Holder(WorkerId(uuid4()), RunnerId(uuid4()))
        await stage.ask(Acquire(other))
        await trio.sleep(1)
        stage.balky.go()
        await trio.sleep(100)

        assert before == stage.said
        assert other == stage.row.holder
        assert [Finished()] == stage.ends, "the actor has ended, and in good order"


@pytest.mark.parametrize("point", POINTS)
async def test_shutdown_keeps_what_is_committed_and_leaves_the_chat_running(autojump_clock, point):
    async with stopped_at(point) as stage:
        before = stage.said
        stage.life.cancel(Shutdown())
        await trio.sleep(100)

        assert before == stage.said
        assert ("waiting" if point == "committed" else "running") == stage.status
        assert [Stopped(Shutdown())] == stage.ends


async def test_shutdown_keeps_the_results_of_finished_tools_in_the_journal(autojump_clock):
    async with stopped_at("tool") as stage:
        journal = stage.world.journal.entries
        stage.life.cancel(Shutdown())
        await trio.sleep(1)

        ended = {key[-1]: entry.output is not None for key, entry in journal.items()}
        assert {"a": True, "b": False} == ended


@pytest.mark.parametrize(("script", "seconds"), [([HANGS], 60), (["Hel", HANGS], 600)])
async def test_a_provider_that_says_nothing_is_given_up_and_asked_again(
    autojump_clock, script, seconds
):
    async with a_chat_at_work(ScriptedProvider(script, ["Better"])) as stage:
        await trio.sleep(seconds - 1)
        before = stage.row.retry_state
        await trio.sleep(1.5)
        waiting = stage.row.retry_state
        await trio.sleep(5)

        assert before is None
        assert ("stream_silence_timeout", 1) == (waiting.kind, waiting.attempt)
        assert [HELLO, ("assistant", "Better")] == stage.said


@pytest.mark.parametrize("call", ["commit", "view", "history"])
async def test_a_database_that_is_away_for_a_while_never_parks_a_chat(autojump_clock, call):
    def prepare(store):
        store.fail(call, 3)

    provider = ScriptedProvider(["Hello"])
    async with a_chat_at_work(provider, prepare=prepare) as stage:
        await trio.sleep(60)

        assert [HELLO, ("assistant", "Hello")] == stage.said
        assert "waiting" == stage.status
        assert stage.row.last_error is None


async def test_the_first_cause_wins(autojump_clock):
    async with stopped_at("mid_delta") as stage:
        stage.actor._scope.cancel(HistoryMoved(9))
        stage.actor._scope.cancel(LeaseTaken(None))

        assert HistoryMoved(9) == stage.actor._scope.requested
