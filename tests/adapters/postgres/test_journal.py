"""The journal of tool calls on PostgreSQL: what the next process finds after a crash."""

from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import get_args

import pytest
import trio
import trio.testing
from psycopg import DatabaseError

from actors.chat.turn.ports import ToolOutput
from actors.law.ids import FileId
from actors.law.parts.message import FilePart, JsonText, Part, TextPart, ToolCallPart
from adapters.postgres.journal import JOURNAL_RULE, KEEP_SECONDS, Journal
from tests.adapters.postgres.stores import apply_rule, new_chat_id, new_file_ids
from tests.contracts.given import a_held_chat
from tests.fakes.records import full
from tests.patience import PATIENCE_SECONDS

DONE = ToolOutput(JsonText('{"output": "done"}'))


def calls(*ids):
    return [ToolCallPart(id, "shell", JsonText("{}")) for id in ids]


@pytest.fixture
async def chat(store):
    """A chat at work, as its holder sees it."""
    id = await a_held_chat(store)
    return (await store.reading.view(id)).chat


@pytest.fixture
def journal(store):
    return Journal(store.pool)


def after_a_crash(store):
    """The journal as the next process opens it."""
    return Journal(store.pool)


async def test_of_a_batch_that_begins_nothing_is_known(journal, chat):
    assert () == await journal.begin(chat, calls("a", "b"))


async def test_a_call_that_had_begun_is_found_by_the_next_process(store, journal, chat):
    await journal.begin(chat, calls("a"))

    [entry] = await after_a_crash(store).begin(chat, calls("a"))

    assert ("a", None, None) == (entry.tool_call_id, entry.output, entry.ended_at)
    assert abs(entry.begun_at - (await store.reading.view(chat.id)).now) < timedelta(minutes=1)


async def test_a_call_is_as_old_as_the_journal_says(store, journal, chat):
    await journal.begin(chat, calls("a"))
    await store.execute("UPDATE tool_calls SET begun_at = begun_at - interval '90 seconds'")

    ages = [(await look(chat, calls("a")))[0].age_seconds for look in (journal.begin, journal.look)]

    assert [pytest.approx(90, abs=10)] * 2 == ages


async def test_beginning_again_does_not_make_a_call_younger(journal, chat):
    await journal.begin(chat, calls("a"))
    first = await journal.begin(chat, calls("a"))

    again = await journal.begin(chat, calls("a"))

    assert first == again


async def test_a_call_that_has_ended_is_found_with_what_came_of_it(store, journal, chat):
    await journal.begin(chat, calls("a"))
    await journal.end(chat, "a", DONE)

    [entry] = await after_a_crash(store).begin(chat, calls("a"))

    assert DONE == entry.output
    assert entry.begun_at <= entry.ended_at


async def test_of_a_batch_each_call_is_known_for_itself(store, journal, chat):
    await journal.begin(chat, calls("ended", "begun"))
    await journal.end(chat, "ended", DONE)

    entries = await after_a_crash(store).begin(chat, calls("ended", "begun", "new"))

    assert {"ended": DONE, "begun": None} == {e.tool_call_id: e.output for e in entries}


async def test_what_was_new_the_second_time_is_known_the_third(journal, chat):
    await journal.begin(chat, calls("a"))
    await journal.begin(chat, calls("a", "b"))

    entries = await journal.begin(chat, calls("a", "b"))

    assert ["a", "b"] == sorted(entry.tool_call_id for entry in entries)


async def test_the_same_id_in_a_later_step_is_another_call(journal, chat):
    await journal.begin(chat, calls("call_0"))
    await journal.end(chat, "call_0", DONE)
    later = replace(chat, history_version=chat.history_version + 1)

    assert () == await journal.begin(later, calls("call_0"))
    await journal.end(later, "call_0", ToolOutput(JsonText('"other"')))

    [first] = await journal.begin(chat, calls("call_0"))
    assert DONE == first.output


async def test_the_same_id_in_another_chat_is_another_call(store, journal, chat):
    await journal.begin(chat, calls("call_0"))
    other = (await store.reading.view(await a_held_chat(store))).chat

    assert () == await journal.begin(other, calls("call_0"))


async def test_the_first_word_on_a_call_stands(journal, chat):
    await journal.begin(chat, calls("a"))
    await journal.end(chat, "a", DONE)
    [first] = await journal.begin(chat, calls("a"))

    await journal.end(chat, "a", ToolOutput(JsonText('"late"')))

    assert (first,) == await journal.begin(chat, calls("a"))


async def test_the_end_of_a_call_that_was_not_begun_is_nothing(journal, chat):
    await journal.end(chat, "a", DONE)

    assert () == await journal.begin(chat, calls("a"))


async def test_two_calls_of_one_id_are_one_entry(journal, chat):
    await journal.begin(chat, calls("a", "a"))

    assert ["a"] == [entry.tool_call_id for entry in await journal.begin(chat, calls("a"))]


# many ends at once


async def test_calls_that_end_together_are_noted_together(store, chat):
    pool = Watched(store.pool)
    journal = Journal(pool)
    ids = [f"call-{n}" for n in range(50)]
    await journal.begin(chat, calls(*ids))
    pool.lent = 0

    async with trio.open_nursery() as nursery:
        for id in ids:
            nursery.start_soon(journal.end, chat, id, DONE)

    assert 1 == pool.lent
    assert {DONE} == {entry.output for entry in await journal.begin(chat, calls(*ids))}


async def test_of_two_words_at_once_the_first_stands(journal, chat):
    await journal.begin(chat, calls("a", "b"))

    async with trio.open_nursery() as nursery:
        for id, output in (("b", DONE), ("a", DONE), ("a", ToolOutput(JsonText('"late"')))):
            nursery.start_soon(journal.end, chat, id, output)
            await trio.lowlevel.checkpoint()  # in this order, and together

    entries = await journal.begin(chat, calls("a", "b"))
    assert [DONE, DONE] == [entry.output for entry in entries]


async def test_an_end_that_cannot_be_noted_costs_only_itself(store, journal, chat):
    broken, failed = ToolOutput(JsonText("no JSON")), []
    await journal.begin(chat, calls("a", "b", "c", "d"))

    async def end(id):
        try:
            await journal.end(chat, id, broken if id == "c" else DONE)
        except DatabaseError:
            failed.append(id)

    async with trio.open_nursery() as nursery:
        for id in "abcd":
            nursery.start_soon(end, id)

    entries = await journal.begin(chat, calls("a", "b", "c", "d"))
    assert {"a": DONE, "b": DONE, "c": None, "d": DONE} == {
        entry.tool_call_id: entry.output for entry in entries
    }
    assert ["c"] == failed


@pytest.mark.parametrize("cancelled", ["first", "second"])
async def test_who_is_cancelled_leaves_the_others_to_be_noted(store, chat, cancelled):
    pool = Watched(store.pool)
    journal, scopes = Journal(pool), {id: trio.CancelScope() for id in ("first", "second")}
    ids = [*scopes, "third"]
    await journal.begin(chat, calls(*ids))
    pool.is_shut = True

    async def end(id):
        with scopes.get(id, trio.CancelScope()):
            await journal.end(chat, id, DONE)

    async with trio.open_nursery() as nursery:
        for id in ids:
            nursery.start_soon(end, id)
            await trio.testing.wait_all_tasks_blocked()
        scopes[cancelled].cancel()
        pool.open()

    entries = {e.tool_call_id: e.output for e in await journal.begin(chat, calls(*ids))}
    assert {id: None if id == cancelled else DONE for id in ids} == entries
    assert [] == journal._waiting


class Watched:
    """A pool that counts how often it lends, and may be shut for a while."""

    def __init__(self, pool):
        self._pool, self.lent = pool, 0
        self.is_shut, self._opened = False, trio.Event()

    def open(self):
        self.is_shut = False
        self._opened.set()

    @asynccontextmanager
    async def connection(self):
        self.lent += 1
        if self.is_shut:
            await self._opened.wait()
        async with self._pool.connection() as connection:
            yield connection


@pytest.mark.parametrize(
    "output",
    [
        DONE,
        ToolOutput(JsonText('{"error": "no such file"}'), is_error=True),
        ToolOutput(JsonText('{"data": "iVBORw0K", "mime_type": "image/png"}'), is_media=True),
        ToolOutput(JsonText('{"b":1,  "a":[ 2 ]}')),
        ToolOutput(JsonText('"a\\u0000b \\ud83d\\ude00 \\\\u0000"')),
        ToolOutput(
            JsonText("null"),
            shown=(
                FilePart("image/png", "a.png", file_id=FileId(new_file_ids(1)[0])),
                FilePart("image/png", "b.png", data="iVBORw0K"),
                TextPart("two pictures"),
            ),
        ),
        full(ToolOutput, shown=tuple(map(full, get_args(Part)))),
    ],
    ids=["plain", "error", "media", "spacing", "odd characters", "files", "every field"],
)
async def test_an_output_comes_back_as_it_was(output, journal, chat):
    await journal.begin(chat, calls("a"))
    await journal.end(chat, "a", output)

    [entry] = await journal.begin(chat, calls("a"))

    assert output == entry.output


@pytest.mark.parametrize("id", ["", "a\x00b", "a\\b", "call 1,{}\"'", "ä" * 200])
async def test_an_id_may_be_anything_that_a_provider_says(id, journal, chat):
    await journal.begin(chat, calls(id, "other"))
    await journal.end(chat, id, DONE)

    entries = {entry.tool_call_id: entry for entry in await journal.begin(chat, calls(id, "other"))}

    assert {id: DONE, "other": None} == {key: entry.output for key, entry in entries.items()}


async def test_entries_that_are_old_are_forgotten(store, journal, chat):
    await journal.begin(chat, calls("old", "young"))
    await store.execute(
        "UPDATE tool_calls SET begun_at = begun_at - %(seconds)s * interval '1 second'"
        " WHERE tool_call_id = 'old'",
        seconds=KEEP_SECONDS + 60,
    )

    await apply_rule(store.pool, JOURNAL_RULE)

    [entry] = await journal.begin(chat, calls("old", "young"))
    assert "young" == entry.tool_call_id


@pytest.mark.parametrize("held", ["root_id", "user_id"])
async def test_what_is_on_legal_hold_is_not_forgotten(store, journal, chat, held):
    await journal.begin(chat, calls("old"))
    await store.execute(
        "UPDATE tool_calls SET begun_at = begun_at - %(seconds)s * interval '1 second'",
        seconds=KEEP_SECONDS + 60,
    )
    await store.execute(
        f"INSERT INTO legal_holds ({held}, reason, set_by)"
        f" SELECT {'id' if held == 'root_id' else 'owner_id'}, 'a case', owner_id FROM chats"
    )

    await apply_rule(store.pool, JOURNAL_RULE)

    assert [(1,)] == await store.execute("SELECT count(*) FROM tool_calls")
    await store.execute("DELETE FROM legal_holds")
    await apply_rule(store.pool, JOURNAL_RULE)
    assert [(0,)] == await store.execute("SELECT count(*) FROM tool_calls")


async def test_with_its_chat_goes_what_was_noted_of_it(store, journal, chat):
    await journal.begin(chat, calls("a"))

    await store.execute("DELETE FROM chats WHERE id = %(id)s", id=chat.id)

    assert [(0,)] == await store.execute("SELECT count(*) FROM tool_calls")


async def test_a_batch_of_a_chat_that_is_gone_is_not_begun(journal, chat):
    with pytest.raises(Exception, match="tool_calls_chat_id_fkey"):
        await journal.begin(replace(chat, id=new_chat_id()), calls("a"))


async def test_of_two_processes_that_begin_at_once_the_second_is_told(
    store, journal, chat, nursery
):
    """One of them holds the chat no more, and does not know it yet."""
    found = []

    async def begin():
        found.extend(await after_a_crash(store).begin(chat, calls("a", "b")))

    async with store.pool.connection() as connection, connection.transaction() as tx:
        await tx.run([(INSERT, {"chat": chat.id, "version": chat.history_version})])
        nursery.start_soon(begin)
        await store.until("EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
    with trio.fail_after(PATIENCE_SECONDS):
        while not found:
            await trio.sleep(0.002)

    assert ["a"] == [entry.tool_call_id for entry in found]


INSERT = (
    "INSERT INTO tool_calls (chat_id, history_version, tool_call_id, name)"
    " VALUES (%(chat)s, %(version)s, 'a', 'shell')"
)


async def test_ends_that_are_noted_together_are_locked_in_one_order(store, chat, nursery):
    """Another process may note the same calls, whichever ended first there."""
    journal = Journal(store.pool)
    await journal.begin(chat, calls("c", "a", "b", "d"))
    done = []

    async def end(id):
        await journal.end(chat, id, DONE)
        done.append(id)

    async with held_elsewhere(store, "b"):
        async with held_elsewhere(store, "d"):
            for id in "dabc":  # the first goes alone, the others wait for it
                nursery.start_soon(end, id)
                await trio.testing.wait_all_tasks_blocked()
            await store.until("EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        await store.until("EXISTS (SELECT FROM tool_calls WHERE ended_at IS NOT NULL)")
        await store.until("EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        free = await store.execute(
            "SELECT tool_call_id FROM tool_calls WHERE ended_at IS NULL"
            " FOR NO KEY UPDATE SKIP LOCKED"
        )
    with trio.fail_after(PATIENCE_SECONDS):
        while len(done) < 4:
            await trio.sleep(0.002)

    assert [("c",)] == free


@asynccontextmanager
async def held_elsewhere(store, id):
    async with store.pool.connection() as connection, connection.transaction() as tx:
        sql = "SELECT FROM tool_calls WHERE tool_call_id = %(id)s FOR NO KEY UPDATE"
        await tx.run([(sql, {"id": id})])
        yield


async def test_looking_tells_what_had_begun_and_notes_nothing(journal, chat):
    await journal.begin(chat, calls("a", "nul\0"))
    await journal.end(chat, "a", DONE)
    later = replace(chat, history_version=chat.history_version + 1)

    seen = await journal.look(chat, calls("a", "nul\0", "new"))

    assert {"a": DONE, "nul\0": None} == {entry.tool_call_id: entry.output for entry in seen}
    assert () == await journal.look(later, calls("a"))
    assert () == await journal.begin(chat, calls("new"))
