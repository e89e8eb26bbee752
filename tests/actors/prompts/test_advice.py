"""Who may ask for advice, how often, and what an advisor gets to read."""

import json
from dataclasses import replace

import pytest

from actors.law.chat import Body, Role
from actors.law.parts.message import FilePart, JsonText, TextPart, ToolCallPart, ToolResultPart
from actors.law.parts.prompt import (
    AnthropicOptions,
    AssistantOutput,
    CallSettings,
    OpenAIOptions,
    Prompt,
    ToolAnswer,
    ToolDefinition,
    ToolResults,
    UserInput,
    WebSearch,
)
from actors.prompts.advice import (
    GUIDANCE,
    MESSAGES_BYTES_MAX,
    MESSAGES_MAX,
    QUESTION_CHARACTERS_MAX,
    RULES,
    SYSTEM_BYTES_MAX,
    AdvisedChats,
    advice_document,
    advisor_prompt,
    count_advice,
    without_call,
)
from tests.actors.chat.turn.given import calls, hidden, history
from tests.actors.law.chats import CHAT, a_chat, assistant, user

ADVICE = advice_document("advice", advice="do it")


def asked(*messages, system=(), question="what now?", settings=None, tokens=0):
    prompt = Prompt(
        "m",
        messages,
        system=system,
        tools=(ToolDefinition("look", "", JsonText("{}")),),
        provider_tools=(WebSearch(),),
        settings=settings or CallSettings(),
    )
    return advisor_prompt(prompt, question, output_tokens_max=tokens)


def says(text):
    return AssistantOutput((TextPart(text),))


def wants(text):
    return UserInput((TextPart(text),))


def ran(name, text, args="{}", id="c1", **more):
    call = AssistantOutput((ToolCallPart(id, name, JsonText(args)),))
    return call, ToolResults((ToolAnswer(id, name, text, **more),))


def texts(prompt):
    return [[part.text for part in said.parts] for said in prompt.messages]


def result(text=ADVICE, name="advisor", error=False):
    return Body(Role.TOOL, (ToolResultPart("a", name, JsonText(text), is_error=error),))


# who and how often


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({}, True),
        ({"parent_id": CHAT}, False),
        ({"plan_mode": "plan"}, False),
        ({"mode": "explore"}, False),
    ],
)
def test_only_a_root_that_works_may_ask_and_only_if_it_is_switched_on(columns, expected):
    chat = a_chat(**columns).chat

    assert expected is (chat in AdvisedChats(True))
    assert chat not in AdvisedChats(False)


def test_what_counts_is_advice_since_the_user_said_something():
    rows = history(
        user("a"),
        result(),
        user("b"),
        assistant("x"),
        result(),
        hidden(),
        result(advice_document("error", error="x")),
        result(advice_document("limit_reached", advice="x")),
        result(error=True),
        result(name="look"),
        result('{"output": "advice that was cut"}'),
        result(),
        deleted=(11,),
    )

    assert 2 == count_advice(rows)


def test_who_has_not_asked_has_used_nothing_up():
    assert 0 == count_advice(history(user("a"), assistant("b")))


def test_the_question_itself_is_no_part_of_what_the_advisor_reads():
    search = calls("s", "web_search", provider_executed=True)
    rows = history(user("a"), assistant("hm", search, calls("x", "advisor")))

    kept = without_call(rows, "x")

    assert (TextPart("hm"), search) == kept[-1].body.parts
    assert rows[:-1] == kept[:-1]


# what it reads


def test_the_advisor_has_no_tools_and_knows_what_it_is():
    prompt = asked(wants("build it"), says("I will"), system=("be kind", GUIDANCE))

    assert ((), (), False) == (prompt.tools, prompt.provider_tools, prompt.cached)
    assert ("be kind", RULES) == prompt.system
    assert [["build it"], ["I will"], ["what now?"]] == texts(prompt)


def test_of_what_the_chat_is_told_the_newest_that_fits_is_kept_in_its_order():
    big, huge = "b" * (SYSTEM_BYTES_MAX - 100), "h" * SYSTEM_BYTES_MAX

    assert ("x", big, "y", RULES) == asked(system=(huge, "x", big, huge, "y")).system
    assert ("y", RULES) == asked(system=(big + "b" * 98, "y")).system


def test_calls_stand_there_as_notes_with_what_came_of_them():
    prompt = asked(wants("go"), *ran("look", "a lot", '{"at": "x"}'))

    [said] = prompt.messages
    go, note, question = (part.text for part in said.parts)
    assert ("go", "what now?") == (go, question)
    assert '[the assistant called look with {"at": "x"}; it said:]\na lot' == note


def test_what_failed_and_what_is_no_text_is_said_to_be_so():
    picture = FilePart("image/png", data="AAAA")
    [said] = asked(*ran("a", "gone", is_error=True), *ran("b", "", media=picture)).messages

    assert "it failed:]\ngone" in said.parts[0].text
    assert "[image/png, not shown here]" in said.parts[1].text


def test_what_a_provider_ran_itself_is_a_note_too():
    call = ToolCallPart("s", "web_search", JsonText("{}"), provider_executed=True)
    found = ToolResultPart("s", "web_search", JsonText('["x"]'), provider_executed=True)

    prompt = asked(wants("go"), AssistantOutput((TextPart("I look"), call, found)))

    assert [["go"], ["I look"]] == texts(prompt)[:2]
    assert 'web_search with {}; it said:]\n["x"]' in texts(prompt)[2][0]


def test_files_are_named_and_not_sent():
    picture = FilePart("image/png", "a.png", data="A" * 100_000)

    assert [["[a file: a.png, image/png]", "what now?"]] == texts(asked(UserInput((picture,))))


def test_no_more_than_so_many_messages_are_read():
    many = [say(str(n)) for n in range(30) for say in (wants, says)]

    prompt = asked(*many)

    assert ["20"] == texts(prompt)[0]
    assert MESSAGES_MAX + 1 == len(prompt.messages)


def test_no_more_than_so_many_bytes_are_read_and_there_is_no_gap():
    big = "ä" * (MESSAGES_BYTES_MAX // 2)

    prompt = asked(wants("first"), says(big), wants("last"))

    assert [["last", "what now?"]] == texts(prompt)


def test_a_long_result_is_shortened_so_that_more_than_it_is_read():
    prompt = asked(wants("go"), *ran("look", "x" * 100_000, "y" * 100_000))

    assert "go" == prompt.messages[0].parts[0].text
    assert len(prompt.messages[0].parts[1].text) < MESSAGES_BYTES_MAX


def test_it_begins_with_a_user_even_where_the_beginning_is_cut_off():
    many = [say(str(n)) for n in range(30) for say in (wants, says)]

    first, *_ = asked(*many[:-1]).messages

    assert isinstance(first, UserInput)
    assert ["[the assistant said before]\n19", "20"] == [part.text for part in first.parts]


def test_a_question_is_cut_where_it_is_too_long():
    [[asking]] = texts(asked(question="?" * (QUESTION_CHARACTERS_MAX + 1)))

    assert QUESTION_CHARACTERS_MAX == len(asking)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (OpenAIOptions(store=True), OpenAIOptions(store=False)),
        (AnthropicOptions(thinking_budget_tokens=50), AnthropicOptions(thinking_budget_tokens=50)),
        (AnthropicOptions(thinking_budget_tokens=100), AnthropicOptions()),
        (None, None),
    ],
)
def test_it_is_asked_as_its_model_is_set_but_for_what_must_not_be(options, expected):
    settings = CallSettings(top_k=7, options=options)

    got = asked(settings=settings, tokens=100).settings

    assert replace(settings, options=expected, max_output_tokens=100) == got
    assert 16_384 == asked(settings=settings).settings.max_output_tokens


@pytest.mark.parametrize("left", [None, 0, 3])
def test_it_is_always_said_how_often_it_may_be_asked_again(left):
    assert {"type": "advice", "advice": "x", "remaining_uses": left} == json.loads(
        advice_document("advice", advice="x", remaining_uses=left)
    )
