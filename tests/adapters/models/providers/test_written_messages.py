"""What is kept of a request is the same as what would be written anew, however a history grows."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.law.parts.message import ReasoningPart
from actors.law.parts.prompt import Prompt
from actors.law.parts.vendors import VENDORS, vendor_of
from actors.prompts.growing import GrowingPrompt
from actors.prompts.projection import Projection, project
from actors.prompts.selecting import Target
from adapters.models.providers.anthropic.request import body
from adapters.models.providers.openai_chat.request import request_body
from tests.actors.prompts.rows import assistant, call, history, result, system, tool, user

SIGNED = '{"anthropic":{"signature":"s"}}'
ROWS = (
    user("hello"),
    user(" "),
    system("be good"),
    assistant("so"),
    assistant(ReasoningPart("hm")),
    assistant(ReasoningPart("hm", provider_metadata=SIGNED), "then"),
    assistant(call("a"), "and", call("b")),
    tool(result("a")),
    tool(result("b", '{ "error" : "no" }', is_error=True)),
    tool(result("c", '{"x": 1}')),
)
# Every way to write Chat Completions, and models that have ways of their own.
CHATS = [(vendor.type, "m") for vendor in VENDORS if not vendor.rules.is_anthropic]
CHATS += [("openrouter", "anthropic/claude"), ("openai-compat", "mistral-large")]


def to_anthropic(prompt):
    return body(prompt, model=prompt.model, extra={})


def to_chats(type):
    def write(prompt):
        return request_body(prompt, vendor_of(type).dialect_at("host"), stream=True)

    return write


def told(rows, type, known=None):
    target = Target(type, "ours", vendor_of(type).rules)
    made = project(rows, target=target, identity_of=lambda id: "ours", files={}, known=known)
    assert isinstance(made, Projection)
    return made


def asked(made, model, write, written=None):
    return json.loads(write(Prompt(model, made.messages, made.system, written=written)))


growing = (
    st.lists(st.sampled_from(ROWS), min_size=1, max_size=20),
    st.lists(st.integers(1, 20), max_size=6),
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    *growing,
    st.sampled_from(
        [("anthropic", "m", to_anthropic)] * 5
        + [(type, model, to_chats(type)) for type, model in CHATS]
    ),
)
@example([ROWS[at] for at in (0, 4, 0, 3)], [], ("anthropic", "m", to_anthropic))  # a silent one
def test_a_request_that_grew_is_the_one_that_is_written_anew(rows, cuts, way):
    type, model, write = way
    whole, known = history(*rows), GrowingPrompt()

    for cut in [*cuts, len(whole)]:  # also to an earlier place: an edit
        grown = told(whole[:cut], type, known)
        anew = told(whole[:cut], type)
        assert asked(anew, model, write) == asked(grown, model, write, known.written)


@pytest.mark.parametrize("type", ["anthropic", "openai"])
def test_what_was_written_is_not_written_again(type):
    write = to_anthropic if type == "anthropic" else to_chats(type)
    whole = history(*[user("x"), assistant("y")] * 20, user("z"))
    known, lengths = GrowingPrompt(), []

    for cut in (39, 41):
        made = told(whole[:cut], type, known)
        asked(made, "m", write, known.written)
        counted = Counted(known.written)
        assert asked(made, "m", write, counted) == asked(made, "m", write)
        lengths.append(counted.written)

    assert all(count <= 6 for count in lengths)


class Counted:
    """Written messages, and how many were written."""

    def __init__(self, kept):
        self.kept, self.written = kept, 0

    def array(self, messages, settled, way, write):
        def counting(part, are_last):
            self.written += len(part)
            return write(part, are_last)

        return self.kept.array(messages, settled, way, counting)


@pytest.mark.parametrize("change", ["another message", "another way", "fewer messages"])
def test_what_does_not_fit_is_written_anew(change):
    whole = history(*[user("x"), assistant("y")] * 5)
    known = GrowingPrompt()
    made = told(whole, "openai", known)
    asked(made, "m", to_chats("openai"), known.written)

    if change == "another message":
        made = told(history(user("new"), *whole[1:]), "openai")
    elif change == "fewer messages":
        made = told(whole[:3], "openai")
    write = to_anthropic if change == "another way" else to_chats("openai")

    assert asked(made, "m", write) == asked(made, "m", write, known.written)
