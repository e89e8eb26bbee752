"""A call that needs a person's consent: asked about durably, then run once, or denied in words."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import trio

from actors.chat.api import drain
from actors.chat.turn.tool_batch import MAY_HAVE_RUN
from actors.law import requests as ask
from actors.law.answers import DENIED, LATE
from actors.law.chat import Verdict
from actors.law.closing import unanswered_calls
from actors.law.ids import UserId
from actors.tools.approval_rules import Policy, read_rules
from actors.tools.approvals import NO_PERSON_TO_ASK, ApprovalSettings
from tests.actors.chat.stage import ANN, a_chat_at_work
from tests.fakes.scripted import MemoryJournal, ScriptedProvider, ScriptedTools, call

BOB = UserId(uuid4())
SECONDS = 300
ASKED = [("user", "hello"), ("assistant", "execute(x)")]
RAN = ("tool", 'x={"output": "execute done"}')
DONE = ("assistant", "done")


def error(id, words):
    return ("tool", f'{id}!{{"error": "{words}"}}')


def ticking():
    return datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=trio.current_time())


class Granted:
    def __init__(self, *tools):
        self.tools = set(tools)
        self.asked = 0

    async def of(self, root, chat):
        await trio.lowlevel.checkpoint()
        self.asked += 1
        return self.tools


def asking(*made, policy=Policy.ASK, rules="", seconds=SECONDS, grants=(), **more):
    """A chat that would call `execute`, and say "done" when that has come to its end."""
    made = made or (call("x", "execute"),)
    tools = more.pop("tools", None)
    if tools is None:
        tools = ScriptedTools().add("execute", 2).add("read_file", 3)
    approving = ApprovalSettings(Granted(*grants), policy, read_rules(rules), seconds)
    provider = ScriptedProvider(list(made), ["done"], ["done"])
    return a_chat_at_work(provider, tools=tools, approving=approving, clock=ticking, **more)


def decide(verdict=Verdict.ALLOW_ONCE, *, id="x", by=ANN, words=""):
    return ask.DecideApproval(id, verdict, by, words)


async def test_where_nothing_is_asked_nothing_changes(autojump_clock):
    async with asking(policy=Policy.ALLOW) as stage:
        await trio.sleep(5)

        assert [*ASKED, RAN, DONE] == stage.said
        assert 0 == stage.world.approving.grants.asked


async def test_an_ask_is_stored_with_the_answer_that_it_is_about_and_nothing_runs(autojump_clock):
    async with asking() as stage:
        await trio.sleep(SECONDS - 1)

        assert (ASKED, "requires_action") == (stage.said, stage.status)
        assert 2 == stage.row.snapshot_version
        assert ["x"] == [one.tool_call_id for one in stage.row.open_approvals]
        assert [] == stage.world.tools.ran
        assert 0 == stage.balky.asked["view"]


async def test_while_somebody_takes_his_time_no_history_is_kept(autojump_clock):
    async with asking() as stage:
        await trio.sleep(1)
        before = stage.actor._held.history
        await stage.ask(decide())
        await trio.sleep(5)

        assert None is before
        assert [*ASKED, RAN, DONE] == stage.said
        assert 2 == stage.balky.asked["history"]


async def test_what_is_allowed_runs_once_and_the_turn_goes_on(autojump_clock):
    async with asking() as stage:
        await trio.sleep(1)
        await stage.ask(decide())
        await trio.sleep(5)

        assert [*ASKED, RAN, DONE] == stage.said
        assert (["x"], ()) == (stage.world.tools.ran, stage.row.approvals)


async def test_the_model_reads_why_a_call_was_denied(autojump_clock):
    async with asking() as stage:
        await trio.sleep(1)
        await stage.ask(decide(Verdict.DENY, words="not today"))
        await trio.sleep(1)

        assert [*ASKED, error("x", f"{DENIED}. They say: not today"), DONE] == stage.said
        assert [] == stage.world.tools.ran


async def test_what_nobody_decides_is_denied_when_its_time_is_over(autojump_clock):
    async with asking() as stage:
        await trio.sleep(SECONDS + 1)

        assert [*ASKED, error("x", LATE), DONE] == stage.said


async def test_who_sets_no_time_waits_as_long_as_it_takes(autojump_clock):
    async with asking(seconds=0) as stage:
        await trio.sleep(10**6)
        waited = stage.status
        await stage.ask(decide())
        await trio.sleep(5)

        assert "requires_action" == waited
        assert [*ASKED, RAN, DONE] == stage.said


async def test_calls_that_need_no_consent_run_before_anybody_is_asked(autojump_clock):
    async with asking(call("r", "read_file"), call("x", "execute")) as stage:
        await trio.sleep(1)
        during = stage.status
        await trio.sleep(3)

        assert ("running", "requires_action") == (during, stage.status)
        assert ["r"] == stage.world.tools.ran
        assert ["x"] == [one.tool_call_id for one in stage.row.open_approvals]


async def test_the_allowed_ones_run_together_when_the_last_is_decided(autojump_clock):
    calls = call("x", "execute"), call("y", "execute"), call("z", "execute")
    async with asking(*calls) as stage:
        await trio.sleep(1)
        await stage.ask(decide())
        await stage.ask(decide(Verdict.DENY, id="y"))
        await trio.sleep(5)
        before = list(stage.world.tools.ran)
        await stage.ask(decide(id="z", by=BOB))
        await trio.sleep(1)

        assert ([], ["x", "z"]) == (before, sorted(stage.world.tools.ran))


async def test_a_client_and_a_person_are_waited_for_together(autojump_clock):
    calls = call("x", "execute"), call("c", "ask")
    answer = ask.CompleteRequiresAction((ask.DynamicResult("c", "1"),), ANN)
    async with asking(*calls, dynamic=("ask",)) as stage:
        await trio.sleep(1)
        await stage.ask(answer)
        await trio.sleep(1)
        between = stage.status
        await stage.ask(decide())
        await trio.sleep(5)

        assert "requires_action" == between
        assert [("tool", "c=1"), RAN, DONE] == stage.said[3:]


async def test_the_client_has_its_own_time(autojump_clock):
    calls = call("x", "execute"), call("c", "ask")
    async with asking(*calls, dynamic=("ask",), seconds=900) as stage:
        await trio.sleep(301)
        timed_out = stage.said[3:]
        await trio.sleep(600)

        assert [("tool", 'c!"timed out"')] == timed_out
        assert [*timed_out, error("x", LATE), DONE] == stage.said[3:]


async def test_who_allows_a_call_just_as_its_time_is_over_is_in_time(autojump_clock):
    calls = call("x", "execute"), call("c", "ask")
    async with asking(*calls, dynamic=("ask",)) as stage:
        stage.balky.hang_after("view")
        await stage.balky.reached.wait()
        await stage.store.apply(stage.chat, [decide()])
        stage.balky.go()
        await trio.sleep(5)

        assert [("tool", 'c!"timed out"'), RAN, DONE] == stage.said[3:]


async def test_what_was_allowed_always_runs_at_once_together_with_the_rest(autojump_clock):
    calls = call("r", "read_file"), call("x", "execute")
    async with asking(*calls, grants=["execute"]) as stage:
        await trio.sleep(3.5)

        assert {"r", "x"} == set(stage.world.tools.ran)
        assert "waiting" == stage.status


async def test_where_nobody_is_there_the_model_is_told_so_at_once(autojump_clock):
    async with asking(policy=Policy.DENY) as stage:
        await trio.sleep(1)

        assert [*ASKED, error("x", NO_PERSON_TO_ASK.format(tool="execute")), DONE] == stage.said
        assert [] == stage.world.tools.ran


async def test_what_was_allowed_always_runs_where_nobody_is_there_any_more(autojump_clock):
    async with asking(policy=Policy.DENY, grants=["execute"]) as stage:
        await trio.sleep(5)

        assert [*ASKED, RAN, DONE] == stage.said


@pytest.mark.parametrize(
    ("usual", "own", "status"),
    [
        (Policy.ASK, "allow", "waiting"),
        (Policy.ALLOW, "ask", "requires_action"),
        (Policy.ASK, "", "requires_action"),
    ],
)
async def test_a_chat_s_own_policy_comes_before_the_usual_one(autojump_clock, usual, own, status):
    async with asking(policy=usual, approval_policy=own) as stage:
        await trio.sleep(5)

        assert status == stage.status


async def test_a_rule_denies_one_call_and_its_neighbour_runs(autojump_clock):
    calls = call("r", "read_file"), call("x", "execute")
    async with asking(*calls, policy=Policy.ALLOW, rules="execute=deny") as stage:
        await trio.sleep(5)

        assert ["r"] == stage.world.tools.ran
        assert "waiting" == stage.status


async def test_an_interrupt_closes_what_is_asked_and_what_is_allowed(autojump_clock):
    async with asking(call("x", "execute"), call("y", "execute")) as stage:
        await trio.sleep(1)
        await stage.ask(decide())
        await stage.ask(ask.Interrupt())
        await trio.sleep(5)

        closed = [("tool", f'{id}!"interrupted by user"') for id in "xy"]
        assert [*closed, DONE] == stage.said[3:]
        assert [] == stage.world.tools.ran


async def test_who_drains_hands_the_ask_on_as_it_is(autojump_clock):
    async with asking() as stage:
        await trio.sleep(1)
        asks = stage.row.open_approvals
        drain(stage.actor.address)
        await trio.sleep(1)

        assert ("requires_action", None) == (stage.status, stage.row.holder)
        assert asks == stage.row.open_approvals


# Killed between the decision and the result: the next process goes on with what is stored.


@pytest.mark.parametrize(
    ("repeatable", "ran", "result"),
    [(False, [], error("x", MAY_HAVE_RUN)), (True, ["x"], RAN)],
)
async def test_an_allowed_call_that_had_begun_is_not_begun_again(
    autojump_clock, repeatable, ran, result
):
    journal = MemoryJournal()
    tools = ScriptedTools().add("execute", 2, repeatable=repeatable)
    async with asking(journal=journal, tools=tools) as stage:
        await trio.sleep(1)
        begun = unanswered_calls(stage.store._locked(stage.chat).tail)
        await journal.begin(stage.row, begun)
        await stage.ask(decide())
        await trio.sleep(5)

        assert [*ASKED, result, DONE] == stage.said
        assert ran == tools.ran
