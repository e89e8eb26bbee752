"""A user's interrupt, wherever it hits: what is kept of the attempt, and what is written for it."""

import trio

from actors.chat.turn.ports import ToolOutput
from actors.law.parts.deltas import (
    ProviderToolResult,
    ReasoningDelta,
    ReasoningEnded,
    ToolCall,
    ToolInputDelta,
)
from actors.law.parts.message import ReasoningPart, ToolCallPart, ToolResultPart
from actors.law.requests import Interrupt
from actors.streams.previews import PIECE_BYTES_MAX, RETENTION_SECONDS, Previews
from tests.actors.chat.stage import a_chat_at_work
from tests.fakes.balky import Away
from tests.fakes.scripted import (
    HANGS,
    OVERLOADED,
    MemoryJournal,
    OneModel,
    PlainPrompts,
    ScriptedProvider,
    ScriptedTools,
    call,
)

HELLO = ("user", "hello")
CLOSED = '{"error": "interrupted before the tool produced a result"}'


async def interrupted(*script, after=1.5, seconds=1, **more):
    """The rows behind the user's message, once the chat has come to rest."""
    async with a_chat_at_work(ScriptedProvider(list(script)), **more) as stage:
        await trio.sleep(after)
        await stage.ask(Interrupt())
        await trio.sleep(seconds)

        assert "waiting" == stage.status
        assert stage.row.holder is None
        return stage.rows[1:]


def results(rows):
    return [(row.parts[0].id, row.parts[0].result) for row in rows]


class SlowPrompts(PlainPrompts):
    async def prompt_for(self, *args):
        await trio.sleep(3)
        return await super().prompt_for(*args)


async def test_only_the_time_of_the_model_is_billed(autojump_clock):
    [row] = await interrupted("Hel", HANGS, after=4.5, prompts=SlowPrompts())

    assert 1500 == row.runtime_ms


async def test_the_pause_after_an_attempt_is_not_billed(autojump_clock):
    [row] = await interrupted("Hel", 1, OVERLOADED, after=1.5)

    assert 1000 == row.runtime_ms


async def test_of_an_attempt_that_asked_nobody_nothing_is_kept(autojump_clock):
    assert [] == await interrupted("Hel", after=1, prompts=SlowPrompts())


async def test_tools_are_not_billed(autojump_clock):
    tools = ScriptedTools().add("fast").add("slow", HANGS)

    answer, *batch = await interrupted(call("a", "fast"), call("b", "slow"), tools=tools)

    assert 0 == (answer.runtime_ms or 0)
    assert [None, None] == [row.runtime_ms for row in batch]
    assert [("a", '{"output": "fast done"}'), ("b", CLOSED)] == results(batch)


class Deaf(MemoryJournal):
    """Notes no end."""

    async def end(self, chat, tool_call_id, output):
        raise Away("end: the database is away")


async def test_results_that_the_journal_missed_are_kept(autojump_clock):
    tools = ScriptedTools().add("fast").add("slow", HANGS)
    both = call("a", "fast"), call("b", "slow")

    _, *batch = await interrupted(*both, tools=tools, journal=Deaf())

    assert [("a", '{"output": "fast done"}'), ("b", CLOSED)] == results(batch)


async def test_calls_whose_arguments_are_whole_are_kept_and_closed(autojump_clock):
    whole = [ToolInputDelta("a", "f", '{"x"'), ToolInputDelta("a", "f", ":1}")]
    half = ToolInputDelta("b", "f", '{"x"')

    said, closed = await interrupted("so", *whole, half, HANGS)

    assert [ToolCallPart] == [type(part) for part in said.parts[1:]]
    assert '{"x":1}' == said.parts[1].args
    assert [("a", CLOSED)] == results([closed])
    assert closed.parts[0].is_error


async def test_the_providers_own_calls_are_not_closed(autojump_clock):
    search = ToolCall("w", "search", "{}", provider_executed=True)

    said, closed = await interrupted(search, call("a", "f"), HANGS)

    assert ["w", "a"] == [part.id for part in said.parts]
    assert [("a", CLOSED)] == results([closed])


async def test_the_providers_own_results_stay_with_their_calls(autojump_clock):
    search = ToolCall("w", "search", "{}", provider_executed=True)

    [said] = await interrupted(search, ProviderToolResult("w", "search", "[]"), HANGS)

    assert [ToolCallPart, ToolResultPart] == [type(part) for part in said.parts]


async def test_thoughts_are_kept_each_with_its_own_signature(autojump_clock):
    first = [ReasoningDelta("r", "a"), ReasoningDelta("r", "", '"1"'), ReasoningEnded("r")]

    [said] = await interrupted(*first, ReasoningDelta("q", "b"), HANGS)

    one, other = said.parts
    assert isinstance(one, ReasoningPart)
    assert [("a", '"1"'), ("b", None)] == [(p.text, p.provider_metadata) for p in said.parts]
    assert one.created_at <= one.completed_at <= other.completed_at


async def test_text_that_no_watcher_was_shown_any_more_is_kept_all_the_same(autojump_clock):
    long = "x" * (PIECE_BYTES_MAX + 1)
    previews = Previews(lambda key, said: said.piece.text.encode())

    [said] = await interrupted("a", long, "b", HANGS, previews=previews)

    assert "a" + long + "b" == said.parts[0].text


async def test_results_are_kept_however_large_they_are(autojump_clock):
    large = ToolOutput('"' + "x" * PIECE_BYTES_MAX + '"', is_media=True)  # never cut
    tools = ScriptedTools().add("fast", large).add("slow", HANGS)

    _, done, _ = await interrupted(call("a", "fast"), call("b", "slow"), tools=tools)

    assert large.result == done.parts[0].result


async def test_long_after_a_failed_attempt_nothing_of_it_is_kept(autojump_clock):
    previews, provider = Previews(lambda key, said: b"x"), ScriptedProvider(["Hel", OVERLOADED])
    # The pause after the seventh failure is a minute.
    async with a_chat_at_work(provider, previews=previews, failures=6) as stage:
        await trio.sleep(RETENTION_SECONDS + 1)
        previews.sweep()
        await stage.ask(Interrupt())
        await trio.sleep(1)

        assert [HELLO] == stage.said
        assert "waiting" == stage.status


class SlowModel(OneModel):
    async def model_for(self, chat):
        await trio.sleep(0.5)
        return await super().model_for(chat)


async def test_an_interrupt_while_the_model_is_chosen_asks_nobody(autojump_clock):
    provider = ScriptedProvider(["Hello"])
    async with a_chat_at_work(provider, models=SlowModel(provider)) as stage:
        await trio.sleep(0.2)
        await stage.ask(Interrupt())
        await trio.sleep(1)

        assert [] == provider.prompts
        assert [HELLO] == stage.said
        assert "waiting" == stage.status
