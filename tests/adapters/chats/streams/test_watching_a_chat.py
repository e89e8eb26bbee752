"""Watchers of a chat, over real sockets, with a daemon that runs it."""

from itertools import groupby
from socket import SO_RCVBUF, SOL_SOCKET

import pytest
import trio

from actors.law import requests as ask
from adapters.http.host import websockets as sockets
from adapters.rehearsal.behaviour import Behaviour, ScriptedCall, read_rules
from tests.adapters.chats.streams.clients import status
from tests.adapters.chats.streams.ground import (
    ANN,
    BOB,
    CALLER,
    HANGING,
    PATIENCE_SECONDS,
    ROOT,
    UPGRADE,
    a_message,
    a_stage,
)

pytestmark = pytest.mark.slow

HELLO = "hello [[text: good day]] [[delta-chars: 1]]"
SLOWLY = "hello [[text: good day]] [[delta-chars: 1]] [[delta-ms: 40]]"
ANSWERED = [("user", HELLO), ("assistant", "good day")]
SLOWLY_ANSWERED = [("user", SLOWLY), ("assistant", "good day")]


@pytest.fixture
async def stage(fresh):
    async with a_stage(fresh) as stage:
        yield stage


TURN = ["message", "status", "preview_reset", "message_part", "message", "status", "preview_reset"]


def has_preview(text):
    return lambda state: state.preview == text


def in_short(types):
    """Without repetitions: an attempt may be counted after the message, and resets once more."""
    return [type for type, _ in groupby(types)]


# a turn


async def test_who_watches_from_the_beginning_sees_a_turn_as_it_goes(stage):
    statuses = []
    while "running" not in statuses:  # on a busy machine the turn is over before, now and then
        chat = await stage.create(SLOWLY)
        async with stage.watch(chat) as watcher:
            await watcher.until(status("waiting"))
        statuses = watcher.state.statuses

    assert TURN == in_short(watcher.types)
    assert ["running", "waiting"] == statuses
    assert [("user", SLOWLY), ("assistant", "good day")] == watcher.state.said
    parts = [e["message_part"] for e in watcher.events if e["type"] == "message_part"]
    assert "good day" == "".join(part["part"]["text"] for part in parts)
    assert list(range(1, len(parts) + 1)) == [part["seq"] for part in parts]


async def test_a_later_turn_is_told_in_the_order_of_the_protocol(stage):
    chat = await stage.create(HELLO)
    async with stage.watch(chat) as watcher:
        await watcher.until(status("waiting"))
        before = len(watcher.events)
        await stage.send(chat, SLOWLY)
        await watcher.until(status("waiting", after=len(watcher.state.statuses)))

    assert TURN == in_short(watcher.types[before:])
    assert ["user", "assistant"] == [
        event["message"]["role"] for event in watcher.events[before:] if event["type"] == "message"
    ]


async def test_every_status_is_told_however_fast_the_turns_are(stage):
    chat = await stage.create(HELLO)
    async with stage.watch(chat) as watcher:
        await watcher.until(status("waiting"))
        seen = len(watcher.state.statuses)
        for turn in range(1, 11):
            await stage.send(chat, HELLO)
            await watcher.until(lambda state, turn=turn: len(state.statuses) == seen + 2 * turn)

    assert ["running", "waiting"] * 10 == watcher.state.statuses[seen:]


async def test_a_chat_that_runs_here_is_read_once_for_its_watchers(stage):
    chat = await stage.create(HELLO)
    async with stage.watch(chat) as watcher:
        await watcher.until(status("waiting"))
        reads = stage.feeds.statistics().reads_count
        for turn in range(1, 4):
            await stage.send(chat, HELLO)
            await watcher.until(
                lambda state, turn=turn: state.statuses.count("waiting") == 1 + turn
            )

        assert reads == stage.feeds.statistics().reads_count


# coming later


async def test_who_comes_to_a_finished_turn_gets_it_in_one_frame(stage):
    chat = await stage.create(HELLO)
    async with stage.watch(chat) as first:
        await first.until(status("waiting"))

    async with stage.watch(chat) as watcher:
        await watcher.until(status("waiting"))

    assert [["message", "message", "status", "preview_reset"]] == [
        [event["type"] for event in frame] for frame in watcher.frames
    ]
    assert ANSWERED == watcher.state.said


async def test_who_comes_in_mid_message_gets_all_of_it_from_the_first_piece(stage):
    chat = await stage.create_in_pieces()
    async with stage.watch(chat) as first:
        await first.until(has_preview("goo"))

        async with stage.watch(chat) as watcher:
            await watcher.until(has_preview("goo"))

    pieces = [part["seq"] for part in watcher.state.parts]
    assert list(range(1, len(first.state.parts) + 1)) == pieces
    assert ["running"] == watcher.state.statuses


async def test_who_has_the_first_pieces_gets_only_the_others(stage):
    chat = await stage.create_in_pieces()
    async with stage.watch(chat) as first:
        await first.until(has_preview("goo"))
        *had, last = first.state.parts
        place = "{history_version}.{generation_attempt}.{seq}".format(**had[-1])

        async with stage.watch(chat, f"?after_part={place}") as watcher:
            watcher.state.parts = had
            await watcher.until(has_preview("goo"))

    assert ["status", "message_part"] == watcher.types
    assert last["seq"] == watcher.events[-1]["message_part"]["seq"]


@pytest.mark.parametrize("place", ["1.1.99", "1.2.1", "2.1.1"])
async def test_who_has_pieces_of_something_else_begins_anew(stage, place):
    chat = await stage.create(HANGING)
    async with stage.watch(chat) as first:
        await first.until(has_preview("goo"))

        async with stage.watch(chat, f"?after_part={place}") as watcher:
            await watcher.until(has_preview("goo"))

    assert "preview_reset" in watcher.types


async def test_who_has_messages_gets_only_the_later_ones_and_the_state(stage):
    chat = await stage.create(HELLO)
    async with stage.watch(chat) as first:
        await first.until(status("waiting"))
        user, assistant = sorted(first.state.messages)

    async with stage.watch(chat, f"?after_id={user}") as watcher:
        await watcher.until(status("waiting"))
    async with stage.watch(chat, f"?after_id={assistant}") as other:
        await other.until(status("waiting"))

    assert [assistant] == list(watcher.state.messages)
    assert ["status", "preview_reset"] == other.types


async def test_who_has_read_a_page_is_not_sent_all_because_of_an_earlier_edit(stage):
    chat = await stage.create(HELLO)
    async with stage.watch(chat) as first:
        await first.until(status("waiting"))
        user = min(first.state.messages)
        await stage.ask(chat, ask.EditMessage(user, a_message("rather [[text: yes]]")))
        await first.until(lambda state: state.said[-1:] == [("assistant", "yes")])
        await first.until(status("waiting"))
        user, last = sorted(first.state.messages)
    version = (await stage.chats.store.reading.view(chat)).chat.history_version

    async with stage.watch(chat, f"?after_id={last}") as without:
        await without.until(status("waiting"))
    async with stage.watch(chat, f"?after_id={last}&after_part={version}.0.0") as watcher:
        await watcher.until(status("waiting"))
        came = list(watcher.types)
        await stage.ask(chat, ask.EditMessage(user, a_message("again")))
        await watcher.until(lambda state: state.resets)

    assert "history_reset" == without.types[0]
    assert "message" not in came


async def test_two_watchers_are_told_the_same(stage):
    chat = await stage.create(HELLO)
    async with stage.watch(chat) as first:
        await first.until(status("waiting"))
        async with stage.watch(chat) as second:
            await second.until(status("waiting"))
            begun = len(first.events), len(second.events)
            await stage.send(chat, SLOWLY)
            for watcher in (first, second):
                await watcher.until(lambda state: state.said == [*ANSWERED, *SLOWLY_ANSWERED])
                await watcher.until(status("waiting"))

    assert first.events[begun[0] :] == second.events[begun[1] :]
    assert 3 < len(second.events) - begun[1]


# what users do meanwhile


async def test_an_edit_makes_watchers_forget_what_came_after_it(stage):
    chat = await stage.create(HELLO)
    async with stage.watch(chat) as watcher:
        await watcher.until(status("waiting"))
        edited = min(watcher.state.messages)
        await stage.ask(chat, ask.EditMessage(edited, a_message("rather [[text: yes]]")))
        await watcher.until(lambda state: state.said[-1:] == [("assistant", "yes")])
        await watcher.until(status("waiting"))

        async with stage.watch(chat, f"?after_id={max(watcher.state.messages)}") as later:
            await later.until(status("waiting"))

    assert (1, [("user", "rather [[text: yes]]"), ("assistant", "yes")]) == (
        watcher.state.resets,
        watcher.state.said,
    )
    assert ("history_reset", 1) == (later.types[0], later.state.resets)  # for ever after
    assert watcher.state.said == later.state.said


async def test_the_queue_is_told_whole_and_without_a_key_when_it_is_empty(stage):
    chat = await stage.create(HANGING)
    async with stage.watch(chat) as watcher:
        await watcher.until(has_preview("goo"))
        await stage.send(chat, "b")
        made = await stage.send(chat, "c")
        await watcher.until(lambda state: len(state.queue) == 2)
        both = [row["content"][0]["text"] for row in watcher.state.queue]
        first, second = (row["id"] for row in watcher.state.queue)
        await stage.ask(chat, ask.DeleteQueued(first))
        await stage.ask(chat, ask.DeleteQueued(second))
        await watcher.until(lambda state: not state.queue)

    assert (["b", "c"], [second]) == (both, list(made.queued_ids))
    last = [event for event in watcher.events if event["type"] == "queue_update"][-1]
    assert {"type", "chat_id"} == set(last)


async def test_an_interrupt_is_told_with_what_was_said_before_it(stage):
    chat = await stage.create(HANGING)
    async with stage.watch(chat) as watcher:
        await watcher.until(has_preview("goo"))
        await stage.ask(chat, ask.Interrupt())
        await watcher.until(status("waiting"))

    assert ["running", "interrupting", "waiting"] == watcher.state.statuses
    assert ("assistant", "goo") == watcher.state.said[-1]


async def test_a_pause_before_the_next_attempt_is_told_and_told_again_to_who_comes(stage):
    chat = await stage.create("hello [[faults: 529:600]]")  # nothing is tried again by itself
    async with stage.watch(chat) as watcher:
        await watcher.until(lambda state: state.retry is not None)
        async with stage.watch(chat) as later:
            await later.until(lambda state: state.retry is not None)

    assert (1, "overloaded") == (watcher.state.retry["attempt"], watcher.state.retry["kind"])
    assert watcher.state.retry == later.state.retry
    assert "error" not in watcher.types


async def test_an_error_is_told_once_and_again_to_who_comes(stage):
    chat = await stage.create("hello [[faults: 401]]")
    async with stage.watch(chat) as watcher:
        await watcher.until(lambda state: state.error is not None)
        async with stage.watch(chat) as later:
            await later.until(lambda state: state.error is not None)

    # A watcher that comes when the chat has stopped already has not seen it run.
    assert watcher.state.statuses in (["running", "error"], ["error"])
    assert "auth" == watcher.state.error["kind"]
    assert watcher.state.error == later.state.error
    assert ["message", "status", "error", "preview_reset"] == later.types


async def test_calls_that_the_client_has_to_answer_are_told_and_told_again(fresh):
    calling = Behaviour(tool_calls=(ScriptedCall("ask", '{"what": "time"}'),), text="thanks")
    async with a_stage(fresh, calling) as stage:
        chat = await stage.create("hello", tools=["ask"])
        async with stage.watch(chat) as watcher:
            await watcher.until(lambda state: state.actions is not None)
            async with stage.watch(chat) as later:
                await later.until(lambda state: state.actions is not None)
            [call] = watcher.state.actions
            told_again = later.state.actions
            answer = ask.DynamicResult(call["tool_call_id"], '"noon"')
            await stage.ask(chat, ask.CompleteRequiresAction((answer,), BOB))
            await watcher.until(status("waiting"))

    assert ("ask", '{"what": "time"}') == (call["tool_name"], call["args"])
    assert [call] == told_again
    # A watcher that comes when the client is asked already has not seen the chat run before.
    seen = ["requires_action", "running", "waiting"]
    assert watcher.state.statuses in (["running", *seen], seen)
    assert ("assistant", "thanks") == watcher.state.said[-1]


# other processes


async def test_watchers_in_another_process_see_every_status_and_every_message(fresh):
    async with a_stage(fresh) as here, a_stage(fresh) as there:
        chat = await here.create(HELLO)
        async with there.watch(chat) as watcher:
            await watcher.until(status("waiting"))
            seen = len(watcher.state.statuses)
            for turn in range(1, 6):
                await here.send(chat, HELLO)
                await watcher.until(lambda state, turn=turn: len(state.statuses) == seen + 2 * turn)

    assert ["running", "waiting"] * 5 == watcher.state.statuses[seen:]
    assert ANSWERED * 6 == watcher.state.said


async def test_a_chat_that_is_handed_over_in_mid_message_is_told_to_its_end(fresh):
    async with a_stage(fresh) as there, trio.open_nursery() as nursery:

        async def watch(task_status):
            async with there.watch(chat) as watcher:
                task_status.started(watcher)
                await trio.sleep_forever()

        async with a_stage(fresh, Behaviour(faults=read_rules("silence:3"))) as here:
            chat = await here.create(HELLO)
            watcher = await nursery.start(lambda task_status: watch(task_status))
            async with here.watch(chat) as nearby:
                await nearby.until(has_preview("goo"))
                here.streaming.leave()
                await nearby.until_closed()
        await watcher.until(status("waiting"))
        async with there.watch(chat) as later:
            await later.until(status("waiting"))
        nursery.cancel_scope.cancel()

    assert 1001 == nearby.closed[0]
    assert ["running", "waiting"] == [each for each, _ in groupby(watcher.state.statuses)]
    assert [("assistant", "good day")] == watcher.state.said[1:]
    assert later.state.messages == watcher.state.messages
    assert [] == watcher.state.parts


async def test_a_client_that_does_not_read_is_cut_off_and_the_others_go_on(stage, monkeypatch):
    monkeypatch.setattr(sockets, "FRAME_SECONDS", 5.0)  # which one that reads keeps to when busy
    chat = await stage.create(HELLO)
    stream = await trio.open_tcp_stream("127.0.0.1", int(stage.url.rpartition(":")[2]))
    async with stream, stage.watch(chat) as watcher:
        stream.setsockopt(SOL_SOCKET, SO_RCVBUF, 4096)
        head = {CALLER: str(ANN), "host": "x", **UPGRADE}
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        path = f"{ROOT}/{chat}/stream"
        await stream.send_all(f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode())
        await watcher.until(status("waiting"))
        for turns in range(1, 11):  # more than lies between two sockets
            await stage.send(chat, "x" * 500_000 + HELLO)
            await watcher.until(lambda state, n=turns: state.statuses.count("waiting") > n)
        with trio.fail_after(PATIENCE_SECONDS):
            while stage.feeds.statistics().watchers == 2:
                await trio.sleep(0.01)

    assert "waiting" == watcher.state.status


# the end


async def test_when_the_process_ends_watchers_are_told_to_go_elsewhere(stage):
    chat = await stage.create(HELLO)
    async with stage.watch(chat) as watcher:
        await watcher.until(status("waiting"))
        stage.streaming.leave()

        assert (1001, "the server is stopping") == await watcher.until_closed()
    async with stage.watch(chat) as late:
        assert (1001, "the server is stopping") == await late.until_closed()


async def test_a_chat_that_is_purged_ends_its_streams(stage):
    chat = await stage.create(HELLO)
    async with stage.watch(chat) as watcher:
        await watcher.until(status("waiting"))
        await stage.execute("DELETE FROM chats WHERE id = %(id)s", {"id": chat})
        stage.feeds.note_news(_moved(watcher, chat))

        assert (1000, None) == await watcher.until_closed()


def _moved(watcher, chat):
    from actors.law.states import Status
    from actors.law.store.hints import ChatMoved

    return ChatMoved(chat, 99, 99, 0, 0, 0, Status.WAITING, False, None, None, BOB)


async def test_nothing_is_left_when_the_watchers_have_gone(stage):
    chat = await stage.create(HELLO)
    for _ in range(3):
        async with stage.watch(chat) as watcher:
            await watcher.until(status("waiting"))
    with trio.fail_after(PATIENCE_SECONDS):
        while stage.feeds.statistics().watchers:
            await trio.sleep(0.005)

    assert (0, 0) == (stage.feeds.statistics().feeds, stage.feeds.statistics().log_bytes)
