"""Prompts as requests of generateContent: options, models, history, files."""

import json

import pytest

from actors.law.parts.message import FilePart, JsonText, ReasoningPart, TextPart, ToolCallPart
from actors.law.parts.message import ToolResultPart as ResultPart
from actors.law.parts.prompt import (
    AnswerSchema,
    AssistantOutput,
    CallSettings,
    GoogleOptions,
    GoogleSafetySetting,
    OnlyTool,
    OpenAIOptions,
    Prompt,
    ToolAnswer,
    ToolDefinition,
    ToolResults,
    UserInput,
    WebFetch,
    WebSearch,
)
from adapters.models.providers.google.request import request_body

HELLO = UserInput((TextPart("hello"),))
ADD = ToolDefinition(
    "add", "Adds", JsonText('{"type":"object","properties":{"a":{"type":"integer"}}}')
)
OLD, NEW = "gemini-2.5-flash", "gemini-3-pro-preview"


def sent(model=OLD, messages=(HELLO,), *, settings=None, at_vertex=False, **more):
    settings = settings or CallSettings(max_output_tokens=None)
    prompt = Prompt(model, messages, settings=settings, **more)
    return json.loads(request_body(prompt, at_vertex=at_vertex))


def settings(**given):
    return CallSettings(**{"max_output_tokens": None} | given)


def thinking(model, **given):
    return sent(model, settings=settings(**given)).get("generationConfig", {}).get("thinkingConfig")


def test_a_plain_prompt_asks_for_no_more_than_it_says():
    assert sent() == {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}


def test_settings_are_sent():
    given = settings(
        max_output_tokens=9,
        temperature=0.5,
        top_p=0.9,
        top_k=4,
        presence_penalty=0.1,
        frequency_penalty=0.2,
    )

    body = sent(settings=given, system=("one", "two"))

    assert body["generationConfig"] == {
        "maxOutputTokens": 9,
        "temperature": 0.5,
        "topP": 0.9,
        "topK": 4,
        "presencePenalty": 0.1,
        "frequencyPenalty": 0.2,
    }
    assert body["systemInstruction"] == {"parts": [{"text": "one"}, {"text": "two"}]}


def test_every_option_is_sent():
    given = GoogleOptions(
        thinking_budget=128,
        include_thoughts=False,
        cached_content="cachedContents/1",
        safety_settings=(GoogleSafetySetting("HARM_CATEGORY_HATE_SPEECH", "BLOCK_NONE"),),
        threshold="BLOCK_ONLY_HIGH",
    )

    body = sent(settings=settings(options=given))

    assert body["generationConfig"] == {
        "thinkingConfig": {"includeThoughts": False, "thinkingBudget": 128}
    }
    assert body["cachedContent"] == "cachedContents/1"
    assert {each["category"]: each["threshold"] for each in body["safetySettings"]} == {
        "HARM_CATEGORY_HARASSMENT": "BLOCK_ONLY_HIGH",
        "HARM_CATEGORY_HATE_SPEECH": "BLOCK_NONE",
        "HARM_CATEGORY_SEXUALLY_EXPLICIT": "BLOCK_ONLY_HIGH",
        "HARM_CATEGORY_DANGEROUS_CONTENT": "BLOCK_ONLY_HIGH",
    }


def test_options_of_another_family_are_not_sent():
    assert sent(settings=settings(options=OpenAIOptions(user="u"))) == sent()


@pytest.mark.parametrize(
    ("model", "given", "expected"),
    [
        (OLD, {}, None),
        (OLD, {"effort": "none"}, {"includeThoughts": True, "thinkingBudget": 0}),
        ("gemini-2.5-pro", {"effort": "none"}, {"includeThoughts": True, "thinkingBudget": 1024}),
        (OLD, {"effort": "max"}, {"includeThoughts": True, "thinkingBudget": 24576}),
        (NEW, {"effort": "medium"}, {"includeThoughts": True, "thinkingLevel": "LOW"}),
        ("gemini-2.0-flash", {"effort": "high"}, None),
        (
            NEW,
            {"effort": "high", "options": GoogleOptions(thinking_budget=7)},
            {"includeThoughts": True, "thinkingBudget": 7},
        ),
        (
            NEW,
            {"effort": "low", "options": GoogleOptions(thinking_level="high")},
            {"includeThoughts": True, "thinkingLevel": "HIGH"},
        ),
        (NEW, {"options": GoogleOptions(include_thoughts=True)}, {"includeThoughts": True}),
    ],
)
def test_an_effort_becomes_a_level_or_a_budget_unless_one_is_configured(model, given, expected):
    assert thinking(model, **given) == expected


def test_tools_are_declared_and_chosen():
    declared = {
        "name": "add",
        "description": "Adds",
        "parametersJsonSchema": json.loads(ADD.schema),
    }

    def chosen(choice):
        return sent(tools=(ADD,), tool_choice=choice)["toolConfig"]["functionCallingConfig"]

    assert sent(tools=(ADD,))["tools"] == [{"functionDeclarations": [declared]}]
    assert "toolConfig" not in sent(tools=(ADD,))
    assert chosen("none") == {"mode": "NONE"}
    assert chosen("required") == {"mode": "ANY"}
    assert chosen(OnlyTool("add")) == {"mode": "ANY", "allowedFunctionNames": ["add"]}


@pytest.mark.parametrize(
    ("model", "tools", "searches", "mixed"),
    [(OLD, (), True, None), (OLD, (ADD,), False, None), (NEW, (ADD,), True, True)],
)
def test_an_older_model_searches_only_without_functions(model, tools, searches, mixed):
    body = sent(model, tools=tools, provider_tools=(WebSearch(),))

    assert ({"googleSearch": {}} in body["tools"]) is searches
    assert body.get("toolConfig", {}).get("includeServerSideToolInvocations") is mixed


@pytest.mark.parametrize(
    ("model", "tools", "reads", "mixed"),
    [(OLD, (), True, None), (OLD, (ADD,), False, None), (NEW, (ADD,), True, True)],
)
def test_pages_are_read_where_searches_are_made(model, tools, reads, mixed):
    both = sent(model, tools=tools, provider_tools=(WebSearch(), WebFetch()))
    alone = sent(model, tools=tools, provider_tools=(WebFetch(),))

    for body in (both, alone):
        assert ({"urlContext": {}} in body["tools"]) is reads
        assert body.get("toolConfig", {}).get("includeServerSideToolInvocations") is mixed
    assert ({"googleSearch": {}} in both["tools"]) is reads
    assert {"googleSearch": {}} not in alone["tools"]


def test_an_answer_may_have_a_schema():
    answer = AnswerSchema("P", "A P", ADD.schema)

    assert sent(answer_schema=answer)["generationConfig"] == {
        "responseMimeType": "application/json",
        "responseJsonSchema": json.loads(ADD.schema),
    }


def test_files_of_every_kind_go_as_they_are():
    files = (FilePart("image/png", data="aW1n"), FilePart("video/mp4", data="dmlk"))

    (content,) = sent(messages=(UserInput(files),))["contents"]

    assert content["parts"] == [
        {"inlineData": {"mimeType": "image/png", "data": "aW1n"}},
        {"inlineData": {"mimeType": "video/mp4", "data": "dmlk"}},
    ]


def noted(**notes):
    return JsonText(json.dumps({"google": notes}))


CALLED = ToolCallPart("c1", "add", JsonText('{"a":1}'))
SIGNED = ToolCallPart("c2", "add", JsonText("{}"), provider_metadata=noted(thought_signature="s"))
ANSWERED = ToolResults((ToolAnswer("c1", "add", "2"), ToolAnswer("c2", "add", "no", is_error=True)))


def test_calls_and_their_results_go_back_with_ids_and_signatures():
    foreign = ReasoningPart("hm", provider_metadata=JsonText('{"anthropic":{"signature":"x"}}'))
    said = AssistantOutput((foreign, TextPart("so"), CALLED, SIGNED))

    assert sent(messages=(HELLO, said, ANSWERED))["contents"][1:] == [
        {
            "role": "model",
            "parts": [
                {"text": "so"},
                {"functionCall": {"name": "add", "args": {"a": 1}, "id": "c1"}},
                {
                    "functionCall": {"name": "add", "args": {}, "id": "c2"},
                    "thoughtSignature": "s",
                },
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "add", "response": {"result": "2"}, "id": "c1"}},
                {"functionResponse": {"name": "add", "response": {"error": "no"}, "id": "c2"}},
            ],
        },
    ]


def test_vertex_gets_no_ids():
    body = sent(messages=(HELLO, AssistantOutput((CALLED,)), ANSWERED), at_vertex=True)

    assert '"id"' not in json.dumps(body)


@pytest.mark.parametrize(
    ("model", "signatures"),
    [
        (OLD, [[None, None], [None, None]]),
        (NEW, [[None, None], ["skip_thought_signature_validator", None]]),
    ],
)
def test_gemini_3_gets_a_signature_for_the_first_call_of_each_step_under_way(model, signatures):
    step = (AssistantOutput((CALLED, CALLED)), ANSWERED)

    body = sent(model, messages=(HELLO, *step, HELLO, *step))

    models = [content for content in body["contents"] if content["role"] == "model"]
    found = [[part.get("thoughtSignature") for part in content["parts"]] for content in models]
    assert found == signatures


def test_a_signature_of_a_text_or_a_thought_goes_back_with_it():
    said = AssistantOutput(
        (
            ReasoningPart("hm", provider_metadata=noted(thought_signature="t")),
            TextPart("so", noted(thought_signature="s")),
        )
    )

    assert sent(messages=(HELLO, said))["contents"][1]["parts"] == [
        {"text": "hm", "thought": True, "thoughtSignature": "t"},
        {"text": "so", "thoughtSignature": "s"},
    ]


ASKED = {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {}, "id": "t"}}
TOLD = {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "response": {}, "id": "t"}}
SEARCHED = AssistantOutput(
    (
        ToolCallPart(
            "t", "web_search", provider_executed=True, provider_metadata=noted(part=ASKED)
        ),
        ResultPart(
            "t",
            "web_search",
            JsonText("{}"),
            provider_executed=True,
            provider_metadata=noted(part=TOLD),
        ),
        TextPart("so"),
    )
)


@pytest.mark.parametrize(
    ("tools", "parts"), [((ADD,), [ASKED, TOLD, {"text": "so"}]), ((), [{"text": "so"}])]
)
def test_a_search_goes_back_where_it_may_be_mixed_with_functions(tools, parts):
    body = sent(NEW, (HELLO, SEARCHED), tools=tools, provider_tools=(WebSearch(),))

    assert body["contents"][1]["parts"] == parts


def test_a_page_that_was_read_goes_back_with_its_call():
    asked = {"toolCall": {"toolType": "URL_CONTEXT", "args": {"urls": ["u"]}, "id": "t"}}
    told = {"toolResponse": {"toolType": "URL_CONTEXT", "response": {"n": 1}, "id": "t"}}
    call = ToolCallPart(
        "t", "web_fetch", provider_executed=True, provider_metadata=noted(part=asked)
    )
    result = ResultPart(
        "t",
        "web_fetch",
        JsonText("{}"),
        provider_executed=True,
        provider_metadata=noted(part=told),
    )

    said = AssistantOutput((call, result, TextPart("so")))
    body = sent(NEW, (HELLO, said), tools=(ADD,), provider_tools=(WebFetch(),))

    assert body["contents"][1]["parts"] == [asked, told, {"text": "so"}]


@pytest.mark.parametrize(("model", "shown"), [(OLD, False), (NEW, True)])
def test_only_gemini_3_looks_at_pictures_in_results(model, shown):
    answer = ToolAnswer("c", "shot", "the screen", media=FilePart("image/png", data="aW1n"))

    body = sent(model, (HELLO, ToolResults((answer,))))

    response = body["contents"][1]["parts"][0]["functionResponse"]
    picture = {"inlineData": {"mimeType": "image/png", "data": "aW1n"}}
    assert response.get("parts") == ([picture] if shown else None)
    assert response["response"] == {"result": "the screen"}


def test_a_message_with_nothing_to_send_is_left_out():
    assert len(sent(messages=(HELLO, AssistantOutput((ReasoningPart("hm"),))))["contents"]) == 1
