"""A history that grows is converted once, and to the same as if it had been there all the time."""

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.law.chat import Visibility
from actors.law.parts.message import FilePart, ReasoningPart
from actors.law.parts.vendors import vendor_of
from actors.prompts.growing import GrowingPrompt
from actors.prompts.projection import project
from actors.prompts.selecting import Target
from tests.actors.prompts.rows import (
    THEIRS,
    assistant,
    call,
    history,
    result,
    searched,
    system,
    tool,
    user,
)

IDENTITIES = {THEIRS: "theirs"}
ROWS = (
    user("hello"),
    system("be good"),
    assistant("so"),
    assistant(call("a"), "and", call("b")),
    assistant(call("a"), call("a", "g")),
    assistant(*searched()),
    assistant(*searched(), call("a"), model=THEIRS),
    tool(result("a")),
    tool(result("b", '{ "error" : "no" }', is_error=True)),
    tool(result("c", '{"x": 1}'), result("a", '{"\\u006futput": "late"}')),
    user("sum", visibility=Visibility.MODEL, compressed=True),
    user("gone", deleted=True),
)


def told(rows, known=None, provider="anthropic"):
    target = Target(provider, "ours", vendor_of(provider).rules)
    return project(
        rows,
        target=target,
        identity_of=lambda id: IDENTITIES.get(id, "ours"),
        files={},
        known=known,
    )


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(ROWS), max_size=14),
    st.lists(st.integers(0, 14), max_size=6),
    st.sampled_from(["anthropic", "openai"]),
)
def test_it_makes_no_difference_in_which_steps_it_grew(rows, cuts, provider):
    whole, known = history(*rows), GrowingPrompt()

    for cut in [*cuts, len(whole)]:  # also to an earlier place: an edit
        assert told(whole[:cut], provider=provider) == told(whole[:cut], known, provider)


def test_a_row_is_converted_once():
    whole, files, known = attached(5), Looked(), GrowingPrompt()

    for count in (2, 3, 5, 5):
        converted(known, whole[:count], files)

    assert [UUID(int=n) for n in range(5)] == files.looked_for


def test_another_row_in_a_place_makes_all_anew():
    whole, files, known = attached(3), Looked(), GrowingPrompt()
    other = (replace(whole[0], revision=2), *whole[1:])

    converted(known, whole, files)
    converted(known, other, files)

    assert [UUID(int=n) for n in range(3)] * 2 == files.looked_for


def converted(known, rows, files):
    target = Target("openai", "ours", vendor_of("openai").rules)
    return known.messages(rows, files, target, lambda id: "ours")


def attached(count):
    """Messages with a file each, which is looked for when they are converted."""
    return history(*(user(FilePart("image/png", file_id=UUID(int=n))) for n in range(count)))


class Looked(dict):
    def __init__(self):
        self.looked_for = []

    def get(self, id, default=None):
        self.looked_for.append(id)
        return default


@pytest.mark.parametrize(
    ("row", "is_light"),
    [
        (user("x"), True),
        (user(FilePart("image/png", data="aGk=")), False),
        (tool(result("a", '{"data":"aGk=","mime_type":"image/png"}', is_media=True)), False),
    ],
)
def test_what_carries_files_is_not_light(row, is_light):
    known = GrowingPrompt()

    told(history(user("hello"), row), known)

    assert is_light is known.is_light
    told(history(user("hello")), known)
    assert known.is_light


@pytest.mark.parametrize(("provider", "count"), [("anthropic", 3), ("openai", 5)])
def test_neighbours_of_one_role_become_one_where_that_is_asked_for(provider, count):
    rows = user("a"), user("b"), assistant("c"), assistant("d"), user("e")

    messages = told(history(*rows), provider=provider).messages

    assert count == len(messages)
    assert list("abcde") == [part.text for each in messages for part in each.parts]


SIGNED = ReasoningPart("hm", provider_metadata='{"anthropic":{"signature":"s"}}')


def test_what_is_signed_is_joined_to_its_neighbour_once_it_is_not_the_latest():
    rows = (user("a"), assistant("b"), assistant(SIGNED, "c"), user("d"), assistant("e"))
    known = GrowingPrompt()

    latest = told(history(*rows[:4]), known).messages
    later = told(history(*rows), known).messages

    assert [1, 1, 2, 1] == [len(each.parts) for each in latest]
    assert [1, 3, 1, 1] == [len(each.parts) for each in later]
