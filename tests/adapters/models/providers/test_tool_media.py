"""Files that a tool returns, on every wire: the model gets them, or a note in their place."""

import json

import pytest

from actors.law.parts.message import FilePart, JsonText, TextPart, ToolCallPart
from actors.law.parts.prompt import AssistantOutput, Prompt, ToolAnswer, ToolResults, UserInput
from actors.law.parts.vendors import vendor_of
from adapters.models.providers.google.request import request_body as google_body
from adapters.models.providers.openai_chat.request import request_body as chat_body

COMPATIBLE = vendor_of("openai-compat")
DIALECTS = {
    "openai": vendor_of("openai").dialect,
    "openrouter": vendor_of("openrouter").dialect,
    "compatible": COMPATIBLE.dialect,
    "gemini": COMPATIBLE.dialect_at("generativelanguage.googleapis.com"),
    "mistral": COMPATIBLE.dialect_at("api.mistral.ai"),
}
IMAGE = FilePart("image/png", data="aW1n")
SOUND = FilePart("audio/flac", data="aW1n")
ASKED = UserInput((TextPart("what do you see?"),))
CALLED = AssistantOutput(
    (ToolCallPart("c1", "shot", JsonText("{}")), ToolCallPart("c2", "read", JsonText("{}")))
)


def told(media, text=""):
    answers = (ToolAnswer("c1", "shot", text, media=media), ToolAnswer("c2", "read", "plain"))
    return (ASKED, CALLED, ToolResults(answers))


def over_chat(dialect, messages, model="m"):
    body = chat_body(Prompt(model, messages), dialect, stream=False)
    return json.loads(body)["messages"]


def to_gemini(messages, model):
    return json.loads(google_body(Prompt(model, messages)))["contents"]


@pytest.mark.parametrize("name", ["openai", "openrouter", "compatible", "gemini"])
def test_an_image_of_a_tool_follows_the_results_over_chat_completions(name):
    [_, _, shot, read, shown] = over_chat(DIALECTS[name], told(IMAGE))

    assert (shot["role"], shot["content"]) == ("tool", "[image/png, in the next message]")
    assert (read["role"], read["content"]) == ("tool", "plain")
    assert shown == {
        "role": "user",
        "content": [
            {"type": "text", "text": "[image/png, the result of shot]"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,aW1n"}},
        ],
    }


def test_the_words_of_a_tool_stay_with_its_result():
    shot = over_chat(DIALECTS["openai"], told(IMAGE, "the screen"))[2]

    assert shot["content"] == "the screen"


def test_an_image_of_a_tool_is_a_users_message_where_mistral_allows_one():
    roles = [message["role"] for message in over_chat(DIALECTS["mistral"], told(IMAGE))]

    assert roles == ["user", "assistant", "tool", "tool", "assistant", "user"]


@pytest.mark.parametrize("host", ["api.cerebras.ai", "api.deepseek.com"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [("", "[image/png, not shown]"), ("the screen", "the screen\n[image/png, not shown]")],
)
def test_a_server_without_images_is_told_that_there_was_one(host, text, expected):
    messages = over_chat(COMPATIBLE.dialect_at(host), told(IMAGE, text))

    assert [m["role"] for m in messages] == ["user", "assistant", "tool", "tool"]
    assert messages[2]["content"] == expected


def test_a_file_that_cannot_be_sent_is_named_in_the_result():
    messages = over_chat(DIALECTS["openai"], told(SOUND))

    assert messages[2]["content"] == "[audio/flac, not shown]"
    assert len(messages) == 4


def test_calls_before_an_image_are_signed_for_gemini_as_ever():
    """The message of the image is no new turn."""
    messages = over_chat(DIALECTS["gemini"], told(IMAGE), "gemini-3-pro-preview")

    assert "thought_signature" in messages[1]["tool_calls"][0]["extra_content"]["google"]


def test_an_image_of_a_tool_stands_behind_all_results_for_gemini_2():
    [_, _, results] = to_gemini(told(IMAGE), "gemini-2.5-flash")

    assert [sorted(part) for part in results["parts"]] == [
        ["functionResponse"],
        ["functionResponse"],
        ["inlineData"],
    ]
    shot = results["parts"][0]["functionResponse"]["response"]
    assert shot == {"result": "[image/png, behind the results]"}
    assert results["parts"][2] == {"inlineData": {"mimeType": "image/png", "data": "aW1n"}}


@pytest.mark.parametrize(("media", "inside"), [(IMAGE, True), (SOUND, False)])
def test_gemini_3_gets_the_files_that_it_takes_inside_its_results(media, inside):
    [_, _, results] = to_gemini(told(media), "gemini-3-pro-preview")

    assert ("parts" in results["parts"][0]["functionResponse"]) is inside
    assert ("inlineData" in results["parts"][-1]) is not inside
