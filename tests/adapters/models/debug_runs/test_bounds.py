"""What does not fit is left out and counted; what is not recorded costs nothing."""

from uuid import uuid4

import pytest
import trio

from actors.chat.turn.ports import NO_RECORDER
from actors.law.chat import Body, Message, Role, Visibility
from actors.law.ids import UserId
from actors.law.parts.message import FilePart, JsonText, TextPart, ToolCallPart
from actors.law.parts.prompt import (
    AssistantOutput,
    CallSettings,
    Prompt,
    ToolAnswer,
    ToolResults,
    UserInput,
)
from adapters.models.debug_runs import documents, writer
from adapters.models.debug_runs.attempts import RecordingClient, noting
from adapters.models.debug_runs.documents import NotedExchange, request_document
from adapters.models.debug_runs.recorder import CallRecords, RecordSwitches
from adapters.models.debug_runs.store import RunHead
from adapters.models.debug_runs.writer import RecordWriter, RunEnded, StepBegan, StepEnded
from adapters.models.providers.dial import Origin
from adapters.models.providers.http import ProviderRequest, ProviderResponse
from runtime.clock import wall
from tests.actors.law.chats import a_chat
from tests.fakes.network import Network

PROMPT = Prompt("m", (UserInput((TextPart("hello"),)),))


class HangingStore:
    """A store that never answers."""

    async def begin_step(self, *what):
        await trio.sleep_forever()

    end_step = answered = end_run = begin_step

    async def finish_stale(self):
        return 0


def a_writer(store=None):
    return RecordWriter(store or HangingStore(), worker=lambda: None, may_record=lambda: False)


def a_head():
    return RunHead(uuid4(), "quickgen", uuid4(), None, None, None, "v", "m", None, None, "")


def an_ended(size):
    exchange = NotedExchange("POST", "https://a.test/", (), b"x" * size, wall())
    return StepEnded(uuid4(), "completed", None, (exchange,), None)


def test_steps_beyond_the_bound_are_left_out(monkeypatch):
    monkeypatch.setattr(writer, "STEPS_WAITING_MAX", 2)
    full = a_writer()
    for _ in range(3):
        full.tell(StepBegan(a_head(), uuid4(), "stream", PROMPT))
    full.tell(RunEnded(uuid4(), "completed"))  # is small, and ends what has begun

    found = full.statistics()

    assert (2, 1) == (found.waiting, found.left_out_count)
    assert 3 == full.mailbox.statistics().waiting


def test_bytes_beyond_the_bound_are_left_out(monkeypatch):
    monkeypatch.setattr(writer, "BYTES_WAITING_MAX", 1_000)
    full = a_writer()
    full.tell(an_ended(900))
    full.tell(an_ended(200))
    full.tell(an_ended(50))

    found = full.statistics()

    assert (2, 950, 1) == (found.waiting, found.waiting_bytes, found.left_out_count)


async def test_a_store_that_hangs_holds_up_no_more_than_one_record(autojump_clock):
    hung = a_writer()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hung.run)
        for _ in range(3):
            hung.tell(RunEnded(uuid4(), "completed"))
        await trio.sleep(3 * writer.WRITE_SECONDS_MAX + 1)
        found = hung.statistics()
        nursery.cancel_scope.cancel()

    assert (3, 0) == (found.failed_count, found.waiting)


async def test_a_flush_waits_for_so_long_at_most(autojump_clock):
    hung = a_writer()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hung.run)
        hung.tell(RunEnded(uuid4(), "completed"))
        began = trio.current_time()
        await hung.flush(2.0)
        took = trio.current_time() - began
        nursery.cancel_scope.cancel()

    assert 2.0 == pytest.approx(took)


def test_a_model_that_is_not_recorded_is_the_one_that_is_asked():
    """So its answers cost nothing more, delta for delta."""
    off = RecordSwitches(is_forced=False, allows_users=lambda: True, is_wanted_by=lambda _: False)
    records, model = CallRecords(off, a_writer()), object()

    for kind in ("chat_turn", "title_generation", "quickgen", "compaction"):
        assert model is records.recorded(model, a_chat().chat, kind)
        assert model is NO_RECORDER.recorded(model, a_chat().chat, kind)


@pytest.mark.parametrize(
    ("forced", "allowed", "wanted", "is_on"),
    [
        (True, False, False, True),
        (False, True, True, True),
        (False, True, False, False),
        (False, False, True, False),
    ],
)
def test_who_is_recorded(forced, allowed, wanted, is_on):
    switches = RecordSwitches(forced, lambda: allowed, lambda _: wanted)

    assert is_on is switches.is_on_for(UserId(uuid4()))


async def test_a_response_that_is_not_noted_is_read_as_ever():
    whole = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
    request = ProviderRequest(Origin("http", "a.test", 80), "/v1", (("A", "b"),), b"{}")
    exchanges = []
    async with trio.open_nursery() as nursery:
        client = RecordingClient(Network(nursery, [[whole], [whole]]).dial)
        async with client.call(request) as plain:
            assert type(plain) is ProviderResponse
            assert b"hi" == await plain.read(10)
        with noting(exchanges):
            async with client.call(request) as noted:
                assert b"hi" == await noted.read(10)
        await client.aclose()
        nursery.cancel_scope.cancel()

    [exchange] = exchanges
    assert (200, b"hi", True) == (
        exchange.response_status,
        bytes(exchange.response_body),
        exchange.is_completed,
    )


def test_a_response_is_kept_up_to_its_bound(monkeypatch):
    monkeypatch.setattr(documents, "KEPT_BYTES_MAX", 5)
    exchange = NotedExchange("POST", "https://a.test/", (), b"", wall())
    for piece in (b"abc", b"def", b"ghi"):
        exchange.heard(piece)

    assert (b"abcde", 9) == (bytes(exchange.response_body), exchange.response_bytes)


def test_a_long_conversation_keeps_its_end(monkeypatch):
    monkeypatch.setattr(documents, "MESSAGES_BYTES_MAX", 1_000)
    said = [UserInput((TextPart(f"{number} " + "x" * 200),)) for number in range(50)]
    shown = request_document(Prompt("m", tuple(said)))

    assert shown["messages"][-1]["parts"][0]["text"].startswith("49 ")
    assert 50 == len(shown["messages"]) + shown["messages_left_out"]
    assert len(shown["messages"]) < 5


def test_a_prompt_is_shown_without_secrets_and_files():
    image = FilePart("image/png", "a.png", data="aGVsbG8h")
    prompt = Prompt(
        "m",
        (
            UserInput((TextPart("look"), image)),
            AssistantOutput((ToolCallPart("c", "login", JsonText('{"password": "x"}')),)),
            ToolResults((ToolAnswer("c", "login", '{"token": "y"}', media=image),)),
        ),
        system=("be good",),
        settings=CallSettings(effort="low"),
    )
    shown = request_document(prompt)
    user, call, result = shown["messages"]

    assert {"type": "file", "media_type": "image/png", "name": "a.png", "size_bytes": 6} == (
        user["parts"][1]
    )
    assert {"password": "[REDACTED]"} == call["parts"][0]["args"]
    assert {"token": "[REDACTED]"} == result["parts"][0]["result"]
    assert (["be good"], "low") == (shown["system"], shown["settings"]["effort"])


def test_a_turn_answers_what_a_user_said_last():
    def row(id, role, **more):
        return Message(id, 1, wall(), False, Body(role, (TextPart(f"t{id}"),), **more))

    history = (
        row(1, Role.USER),
        row(2, Role.USER, visibility=Visibility.MODEL),
        row(3, Role.USER, compressed=True),
        row(4, Role.ASSISTANT),
    )

    assert 1 == documents.trigger_of(history).id
    assert documents.trigger_of(()) is None
    assert "t1" == documents.label_of(history[0].body.parts)
