"""A call that is run again knows for how long it has been under way: a wait is not begun anew."""

from actors.chat.turn.ports import JournalEntry
from tests.actors.chat.turn.given import calls
from tests.actors.chat.turn.test_tool_batch import CHAT, Batch
from tests.actors.law.chats import HISTORY, NOW
from tests.fakes.scripted import MemoryJournal, ScriptedTools


async def test_a_call_that_is_run_again_is_as_old_as_the_journal_says(autojump_clock):
    journal, tools = MemoryJournal(), ScriptedTools().add("read", repeatable=True)
    journal.entries[CHAT.id, HISTORY, "a"] = JournalEntry("a", NOW, age_seconds=90.0)

    await Batch(tools, calls("a"), calls("b"), journal=journal).run()

    assert {"a": 90.0, "b": 0.0} == dict(zip(tools.ran, tools.ages, strict=True))
