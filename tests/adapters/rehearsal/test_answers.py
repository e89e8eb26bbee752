"""What is said to what is asked."""

import json

import pytest

from adapters.rehearsal.answers import plan_answer
from adapters.rehearsal.behaviour import Behaviour, BrokenAnswer, ErrorStatus
from adapters.rehearsal.dialogue import ModelRequest
from adapters.rehearsal.settings import read


def ask(text="hello", *, rounds=0, tools=True, **more):
    asked = {"model": "m", "streamed": True, "text": text, "rounds": rounds, "offers_tools": tools}
    return ModelRequest(**asked, **more)


def answer(settings, asked=None, number=1, attempt=1):
    behaviour = read(Behaviour(), settings)
    return plan_answer(behaviour, asked or ask(), number=number, attempt=attempt, cue=number)


def said(settings, asked=None, number=1):
    return answer(settings, asked, number).content


def test_an_answer_has_the_deltas_of_the_size_that_is_set():
    text = said({"deltas": 3, "delta_chars": 4}).text

    assert ("Beginners, p", [b'"Begi"', b'"nner"', b'"s, p"']) == (text.whole, list(text.deltas))


def test_a_text_of_ones_own_is_cut_into_deltas():
    text = said({"text": "Olá!\n", "delta_chars": 2}).text

    assert ["Ol", "á!", "\n"] == [json.loads(delta) for delta in text.deltas]


def test_tools_are_called_for_as_many_rounds_as_are_set():
    settings = {"tool_calls": "add:{}", "tool_rounds": 2, "deltas": 1}

    finishes = [said(settings, ask(rounds=rounds)).finish for rounds in range(4)]

    assert ["tools", "tools", "stop", "stop"] == finishes


def test_who_offers_no_tools_gets_the_text():
    assert () == said({"tool_calls": "add:{}"}, ask(tools=False)).calls


def test_a_forced_tool_is_called_with_what_its_schema_wants():
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}

    (call,) = said({}, ask(forced="set_title", schema=schema)).calls

    assert ("set_title", {"title": "Rehearsal"}) == (call.name, json.loads(call.arguments.whole))


def test_wished_json_is_said_as_text():
    kinds = {"n": {"type": "integer"}, "on": {"type": "boolean"}, "all": {"type": "array"}}
    schema = {"type": "object", "properties": {**kinds, "kind": {"enum": ["a", "b"]}}}

    text = said({}, ask(schema=schema)).text

    assert {"n": 0, "on": False, "all": [], "kind": "a"} == json.loads(text.whole)


@pytest.mark.parametrize("schema", [{"anyOf": 5}, {"properties": 5}, {"enum": 5}, {"items": 5}])
def test_a_schema_that_is_none_is_answered_all_the_same(schema):
    nested = {"type": "object", "properties": {"a": schema, "b": 5}}

    json.loads(said({}, ask(schema=nested)).text.whole)


def test_a_script_has_an_answer_for_each_request_and_then_ends():
    settings = {"text": "flags", "script": [{"text": "one"}, {"faults": "529"}, {"deltas": 1}]}

    answers = [answer(settings, number=number) for number in (1, 2, 3, 4)]

    assert ["one", "flags", "flags", "flags"] == [each.content.text.whole for each in answers]
    assert [None, ErrorStatus(529), None, None] == [each.fault for each in answers]


def test_an_answer_of_a_script_calls_its_tools_whatever_came_before():
    settings = {"script": [{"tool_calls": "add:{}"}]}

    assert "tools" == said(settings, ask(rounds=5)).finish


def test_the_fault_of_a_marker_counts_attempts_and_any_other_counts_requests():
    marked = ask("[[fault: 529@1]]")

    faults = [answer({}, marked, number=9, attempt=attempt).fault for attempt in (1, 2)]
    numbered = [answer({"faults": "529@9"}, number=number).fault for number in (8, 9)]

    assert [ErrorStatus(529), None] == faults
    assert [None, ErrorStatus(529)] == numbered


def test_chance_is_seeded():
    def run(seed):
        settings = {"faults": "529@30%", "seed": seed}
        return [answer(settings, number=number).fault is not None for number in range(1, 200)]

    assert run(1) == run(1)
    assert run(1) != run(2)
    assert 30 <= sum(run(1)) <= 90


def test_a_withheld_answer_may_have_begun():
    refused = said({"faults": "refusal:2", "text": "abcdefgh", "delta_chars": 1})

    assert ("ab", "refusal") == (refused.text.whole, refused.finish)
    assert "I cannot play this part." == refused.refusal.whole


def test_a_break_leaves_what_is_said_alone():
    broken = answer({"faults": "reset:2", "text": "abc"})

    assert (BrokenAnswer("reset", 2), "abc") == (broken.fault, broken.content.text.whole)


def test_usage_is_counted_where_it_is_not_set():
    counted = said({"reasoning": 2, "deltas": 3}, ask(body_bytes=400)).usage
    fixed = said({"input_tokens": 9, "output_tokens": 8, "reasoning_tokens": 7}).usage

    assert (100, 5, 2) == (counted.input, counted.output, counted.reasoning)
    assert (9, 8, 7) == (fixed.input, fixed.output, fixed.reasoning)


def test_an_answer_that_was_paused_goes_on_where_it_was():
    settings = {"text": "Hello there", "delta_chars": 5, "reasoning": 2, "faults": "pause:1@1"}

    first = said(settings)
    rest = said(settings, ask(said_before=first.text.whole), number=2)

    assert ("Hello", "pause") == (first.text.whole, first.finish)
    assert (" there", "stop", ()) == (rest.text.whole, rest.finish, rest.reasoning.deltas)
