"""A prompt as Converse wants it: roles, results, files, tools and choices, and the efforts."""

import base64
import json

import pytest

from actors.law.parts.message import FilePart, JsonText, ReasoningPart, TextPart, ToolCallPart
from actors.law.parts.prompt import (
    AnswerSchema,
    AssistantOutput,
    CallSettings,
    OnlyTool,
    Prompt,
    ToolAnswer,
    ToolDefinition,
    ToolResults,
    UserInput,
)
from adapters.models.providers.bedrock_converse.request import ID_CHARACTERS_MAX, request_body

NOVA, LLAMA, MISTRAL = (
    "us.amazon.nova-pro-v1:0",
    "us.meta.llama4-maverick-17b-instruct-v1:0",
    "mistral.mistral-large-2407-v1:0",
)
QWEN = "qwen.qwen3-32b-v1:0"
SCHEMA = JsonText('{"type":"object","properties":{"at":{"type":"string"}}}')
LOOK = ToolDefinition("look", "Looks.", SCHEMA)
ASKED = UserInput((TextPart("Where?"),))
CALLED = AssistantOutput((TextPart("So."), ToolCallPart("c1", "look", JsonText('{"at":"x"}'))))
ANSWERED = ToolResults((ToolAnswer("c1", "look", "there"),))
PICTURE = FilePart("image/jpeg", data="aW1n")
PAPER = FilePart("application/pdf", "A plan (v2).pdf", data="cGRm")


def sent(*messages, model=NOVA, **more):
    return json.loads(request_body(Prompt(model, messages or (ASKED,), **more)))


def test_a_conversation_with_a_tool():
    body = sent(ASKED, CALLED, ANSWERED, system=("Be brief.", " "), tools=(LOOK,), cached=False)

    assert body == {
        "system": [{"text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"text": "Where?"}]},
            {
                "role": "assistant",
                "content": [
                    {"text": "So."},
                    {"toolUse": {"toolUseId": "c1", "name": "look", "input": {"at": "x"}}},
                ],
            },
            {
                "role": "user",
                "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "there"}]}}],
            },
        ],
        "toolConfig": {
            "tools": [
                {
                    "toolSpec": {
                        "name": "look",
                        "description": "Looks.",
                        "inputSchema": {"json": json.loads(SCHEMA)},
                    }
                }
            ]
        },
    }


def test_messages_under_one_role_are_one_and_words_never_stand_beside_results():
    more = UserInput((TextPart("And?"),))

    body = sent(ASKED, more, CALLED, ANSWERED, more, AssistantOutput((TextPart("Ah."),)))

    assert [
        (message["role"], [next(iter(block)) for block in message["content"]])
        for message in body["messages"]
    ] == [
        ("user", ["text", "text"]),
        ("assistant", ["text", "toolUse"]),
        ("user", ["toolResult"]),
        ("assistant", ["text"]),
        ("user", ["text"]),
        ("assistant", ["text"]),
    ]


@pytest.mark.parametrize(("model", "with_words"), [(NOVA, True), (QWEN, True), (LLAMA, False)])
def test_words_beside_calls_go_where_they_are_taken(model, with_words):
    [_, said, _] = sent(ASKED, CALLED, ANSWERED, model=model)["messages"]

    assert [next(iter(block)) for block in said["content"]] == ["text"] * with_words + ["toolUse"]


def test_an_id_of_another_vendor_is_shortened_alike_in_call_and_result():
    long = "call_" + "x" * 100
    call = AssistantOutput((ToolCallPart(long, "look", JsonText("{}")),))

    [_, said, answered] = sent(ASKED, call, ToolResults((ToolAnswer(long, "look", "y"),)))[
        "messages"
    ]

    id = said["content"][0]["toolUse"]["toolUseId"]
    assert len(id) == ID_CHARACTERS_MAX
    assert answered["content"][0]["toolResult"]["toolUseId"] == id


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (ToolAnswer("c1", "look", " "), {"content": [{"text": "(nothing)"}]}),
        (
            ToolAnswer("c1", "look", "no", is_error=True),
            {"content": [{"text": "no"}], "status": "error"},
        ),
    ],
)
def test_a_result_is_never_empty_and_says_that_it_is_an_error(answer, result):
    [_, _, answered] = sent(ASKED, CALLED, ToolResults((answer,)))["messages"]

    assert answered["content"] == [{"toolResult": {"toolUseId": "c1"} | result}]


@pytest.mark.parametrize(
    ("model", "content"),
    [
        (NOVA, [{"image": {"format": "jpeg", "source": {"bytes": "aW1n"}}}]),
        (MISTRAL, [{"text": "[image/jpeg, not shown]"}]),
    ],
)
def test_a_picture_of_a_tool_goes_where_it_is_looked_at(model, content):
    answer = ToolAnswer("c1", "look", "", media=PICTURE)

    [_, _, answered] = sent(ASKED, CALLED, ToolResults((answer,)), model=model)["messages"]

    assert answered["content"][0]["toolResult"]["content"] == content


def test_files_of_users_are_pictures_papers_or_words():
    text = FilePart("text/csv", "a.csv", data=base64.b64encode(b"a,b").decode())
    sound = FilePart("audio/flac", data="c28=")

    [message] = sent(UserInput((PICTURE, PAPER, PAPER, text, sound)))["messages"]

    paper = {"format": "pdf", "source": {"bytes": "cGRm"}}
    assert message["content"] == [
        {"image": {"format": "jpeg", "source": {"bytes": "aW1n"}}},
        {"text": "[document 1: A plan (v2).pdf]"},
        {"document": paper | {"name": "document 1"}},
        {"text": "[document 2: A plan (v2).pdf]"},
        {"document": paper | {"name": "document 2"}},
        {"text": "a,b"},
        {"text": "[audio/flac, not shown]"},
    ]


def test_thoughts_go_back_only_as_they_were_signed_or_encrypted():
    said = AssistantOutput(
        (
            ReasoningPart("plain"),
            ReasoningPart("of another", provider_metadata=JsonText('{"anthropic":{"x":1}}')),
            ReasoningPart("signed", provider_metadata=JsonText('{"bedrock":{"signature":"s"}}')),
            ReasoningPart("", provider_metadata=JsonText('{"bedrock":{"redacted":"cg=="}}')),
            TextPart("So."),
        )
    )

    [_, message] = sent(ASKED, said)["messages"]

    assert message["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "signed", "signature": "s"}}},
        {"reasoningContent": {"redactedContent": "cg=="}},
        {"text": "So."},
    ]


@pytest.mark.parametrize(
    ("model", "choice", "wanted"),
    [
        (NOVA, "auto", None),
        (NOVA, "required", {"any": {}}),
        (NOVA, OnlyTool("look"), {"tool": {"name": "look"}}),
        (MISTRAL, "required", {"any": {}}),
        (MISTRAL, OnlyTool("look"), {"any": {}}),
        (LLAMA, "required", None),
        (LLAMA, OnlyTool("look"), None),
    ],
)
def test_a_choice_is_forced_as_far_as_the_model_knows_it(model, choice, wanted):
    body = sent(model=model, tools=(LOOK,), tool_choice=choice)

    assert body["toolConfig"].get("toolChoice") == wanted


def test_tools_that_must_not_be_called_are_not_offered():
    assert "toolConfig" not in sent(tools=(LOOK,), tool_choice="none")


@pytest.mark.parametrize("more", [{}, {"tools": (LOOK,), "tool_choice": "none"}])
def test_calls_in_the_conversation_have_tools_even_where_none_is_offered(more):
    body = sent(ASKED, CALLED, ANSWERED, **more)

    [tool] = body["toolConfig"]["tools"]
    assert tool == {
        "toolSpec": {
            "name": "look",
            "inputSchema": {"json": {"type": "object", "properties": {}}},
        }
    }


TITLE = AnswerSchema("Title", "A title.", SCHEMA)


@pytest.mark.parametrize(
    ("model", "choice"), [(NOVA, {"tool": {"name": "Title"}}), (MISTRAL, {"any": {}})]
)
def test_an_answer_of_a_schema_is_the_input_of_a_tool_where_one_can_be_forced(model, choice):
    body = sent(model=model, answer_schema=TITLE)

    assert body["toolConfig"]["toolChoice"] == choice
    assert [tool["toolSpec"]["name"] for tool in body["toolConfig"]["tools"]] == ["Title"]


def test_an_answer_of_a_schema_is_asked_for_in_words_elsewhere():
    body = sent(model=LLAMA, system=("Be brief.",), answer_schema=TITLE)

    assert "toolConfig" not in body
    assert body["system"][1]["text"].startswith("Answer with one JSON object of this schema")
    assert SCHEMA in body["system"][1]["text"]


@pytest.mark.parametrize(
    ("model", "settings", "wanted"),
    [
        (QWEN, {}, {}),
        (QWEN, {"effort": "high", "top_k": 5}, {}),
        (QWEN, {"max_output_tokens": 900}, {"inferenceConfig": {"maxTokens": 900}}),
        (
            QWEN,
            {"temperature": 0.5, "top_p": 0.9},
            {"inferenceConfig": {"temperature": 0.5, "topP": 0.9}},
        ),
        (
            NOVA,
            {"top_k": 20},
            {"additionalModelRequestFields": {"inferenceConfig": {"topK": 20}}},
        ),
        (
            "eu.amazon.nova-2-lite-v1:0",
            {"effort": "medium", "temperature": 0.5},
            {
                "inferenceConfig": {"temperature": 0.5},
                "additionalModelRequestFields": {
                    "reasoningConfig": {"type": "enabled", "maxReasoningEffort": "medium"}
                },
            },
        ),
        (
            "amazon.nova-2-lite-v1:0",
            {"effort": "max", "temperature": 0.5, "max_output_tokens": 900},
            {
                "additionalModelRequestFields": {
                    "reasoningConfig": {"type": "enabled", "maxReasoningEffort": "high"}
                }
            },
        ),
        (
            "amazon.nova-2-lite-v1:0",
            {"effort": "none"},
            {"additionalModelRequestFields": {"reasoningConfig": {"type": "disabled"}}},
        ),
        (
            "openai.gpt-oss-120b-1:0",
            {"effort": "minimal"},
            {"additionalModelRequestFields": {"reasoning_effort": "low"}},
        ),
        (
            "openai.gpt-5.6",
            {"effort": "xhigh"},
            {"additionalModelRequestFields": {"reasoning": {"effort": "xhigh"}}},
        ),
    ],
)
def test_settings_stand_where_each_model_looks_for_them(model, settings, wanted):
    body = sent(model=model, settings=CallSettings(**settings))

    assert {name: body[name] for name in body if name != "messages"} == wanted


@pytest.mark.parametrize(("model", "is_marked"), [(NOVA, True), (LLAMA, False)])
def test_the_end_of_the_instructions_is_marked_where_it_is_worth_something(model, is_marked):
    system = sent(model=model, system=("Be brief.",))["system"]

    assert ({"cachePoint": {"type": "default"}} in system) is is_marked
