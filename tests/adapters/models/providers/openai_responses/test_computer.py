"""Calls of OpenAI's computer tool: declared, called with a list of actions, answered by a picture.

The samples are written by hand after the vendor's public documentation of its types.
"""

import base64
import json
from datetime import UTC, datetime

import pytest

from actors.law.parts.assemble import Assembly
from actors.law.parts.message import FilePart, JsonText, TextPart, ToolCallPart
from actors.law.parts.prompt import (
    AssistantOutput,
    ComputerUse,
    Prompt,
    ToolAnswer,
    ToolResults,
    UserInput,
)
from adapters.models.providers.openai_responses.request import NO_PICTURE, request_body
from adapters.models.providers.openai_responses.response import ResponsesDecoder

MODEL = "gpt-5.6-sol"
PICTURE = FilePart("image/png", data="iVBORw0KGgo=")
ACTIONS = [{"type": "click", "x": 1, "y": 2, "button": "left"}, {"type": "wait"}]
CHECKS = [{"id": "cu_sc_1", "code": "malicious_instructions", "message": "look twice"}]
CALL = {
    "type": "computer_call",
    "id": "cu_1",
    "call_id": "call_1",
    "status": "completed",
    "actions": ACTIONS,
    "pending_safety_checks": CHECKS,
}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}


def event(name, **members):
    return f"event: {name}\ndata: {json.dumps({'type': name, **members})}\n\n".encode()


def heard(*items):
    """The parts of an answer that has these items."""
    stream = b"".join(
        event(f"response.output_item.{what}", item=item, output_index=0)
        for item in items
        for what in ("added", "done")
    )
    stream += event("response.completed", response={"id": "r", "status": "completed", "output": []})
    assembly = Assembly()
    for delta in ResponsesDecoder().feed(stream):
        assembly.add(delta, datetime(2026, 1, 1, tzinfo=UTC))
    return assembly.answer()


def sent(*messages):
    said, tools = UserInput((TextPart("look"),)), (ComputerUse(1600, 900),)
    prompt = Prompt(MODEL, (said, *messages), provider_tools=tools)
    return json.loads(request_body(prompt, stream=True))


def goes_back(parts, *answers):
    return sent(AssistantOutput(tuple(parts)), ToolResults(answers))["input"][1:]


def test_the_tool_is_declared_without_a_size():
    assert [{"type": "computer"}] == sent()["tools"]


def test_a_call_is_one_of_the_tool_computer_with_its_actions_and_checks():
    answer = heard(CALL)

    [call] = answer.parts
    assert ("call_1", "computer", False) == (call.id, call.name, call.provider_executed)
    assert {"actions": ACTIONS, "pending_safety_checks": CHECKS} == json.loads(call.args)
    assert "TOOL_CALLS" == answer.reason.name


def test_an_older_model_has_one_action_in_a_call():
    old = {key: value for key, value in CALL.items() if key not in ("actions",)}

    [call] = heard(old | {"action": ACTIONS[0], "pending_safety_checks": []}).parts

    assert {"actions": ACTIONS[:1]} == json.loads(call.args)


def test_the_call_goes_back_as_it_came_behind_its_thought_and_its_picture_behind_it():
    parts = heard(THOUGHT, CALL).parts

    thought, call, output = goes_back(parts, ToolAnswer("call_1", "computer", "", media=PICTURE))

    assert "gAAA" == thought["encrypted_content"]
    assert CALL == call
    assert output == {
        "type": "computer_call_output",
        "call_id": "call_1",
        "output": {
            "type": "computer_screenshot",
            "image_url": "data:image/png;base64,iVBORw0KGgo=",
            "detail": "original",
        },
        "acknowledged_safety_checks": CHECKS,
    }


def test_a_call_that_failed_has_an_empty_picture_and_its_words_behind_it():
    failed = ToolAnswer("call_1", "computer", "there is no desktop", is_error=True)

    _, output, words = goes_back(heard(CALL).parts, failed)

    assert NO_PICTURE == output["output"]["image_url"]
    assert base64.b64decode(NO_PICTURE.partition(",")[2]).startswith(b"\x89PNG")
    assert "developer" == words["role"]
    assert "there is no desktop" in words["content"]


@pytest.mark.parametrize("parts", [heard(THOUGHT, CALL).parts[1:], None])
def test_a_call_without_its_thought_or_of_another_vendor_goes_as_a_function(parts):
    of_anthropic = ToolCallPart("call_1", "computer", JsonText('{"action":"screenshot"}'))

    call, output = goes_back(
        parts or [of_anthropic], ToolAnswer("call_1", "computer", "", media=PICTURE)
    )

    assert ("function_call", "computer") == (call["type"], call["name"])
    assert "function_call_output" == output["type"]
    assert "input_image" == output["output"][0]["type"]
