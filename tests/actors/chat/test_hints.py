"""News of a chat: lost, doubled, late, stale; chats that are gone or archived."""

from dataclasses import replace

import pytest
import trio

from actors.chat.actor import MAILBOX_CAPACITY
from actors.chat.api import ChatRead, DrainNow, WorkEnded, drain, notify_changed
from actors.chat.turn.work import Gone, LetGo
from actors.law.chat import UserMessage
from actors.law.parts.message import TextPart
from actors.law.requests import EditMessage, Interrupt
from runtime.ends import Finished
from runtime.errors import MailboxFull
from tests.actors.chat.stage import ANN, a_chat_at_work
from tests.fakes.scripted import HANGS, OVERLOADED, ScriptedProvider, ScriptedTools, call

HELLO, ANSWER = ("user", "hello"), ("assistant", "Hello")


async def test_hints_that_say_nothing_new_disturb_nothing(autojump_clock):
    provider = ScriptedProvider(["Hel", 2, "lo"])
    async with a_chat_at_work(provider) as stage:
        for _ in range(10):
            await trio.sleep(0.1)
            notify_changed(stage.actor.address)
        await trio.sleep(5)

        assert [HELLO, ANSWER] == stage.said
        assert 1 == len(provider.prompts)


async def test_hints_that_come_while_it_looks_make_it_look_once_more(autojump_clock):
    def prepare(store):
        store.hang("view")

    async with a_chat_at_work(ScriptedProvider(["Hel", HANGS]), prepare=prepare) as stage:
        await trio.sleep(1)
        for _ in range(20):
            notify_changed(stage.actor.address)
            await trio.sleep(0.01)
        stage.balky.go()
        await trio.sleep(1)

        assert 2 == stage.balky.asked["view"]


async def test_a_chat_that_has_been_left_is_not_looked_at(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["Hel", HANGS])) as stage:
        await trio.sleep(1)
        stage.actor.address.cast(WorkEnded(LetGo()))
        notify_changed(stage.actor.address)
        await trio.sleep(1)

        assert [Finished()] == stage.ends
        assert 0 == stage.balky.asked["view"]


async def test_news_that_came_while_it_looked_is_seen(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["Hel", HANGS])) as stage:
        stage.balky.hang_after("view")
        await trio.sleep(1)
        notify_changed(stage.actor.address)
        await trio.sleep(1)
        await stage.ask(Interrupt())
        await trio.sleep(1)
        stage.balky.go()
        await trio.sleep(1)

        assert [HELLO, ("assistant", "Hel")] == stage.said
        assert "waiting" == stage.status


async def test_a_look_that_is_stale_is_not_believed(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["Hel", HANGS])) as stage:
        await trio.sleep(1)
        stale = await stage.store.view(stage.chat)
        await stage.ask(Interrupt())
        stage.actor.address.cast(ChatRead(stale))
        await trio.sleep(1)

        assert [HELLO, ("assistant", "Hel")] == stage.said


async def test_a_look_that_is_older_than_our_own_commit_disturbs_nothing(autojump_clock):
    provider = ScriptedProvider([call("a", "read")], ["Hel", 5, "lo"])
    async with a_chat_at_work(provider, tools=ScriptedTools().add("read")) as stage:
        stale = await stage.store.view(stage.chat)
        await trio.sleep(1)
        stage.actor.address.cast(ChatRead(stale))
        await trio.sleep(10)

        assert 2 == len(provider.prompts)
        assert ("assistant", "Hello") == stage.said[-1]


async def test_news_that_overtakes_the_end_of_the_work_is_not_forgotten(autojump_clock):
    provider = ScriptedProvider(["Hel", OVERLOADED])
    async with a_chat_at_work(provider, prepare=lambda store: store.hang_after("commit")) as stage:
        await trio.sleep(1)  # the retry state is stored, its answer on the way
        await stage.store.apply(stage.chat, [Interrupt()])
        found = await stage.store.view(stage.chat)
        stage.balky.go()
        stage.actor.address.cast(ChatRead(found))
        await trio.sleep(0.1)

        assert [HELLO, ("assistant", "Hel")] == stage.said
        assert "waiting" == stage.status


async def test_a_hint_that_is_lost_costs_only_time(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["Hel", HANGS])) as stage:
        await trio.sleep(1)
        await stage.store.apply(stage.chat, [Interrupt()])
        await trio.sleep(100)
        before = stage.status
        notify_changed(stage.actor.address)  # the poll
        await trio.sleep(1)

        assert ("interrupting", "waiting") == (before, stage.status)


async def test_a_chat_that_is_deleted_is_left(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["Hel", HANGS])) as stage:
        await trio.sleep(1)
        del stage.store.chats[stage.chat]
        notify_changed(stage.actor.address)
        await trio.sleep(1)

        assert [Finished()] == stage.ends
        assert Gone() == stage.actor._cause


async def test_a_chat_that_is_deleted_is_not_put_to_a_model(autojump_clock, caplog):
    provider = ScriptedProvider(["Hello"])
    async with a_chat_at_work(provider, prepare=lambda store: store.hang("history")) as stage:
        await trio.sleep(1)
        del stage.store.chats[stage.chat]
        stage.balky.go()
        await trio.sleep(1)

        assert [] == provider.prompts
        assert [Finished()] == stage.ends
        assert [] == caplog.records


async def test_a_history_that_moved_while_it_was_read_is_read_again(autojump_clock):
    provider = ScriptedProvider(["Hello"])
    async with a_chat_at_work(provider, prepare=lambda store: store.hang("history")) as stage:
        await trio.sleep(1)
        first = stage.store.chats[stage.chat].messages[0].id
        edit = EditMessage(first, UserMessage((TextPart("rather"),), ANN))
        await stage.store.apply(stage.chat, [edit])  # nobody hints at it
        stage.balky.go()
        await trio.sleep(1)

        assert [("user", "rather"), ANSWER] == stage.said
        assert 1 == len(provider.prompts)


async def test_there_is_room_for_the_ends_of_work_whatever_the_hints(autojump_clock):
    async with a_chat_at_work(ScriptedProvider([HANGS])) as stage:
        for _ in range(1000):
            notify_changed(stage.actor.address)
        for _ in range(MAILBOX_CAPACITY):
            stage.actor.address.cast(DrainNow())

        with pytest.raises(MailboxFull):
            drain(stage.actor.address)


async def test_an_archived_chat_is_given_back_untouched(autojump_clock):
    async with a_chat_at_work(ScriptedProvider(["Hel", HANGS])) as stage:
        await trio.sleep(1)
        # Past the law, which does not archive what runs: whatever is stored is to be lived with.
        kept = stage.store.chats[stage.chat]
        await stage.store.apply(stage.chat, [Interrupt()])
        kept.chat = _archived(kept.chat)
        notify_changed(stage.actor.address)
        await trio.sleep(1)

        assert [HELLO] == stage.said
        assert stage.row.archived
        assert stage.row.holder is None


def _archived(chat):
    return replace(chat, archived=True, snapshot_version=chat.snapshot_version + 1)
