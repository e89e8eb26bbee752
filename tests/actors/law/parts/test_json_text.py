"""JSON that is kept as text: whether it is any, and whether everybody can read it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.law.parts.json_text import NESTING_MAX, is_json, is_object, well_formed


@pytest.mark.parametrize(
    ("text", "json", "object"),
    [
        ("{}", True, True),
        (" [1] ", True, False),
        ('"\\u0000"', True, False),
        ("", False, False),
        (None, False, False),
        ("{", False, False),
        ("NaN", False, False),
        ('{"a":Infinity}', False, False),
        ("[" * 100_000, False, False),
        ("[" * NESTING_MAX + "]" * NESTING_MAX, True, False),
        ("[" * (NESTING_MAX + 1) + "]" * (NESTING_MAX + 1), False, False),
        ('{"a":' * 20_000 + "1" + "}" * 20_000, False, False),
        (f"[{'{},' * 20_000}[]]", True, False),
        ('{"a": "' + "[" * 1_000 + '\\"' + "{" * 1_000 + '"}', True, True),
    ],
)
def test_what_is_json_is_what_store_and_providers_take(text, json, object):
    assert (json, object) == (is_json(text), is_object(text))


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ('"\\ud83d"', '"\\ufffd"'),
        ('"\\uDE00a"', '"\\ufffda"'),
        ('"\\ud83d\\ud83d\\ude00"', '"\\ufffd\\ud83d\\ude00"'),
        ('"\ud83d"', '"\ufffd"'),
        ('"\\ud83d\\ude00"', '"\\ud83d\\ude00"'),
        ('"\\\\ud83d"', '"\\\\ud83d"'),
        ('"\U0001f600 \u00e9 \\u0000"', '"\U0001f600 \u00e9 \\u0000"'),
    ],
)
def test_half_a_character_is_no_character(text, mended):
    assert mended == well_formed(text)


@given(st.text(st.characters() | st.characters(categories=["Cs"])), st.booleans())
def test_whatever_was_said_can_be_written_down_and_means_the_same_but_for_that(said, escaped):
    text = well_formed(json.dumps({"a": said}, ensure_ascii=escaped))

    assert text.encode()
    expected = said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert {"a": expected} == json.loads(text)
