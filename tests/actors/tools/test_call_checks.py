"""What is wrong with arguments, and what is not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.call_checks import arguments_fault

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "edits": {
            "type": "array",
            "items": {"type": "object", "properties": {"old_text": {"type": "string"}}},
        },
    },
}


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (None, "not valid JSON"),
        ("", "not valid JSON"),
        ('{"path":', "not valid JSON"),
        ('{"path": NaN}', "not valid JSON"),
        ("[1]", "not a JSON object"),
        ('{"path": "a", "path": "b"}', "path is given twice"),
        ('{"Path": "a"}', "Path is written path"),
        ('{"edits": [{"old_text": "a"}, {"OLD_TEXT": "b"}]}', "edits[1].OLD_TEXT is written"),
        ('{"edits": [{"x": 1, "x": 2}]}', "edits[0].x is given twice"),
        ('{"other": {"a": 1, "a": 2}}', "other.a is given twice"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(args, says):
    found = arguments_fault(args, SCHEMA)

    assert found is not None
    assert says in found


@pytest.mark.parametrize(
    "args",
    ["{}", '{"path": "a"}', '{"unknown": 1}', '{"edits": [{"old_text": "a"}, {"old_text": "b"}]}'],
)
def test_what_can_be_read_in_one_way_is_not(args):
    assert arguments_fault(args, SCHEMA) is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_an_object_that_was_written_by_a_program_is_never_ambiguous(value):
    assert arguments_fault(json.dumps({"other": value}), {}) is None
