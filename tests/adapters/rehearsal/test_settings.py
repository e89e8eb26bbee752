"""One grammar for flags, JSON and markers; what is wrong is refused in clear words."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from adapters.rehearsal.behaviour import (
    Always,
    Behaviour,
    BrokenAnswer,
    ByChance,
    ContextOverflow,
    EndedEarly,
    ErrorStatus,
    FaultRule,
    OnNumbers,
    ScriptedCall,
    read_rules,
    rule_text,
)
from adapters.rehearsal.settings import InvalidSetting, as_settings, read, with_markers

NUMBERS = some.none() | some.integers(0, 1000)
FAULTS = (
    some.builds(ErrorStatus, some.integers(400, 599), NUMBERS)
    | some.just(ContextOverflow())
    | some.builds(BrokenAnswer, some.sampled_from(["reset", "hangup", "silence", "error"]), NUMBERS)
    | some.builds(EndedEarly, some.sampled_from(["refusal", "filter", "length", "pause"]), NUMBERS)
)
WHENS = (
    some.just(Always())
    | some.integers(1, 1000).map(lambda first: OnNumbers(first, first + 3))
    | some.sampled_from([ByChance(0.005), ByChance(0.1), ByChance(1.0)])
)


@given(some.lists(some.builds(FaultRule, FAULTS, WHENS), max_size=5))
def test_a_rule_is_read_as_it_is_spelled(rules):
    assert tuple(rules) == read_rules(",".join(rule_text(rule) for rule in rules))


def test_the_grammar_of_the_help():
    expected = (
        FaultRule(ErrorStatus(429, 2), OnNumbers(1, 2)),
        FaultRule(ErrorStatus(529), ByChance(0.05)),
        FaultRule(BrokenAnswer("reset", 10), OnNumbers(3, 3)),
        FaultRule(ContextOverflow()),
    )

    assert expected == read_rules("429:2@1-2, 529@5%, reset:10@3, overflow")


def test_flags_and_json_say_the_same():
    by_flags = read(Behaviour(), {"delta_ms": "20", "faults": "529@1,500", "models": "a,b"})

    by_json = {"delta-ms": 20, "faults": ["529@1", "500"], "models": ["a", "b"]}
    assert by_flags == read(Behaviour(), by_json)


@pytest.mark.parametrize(
    "calls",
    ['add:{"a":[1,2]} now:{}', [{"name": "add", "arguments": {"a": [1, 2]}}, {"name": "now"}]],
)
def test_calls_are_spelled_or_listed(calls):
    found = read(Behaviour(), {"tool_calls": calls}).tool_calls

    assert ("add", "now", "{}") == (found[0].name, found[1].name, found[1].arguments)


def test_arguments_may_be_no_json_so_that_a_reader_can_be_tried():
    behaviour = read(Behaviour(), {"tool_calls": [{"name": "add", "arguments": '{"a":'}]})

    assert (ScriptedCall("add", '{"a":'),) == behaviour.tool_calls


def test_what_is_shown_can_be_said_again():
    said = {"faults": "429:3@2-4,reset@10%", "tool_calls": "add:{}", "input_tokens": 5}
    behaviour = read(Behaviour(), {**said, "script": [{"text": "a"}, {"faults": "500"}]})

    assert behaviour == read(Behaviour(), as_settings(behaviour))


def test_an_answer_of_a_script_begins_with_the_other_settings():
    behaviour = read(Behaviour(), {"delta_ms": 7, "script": [{"text": "a"}, {}]})

    assert [("a", 7), ("", 7)] == [(each.text, each.delta_ms) for each in behaviour.script]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"deltas": "many"}, "deltas: is 'many', must be 0..100000"),
        ({"deltas": -1}, "deltas: is -1, must be 0..100000"),
        ({"deltas": True}, "deltas: is True, must be 0..100000"),
        ({"delta_ms": "nan"}, "delta_ms: is 'nan', must be 0..3.6e+06"),
        ({"jitter": 2}, "jitter: is 2, must be 0..1"),
        ({"deltas": 100_000, "delta_chars": 4096}, "deltas: an answer may have 4194304 characters"),
        ({"faults": "42"}, "faults: has '42', must be like 529, 429:30@1-3, reset:5@10%"),
        ({"faults": "200"}, "faults: has the status 200, must be 400..599"),
        ({"faults": "529@x"}, "faults: has @x, must be like @3, @3-5 or @10%"),
        ({"tool_calls": "add"}, "tool_calls: has 'add', must be like " + 'weather:{"city":"Rome"}'),
        ({"script": [{"text": "a"}, 5]}, "script: answer 2 is no object of settings"),
        ({"script": [{"jitter": 9}]}, "script: answer 1: jitter: is 9, must be 0..1"),
    ],
)
def test_what_cannot_be_is_refused(said, why):
    with pytest.raises(InvalidSetting, match=f"^{re.escape(why)}$"):
        read(Behaviour(), said)


def test_an_unknown_setting_is_refused_with_those_there_are():
    with pytest.raises(
        InvalidSetting, match=r"^delts: no such setting, must be one of headers_ms, .*script$"
    ):
        read(Behaviour(), {"delts": 1})


def test_markers_change_only_what_they_name():
    behaviour, names = with_markers(
        Behaviour(delta_ms=3), "please [[deltas: 2]] and [[fault: 529@1]]"
    )

    assert {"deltas", "faults"} == names
    assert (3, 2) == (behaviour.delta_ms, behaviour.deltas)
    assert (FaultRule(ErrorStatus(529), OnNumbers(1, 1)),) == behaviour.faults


def test_other_brackets_belong_to_the_message():
    base = Behaviour()

    assert (base, frozenset()) == with_markers(base, "see [[Home: page]] and [[ -f x ]]")
