"""Why work is stopped, at every place where it can be waiting: what is kept, and where the chat is.

The table of causes and outcomes, row by row; each row at each await point of a turn. The model is
behind the real HTTP client and speaks Chat Completions.

    connecting     the network is dialled, nobody has taken the call
    first_byte     the question is out, nothing has come
    head           the response has begun, nothing has been said
    mid_delta      something has been said, nothing is over
    tool           one tool has finished, another runs
    between_steps  the tools' step is stored, the next attempt counted, nobody asked yet
    retrying       an attempt failed, the next one is waited for
    committing     the step is complete and on its way to the store
    committed      the step is stored, its answer is not there yet
"""

import json
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
import trio

from actors.chat.api import notify_changed
from actors.chat.turn.work import HistoryMoved, LeaseTaken
from actors.law.chat import UserMessage
from actors.law.ids import Holder, RunnerId, WorkerId
from actors.law.parts.message import TextPart
from actors.law.parts.vendors import OPENAI
from actors.law.requests import Acquire, EditMessage, Interrupt
from adapters.models.providers.faults import ProviderUnreachable
from adapters.models.providers.http import HttpClient
from adapters.models.providers.openai_chat.provider import ChatCompletionsProvider
from runtime.ends import Finished, Shutdown, Stopped
from tests.actors.chat.stage import ANN, a_chat_at_work
from tests.fakes.network import Hangup, Network, Reset, chunk, head, whole
from tests.fakes.scripted import HANGS, OneModel, ScriptedTools

ASKING = ("connecting", "first_byte", "head", "mid_delta")
COMMITTING = ("committing", "committed")
POINTS = (*ASKING, "tool", "between_steps", "retrying", *COMMITTING)

HELLO = ("user", "hello")
CALLS = [("assistant", "fast(a)"), ("assistant", "slow(b)")]
A_DONE = ("tool", 'a={"output": "fast done"}')
B_DONE = ("tool", 'b={"output": "slow done"}')
B_CUT = ("tool", 'b!{"error": "interrupted before the tool produced a result"}')
BOTH_DONE = [HELLO, *CALLS, A_DONE, B_DONE]
STANDS = {"between_steps": BOTH_DONE, "tool": [HELLO, *CALLS]}  # at other points: the question
FOR_EVER = 1e6  # seconds

OPENED = head(Transfer_Encoding="chunked")


def says(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return chunk(b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n")


def called(id, name, index):
    return {"index": index, "id": id, "function": {"name": name, "arguments": "{}"}}


END = says({}, "stop") + chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"
BETTER = [OPENED + says({"content": "Better"}) + END]
TOOLS = [OPENED + says({"tool_calls": [called("a", "fast", 0), called("b", "slow", 1)]}) + END]
OVERLOADED = [
    OPENED + says({"content": "Hel"}),
    0.1,
    chunk(b'data: {"error":{"message":"overloaded"}}\n\n'),
]


class Stuck(Network):
    """Whoever dials first waits so long."""

    seconds = 0.0

    async def dial(self, origin):
        self.seconds, seconds = 0.0, self.seconds
        await trio.sleep(seconds)
        return await super().dial(origin)


class Slow(OneModel):
    """Takes so long to be chosen for the second step."""

    seconds = 0.0
    chosen = 0

    async def model_for(self, chat):
        self.chosen += 1
        await trio.sleep(self.seconds if self.chosen == 2 else 0)
        return await super().model_for(chat)


def first_answer(point, seconds):
    match point:
        case "connecting":
            return BETTER
        case "first_byte":
            return [seconds, OPENED + says({"content": "Hello"}) + END]
        case "head":
            return [OPENED, seconds, says({"content": "Hello"}) + END]
        case "mid_delta":
            return [OPENED + says({"content": "Hel"}), seconds, says({"content": "lo"}) + END]
        case "tool" | "between_steps":
            return TOOLS
        case "retrying":
            return OVERLOADED
        case _:
            return [OPENED + says({"content": "Hello"}) + END]


@asynccontextmanager
async def stopped_at(point, *, seconds=FOR_EVER):
    """A chat whose first turn waits at `point` for `seconds`; asked again, the model says "Better".
    At a commit it waits until `stage.balky.go()`."""
    async with trio.open_nursery() as nursery:
        network = Stuck(nursery, [first_answer(point, seconds), BETTER, BETTER])
        network.seconds = seconds if point == "connecting" else 0.0
        models = Slow(ChatCompletionsProvider(HttpClient(network.dial), "key", vendor=OPENAI))
        models.seconds = seconds if point == "between_steps" else 0.0
        slow = [] if point != "tool" else [HANGS] if seconds == FOR_EVER else [seconds]
        tools = ScriptedTools().add("fast").add("slow", *slow, repeatable=True)

        def prepare(store):
            if point == "committing":
                store.hang("commit")
            if point == "committed":
                store.hang_after("commit")

        async with a_chat_at_work(None, models=models, tools=tools, prepare=prepare) as stage:
            await trio.sleep(0.5)
            if point in COMMITTING:
                assert stage.balky.reached.is_set(), "the story waits where it says"
            assert STANDS.get(point, [HELLO]) == stage.said[: len(STANDS.get(point, [HELLO]))]
            stage.network = network
            yield stage
        nursery.cancel_scope.cancel()


async def come_to_rest(stage):
    await trio.sleep(1)
    stage.balky.go()
    await trio.sleep(5)


# a user interrupts

INTERRUPTED = {
    "connecting": [HELLO],
    "first_byte": [HELLO],
    "head": [HELLO],
    "mid_delta": [HELLO, ("assistant", "Hel")],
    "tool": [HELLO, *CALLS, A_DONE, B_CUT],
    "between_steps": BOTH_DONE,
    "retrying": [HELLO, ("assistant", "Hel")],
    "committing": [HELLO, ("assistant", "Hello")],
    "committed": [HELLO, ("assistant", "Hello")],
}


@pytest.mark.parametrize("point", POINTS)
async def test_a_users_interrupt_keeps_what_was_said_and_ends_the_turn(autojump_clock, point):
    async with stopped_at(point) as stage:
        await stage.ask(Interrupt())
        await come_to_rest(stage)

        assert INTERRUPTED[point] == stage.said
        assert ("waiting", None) == (stage.status, stage.row.holder)
        assert [Finished()] == stage.ends


# an edit


@pytest.mark.parametrize("point", POINTS)
async def test_an_edit_leaves_nothing_of_the_obsolete_step(autojump_clock, point):
    async with stopped_at(point) as stage:
        first = stage.store.chats[stage.chat].messages[0].id
        await stage.ask(EditMessage(first, UserMessage((TextPart("rather"),), ANN)))
        await come_to_rest(stage)

        if point == "committed":  # the turn was over, the chat given back: somebody will take it
            assert [("user", "rather")] == stage.said
            assert ("running", None) == (stage.status, stage.row.holder)
        else:
            assert [("user", "rather"), ("assistant", "Better")] == stage.said
            assert "waiting" == stage.status


# the lease is lost, or the chat is gone


@pytest.mark.parametrize("point", POINTS)
async def test_a_lost_lease_writes_nothing_more(autojump_clock, point):
    async with stopped_at(point) as stage:
        before = stage.said
        other = Holder(WorkerId(uuid4()), RunnerId(uuid4()))
        await stage.ask(Acquire(other))
        await come_to_rest(stage)

        assert before == stage.said
        assert other == stage.row.holder
        assert [Finished()] == stage.ends, "the actor has ended, and in good order"


@pytest.mark.parametrize("point", POINTS)
async def test_a_chat_that_is_deleted_is_left_in_good_order(autojump_clock, point):
    async with stopped_at(point) as stage:
        del stage.store.chats[stage.chat]
        notify_changed(stage.actor.address)
        await come_to_rest(stage)

        assert [Finished()] == stage.ends


# the process stops, and the drain is over


@pytest.mark.parametrize("point", POINTS)
async def test_shutdown_keeps_what_is_committed_and_leaves_the_chat_running(autojump_clock, point):
    async with stopped_at(point) as stage:
        before = stage.said
        stage.life.cancel(Shutdown())
        await come_to_rest(stage)

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


@pytest.mark.parametrize("point", ["first_byte", "head", "mid_delta"])
@pytest.mark.parametrize("asked", [Interrupt(), Acquire(Holder(uuid4(), uuid4()))])
async def test_whoever_is_stopped_hangs_up(autojump_clock, point, asked):
    async with stopped_at(point, seconds=20) as stage:
        await stage.ask(asked)
        await trio.sleep(20)

        assert 1 == stage.network.hung_up
        assert 1 == len(stage.network.requests)


# the provider says nothing, hangs up, breaks off

GIVEN_UP = {  # after so many seconds, as this
    "connecting": (30, "timeout"),
    "first_byte": (60, "stream_silence_timeout"),
    "head": (60, "stream_silence_timeout"),
    "mid_delta": (600, "stream_silence_timeout"),
}


@pytest.mark.parametrize("point", ASKING)
async def test_a_provider_that_says_nothing_is_given_up_and_asked_again(autojump_clock, point):
    seconds, kind = GIVEN_UP[point]
    async with stopped_at(point) as stage:
        await trio.sleep(seconds - 1)
        before = stage.row.retry_state
        await trio.sleep(1)
        waiting = stage.row.retry_state
        await trio.sleep(5)

        assert before is None
        assert (kind, 1, 1000) == (waiting.kind, waiting.attempt, waiting.delay_ms)
        assert [HELLO, ("assistant", "Better")] == stage.said
        assert ("waiting", None) == (stage.status, stage.row.last_error)


BROKEN_OFF = {
    "refused": ProviderUnreachable("api: connection refused"),
    "hung up before the head": [Hangup],
    "reset before the head": [Reset],
    "hung up behind the head": [OPENED, Hangup],
    "reset behind the head": [OPENED, Reset],
    "hung up in the middle": [OPENED + says({"content": "Hel"}), Hangup],
    "reset in the middle": [OPENED + says({"content": "Hel"}), Reset],
    "ended without its end": [OPENED + says({"content": "Hel"}) + b"0\r\n\r\n"],
    "unavailable": [whole(b'{"error":{"message":"busy"}}', 503)],
}


@pytest.mark.parametrize("how", BROKEN_OFF)
async def test_a_provider_that_breaks_off_is_asked_again_and_nothing_of_it_is_kept(
    autojump_clock, how, nursery
):
    script = BROKEN_OFF[how]
    network = Network(nursery, [BETTER] if isinstance(script, Exception) else [script, BETTER])
    network.refuse = script if isinstance(script, Exception) else None
    provider = ChatCompletionsProvider(HttpClient(network.dial), "key", vendor=OPENAI)
    async with a_chat_at_work(provider) as stage:
        await trio.sleep(0.5)
        waiting, network.refuse = stage.row.retry_state, None
        await trio.sleep(5)

        assert ("timeout", 1, "openai") == (waiting.kind, waiting.attempt, waiting.provider)
        assert [HELLO, ("assistant", "Better")] == stage.said
        assert ("waiting", None) == (stage.status, stage.row.last_error)


# the database is gone

UNDISTURBED = {
    "connecting": [HELLO, ("assistant", "Better")],
    "tool": [*BOTH_DONE, ("assistant", "Better")],
    "between_steps": [*BOTH_DONE, ("assistant", "Better")],
    "retrying": [HELLO, ("assistant", "Better")],
}


@pytest.mark.parametrize("point", POINTS)
async def test_a_database_that_is_gone_for_a_while_costs_nothing_but_the_while(
    autojump_clock, point
):
    async with stopped_at(point, seconds=2) as stage:
        for call in ("commit", "view", "history"):
            stage.balky.fail(call, 7)
        stage.balky.go()
        notify_changed(stage.actor.address)
        await trio.sleep(60)

        assert UNDISTURBED.get(point, [HELLO, ("assistant", "Hello")]) == stage.said
        assert ("waiting", None) == (stage.status, stage.row.last_error)
        asked = 2 if point in ("tool", "between_steps", "retrying") else 1
        assert asked == len(stage.network.requests), "no answer was thrown away"


# two at once


async def test_the_first_cause_wins(autojump_clock):
    async with stopped_at("mid_delta") as stage:
        stage.actor._scope.cancel(HistoryMoved(9))
        stage.actor._scope.cancel(LeaseTaken(None))

        assert HistoryMoved(9) == stage.actor._scope.requested
