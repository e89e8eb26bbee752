"""What is counted: of models and tools as turns tell it, at the door, in statistics."""

import math
from dataclasses import dataclass, field, replace
from typing import Annotated
from uuid import uuid4

import pytest
import trio

from actors.chat.turn.answering import ask
from actors.chat.turn.deps import TurnLimits
from actors.chat.turn.ports import Model, ToolOutput
from actors.chat.turn.work import Attempt, MessageTimes
from actors.law.ids import ChatId, EpisodeKey, ModelConfigId
from actors.law.parts.message import FilePart, JsonText, TextPart, ToolCallPart
from actors.law.parts.prompt import CallSettings, Prompt, ToolAnswer, ToolResults, UserInput
from actors.streams.previews import Preview, Previews
from actors.supervisor.slots import SlotsStatistics
from adapters.daemon.metrics.figures import CapacityMetrics, MetricsRegistry
from adapters.daemon.metrics.telemetry import OTHER_TOOLS, PrometheusTelemetry
from runtime.clock import now
from runtime.statistics import Durations, GaugeMetric
from tests.fakes.scripted import HANGS, NO_CREDIT, OVERLOADED, OneModel, ScriptedProvider
from tests.fakes.watching import pickled

LIMITS = TurnLimits(startup_seconds=60, silence_seconds=600)
PROMPT = Prompt(
    "rehearsal",
    (
        UserInput((TextPart("1234é"), FilePart("image/png", data="abc"))),
        ToolResults((ToolAnswer("c1", "f", "12"),)),
    ),
)


@dataclass(frozen=True)
class AChat:
    """As much of a chat as labels need."""

    last_model_config_id: ModelConfigId | None = None
    id: object = field(default_factory=uuid4)


def read(figures, name, **labels):
    return figures.registry.get_sample_value(f"promptcorner_{name}", labels or None)


async def measured(*script):
    """(figures, labels, a model that plays this script)"""
    model = await OneModel(ScriptedProvider(list(script))).model_for(AChat())
    return MetricsRegistry(), {"provider": model.vendor, "model": model.name}, model


async def listen(model, figures):
    preview = Preview(EpisodeKey(ChatId(uuid4()), 1, 1), pickled)
    telemetry = PrometheusTelemetry(figures)
    attempt = Attempt(preview.key)
    await ask(model, PROMPT, attempt, LIMITS, show=preview.add, telemetry=telemetry)
    return preview.encoded


async def test_chats_that_take_no_place_are_held_all_the_same():
    figures = MetricsRegistry()
    slots = SlotsStatistics(None, 1, 5, 2, 5, waiting=3, claimed=0, expired_count=0)

    await CapacityMetrics(figures, Previews(pickled), None).update(slots)

    assert 6 == read(figures, "chatd_chats", state="waiting")
    pools = [read(figures, "chatd_agents_active", pool=pool) for pool in ("root", "subagent")]
    assert [1, 2] == pools


async def test_a_call_of_a_model_is_counted_with_what_it_was_asked(autojump_clock):
    figures, labels, model = await measured(2.0, "Hel", 3.0, "lo")

    heard = await listen(model, figures)

    assert 2 == len(heard)
    assert 1 == read(figures, "chatd_steps_total", **labels)
    assert 2 == read(figures, "chatd_message_count_sum", **labels)
    assert 11 == read(figures, "chatd_prompt_size_bytes_sum", **labels)
    assert (1, 2.0) == (
        read(figures, "chatd_ttft_seconds_count", **labels),
        pytest.approx(read(figures, "chatd_ttft_seconds_sum", **labels)),
    )
    assert None is read(figures, "chatd_stream_retries_total", **labels, kind="overloaded")


@pytest.mark.parametrize(
    ("counted", "kind", "failed"), [(1, "overloaded", OVERLOADED), (None, "auth", NO_CREDIT)]
)
async def test_a_failure_is_counted_if_it_is_tried_again(autojump_clock, counted, kind, failed):
    figures, labels, model = await measured(1.0, failed)

    await listen(model, figures)

    assert counted == read(figures, "chatd_stream_retries_total", **labels, kind=kind)
    assert None is read(figures, "chatd_ttft_seconds_count", **labels)


GUARDED = {"timeout", "stream_silence_timeout"}


@pytest.mark.parametrize(
    ("kind", "interrupted_after", "script"),
    [
        ("timeout", None, [HANGS]),
        ("stream_silence_timeout", None, ["Hel", HANGS]),
        ("stream_silence_timeout", None, ["Hel", 400.0, "lo", HANGS]),
        (None, 30, [HANGS]),
        (None, 59.99, [HANGS]),
        (None, 300, ["Hel", HANGS]),
        (None, 599.5, ["Hel", HANGS]),  # our own guard is a moment away
        (None, 700, ["Hel", 400.0, "lo", HANGS]),
        (None, None, ["Hel", 599.0, "lo"]),
    ],
)
async def test_a_silence_is_counted_if_our_guard_has_cut_it_short_and_only_then(
    autojump_clock, kind, interrupted_after, script
):
    figures, labels, model = await measured(*script)

    with trio.move_on_after(interrupted_after or math.inf):
        await listen(model, figures)

    counted = {
        each: read(figures, "chatd_stream_retries_total", **labels, kind=each) for each in GUARDED
    }
    assert {each: 1 if each == kind else None for each in GUARDED} == counted


@dataclass(frozen=True)
class ACalling:
    chat: AChat
    call: ToolCallPart
    history: tuple = ()


async def test_the_way_of_a_message_is_told_by_stages(autojump_clock):
    figures = MetricsRegistry()
    began = now()
    await trio.sleep(0.5)

    message = MessageTimes(arrived=began, writing=began + 0.1, committed=began + 0.3)
    PrometheusTelemetry(figures).message_prepared(message, began + 0.35)

    stages = {"admit": 0.1, "commit": 0.2, "start": 0.05, "prepare": 0.15, "all": 0.5}
    for stage, seconds in stages.items():
        taken = read(figures, "chatd_message_stage_seconds_sum", stage=stage)
        assert pytest.approx(seconds) == taken


def calling(name, chat=None):
    return ACalling(chat or AChat(), ToolCallPart("c", name, JsonText("1")))


def output(result, **more):
    return ToolOutput(JsonText(result), **more)


async def test_results_of_tools_are_counted_by_the_model_that_asked(autojump_clock):
    figures, labels, model = await measured("x")
    telemetry = PrometheusTelemetry(figures)
    telemetry.model_asked(model, PROMPT)
    chat = replace(AChat(), last_model_config_id=model.config_id)

    telemetry.tool_ended(calling("good", chat), output('"123"'), is_cut=False)
    telemetry.tool_ended(calling("bad", chat), output("1", is_error=True), is_cut=False)
    telemetry.tool_crashed(calling("broken", chat))

    good, bad, broken = ({**labels, "tool_name": name} for name in ("good", "bad", "broken"))
    assert 5 == read(figures, "chatd_tool_result_size_bytes_sum", **good)
    assert None is read(figures, "chatd_tool_errors_total", **good)
    assert 1 == read(figures, "chatd_tool_errors_total", **bad)
    assert 1 == read(figures, "chatd_tool_errors_total", **broken)


UNKNOWN = {"provider": "unknown", "model": "unknown"}


def test_tools_beyond_the_bound_are_counted_together(monkeypatch):
    monkeypatch.setattr("adapters.daemon.metrics.telemetry.TOOL_NAMES_MAX", 2)
    figures = MetricsRegistry()
    telemetry = PrometheusTelemetry(figures)

    for name in ("a", "b", "c", "d", "a"):
        telemetry.tool_ended(calling(name), output("1"), is_cut=False)

    counts = [
        read(figures, "chatd_tool_result_size_bytes_count", **UNKNOWN, tool_name=name)
        for name in ("a", "b", "c", OTHER_TOOLS)
    ]
    assert [2, 1, None, 2] == counts


def test_results_that_were_cut_are_counted():
    figures = MetricsRegistry()
    telemetry = PrometheusTelemetry(figures)

    telemetry.tool_ended(calling("fits"), output('"é"'), is_cut=False)
    telemetry.tool_ended(calling("cut"), output('"é"'), is_cut=True)

    names = ("fits", "cut")
    truncated, sizes = "chatd_tool_result_truncated_total", "chatd_tool_result_size_bytes_sum"
    assert [None, 1] == [read(figures, truncated, **UNKNOWN, tool_name=name) for name in names]
    assert [4, 4] == [read(figures, sizes, **UNKNOWN, tool_name=name) for name in names]


def test_compactions_are_counted_by_how_they_ended():
    figures = MetricsRegistry()
    model = Model(None, None, "p", "Label", "name", CallSettings())

    PrometheusTelemetry(figures).compaction_ended(model, "timeout")

    labels = {"provider": "Label", "model": "name"}
    assert 1 == read(figures, "chatd_compaction_total", **labels, result="timeout")


@dataclass(frozen=True)
class Opened:
    open: Annotated[int, GaugeMetric("Doors that are open.")] = 3


def test_the_page_has_statistics_and_what_came_out_at_the_door():
    figures = MetricsRegistry()
    answered = {}
    figures.follow(lambda: {"server": Opened()}, answered)

    durations = answered["GET", "/row", 200] = Durations()
    for seconds in (0.125, 0.125, 0.25):
        durations.observe(seconds)
    page = figures.exposition().decode()

    assert "promptcorner_server_open 3.0" in page
    row = 'method="GET",path="/row",status="200"'
    name = "promptcorner_http_request_duration_seconds"
    assert f"# TYPE {name} histogram" in page
    assert f'{name}_bucket{{le="0.1",{row}}} 0.0' in page
    assert f'{name}_bucket{{le="0.25",{row}}} 3.0' in page
    assert f"{name}_count{{{row}}} 3.0" in page
    assert f"{name}_sum{{{row}}} 0.5" in page


def test_searches_for_tools_are_counted_with_what_they_found():
    figures = MetricsRegistry()

    figures.note_search(None)
    figures.note_search(0)
    figures.note_search(3, 2)

    names = ("calls_total", "empty_total", "activations_total", "match_count_sum")
    assert [3, 1, 2, 3] == [read(figures, f"chatd_find_tools_{name}") for name in names]


# Of the product whose metrics ours are called after; what is behind the prefix is the same. Those
# of archiving by itself are not there.
NAMES = """
chatd_chats chatd_message_count chatd_prompt_size_bytes chatd_tool_result_size_bytes
chatd_tool_result_truncated_total chatd_tool_errors_total chatd_ttft_seconds chatd_compaction_total
chatd_steps_total chatd_stream_retries_total
chatd_find_tools_calls_total chatd_find_tools_empty_total chatd_find_tools_activations_total
chatd_hook_dispatches_total chatd_hook_dispatch_seconds chatd_hook_decisions_total
chatd_hook_context_size_bytes chatd_hook_input_overrides_total
chatd_find_tools_match_count chatd_agents_active chatd_agents_queued_for_capacity
"""


@pytest.mark.parametrize("name", NAMES.split())
def test_every_metric_is_there_from_the_start(name):
    page = MetricsRegistry().exposition().decode()

    assert f"# TYPE promptcorner_{name} " in page
