"""What the wires read from a conversation, and what holds for every stream they write."""

import json

import pytest

from adapters.rehearsal.wires import anthropic, google, openai_chat, openai_responses
from tests.adapters.rehearsal.serving import a_model, events

PATH = "/v1beta/models/gem:streamGenerateContent"


def conversation(wire, rounds):
    """Asked, answered; asked again with a text, then rounds of two calls and their results."""
    two = range(2)
    match wire:
        case "anthropic":
            result = {"type": "tool_result", "tool_use_id": "1", "content": "done"}
            steps = [
                {"role": "assistant", "content": [{"type": "tool_use"} for _ in two]},
                {"role": "user", "content": [result for _ in two]},
            ]
            said = [
                {"role": role, "content": [{"type": "text", "text": text}]}
                for role, text in (("user", "one"), ("assistant", "two"), ("user", "three"))
            ]
            return {"model": "m", "max_tokens": 1, "messages": [*said, *steps * rounds]}
        case "chat":
            steps = [{"role": "assistant"}, *({"role": "tool", "content": "done"} for _ in two)]
            said = [
                {"role": "user", "content": "one"},
                {"role": "assistant", "content": "two"},
                {"role": "user", "content": [{"type": "text", "text": "three"}]},
            ]
            return {"model": "m", "messages": [*said, *steps * rounds]}
        case "responses":
            steps = [
                *({"type": "function_call", "call_id": "1", "name": "add"} for _ in two),
                *({"type": "function_call_output", "call_id": "1", "output": "done"} for _ in two),
            ]
            said = [
                {"role": "user", "content": "one"},
                {"role": "assistant", "content": [{"type": "output_text", "text": "two"}]},
                {"role": "user", "content": [{"type": "input_text", "text": "three"}]},
            ]
            return {"model": "m", "input": [*said, *steps * rounds]}
        case "google":
            steps = [
                {"role": "model", "parts": [{"functionCall": {"name": "add"}} for _ in two]},
                {"role": "user", "parts": [{"functionResponse": {"name": "add"}} for _ in two]},
            ]
            said = [
                {"role": role, "parts": [{"text": text}]}
                for role, text in (("user", "one"), ("model", "two"), ("user", "three"))
            ]
            return {"contents": [*said, *steps * rounds]}


@pytest.mark.parametrize("rounds", [0, 1, 3])
@pytest.mark.parametrize(
    ("name", "wire"),
    [
        ("anthropic", anthropic),
        ("chat", openai_chat),
        ("responses", openai_responses),
        ("google", google),
    ],
)
def test_the_last_text_of_the_user_and_the_rounds_since_are_read(name, wire, rounds):
    asked = wire.read(json.dumps(conversation(name, rounds)).encode(), PATH)

    assert ("three", rounds) == (asked.text, asked.rounds)


def test_results_before_a_text_in_one_message_are_none_of_its_own():
    """As after an interrupt: the results of its calls, and what the user said then."""
    result = {"type": "tool_result", "tool_use_id": "1", "content": "interrupted"}
    said = {"role": "user", "content": [result, {"type": "text", "text": "and now"}]}
    body = {"model": "m", "max_tokens": 1, "messages": [said]}

    asked = anthropic.read(json.dumps(body).encode(), PATH)

    assert ("and now", 0) == (asked.text, asked.rounds)


def test_what_a_model_said_last_is_not_what_the_user_said():
    said = conversation("google", 0)["contents"][:2]

    assert "one" == google.read(json.dumps({"contents": said}).encode(), PATH).text


async def test_every_event_of_a_responses_stream_has_the_next_number():
    async with a_model(reasoning=2, deltas=3, faults="error:4@2") as model:
        whole, failed = [(await model.ask("responses")).content for _ in range(2)]

    for body in (whole, failed):
        numbers = [document["sequence_number"] for _, document in events(body)]
        assert list(range(len(numbers))) == numbers
    assert ["error", "response.failed"] == [name for name, _ in events(failed)][-2:]


async def test_thoughts_and_words_of_google_are_counted_as_they_come():
    async with a_model(reasoning=2, deltas=2, input_tokens=10) as model:
        body = (await model.ask("google")).content

    counts = [document["usageMetadata"] for _, document in events(body)]
    assert [1, 2, 2, 2, 2] == [count["thoughtsTokenCount"] for count in counts]
    assert [None, None, 1, 2, 2] == [count.get("candidatesTokenCount") for count in counts]
    assert [11, 12, 13, 14, 14] == [count["totalTokenCount"] for count in counts]
