"""Agents are waited for: their reports, and what is none."""

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from uuid import UUID

import pytest
import trio
import trio.testing

from actors.law.ids import EpisodeKey
from actors.law.store.hints import HintsLost
from tests.adapters.chats.counting import OF_THE_PROCESS, is_any
from tests.adapters.tools.built_in.agents.ground import SLOW, a_parent, error
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow
THINK = "[[text: ]] [[deltas: 0]] [[reasoning: 3]] and now?"


async def test_several_agents_are_waited_for_at_once(parent):
    agents = [await parent.spawn(f"work {n}") for n in range(5)]

    told = await parent.call("wait_agent", chat_ids=[agent["chat_id"] for agent in agents])

    assert not told["timed_out"]
    assert [agent["chat_id"] for agent in agents] == [one["chat_id"] for one in told["agents"]]
    assert {"the report"} == {one["report"] for one in told["agents"]}


async def test_the_first_of_several_is_enough_where_any_will_do(parent):
    slow, quick = await parent.spawn(SLOW), await parent.spawn("quick")

    told = await parent.call(
        "wait_agent", chat_ids=[slow["chat_id"], quick["chat_id"]], until="any"
    )

    assert ["running", "waiting"] == [one["status"] for one in told["agents"]]
    assert not told["timed_out"]
    assert ["timed_out" in one for one in told["agents"]] == [False, False]
    await parent.call("interrupt_agent", chat_id=slow["chat_id"])
    await parent.at_rest(slow)


@pytest.mark.parametrize(("until", "timed_out"), [("all", True), ("any", False)])
async def test_of_several_some_may_have_settled_when_the_time_is_over(parent, until, timed_out):
    slow, quick = await parent.spawn(SLOW), await parent.spawn("quick")
    ids = [slow["chat_id"], quick["chat_id"]]
    await parent.at_rest(quick)

    told = await parent.call("wait_agent", chat_ids=ids, until=until, timeout_seconds=1)

    assert timed_out is told["timed_out"]
    assert [timed_out, False] == ["timed_out" in one for one in told["agents"]]
    assert "the report" == told["agents"][1]["report"]


async def test_a_wait_that_takes_too_long_says_so_and_the_agent_goes_on(parent):
    slow = await parent.spawn(SLOW)

    told = await parent.call("wait_agent", chat_id=slow["chat_id"], timeout_seconds=1)

    assert ("running", True) == (told["status"], told["timed_out"])
    await parent.call("interrupt_agent", chat_id=slow["chat_id"])
    await parent.at_rest(slow)


async def test_a_wait_that_a_process_gone_had_begun_takes_no_longer_for_that(parent):
    slow = await parent.spawn(SLOW)

    with trio.fail_after(PATIENCE_SECONDS):
        told = await parent.call(
            "wait_agent", _age=60.0, chat_id=slow["chat_id"], timeout_seconds=59
        )

    assert told["timed_out"]


async def test_an_agent_that_failed_is_reported_and_no_failure_to_wait(parent):
    agent = await parent.spawn("[[fault: 401]] work")

    told = await parent.call("wait_agent", chat_id=agent["chat_id"])

    assert ("error", "auth", False) == (
        told["status"],
        told["last_error_kind"],
        told["last_error_retryable"],
    )


async def test_waiting_asks_the_database_nothing(parent):
    tools = parent.tools
    for ms in (1_500, 40_000):  # on a busy machine it has settled before we wait, now and then
        parent.tools, looks = tools, []
        slow = await parent.spawn(f"[[first-token-ms: {ms}]] work")
        parent.tools = replace(tools, family=Counted(tools.family, looks))

        told = await parent.call("wait_agent", chat_id=slow["chat_id"])

        assert "waiting" == told["status"]
        if len(looks) > 1:
            break
    # Where it stands; and that it has settled, as its commit told, with its report.
    assert ["with_reports", "with_reports"] == looks


async def test_while_it_waits_nothing_is_asked_and_no_timer_fires(parent):
    agents = [await parent.spawn(SLOW) for _ in range(3)]
    steps, told = Steps(), []

    async with trio.open_nursery() as nursery:
        for agent in agents:
            nursery.start_soon(_wait, parent, agent, told)
        await until_all_wait(parent)
        [(since,)] = await asked(parent, "SELECT clock_timestamp()")
        trio.lowlevel.add_instrument(steps)
        await trio.sleep(1.5)  # in which timers of half a second, and of one, would fire
        trio.lowlevel.remove_instrument(steps)
        with trio.fail_after(PATIENCE_SECONDS):
            while not (queries := await asked(parent, QUERIES, since=since)):
                await trio.sleep(0.1)  # the process itself goes on: its lease, its polls
        nursery.cancel_scope.cancel()

    ours = (
        "test_waiting._wait",
        "actors.chat.",
        "actors.chat.turn.",
        "actors.agents.",
        "adapters.tools.",
    )
    assert [] == [name for name in steps.names if any(word in name for word in ours)]
    assert [] == [query for (query,) in queries if not is_any(query, OF_THE_PROCESS)]
    assert steps.names, "the process itself goes on"


# What the server was asked last on each of its connections, as far as that was after `since`, and
# is not this question.
QUERIES = """
    SELECT query FROM pg_stat_activity
     WHERE datname = current_database() AND query_start > %(since)s
       AND query NOT LIKE '%%pg_stat_activity%%'
"""


async def asked(parent, query, **how):
    async with parent.daemon.chats.store.pool.connection() as connection:
        return await connection.execute(query, how)


async def until_all_wait(parent):
    """They have looked, models have been asked, and the server has nothing to do for anybody."""
    with trio.fail_after(PATIENCE_SECONDS):
        while True:
            await trio.testing.wait_all_tasks_blocked(0.2)
            if not await asked(parent, BUSY):
                return


BUSY = """
    SELECT query FROM pg_stat_activity
     WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()
       AND backend_type = 'client backend'
"""


class Steps(trio.abc.Instrument):
    """Which tasks were woken."""

    def __init__(self):
        self.names = set()

    def before_task_step(self, task):
        self.names.add(task.name)


async def test_of_an_agent_that_was_stopped_what_it_had_said_is_no_report(parent):
    agent = await parent.spawn("[[text: the first report]] work")
    await parent.at_rest(agent)
    await parent.call("message_agent", chat_id=agent["chat_id"], message=SLOW)
    await parent.call("interrupt_agent", chat_id=agent["chat_id"])
    await parent.at_rest(agent)

    told = await parent.call("wait_agent", chat_id=agent["chat_id"])

    assert {**agent, "status": "waiting", "report": "", "unfinished": True} == told


async def test_half_an_answer_is_no_report(parent):
    agent = await parent.spawn(f"[[text: {'word ' * 100}]] [[delta-ms: 50]] tell me")
    said = partial(_has_said, parent, agent)
    await parent.daemon.until(UUID(agent["chat_id"]), said)
    await parent.call("interrupt_agent", chat_id=agent["chat_id"])
    [_, (_, half)] = await parent.at_rest(agent)

    told = await parent.call("wait_agent", chat_id=agent["chat_id"])

    assert half
    assert ("", True) == (told["report"], told["unfinished"])


def _has_said(parent, agent, stored):
    """As far as its watchers are shown."""
    chat = stored.chat
    key = EpisodeKey(chat.id, chat.history_version, chat.generation_attempt)
    episode = parent.daemon.chats.previews.find(key)
    return episode is not None and len(episode.encoded) > 3


async def test_a_report_is_the_last_thing_said_with_any_words_in_it(parent):
    agent = await parent.spawn("[[tool-calls: process_list:{}]] [[preamble: 3]] work")
    said = [said for _, said in await parent.at_rest(agent)]
    await parent.call("message_agent", chat_id=agent["chat_id"], message=THINK)
    await parent.at_rest(agent)

    told = await parent.call("wait_agent", chat_id=agent["chat_id"])

    assert 4 == len(said)
    assert ("the report", None) == (told["report"], told.get("unfinished"))


async def test_many_that_settle_at_once_are_each_told_of_once_and_looked_for_together(daemon):
    """Two looks for each parent, however many agents it has."""
    looks, told = [], {}
    parents = [await a_parent(daemon, f"parent {n}") for n in range(4)]
    for parent in parents:
        parent.tools = replace(parent.tools, family=Counted(parent.tools.family, looks))

    async def live(number, parent, ms):
        agents = [await parent.spawn(f"[[first-token-ms: {ms}]] work") for _ in range(6)]
        ids = [agent["chat_id"] for agent in agents]
        told[number] = ids, await parent.call("wait_agent", chat_ids=ids)

    for ms in (2_500, 40_000):  # on a busy machine all of one have settled before that, perhaps
        looks.clear()
        async with trio.open_nursery() as nursery:
            for number, parent in enumerate(parents):
                nursery.start_soon(live, number, parent, ms)
        if looks.count("with_reports") >= 2 * len(parents):
            break

    for ids, waited in told.values():
        assert ids == [agent["chat_id"] for agent in waited["agents"]]
        assert ["the report"] * 6 == [agent["report"] for agent in waited["agents"]]
    assert 2 * len(parents) == looks.count("with_reports")


async def test_news_that_got_lost_is_looked_for(parent):
    agent = await parent.spawn(SLOW)
    bus, looks, told = Deaf(), [], []
    tools, family = parent.tools, Counted(parent.tools.family, looks)
    waiting = replace(parent, tools=replace(tools, bus=bus, family=family))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(_wait, waiting, agent, told))
        with trio.fail_after(PATIENCE_SECONDS):
            while "with_reports" not in looks:
                await trio.sleep(0.002)
        await parent.call("interrupt_agent", chat_id=agent["chat_id"])
        await parent.at_rest(agent)
        assert [] == told
        bus.doubt()

    assert "waiting" == told[0]["status"]


async def _wait(parent, agent, told):
    told.append(await parent.call("wait_agent", chat_id=agent["chat_id"]))


@pytest.mark.parametrize("name", ["wait_agent", "message_agent", "interrupt_agent"])
async def test_chats_that_are_not_ours_are_not_there(daemon, parent, name):
    other = await a_parent(daemon, "another")
    theirs = await other.spawn("work")
    await other.at_rest(theirs)

    for stranger in (theirs["chat_id"], str(other.chat.id), str(parent.chat.id), UUID(int=9)):
        told = await parent.call(name, chat_id=stranger, message="hello")
        assert f"{stranger} is no agent of this chat; see list_agents" == error(told)


class Counted:
    """A family that writes down what it has answered."""

    def __init__(self, family, looks):
        self._family = family
        self._looks = looks

    def __getattr__(self, name):
        async def asked(*how, **more):
            answer = await getattr(self._family, name)(*how, **more)
            self._looks.append(name)
            return answer

        return asked


class Deaf:
    """A bus on which no news of chats arrives."""

    def __init__(self):
        self._heard = []

    def follow_chat(self, chat, heard):
        self._heard.append(heard)
        return nullcontext()

    def doubt(self):
        for heard in self._heard:
            heard(HintsLost())
