"""The messages that a step is committed as."""

from dataclasses import replace

import pytest

from actors.chat.turn.ports import Model, ToolOutput
from actors.chat.turn.steps import EndedCall, answer_rows, error_output, tool_rows
from actors.law.chat import Body, Role
from actors.law.ids import FileId
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import FinishReason
from actors.law.parts.message import (
    Cost,
    FilePart,
    JsonText,
    ReasoningPart,
    TextPart,
    TokenUsage,
    ToolCallPart,
    ToolResultPart,
)
from actors.law.parts.prompt import CallSettings
from actors.law.parts.vendors import ANTHROPIC, BEDROCK
from tests.actors.chat.turn.given import calls
from tests.actors.law.chats import FAST, NOW, SMART, file_id

MODEL = Model(None, SMART, "one", "openai", "gpt", CallSettings(), context_limit=9000)
COST = Cost(2, "table")
NOTES = JsonText('{"anthropic":{"signature":"s"}}')
SEARCHED = (
    ToolCallPart("w", "web_search", JsonText("{}"), provider_executed=True),
    ToolResultPart("w", "web_search", JsonText("[]"), provider_executed=True),
)


def rows(*parts, model=MODEL, runtime_ms=7, context_limit=None):
    answer = ModelAnswer(parts, FinishReason.STOP, TokenUsage(1, 2), context_limit=context_limit)
    return answer_rows(answer, model, runtime_ms=runtime_ms, cost=COST)


def test_an_answer_is_one_message_in_the_order_in_which_it_was_said():
    said = (ReasoningPart("hm"), TextPart("so"), *SEARCHED, calls("a"), FilePart("image/png"))

    assert (
        Body(
            Role.ASSISTANT,
            said,
            model_config_id=SMART,
            usage=TokenUsage(1, 2),
            context_limit=9000,
            runtime_ms=7,
            cost=COST,
        ),
    ) == rows(*said)


def test_an_answer_of_nothing_is_no_message():
    assert () == rows()


def test_an_answer_that_took_no_time_has_no_runtime():
    [row] = rows(TextPart("so"), runtime_ms=0)

    assert row.runtime_ms is None


def test_the_context_limit_that_the_provider_tells_wins():
    [row] = rows(TextPart("so"), context_limit=200)

    assert 200 == row.context_limit


def test_a_call_whose_arguments_are_not_json_is_kept_without_them():
    broken, fine = calls("a", args='{"half'), calls("b", args='{"x":1}')

    [row] = rows(broken, fine)

    assert (replace(broken, args=None), fine) == row.parts


@pytest.mark.parametrize("vendor", [ANTHROPIC, BEDROCK])
def test_half_a_pair_of_anthropics_own_tool_is_not_stored(vendor):
    [row] = rows(TextPart("so"), SEARCHED[0], model=replace(MODEL, rules=vendor.rules))

    assert (TextPart("so"),) == row.parts
    assert () == rows(SEARCHED[0], model=replace(MODEL, rules=vendor.rules))


def test_what_anthropic_has_signed_is_stored_as_it_was_signed():
    signed = (ReasoningPart("hm", provider_metadata=NOTES), SEARCHED[0])

    [row] = rows(*signed, model=replace(MODEL, rules=ANTHROPIC.rules))

    assert signed == row.parts


def test_a_batch_is_one_message_for_each_call_with_the_files_that_it_made():
    image = FilePart("image/png", file_id=FileId(file_id(1)))
    drawn = ToolOutput(JsonText('{"ok":true}'), is_media=True, shown=(image,))
    ended = [
        EndedCall(calls("a", "draw"), drawn, NOW),
        EndedCall(calls("b"), error_output("no"), NOW),
    ]

    made = tool_rows(ended, model_config_id=FAST)

    done = ToolResultPart("a", "draw", JsonText('{"ok":true}'), is_media=True, created_at=NOW)
    failed = ToolResultPart("b", "read", JsonText('{"error": "no"}'), True, created_at=NOW)
    assert (
        Body(Role.TOOL, (done, image), model_config_id=FAST),
        Body(Role.TOOL, (failed,), model_config_id=FAST),
    ) == made


def test_a_result_comes_from_the_server_that_was_called():
    server = file_id(5)
    call = replace(calls("a"), mcp_server_config_id=server)

    [row] = tool_rows([EndedCall(call, error_output("no"), NOW)], model_config_id=None)

    assert server == row.parts[0].mcp_server_config_id


def test_a_result_with_half_a_character_is_stored_as_everybody_can_read_it():
    output = ToolOutput(JsonText('{"output":"\\ud83d"}'))

    [row] = tool_rows([EndedCall(calls("a"), output, NOW)], model_config_id=None)

    assert '{"output":"\\ufffd"}' == row.parts[0].result
