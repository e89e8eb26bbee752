"""What is known about models by their names."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.law.parts.message import JsonText
from adapters.models.providers.facts.gemini import budget_of, is_gemini, level_of, mixes_tools
from adapters.models.providers.facts.mistral import is_mistral, short_id
from adapters.models.providers.facts.openai import (
    answers_on_responses,
    reasons,
    samples,
    strict_schema,
)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-3.5-turbo", True),
        ("gpt-4o-mini", True),
        ("gpt-4.1", True),
        ("gpt-5", True),
        ("gpt-5.4-nano", True),
        ("gpt-12-large", True),
        ("o1-pro", True),
        ("o3", True),
        ("o4-mini", True),
        ("codex-mini-latest", True),
        ("chatgpt-4o-latest", True),
        ("gpt-oss-120b", True),
        ("gpt-oss-20b", False),
        ("gpt-4o-search-preview", False),
        ("gpt-image-1", False),
        ("llama-3", False),
    ],
)
def test_openais_models_answer_on_responses_where_they_can(model, expected):
    assert answers_on_responses(model) is expected


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("o3", True),
        ("openai/o4-mini", True),
        ("gpt-5-mini", True),
        ("gpt-5.1", True),
        ("gpt-5-chat-latest", False),
        ("gpt-5.1-chat-latest", False),
        ("gpt-4o", False),
        ("gpt-oss-20b", True),
        ("olmo-3", False),
        ("meta/o3xyz", False),
    ],
)
def test_models_that_reason_are_known_by_name(model, expected):
    assert reasons(model) is expected


@pytest.mark.parametrize(
    ("model", "levels"),
    [
        ("gemini-3-flash-preview", ["minimal", "minimal", "low", "medium", "high", "high", "high"]),
        ("gemini-3.6-flash-lite", ["minimal", "minimal", "low", "medium", "high", "high", "high"]),
        ("gemini-3.7-flash", ["low", "low", "low", "medium", "high", "high", "high"]),
        ("gemini-3-pro-preview", ["low", "low", "low", "low", "high", "high", "high"]),
        ("google/gemini-3.1-pro-preview", ["low", "low", "low", "medium", "high", "high", "high"]),
        ("gemini-flash-latest", ["low", "low", "low", "medium", "high", "high", "high"]),
        ("gemini-3-pro-image-preview", ["high"] * 7),
        ("gemini-3.1-flash-image", ["minimal"] * 4 + ["high"] * 3),
        ("gemini-3.1-flash-tts", [None] * 7),
        ("gemini-2.5-flash", [None] * 7),
    ],
)
def test_an_effort_is_clamped_to_the_levels_of_a_gemini_model(model, levels):
    efforts = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

    assert [level_of(model, effort) for effort in efforts] == levels


@pytest.mark.parametrize(
    ("model", "budgets"),
    [
        ("gemini-2.5-flash", [0, 1024, 1024, 8192, 24576, 24576, 24576]),
        ("gemini-2.5-pro", [1024, 1024, 1024, 8192, 24576, 24576, 24576]),
        ("gemini-2.0-flash", [None] * 7),
        ("gemini-3-pro-preview", [None] * 7),
        ("gemini-2.5-flash-preview-tts", [None] * 7),
        ("claude-haiku-4.5", [None] * 7),
    ],
)
def test_an_effort_is_a_budget_of_a_gemini_2_5(model, budgets):
    efforts = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

    assert [budget_of(model, effort) for effort in efforts] == budgets


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("openai.gpt-oss-120b-1:0", True),
        ("us.openai.gpt-5", True),
        ("bedrock/openai.gpt-5.1", True),
        ("gpt-5.1", True),
        ("openai.gpt-4o", False),
        ("my-openai.llama", False),
    ],
)
def test_a_vendor_before_a_dot_does_not_hide_that_a_model_thinks(model, expected):
    assert reasons(model) is expected
    assert samples(model, "high") is not expected


def test_gemini_is_known_by_name():
    assert [is_gemini(name) for name in ("google/gemini-3-pro", "gemma-3")] == [True, False]
    assert [mixes_tools(name) for name in ("gemini-3-pro", "gemini-2.5-pro")] == [True, False]


def test_a_schema_is_closed_all_the_way_down_for_strict_mode():
    inner = {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}
    items = {"type": "array", "items": inner}
    schema = {"type": "object", "properties": {"a": items}, "required": ["a"]}

    closed, strict = strict_schema(JsonText(json.dumps(schema)))

    inner_closed = inner | {"additionalProperties": False}
    assert strict
    assert json.loads(closed) == schema | {
        "properties": {"a": items | {"items": inner_closed}},
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "string"}}},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {
            "type": "object",
            "properties": {"a": {"type": "object", "properties": {"b": {}}}},
            "required": ["a"],
        },
    ],
)
def test_a_schema_with_optional_or_free_properties_is_not_strict(schema):
    text = JsonText(json.dumps(schema))

    assert strict_schema(text) == (text, False)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("mistral-large-latest", True),
        ("magistral-medium-2509", True),
        ("mistralai/Devstral-Small-2", True),
        ("open-mixtral-8x22b", True),
        ("llama-mistral", False),
        ("gpt-5", False),
    ],
)
def test_models_of_mistral_are_known_by_their_families(model, expected):
    assert is_mistral(model) is expected


@given(st.text(max_size=60))
def test_an_id_becomes_nine_letters_or_digits_and_stays_so(id):
    short = short_id(id)

    assert re.fullmatch("[A-Za-z0-9]{9}", short)
    assert short_id(short) == short


@given(st.sets(st.text(max_size=12), max_size=50))
def test_different_ids_stay_different(ids):
    assert len({short_id(id) for id in ids}) == len(ids)
