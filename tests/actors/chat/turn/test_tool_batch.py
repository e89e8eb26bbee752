"""The local calls of one step: who is run, when, what the journal knows, what is kept."""

import json
import logging

import pytest
import trio

from actors.chat.turn.deps import TurnDeps
from actors.chat.turn.next_action import NONE_DENIED
from actors.chat.turn.ports import JournalEntry, NoTelemetry, ToolOutput
from actors.chat.turn.tool_batch import MAY_HAVE_RUN, run_batch
from actors.chat.turn.work import AtStake, Attempt
from actors.law.chat import Role
from actors.law.ids import EpisodeKey
from actors.law.parts.message import FilePart, JsonText
from actors.streams.previews import Preview
from actors.tools.call_checks import refusals
from actors.tools.output import BUDGET_UNKNOWN
from runtime.log import LOGGER_NAME
from tests.actors.chat.turn.given import calls, tool
from tests.actors.law.chats import FAST, HISTORY, NOW, a_chat
from tests.fakes.balky import Away
from tests.fakes.scripted import HANGS, MemoryJournal, ScriptedTools
from tests.fakes.watching import pickled, shown

CHAT = a_chat(last_model_config_id=FAST).chat
IMAGE = FilePart("image/png", data="aGk=")


class Told(NoTelemetry):
    """The port Telemetry: what was told of tools."""

    def __init__(self):
        self.ended, self.crashed = {}, []

    def tool_ended(self, calling, output, *, is_cut):
        self.ended[calling.call.id] = output, is_cut

    def tool_crashed(self, calling):
        self.crashed.append(calling.call.id)


class Batch:
    """A batch that can be looked at while it runs, and afterwards."""

    def __init__(self, tools, *made, journal=None, denied=NONE_DENIED):
        self.tools, self.calls, self.denied = tools, made, denied
        self.journal = journal or MemoryJournal()
        self.preview = Preview(EpisodeKey(CHAT.id, HISTORY, 1), pickled)
        self.attempt = Attempt(self.preview.key)
        self.rows = None
        self.history = ()
        unused = dict.fromkeys(("ledger", "reading", "models", "prompts", "prices", "previews"))
        self.left = []  # the times at which nothing was at stake any more
        self.at_stake = AtStake(lambda: self.left.append(trio.current_time()))
        self.telemetry = Told()
        self.world = TurnDeps(tools=tools, journal=self.journal, telemetry=self.telemetry, **unused)

    async def run(self):
        of = CHAT, self.history, self.calls, self.tools, self.attempt, self.world
        self.rows = await run_batch(*of, self.at_stake, show=self.preview.add, denied=self.denied)
        return self

    async def cut_short_after(self, seconds):
        with trio.move_on_after(seconds) as scope:
            await self.run()
        assert scope.cancelled_caught
        return self

    @property
    def results(self):
        """What the model is told: (id, result) in order, errors by their words alone."""
        return [_short(row.parts[0]) for row in self.attempt.results]

    @property
    def shown(self):
        return [(said.role, said.piece) for said in shown(self.preview)]


def _short(part):
    value = json.loads(part.result)
    return part.id, value["error"] if part.is_error else value["output"]


async def test_calls_run_together_and_stand_in_call_order(autojump_clock):
    tools = ScriptedTools().add("slow", 3).add("fast", 1)
    began = trio.current_time()

    batch = await Batch(tools, calls("a", "slow"), calls("b", "fast")).run()

    assert 3 == trio.current_time() - began
    assert [("a", "slow done"), ("b", "fast done")] == batch.results
    assert batch.rows == batch.attempt.results


async def test_serial_tools_run_after_the_others_one_by_one_in_call_order(autojump_clock):
    tools = ScriptedTools().add("one", 2, serial=True).add("all", 3)
    made = calls("a", "one"), calls("b", "all"), calls("c", "one"), calls("d", "all")
    began = trio.current_time()

    batch = await Batch(tools, *made).run()

    assert 3 + 2 + 2 == trio.current_time() - began
    assert ["a", "c"] == tools.ran[2:]
    assert ["a", "b", "c", "d"] == [id for id, _ in batch.results]


async def test_a_tool_that_takes_too_long_is_stopped(autojump_clock):
    tools = ScriptedTools().add("slow", HANGS, seconds=5).add("fast")

    batch = await Batch(tools, calls("a", "slow"), calls("b", "fast")).run()

    assert [("a", "the tool did not finish within 5 s"), ("b", "fast done")] == batch.results


@pytest.mark.parametrize("error", [ValueError("oops"), AssertionError("never")])
async def test_a_tool_that_raises_has_failed_alone_and_a_human_is_told(
    autojump_clock, caplog, error
):
    tools = ScriptedTools().add("bad", error).add("fast", 1)

    with caplog.at_level(logging.ERROR, LOGGER_NAME):
        batch = await Batch(tools, calls("a", "bad"), calls("b", "fast")).run()

    assert [("a", "the tool failed unexpectedly"), ("b", "fast done")] == batch.results
    assert (["a"], {"b"}) == (batch.telemetry.crashed, set(batch.telemetry.ended))
    [entry] = caplog.records
    assert "tool.crashed" == entry.message
    assert {"chat": f"chat/{CHAT.id}", "tool": "bad", "error": error} == entry.fields


class Clumsy(ScriptedTools):
    """Its tools raise an error of their own when they are stopped."""

    async def run(self, calling):
        try:
            return await super().run(calling)
        except trio.Cancelled as stopped:
            raise OSError("broken pipe") from stopped


async def test_what_breaks_at_the_deadline_does_not_hide_it(autojump_clock, caplog):
    batch = await Batch(Clumsy().add("slow", HANGS, seconds=5), calls("a", "slow")).run()

    assert [("a", "the tool did not finish within 5 s")] == batch.results
    assert [] == caplog.records


async def test_what_breaks_because_we_stop_is_no_result(autojump_clock):
    tools = Clumsy().add("slow", HANGS)

    batch = await Batch(tools, calls("a", "slow")).cut_short_after(1)

    assert [] == batch.results


# who is not run at all


NOT_JSON, NO_OBJECT = "not valid JSON", "not a JSON object"


@pytest.mark.parametrize(
    ("args", "fact"),
    [
        *dict.fromkeys([None, "", "{", '{"x":NaN}'], NOT_JSON).items(),
        *dict.fromkeys(["[]", '"x"', "1", "null"], NO_OBJECT).items(),
    ],
)
async def test_a_call_without_an_object_is_refused_unrun(autojump_clock, args, fact):
    tools = ScriptedTools().add("read")

    batch = await Batch(tools, calls("a", args=args), calls("b")).run()

    why = f"the arguments are {fact}; send the call again with well-formed arguments"
    assert [("a", why), ("b", "read done")] == batch.results
    assert ["b"] == tools.ran


@pytest.mark.parametrize(("strict", "runs"), [(True, False), (False, True)])
async def test_only_of_our_own_tools_arguments_are_refused_that_are_ambiguous(
    autojump_clock, strict, runs
):
    tools = ScriptedTools().add("read", strict=strict)

    await Batch(tools, calls("a", args='{"x": 1, "x": 2}')).run()

    assert runs is ("a" in tools.ran)


async def test_a_tool_is_called_by_an_older_name(autojump_clock):
    tools = ScriptedTools().add("read", aliases=("look",))
    tools.scripts["look"] = []

    batch = await Batch(tools, calls("a", "look")).run()

    assert [("a", "look done")] == batch.results


@pytest.mark.parametrize(
    ("output", "cut"),
    [
        pytest.param(ToolOutput(JsonText('{"output": "' + "x" * 99_999 + '"}')), True, id="a text"),
        pytest.param(ToolOutput(JsonText('["' + "x" * 99_999 + '"]')), True, id="a document"),
        pytest.param(
            ToolOutput(JsonText('{"data": "' + "x" * 99_999 + '"}'), is_media=True),
            False,
            id="an image",
        ),
    ],
)
async def test_a_result_keeps_its_share_of_the_window(autojump_clock, output, cut):
    tools = ScriptedTools().add("read", output)

    batch = await Batch(tools, calls("a")).run()

    [row] = batch.rows
    told = row.parts[0].result
    assert cut is (len(told) <= BUDGET_UNKNOWN + len('{"output": ""}'))
    assert cut is ("are left out here" in told)
    assert {"a": (output, cut)} == batch.telemetry.ended


async def test_a_call_of_a_tool_that_is_not_there_is_refused(autojump_clock):
    tools = ScriptedTools().add("read")

    batch = await Batch(tools, calls("a", "gone"), calls("b")).run()

    assert [("a", "there is no tool gone in this turn"), ("b", "read done")] == batch.results


async def test_a_batch_of_refusals_notes_nothing(autojump_clock):
    batch = await Batch(ScriptedTools(), calls("a", "gone"), journal=Shut(1000)).run()

    assert [("a", "there is no tool gone in this turn")] == batch.results


@pytest.mark.parametrize(
    ("cut_after", "told"),
    [(1, MAY_HAVE_RUN), (3, "read done"), (None, "there is no tool read in this turn")],
)
async def test_what_ran_before_its_tool_went_away_is_not_forgotten(autojump_clock, cut_after, told):
    journal, tools = MemoryJournal(), ScriptedTools().add("read", 2, repeatable=True)
    if cut_after is not None:
        both = Batch(tools.add("hang", HANGS), calls("a"), calls("b", "hang"), journal=journal)
        await both.cut_short_after(cut_after)

    again = await Batch(ScriptedTools(), calls("a"), journal=journal).run()

    assert [("a", told)] == again.results


@pytest.mark.parametrize(
    ("cut_after", "told"), [(1, MAY_HAVE_RUN), (3, "push done"), (None, "not allowed")]
)
async def test_what_ran_before_it_was_denied_is_not_said_to_have_not_run(
    autojump_clock, cut_after, told
):
    journal, tools = MemoryJournal(), ScriptedTools().add("push", 2).add("hang", HANGS)
    if cut_after is not None:
        both = Batch(tools, calls("a", "push"), calls("b", "hang"), journal=journal)
        await both.cut_short_after(cut_after)

    denied = {"a": "not allowed"}
    again = await Batch(tools, calls("a", "push"), journal=journal, denied=denied).run()

    assert [("a", told)] == again.results


READ, THINK = tool("read"), tool("think", exclusive=True)
LEAD = tool("lead", exclusive=True)
TOOLS = {each.tool.name: each for each in (READ, THINK, LEAD)}
ALONE = "has to be the only call of its step; call it again, alone"


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["think"], []),
        (["read", "read"], []),
        (
            ["read", "think"],
            [
                "read was not run, because think needs a step to itself; call it again without",
                f"think {ALONE}",
            ],
        ),
        (["think", "think"], [f"think {ALONE}", f"think {ALONE}"]),
        (
            ["think", "gone", "lead"],
            [
                f"think {ALONE}",
                "gone was not run, because think, lead needs a step to itself; call it again"
                " without",
                f"lead {ALONE}",
            ],
        ),
    ],
    ids=["alone", "none", "company", "two of it", "two kinds"],
)
def test_an_exclusive_tool_refuses_all_company(names, told):
    made = [calls(str(n), name) for n, name in enumerate(names)]

    assert dict(zip(made, told, strict=False)) == refusals(made, TOOLS)


async def test_an_exclusive_tool_runs_alone_even_beside_broken_arguments(autojump_clock):
    tools = ScriptedTools().add("think", exclusive=True)

    alone = await Batch(tools, calls("a", "think")).run()
    broken = await Batch(tools, calls("b", "think", args="[")).run()

    assert [("a", "think done")] == alone.results
    assert ["a"] == tools.ran
    assert "the arguments are not" in broken.results[0][1]


# what watchers see


async def test_results_are_shown_in_call_order_with_the_files_before_them(autojump_clock):
    drawn = ToolOutput(JsonText('{"output":"drawn"}'), shown=(IMAGE,))
    tools = ScriptedTools().add("draw", 2, drawn).add("fast")

    batch = await Batch(tools, calls("a", "draw"), calls("b", "fast")).run()

    a, b = (row.parts[0] for row in batch.rows)
    assert [(Role.ASSISTANT, IMAGE), (Role.TOOL, a), (Role.TOOL, b)] == batch.shown
    assert [(a, IMAGE), (b,)] == [row.parts for row in batch.rows]
    assert {FAST} == {row.model_config_id for row in batch.rows}


async def test_a_result_has_the_time_at_which_its_own_call_ended(autojump_clock):
    journal = MemoryJournal()
    known = JournalEntry("a", NOW, ToolOutput(JsonText('{"output":"known"}')), NOW)
    journal.entries[CHAT.id, HISTORY, "a"] = known

    batch = await Batch(ScriptedTools().add("read"), calls("a"), calls("b"), journal=journal).run()

    a, b = (row.parts[0] for row in batch.rows)
    assert NOW == a.created_at
    assert b.created_at is not None


# what is kept when it is cut short


async def test_what_has_finished_is_kept_when_the_batch_is_cut_short(autojump_clock):
    tools = ScriptedTools().add("fast", 1).add("slow", HANGS).add("last", serial=True)
    made = calls("a", "slow"), calls("b", "fast"), calls("c", "last"), calls("d", "gone")

    batch = await Batch(tools, *made).cut_short_after(2)

    assert [("b", "fast done"), ("d", "there is no tool gone in this turn")] == batch.results
    assert [Role.TOOL] * 2 == [role for role, _ in batch.shown]
    assert batch.rows is None


async def test_serial_results_are_kept_too(autojump_clock):
    tools = ScriptedTools().add("one", 1, serial=True)
    made = calls("a", "one"), calls("b", "one")

    batch = await Batch(tools, *made).cut_short_after(1.5)

    assert [("a", "one done")] == batch.results


# the journal


class Shut(MemoryJournal):
    """No end is noted in it; nor are the first `times` beginnings."""

    def __init__(self, times):
        super().__init__()
        self.times = times

    async def begin(self, chat, calls):
        self.times -= 1
        if self.times >= 0:
            raise Away("begin: the database is away")
        return await super().begin(chat, calls)

    async def end(self, chat, tool_call_id, output):
        raise Away("end: the database is away")


async def test_every_call_is_in_the_journal_while_it_runs_and_once_it_has_ended(autojump_clock):
    tools = ScriptedTools().add("fast", 1).add("slow", 3)
    batch = Batch(tools, calls("a", "fast"), calls("b", "slow"), calls("c", "gone"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(batch.run)
        await trio.sleep(2)
        during = {key[-1]: entry.output is not None for key, entry in batch.journal.entries.items()}
    after = {key[-1]: entry.output is not None for key, entry in batch.journal.entries.items()}

    assert {"a": True, "b": False} == during
    assert {"a": True, "b": True} == after


async def test_a_call_that_had_ended_is_not_run_again(autojump_clock):
    journal, tools = MemoryJournal(), ScriptedTools().add("read", 1)
    first = await Batch(tools, calls("a"), journal=journal).run()

    again = await Batch(tools, calls("a"), calls("b"), journal=journal).run()

    assert ["a", "b"] == tools.ran
    assert [*first.results, ("b", "read done")] == again.results


@pytest.mark.parametrize(
    ("repeatable", "ran", "told"), [(True, ["a", "a"], "read done"), (False, ["a"], MAY_HAVE_RUN)]
)
async def test_a_call_that_was_cut_off_is_run_again_only_if_that_does_no_harm(
    autojump_clock, repeatable, ran, told
):
    journal, tools = MemoryJournal(), ScriptedTools().add("read", 2, repeatable=repeatable)
    await Batch(tools, calls("a"), journal=journal).cut_short_after(1)

    again = await Batch(tools, calls("a"), journal=journal).run()

    assert ran == tools.ran
    assert [("a", told)] == again.results


async def test_a_call_of_an_earlier_step_under_the_same_id_is_another_call(autojump_clock):
    journal, tools = MemoryJournal(), ScriptedTools().add("read")
    done = JournalEntry("a", NOW, ToolOutput(JsonText('{"output":"stale"}')), NOW)
    journal.entries[CHAT.id, HISTORY - 1, "a"] = done

    batch = await Batch(tools, calls("a"), journal=journal).run()

    assert [("a", "read done")] == batch.results


async def test_a_journal_that_takes_no_end_loses_no_result(autojump_clock, caplog):
    batch = await Batch(ScriptedTools().add("read"), calls("a"), journal=Shut(0)).run()

    assert [("a", "read done")] == batch.results
    assert ["journal.missed"] == [entry.message for entry in caplog.records]


async def test_nothing_is_run_that_the_journal_does_not_know(autojump_clock):
    tools = ScriptedTools().add("read")

    with pytest.raises(Away):
        await Batch(tools, calls("a"), journal=Shut(1000)).run()

    assert [] == tools.ran


async def test_a_journal_that_is_away_for_a_moment_is_waited_for(autojump_clock):
    batch = await Batch(ScriptedTools().add("read"), calls("a"), journal=Shut(3)).run()

    assert [("a", "read done")] == batch.results


# what is at stake while it runs


class Watchful(MemoryJournal):
    """Notes whether anything is at stake when calls are journalled as begun."""

    batch = None

    async def begin(self, chat, calls):
        self.batch.at_begin = bool(self.batch.at_stake)
        return await super().begin(chat, calls)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({}, True),  # if it were not run then, the model would be told that it may have run
        ({"serial": True}, True),
        ({"repeatable": True}, False),
        ({"repeatable": True, "only_waits": True}, False),
    ],
)
async def test_what_may_not_run_again_is_at_stake_before_it_is_journalled(
    autojump_clock, rules, expected
):
    tools = ScriptedTools().add("go", 1, **rules)
    batch = Batch(tools, calls("a", "go"), journal=Watchful())
    batch.journal.batch = batch

    await batch.run()

    assert expected == batch.at_begin


async def test_nothing_is_at_stake_while_a_batch_only_waits(autojump_clock):
    tools = ScriptedTools().add("fast", 1).add("slow", 2, repeatable=True)
    tools.add("wait", 5, repeatable=True, only_waits=True)
    tools.add("last", 1, repeatable=True, serial=True)
    made = calls("a", "fast"), calls("b", "slow"), calls("c", "wait"), calls("d", "last")
    batch = Batch(tools, *made)

    await batch.cut_short_after(4)

    assert [2] == batch.left
    assert not batch.at_stake


async def test_a_step_whose_results_are_all_there_is_at_stake(autojump_clock):
    tools = ScriptedTools().add("fast", 1).add("wait", 5, repeatable=True, only_waits=True)
    batch = Batch(tools, calls("a", "fast"), calls("b", "wait"))

    await batch.run()

    assert [1] == batch.left
    assert batch.at_stake


def test_a_tool_that_only_waits_can_be_waited_for_again():
    with pytest.raises(AssertionError, match="runs again elsewhere"):
        tool("wait", only_waits=True)
