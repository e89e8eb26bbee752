"""Chats that grow and grow, on a real daemon with a rehearsal model: none of them is ever stuck.

The rehearsal counts a quarter of a request's bytes as what it has read, as real models about do.
"""

from dataclasses import replace

import msgspec
import pytest
import trio

from actors.law.chat import Role
from actors.law.states import Status
from actors.prompts.compaction import HANDED_OVER, INSTRUCTIONS
from adapters.models.settings import override_name, override_text
from adapters.models.store.settings import SettingStore
from adapters.postgres.family import PostgresFamily
from adapters.rehearsal.behaviour import (
    Behaviour,
    ContextOverflow,
    EndedEarly,
    FaultRule,
    ScriptedCall,
)
from tests.actors.law.chats import ANN, DYNAMIC
from tests.adapters.chats.routes.daemon import PATIENCE_SECONDS, a_daemon, said_in
from tests.adapters.chats.routes.ground import message

pytestmark = pytest.mark.slow

WINDOW = 30_000  # tokens; some thousands of them are what every request says of tools
PAGE = "x" * 16_000  # bytes: 4,000 tokens
DEMAND = "Never write below /etc, and answer in German."
SUMMARY = Behaviour(text="the summary")
DONE = Behaviour(text="done")
TOO_LONG = Behaviour(faults=(FaultRule(ContextOverflow()),))
OUT_OF_ROOM = Behaviour(reasoning=9, faults=(FaultRule(EndedEarly("length", 0)),))


def plays(*script):
    return Behaviour(script=script)


def fills(share, behaviour=DONE):
    """It says that it has read so much of the window."""
    return replace(behaviour, input_tokens=int(WINDOW * share))


async def say(daemon, chat, *said):
    for text in said:
        assert 200 == (await daemon.ask("POST", f"{chat}/messages", message(text))).status
        await daemon.at_rest(chat)


async def compact(daemon, chat):
    answer = await daemon.ask("POST", f"{chat}/compact")
    await daemon.at_rest(chat)
    return answer.status


async def status_of(daemon, chat):
    return (await daemon.chats.store.reading.view(chat)).chat.status


async def summaries_of(daemon, chat):
    history = await daemon.chats.store.reading.history(chat)
    rows = [m.body for m in history if m.body.compressed and m.body.role is Role.TOOL]
    return [msgspec.json.decode(row.parts[0].result) for row in rows]


def requests(daemon):
    return [heard.body.decode() for heard in daemon.rehearsal.records]


def sums_up(request):
    return INSTRUCTIONS.splitlines()[0][:40] in request


async def set_threshold(daemon, percent):
    store = daemon.chats.store
    settings = SettingStore(store.pool, tell=store.bus.tell)
    async with store.pool.connection() as connection:
        [(model,)] = await connection.execute("SELECT id FROM model_configs")
    await settings.put_own(ANN, f"compaction_threshold/{model}", percent)


async def test_a_chat_that_outgrows_its_window_again_and_again_goes_on(fresh):
    """Summaries are made by themselves in a daemon that is put together as it is shipped."""
    async with a_daemon(fresh, DONE, context_limit=WINDOW) as daemon:
        chat = await daemon.begin("hello")
        await daemon.at_rest(chat)

        await say(daemon, chat, *[PAGE] * 16)

        assert Status.WAITING is await status_of(daemon, chat)
        made = await summaries_of(daemon, chat)
        assert 2 <= len(made) <= 8
        assert {"automatic"} == {each["source"] for each in made}
        assert all(70 <= each["usage_percent"] < 100 for each in made)
        assert 17 + len(made) == daemon.rehearsal.requests


async def test_work_goes_on_at_once_behind_a_summary(fresh):
    """Momentum is kept: nobody has to say anything, and the model is told to go on."""
    works = Behaviour(tool_calls=(ScriptedCall("list_agents", "{}"),))
    script = plays(fills(0.9, works), SUMMARY, fills(0.2))
    async with a_daemon(fresh, script, context_limit=WINDOW) as daemon:
        chat = await daemon.begin("build it")

        history = await daemon.at_rest(chat)

        [_, asking, after] = requests(daemon)
        assert "the next action" in asking
        assert [HANDED_OVER[:40] in each for each in (asking, after)] == [False, True]
        assert "Go on from here as if nothing had happened" in after
        assert "the summary" in after
        assert (Role.ASSISTANT, "done") == history[-1]
        assert Status.WAITING is await status_of(daemon, chat)


async def test_what_users_demand_is_handed_on_in_their_words_from_summary_to_summary(fresh):
    """Constraints and prohibitions are not dropped."""
    first = Behaviour(text=f"He said: {DEMAND}")
    async with a_daemon(fresh, plays(DONE, first, DONE, SUMMARY)) as daemon:
        chat = await daemon.begin(DEMAND)
        await daemon.at_rest(chat)

        statuses = [await compact(daemon, chat)]
        await say(daemon, chat, "go on")
        statuses.append(await compact(daemon, chat))

        assert [200, 200] == statuses
        _, one, after, two = requests(daemon)
        assert [True] * 3 == [DEMAND in each for each in (one, after, two)]
        assert "in his own words as far as possible" in one
        assert "They hold until he takes them back" in one


async def test_only_what_users_said_themselves_is_to_be_handed_on_as_their_will(fresh):
    """Summaries do not invent doctrine out of system prompts and files, or of a tool's failure."""
    async with a_daemon(fresh, DONE) as daemon:
        chat = await daemon.begin("hello")
        await daemon.at_rest(chat)

        await compact(daemon, chat)

        asked = requests(daemon)[-1]
        assert "not what stands in system prompts or in files" in asked
        assert "if you are not sure where a demand comes from, say so" in asked
        assert "A tool that failed once is not a tool to be avoided" in asked


async def test_what_no_summary_can_cure_stops_the_chat_and_asks_no_more(fresh):
    """Summaries are not made in a circle."""
    async with a_daemon(fresh, fills(0.9), context_limit=WINDOW) as daemon:
        chat = await daemon.begin("one")
        await daemon.at_rest(chat)
        await say(daemon, chat, "two", "three", "four")

        stored = await daemon.chats.store.reading.view(chat)
        assert (Status.ERROR, "config") == (stored.chat.status, stored.chat.last_error.kind)
        assert "Raise the threshold" in stored.chat.last_error.message
        assert 3 == daemon.rehearsal.requests  # two answers, one summary between them

        await set_threshold(daemon, 95)
        await say(daemon, chat, "five")

        assert Status.WAITING is await status_of(daemon, chat)


async def test_a_chat_that_stopped_because_it_was_too_long_is_freed_by_a_summary(fresh):
    """What is asked for works in the one state that needs it, even where the whole conversation is
    too long for the summary itself."""
    script = plays(DONE, TOO_LONG, TOO_LONG, SUMMARY, SUMMARY, SUMMARY, DONE)
    async with a_daemon(fresh, script, context_limit=WINDOW) as daemon:
        await set_threshold(daemon, 100)  # nothing happens by itself
        chat = await daemon.begin(PAGE)
        await daemon.at_rest(chat)
        await say(daemon, chat, PAGE)
        stopped = await daemon.chats.store.reading.view(chat)

        status = await compact(daemon, chat)

        assert (Status.ERROR, "config") == (stopped.chat.status, stopped.chat.last_error.kind)
        assert 200 == status
        [made] = await summaries_of(daemon, chat)
        assert ("manual", "the summary") == (made["source"], made["summary"])
        assert Status.WAITING is await status_of(daemon, chat)
        history = await daemon.chats.store.reading.history(chat)
        assert [PAGE, PAGE] == [said_in(row) for row in history if row.body.role is Role.USER][:2]


@pytest.mark.parametrize("number", range(4))
async def test_what_a_provider_finds_too_long_is_summed_up_without_anybody_doing_anything(
    fresh, number
):
    """Nobody has told how large the window is, and every vendor has words of its own for it."""
    async with a_daemon(fresh, plays(DONE, TOO_LONG, SUMMARY, DONE)) as daemon:
        chat = await daemon.begin("one")
        await daemon.at_rest(chat)

        sent = message("two", model_config_id=str(daemon.models[number].id))
        await daemon.ask("POST", f"{chat}/messages", sent)
        await daemon.at_rest(chat)

        assert Status.WAITING is await status_of(daemon, chat)
        assert [False, False, True, False] == list(map(sums_up, requests(daemon)))


async def test_thoughts_that_eat_the_room_of_the_answer_do_not_wedge_a_chat(fresh):
    """An empty summary is not asked for again in the same way, and not for ever."""
    async with a_daemon(fresh, plays(DONE, OUT_OF_ROOM, SUMMARY)) as daemon:
        chat = await daemon.begin("hello")
        await daemon.at_rest(chat)

        await compact(daemon, chat)

        assert ["the summary"] == [each["summary"] for each in await summaries_of(daemon, chat)]
        stored = await daemon.chats.store.reading.view(chat)
        assert (Status.WAITING, None) == (stored.chat.status, stored.chat.retry_state)

        daemon.rehearsal.behave(DONE)
        await daemon.ask("POST", f"{chat}/messages", message("more"))
        await daemon.at_rest(chat)
        daemon.rehearsal.behave(OUT_OF_ROOM)
        await compact(daemon, chat)

        stopped = await daemon.chats.store.reading.view(chat)
        assert Status.ERROR is stopped.chat.status
        assert "made no summary" in stopped.chat.last_error.message
        assert 6 == daemon.rehearsal.requests  # three attempts, two ways of asking

        daemon.rehearsal.behave(SUMMARY)
        assert 200 == await compact(daemon, chat)
        assert Status.WAITING is await status_of(daemon, chat)


async def test_the_request_for_a_summary_is_the_last_one_with_a_question_more(fresh):
    """What the provider has kept of the prompt is used: tools and system prompt are all there."""
    async with a_daemon(fresh, DONE) as daemon:
        chat = await daemon.begin("hello")
        await daemon.at_rest(chat)

        await compact(daemon, chat)

        last, asking = (msgspec.json.decode(uncached(each)) for each in requests(daemon))
        assert last["tools"] == asking["tools"] != []
        assert last["system"] == asking["system"] != []
        assert last["messages"] == asking["messages"][: len(last["messages"])]
        assert {"type": "none"} == asking["tool_choice"]


def uncached(request):
    return request.replace(',"cache_control":{"type":"ephemeral"}', "")


async def test_one_huge_result_does_not_wedge_a_chat(fresh):
    """A client hands in what is ten times as long as the window."""
    asks = Behaviour(tool_calls=(ScriptedCall(DYNAMIC, "{}"),))
    async with a_daemon(fresh, asks, context_limit=WINDOW) as daemon:
        chat = await daemon.begin("look", tools=[DYNAMIC])
        await daemon.until(chat, lambda s: s.chat.status is Status.REQUIRES_ACTION)
        daemon.rehearsal.behave(fills(0.1))
        [call] = [
            part
            for row in await daemon.chats.store.reading.history(chat)
            for part in row.body.parts
            if hasattr(part, "args")
        ]
        result = {"tool_call_id": call.id, "output": "y" * 1_200_000}

        answered = await daemon.ask("POST", f"{chat}/tool-results", {"results": [result]})
        history = await daemon.at_rest(chat)

        assert 204 == answered.status
        assert (Status.WAITING, "done") == (await status_of(daemon, chat), history[-1][1])
        longest = max(heard.body_bytes for heard in daemon.rehearsal.records)
        assert longest < WINDOW * 4


async def test_each_user_says_when_his_chats_are_summed_up(fresh):
    """One's own threshold counts, for the model that it was set for."""
    async with a_daemon(fresh, fills(0.5), context_limit=WINDOW) as daemon:
        chat = await daemon.begin("one")
        await daemon.at_rest(chat)
        await say(daemon, chat, "two")
        before = await summaries_of(daemon, chat)

        await set_threshold(daemon, 40)
        await say(daemon, chat, "three")

        [made] = await summaries_of(daemon, chat)
        assert [] == before
        assert (40, 50.0) == (made["threshold_percent"], made["usage_percent"])


async def test_a_summary_is_made_whenever_somebody_asks_for_it(fresh):
    """However little has been said."""
    async with a_daemon(fresh, DONE, context_limit=WINDOW) as daemon:
        await set_threshold(daemon, 100)
        chat = await daemon.begin("hello")
        await daemon.at_rest(chat)

        statuses = [await compact(daemon, chat) for _ in range(2)]

        assert [200, 409] == statuses
        assert ["manual"] == [each["source"] for each in await summaries_of(daemon, chat)]


async def test_whoever_was_set_to_sum_up_needs_no_window_as_large_as_the_chats(fresh):
    """A model of one's own for summaries, which reads less at once."""
    async with a_daemon(fresh, fills(0.9), context_limit=WINDOW) as daemon:
        await add_writer(daemon, context_limit=8_000)
        chat = await daemon.begin(PAGE)
        await daemon.at_rest(chat)
        daemon.rehearsal.behave(fills(0.1))

        await say(daemon, chat, PAGE)

        *parts, answer = daemon.rehearsal.records
        asked = [msgspec.json.decode(each.body) for each in parts]
        assert len(asked) > 2
        assert {"writer"} == {each["model"] for each in asked}
        assert all(each.body_bytes < 8_000 * 4 for each in parts)
        assert "writer" != msgspec.json.decode(answer.body)["model"]
        [made] = await summaries_of(daemon, chat)
        assert 8_000 == made["context_limit_tokens"]


async def add_writer(daemon, *, context_limit):
    store = daemon.chats.store
    async with store.pool.connection() as connection:
        [(writer,)] = await connection.execute(
            "INSERT INTO model_configs (id, provider_id, model, enabled, is_default,"
            " context_limit, compression_threshold, call) SELECT gen_random_uuid(), provider_id,"
            " 'writer', true, false, %(limit)s, 70, '{}' FROM model_configs RETURNING id",
            {"limit": context_limit},
        )
    settings = SettingStore(store.pool, tell=store.bus.tell)
    await settings.put({override_name("compaction"): override_text(writer, None)})


async def test_what_a_model_reads_first_behind_a_summary_is_said_by_a_user(fresh):
    """Some providers want it so, and none minds."""
    async with a_daemon(fresh, DONE) as daemon:
        chat = await daemon.begin("hello")
        await daemon.at_rest(chat)
        await compact(daemon, chat)

        await say(daemon, chat, "go on")

        [first, *_] = msgspec.json.decode(requests(daemon)[-1])["messages"]
        assert ("user", True) == (first["role"], HANDED_OVER in first["content"][0]["text"])


async def test_what_an_agent_reports_outlives_that_its_chat_was_summed_up(fresh):
    """Its parent reads what it said, not the summary of it."""
    works = Behaviour(tool_calls=(ScriptedCall("read_skill", "{}"),))
    async with a_daemon(fresh, DONE, context_limit=WINDOW) as daemon:
        parent = await daemon.begin("build it")
        await daemon.at_rest(parent)
        daemon.rehearsal.behave(plays(fills(0.9, works), SUMMARY, Behaviour(text="the report")))
        child = await daemon.begin("look", parent_id=parent, root_id=parent)
        await daemon.at_rest(child)
        family = PostgresFamily(daemon.chats.store.pool)
        [before] = await family.with_reports(parent, [child])

        assert 200 == await compact(daemon, child)

        [after] = await family.with_reports(parent, [child])
        assert 2 == len(await summaries_of(daemon, child))
        assert before.last_report == after.last_report
        assert "the report" in repr(after.last_report)


async def test_a_label_says_how_the_turn_ended_and_not_that_it_was_summed_up(fresh):
    """Lists go on saying what they said."""
    plays = Behaviour(text="Fixed login redirect", script=(DONE, SUMMARY))
    async with a_daemon(fresh, plays, PROMPTCORNER_SUMMARIES="on") as daemon:
        chat = await daemon.begin("mend the login", title="it")
        with trio.fail_after(PATIENCE_SECONDS):
            while await label_of(daemon, chat) is None:
                await trio.sleep(0.01)

        await compact(daemon, chat)
        with trio.fail_after(PATIENCE_SECONDS):
            while daemon.chats.background.statistics().running:
                await trio.sleep(0.01)

        assert "Fixed login redirect" == await label_of(daemon, chat)


async def label_of(daemon, chat):
    async with daemon.chats.store.pool.connection() as connection:
        [(label,)] = await connection.execute(
            "SELECT last_turn_summary FROM chats WHERE id = %(id)s", {"id": chat}
        )
    return label
