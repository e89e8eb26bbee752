"""Whether arguments fit a schema: only what makes a call hopeless is told of."""

from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.call_checks import DEPTH_MAX, ITEMS_MAX, WORK_MAX, schema_fault

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "how": {"enum": ["fast", "slow"]},
        "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "both": {"type": ["string", "integer"]},
        "sure": {"type": "boolean"},
        "more": {"type": ["object", "null"]},
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"old": {"type": "string"}},
                "required": ["old"],
            },
        },
    },
    "required": ["path"],
}


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({}, "missing the required argument `path`"),
        ({"path": 1}, "path: has to be a string, not an integer"),
        ({"path": None}, "path: has to be a string, not null"),
        ({"path": "a", "count": "1"}, "count: has to be an integer, not a string"),
        ({"path": "a", "count": True}, "count: has to be an integer, not a boolean"),
        ({"path": "a", "count": 1.5}, "count: has to be an integer, not a number"),
        ({"path": "a", "share": "1"}, "share: has to be a number, not a string"),
        ({"path": "a", "how": "well"}, 'how: has to be one of "fast", "slow"'),
        ({"path": "a", "either": 1}, "either: has to be a string, not an integer"),
        ({"path": "a", "both": []}, "both: has to be a string or an integer, not an array"),
        ({"path": "a", "edits": {}}, "edits: has to be an array, not an object"),
        (
            {"path": "a", "edits": [{"old": ""}, {}]},
            "edits[1]: missing the required argument `old`",
        ),
        ({"path": "a", "edits": [{"old": 1}]}, "edits[0].old: has to be a string, not an integer"),
    ],
)
def test_what_is_missing_or_of_another_type_is_named(value, says):
    assert says == schema_fault(value, SCHEMA, strict=True)


@pytest.mark.parametrize(
    "value",
    [
        {"path": ""},
        {"path": "a", "count": 1, "share": 1, "both": 1, "either": None, "how": "slow"},
        {"path": "a", "count": 0, "share": 1.5, "both": "x", "either": "x", "edits": []},
        {"path": "a", "unknown": {"of": 1}},
    ],
)
def test_what_fits_is_let_through(value):
    assert schema_fault(value, SCHEMA, strict=True) is None


@pytest.mark.parametrize(
    ("value", "strict", "fits"),
    [
        ({"path": "a", "count": None}, False, True),
        ({"path": "a", "count": None}, True, False),
        ({"path": None}, False, False),
        ({"path": "a", "how": "well"}, False, True),
        ({"path": "a", "count": 1.0}, False, True),
        ({"path": "a", "count": 1.0}, True, False),
        ({"path": "a", "count": "-1"}, False, True),
        ({"path": "a", "count": "-1"}, True, False),
        ({"path": "a", "count": "one"}, False, False),
        ({"path": "a", "count": ""}, False, False),
        ({"path": "a", "share": ".5"}, False, True),
        ({"path": "a", "edits": '[{"old": ""}]'}, False, True),
        ({"path": "a", "edits": '{"old": ""}'}, False, False),
        ({"path": "a", "sure": "true"}, False, True),
        ({"path": "a", "sure": "maybe"}, False, False),
        ({"path": "a", "more": '{"x": 1}'}, False, True),
        ({"path": "a", "more": "null"}, False, True),
    ],
)
def test_a_server_may_take_more_than_it_says(value, strict, fits):
    assert fits is (schema_fault(value, SCHEMA, strict=strict) is None)


@pytest.mark.parametrize(
    "schema",
    [
        True,
        [],
        {"type": "text"},
        {"type": ["string", "text"]},
        {"type": 7, "required": "path", "properties": [], "items": 1, "anyOf": [], "enum": None},
        {"$ref": "#/$defs/a"},
        {"allOf": [{"type": "string"}]},
        {"required": [1]},
        {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}},
    ],
)
@pytest.mark.parametrize("value", [{}, {"a": [1]}])
def test_what_is_not_understood_of_a_schema_refuses_nothing(schema, value):
    assert schema_fault(value, schema, strict=False) is None


def test_a_choice_that_is_none_refuses_nothing():
    assert schema_fault({"a": 1}, {"properties": {"a": {"enum": "fast"}}}, strict=True) is None


def nested(depth, inner, key):
    for _ in range(depth):
        inner = {key: [inner]} if key == "anyOf" else {key: inner}
    return inner


def test_what_is_too_deep_or_too_far_behind_is_left_to_the_tool():
    wrong = {"type": "string"}
    lists = 1
    for _ in range(DEPTH_MAX - 1):
        lists = [lists]

    assert schema_fault(lists, nested(DEPTH_MAX - 1, wrong, "items"), strict=True)
    assert schema_fault([lists], nested(DEPTH_MAX, wrong, "items"), strict=True) is None
    assert schema_fault(1, nested(500, wrong, "anyOf"), strict=True) is None
    for count, fits in ((ITEMS_MAX - 1, False), (ITEMS_MAX, True)):
        words = [*["a"] * count, 1]
        assert fits is (schema_fault(words, {"items": wrong}, strict=True) is None)


def test_only_items_that_have_no_schema_of_their_own_are_like_the_others():
    schema = {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}}

    assert schema_fault([1, "a"], schema, strict=False) is None
    assert schema_fault([1, "a", 2], schema, strict=False) == (
        "[2]: has to be a string, not an integer"
    )


@pytest.mark.parametrize(
    "inner",
    [
        {"anyOf": [*[{"type": "null"}] * 3_000, {"type": "integer"}]},
        {"type": [*["null"] * 6_000, "integer"]},
        {"required": [0] * 20_000},
        dict.fromkeys(map(str, range(6_000))),
    ],
)
def test_a_server_cannot_have_us_check_for_long(inner):
    """The time is what this thread has worked: how busy the machine is does not count."""
    schema = {"properties": {"a": {"items": {"items": inner}}}}
    began = thread_time()

    assert schema_fault({"a": [[1] * 1_000] * 30}, schema, strict=False) is None

    assert thread_time() - began < 5.0


def test_what_is_over_the_work_is_left_to_the_tool():
    costly = {"anyOf": [*[{"type": "null"}] * (WORK_MAX // 4), {"type": "integer"}]}

    assert schema_fault([1, "a"], {"items": costly}, strict=False) is None
    assert schema_fault(["a", 1], {"items": costly}, strict=False) == (
        "[0]: has to be null, not a string"
    )


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
WORDS = st.sampled_from(["type", "properties", "required", "items", "anyOf", "enum", "a"])


@given(
    ANYTHING,
    st.recursive(ANYTHING, lambda inner: st.dictionaries(WORDS, inner | st.lists(inner))),
    st.booleans(),
)
def test_whatever_a_server_says_of_its_arguments_it_is_read(value, schema, strict):
    assert schema_fault(value, schema, strict=strict) != ""
