"""The first title of a chat, what a model is asked for a title, and which answers are taken."""

import json
from uuid import UUID, uuid4

import pytest

from actors.chat.turn.ports import Model
from actors.law.ids import FileId, ModelConfigId
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import FinishReason
from actors.law.parts.message import (
    FilePart,
    FileReferencePart,
    HookContextPart,
    ReasoningPart,
    TextPart,
)
from actors.law.parts.prompt import (
    AnthropicOptions,
    CallSettings,
    GoogleOptions,
    OpenAICompatOptions,
    OpenAIOptions,
    OpenRouterOptions,
    OpenRouterRouting,
    RoutedReasoning,
    VercelOptions,
    WebSearch,
)
from actors.prompts.converting import StoredFile
from actors.upkeep.asking import brief, rejects_temperature
from actors.upkeep.title_wording import (
    cleaned,
    fallback_title,
    may_be_pasted,
    source_of,
    title_in,
    title_prompt,
)
from tests.actors.law.chats import ANN
from tests.actors.upkeep.stage import NO_CREDIT, NO_TEMPERATURE, OVERLOADED, a_new_chat, says


def a_model(settings):
    id = ModelConfigId(uuid4())
    search = (WebSearch(),)
    return Model(None, id, "one", "anthropic", "claude", settings, provider_tools=search)


def test_it_is_one_short_question_without_tools_to_be_answered_by_a_schema():
    settings = CallSettings(max_output_tokens=9000, temperature=0.7, top_p=0.3, effort="high")
    chat = a_new_chat()

    prompt = title_prompt(chat, a_model(settings), "why does it crash?")

    assert "claude" == prompt.model
    assert CallSettings(max_output_tokens=256, temperature=0.0) == prompt.settings
    assert ((), ()) == (prompt.tools, prompt.provider_tools)
    assert ["title"] == list(json.loads(prompt.answer_schema.schema)["properties"])
    assert prompt.messages[0].parts[0].text.endswith("\n\nwhy does it crash?")
    assert (ANN, chat.id, None) == (prompt.asker.owner, prompt.asker.chat, prompt.asker.subchat)


def test_of_a_long_message_the_model_is_shown_the_beginning():
    prompt = title_prompt(a_new_chat(), a_model(CallSettings()), "x" * 100_000)

    assert len(prompt.messages[0].parts[0].text) < 6100


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (None, None),
        (
            AnthropicOptions(thinking_budget_tokens=9000, thinking_display="omitted"),
            AnthropicOptions(),
        ),
        (
            OpenAIOptions(store=False, reasoning_summary="auto", max_completion_tokens=9000),
            OpenAIOptions(store=False),
        ),
        (
            GoogleOptions(threshold="BLOCK_NONE", thinking_budget=9000, cached_content="c"),
            GoogleOptions(threshold="BLOCK_NONE"),
        ),
        (
            OpenRouterOptions(
                reasoning=RoutedReasoning(True), provider=OpenRouterRouting(only=("a",))
            ),
            OpenRouterOptions(provider=OpenRouterRouting(only=("a",))),
        ),
        (
            VercelOptions(reasoning=RoutedReasoning(True), order=("a",)),
            VercelOptions(order=("a",)),
        ),
        (OpenAICompatOptions("ann"), OpenAICompatOptions("ann")),
    ],
)
def test_where_a_request_may_go_stays_and_thinking_does_not(options, kept):
    settings = brief(CallSettings(options=options), output_tokens_max=256)

    assert kept == settings.options


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Crash in main.py", "Crash in main.py"),
        ('  "Crash in\n main.py" ', "Crash in main.py"),
        ("“Crash in main.py”", "Crash in main.py"),
        ("'`Crash`'", "Crash"),
        ("don't panic", "don't panic"),
        ("a b c d e f g h", "a b c d e f g h"),
        ("a b c d e f g h i", None),
        ("", None),
        (' "" ', None),
        ("x" * 100, "x" * 80),
        (f"{'x' * 79} y", "x" * 79),
        ("a\x00b", "ab"),
    ],
)
def test_quotes_and_blanks_go_and_what_is_too_long_is_no_title(said, title):
    assert title == cleaned(said)


@pytest.mark.parametrize(
    "text",
    ["Crash", "", '"Crash"', '{"name": "Crash"}', '{"title": 7}', '{"title": "Cra', "[" * 100_000],
)
def test_what_is_not_of_the_schema_is_no_title(text):
    assert title_in(says(text)) is None


def test_thoughts_before_the_answer_do_not_matter():
    parts = (ReasoningPart("hm"), TextPart('{"title": '), TextPart('"Crash"}'))

    assert "Crash" == title_in(ModelAnswer(parts, FinishReason.STOP))


def test_a_provider_that_takes_no_temperature_says_so_in_words():
    assert rejects_temperature(NO_TEMPERATURE)
    assert not rejects_temperature(NO_CREDIT)
    assert not rejects_temperature(OVERLOADED)


ONE, TWO = FileId(UUID(int=1)), FileId(UUID(int=2))
PASTED = "pasted-text-2030-01-02-03-04-05.txt"
REFERENCE = FileReferencePart("main.py", 3, 7, "def main():")


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("", "New Chat"),
        (" \n\t ", "New Chat"),
        ("hello", "hello"),
        ("one two three four five six", "one two three four five six"),
        ("one two three four five six seven", "one two three four five six…"),
        ("  why\n\ndoes  it\tcrash? ", "why does it crash?"),
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 79 + "…"),
        (f"a {'x' * 90} c d e f g", f"a {'x' * 77}…"),
        ("夜明け前より瑠璃色な", "夜明け前より瑠璃色な"),
    ],
)
def test_it_is_the_first_six_words_in_eighty_characters(said, title):
    assert title == fallback_title(said)
    assert len(title) <= 80


def test_what_no_database_takes_is_left_out():
    source = source_of([TextPart("a\x00b \ud800 c\x1b[1md")])

    assert "ab c[1md" == fallback_title(source)


def test_text_and_pointed_at_lines_make_it_in_the_order_in_which_they_were_said():
    parts = [TextPart("look at"), REFERENCE, HookContextPart("not said by the user")]

    assert "look at main.py:3-7 def main():" == fallback_title(source_of(parts))


def test_where_nothing_was_written_a_pasted_text_makes_it():
    files = {ONE: StoredFile("text/plain", PASTED, b"Traceback (most recent call last)")}
    parts = [FilePart("text/plain", file_id=ONE)]

    assert "Traceback (most recent call last)" == fallback_title(source_of(parts, files))


def test_what_was_written_goes_before_what_was_pasted():
    files = {ONE: StoredFile("text/plain", PASTED, b"Traceback")}
    parts = [FilePart("text/plain", file_id=ONE), TextPart("what is this?")]

    assert "what is this?" == source_of(parts, files)
    assert frozenset() == may_be_pasted(parts)


def test_of_each_pasted_text_only_its_beginning_counts():
    files = {
        ONE: StoredFile("text/plain", PASTED, b"a" * 100_000),
        TWO: StoredFile("text/plain", PASTED, b"b" * 100_000),
    }
    parts = [FilePart("text/plain", file_id=ONE), FilePart("text/plain", file_id=TWO)]

    source = source_of(parts, files)

    assert "a" * 16_384 == source


@pytest.mark.parametrize(
    "file",
    [
        StoredFile("text/plain", "notes.txt", b"not pasted"),
        StoredFile("image/png", PASTED, b"\x89PNG"),
        None,
    ],
)
def test_other_files_say_nothing_of_themselves(file):
    files = {} if file is None else {ONE: file}

    assert "" == source_of([FilePart("text/plain", file_id=ONE)], files)


def test_only_files_that_can_be_pasted_texts_have_to_be_read():
    parts = [
        FilePart("text/plain", file_id=ONE),
        FilePart("image/png", file_id=FileId(UUID(int=3))),
        FilePart("", file_id=TWO),
        FilePart("text/plain", data="aGVsbG8="),
    ]

    assert {ONE, TWO} == may_be_pasted(parts)
