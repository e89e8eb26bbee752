"""Stored rows to a prompt: each rule of choosing, converting and pairing."""

import base64
import json
from dataclasses import replace
from uuid import UUID

import pytest

from actors.law.chat import Visibility
from actors.law.parts.deltas import FailureKind
from actors.law.parts.message import (
    ContextFilePart,
    FilePart,
    FileReferencePart,
    HookContextPart,
    HookNoticePart,
    ReasoningPart,
    SkillPart,
    SourcePart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from actors.law.parts.prompt import AssistantOutput, ToolAnswer, ToolResults, UserInput
from actors.law.parts.vendors import IMAGE_BYTES_MAX, vendor_of
from actors.prompts.converting import NO_RESULT, PASTED_BYTES_MAX, StoredFile
from actors.prompts.projection import Projection, Target
from actors.prompts.projection import project as projection_of
from actors.prompts.selecting import model_rows
from tests.actors.prompts.rows import (
    OURS,
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

FILE = UUID(int=9)
IDENTITIES = {OURS: "ours", THEIRS: "theirs"}


def project(*rows, provider="openai", identity="ours", takes=("",), files=None):
    """`takes`: the kinds of files that the target takes, by how they begin."""
    rules = replace(vendor_of(provider).rules, files=takes)
    return projection_of(
        history(*rows),
        target=Target(provider, identity, rules),
        identity_of=IDENTITIES.get,
        files=files or {},
    )


def said(*rows, **more):
    return project(*rows, **more).messages


def texts(messages):
    return [part.text for each in messages for part in each.parts if isinstance(part, TextPart)]


def unanswered(id):
    return ToolAnswer(id, "f", NO_RESULT, is_error=True)


OK = ToolAnswer("c", "f", "ok")


def test_a_conversation_is_said_again_in_order():
    rows = (system("be kind"), user("hi"), assistant("look", call("c")), tool(result("c")))

    assert project(*rows) == Projection(
        ("be kind",),
        (
            UserInput((TextPart("hi"),)),
            AssistantOutput((TextPart("look"), ToolCallPart("c", "f", "{}"))),
            ToolResults((OK,)),
        ),
    )


def test_after_a_summary_only_it_system_rows_and_later_rows_are_seen():
    rows = history(
        system("rules"),
        user("old"),
        system("squeezed", compressed=True),
        user("older summary", visibility=Visibility.MODEL, compressed=True),
        assistant("middle"),
        user("summary", visibility=Visibility.MODEL, compressed=True),
        assistant("shown only", visibility=Visibility.USER, compressed=True),
        tool(result("x"), compressed=True),
        user("hook", visibility=Visibility.MODEL),
        user("gone", deleted=True),
        user("new"),
    )

    seen = [part.text for row in model_rows(rows) for part in row.body.parts]

    assert seen == ["rules", "summary", "hook", "new"]


def test_without_a_summary_all_uncompressed_rows_are_seen():
    rows = history(user("a"), assistant("b", compressed=True), user("c"))

    assert [row.id for row in model_rows(rows)] == [1, 3]


def test_what_the_tools_of_another_provider_did_is_left_out_until_it_is_asked_again():
    rows = (
        user("a"),
        assistant("mine", *searched("s1")),
        assistant("theirs", *searched("s2"), call("c"), model=THEIRS),
        tool(result("c")),
        assistant(*searched("s3"), model=THEIRS),
        assistant("nobody's", *searched("s4"), model=None),
    )

    def kept(identity):
        parts = [
            part
            for each in said(*rows, identity=identity)
            if hasattr(each, "parts")
            for part in each.parts
        ]
        return [part.id for part in parts if isinstance(part, ToolResultPart)]

    assert kept("ours") == ["s1"]
    assert kept("theirs") == ["s2", "s3"]
    assert kept(None) == ["s1", "s2", "s3", "s4"]


@pytest.mark.parametrize("args", [None, "", "not json", "[1]", '"x"'])
def test_arguments_that_are_no_object_become_an_empty_one(args):
    (_, called, _) = said(user("a"), assistant(call("c", args=args)), tool(result("c")))

    assert called.parts == (ToolCallPart("c", "f", "{}"),)


def test_ids_are_cleaned_on_both_sides():
    (_, called, answered) = said(user("a"), assistant(call("a:b/1")), tool(result("a:b/1")))

    assert (called.parts[0].id, answered.answers[0].id) == ("a_b_1", "a_b_1")


def test_a_call_without_result_gets_an_error_right_behind_it():
    messages = said(user("a"), assistant(call("c"), call("d")), tool(result("d")), assistant("b"))

    ok = ToolAnswer("d", "f", "ok")
    assert messages[2] == ToolResults((unanswered("c"), ok))
    assert messages[3] == AssistantOutput((TextPart("b"),))


def test_a_result_is_brought_next_to_its_call_over_other_rows():
    hook = user("hook", visibility=Visibility.MODEL)

    messages = said(user("a"), assistant(call("c")), hook, tool(result("c")), user("b"))

    assert messages[2:] == (
        ToolResults((OK,)),
        UserInput((TextPart("hook"),)),
        UserInput((TextPart("b"),)),
    )


def test_results_in_several_rows_stand_in_call_order_and_the_first_counts():
    rows = (
        user("a"),
        assistant(call("c"), call("d")),
        tool(result("d")),
        tool(result("c")),
        tool(result("c", '"late"')),
    )

    assert said(*rows)[2:] == (ToolResults((OK, ToolAnswer("d", "f", "ok"))),)


def test_an_id_that_comes_again_goes_out_with_a_number():
    step = (assistant(call("c"), call("c", "other")), tool(result("c")))

    messages = said(user("a"), *step, *step, *step)

    calls = [part.id for each in messages[1::2] for part in each.parts]
    answers = [answer.id for each in messages[2::2] for answer in each.answers]
    assert ["c", "c-2", "c-3"] == calls == answers


def test_a_result_without_call_gets_an_empty_call_before_it():
    rows = (user("a"), assistant(call("c", "known")), tool(result("c")), assistant("b"))
    late = (tool(result("c", name="")), tool(result("x", name="")), tool(result("y", name="g")))

    messages = said(*rows, *late)

    names = [part.name for each in messages[4::2] for part in each.parts]
    assert names == ["known", "unknown_tool", "g"]
    assert [type(each) for each in messages[4:]] == [AssistantOutput, ToolResults] * 3


def test_a_result_of_a_providers_tool_in_a_tool_row_is_dropped():
    messages = said(user("a"), assistant("b"), tool(result("s", provider_executed=True)))

    assert len(messages) == 2


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (TextPart("  \n"), None),
        (TextPart("x"), "x"),
        (HookContextPart("ctx"), "ctx"),
        (HookContextPart(" "), None),
        (HookNoticePart("notice"), None),
        (SourcePart("s", "https://a.test"), None),
        (SkillPart("skill"), None),
        (ContextFilePart("AGENTS.md", "be neat"), "[instructions from AGENTS.md]\nbe neat"),
        (
            ContextFilePart("A", "x", truncated=True),
            "[instructions from A]\nx\n[the rest of the file is not shown]",
        ),
        (ContextFilePart("A", ""), None),
        (
            FileReferencePart("a.py", 3, 4, "x = 1"),
            "[from a.py, lines 3-4]\n```\nx = 1\n```",
        ),
        (
            FileReferencePart("a.md", 1, 1, "```py"),
            "[from a.md, lines 1-1]\n````\n```py\n````",
        ),
    ],
)
def test_parts_of_a_user_become_words_or_nothing(part, text):
    assert texts(said(user("first"), user(part))) == ["first"] + ([text] if text else [])


@pytest.mark.parametrize(
    ("part", "kept"),
    [
        (ReasoningPart(" "), False),
        (ReasoningPart("", provider_metadata='{"anthropic":{"redacted_data":"x"}}'), True),
        (ReasoningPart("hm"), True),
        (TextPart(" "), False),
        (SourcePart("s", "https://a.test"), False),
        (FilePart("image/png", data="AA=="), False),
    ],
)
def test_an_assistants_thoughts_are_kept_if_they_say_or_sign_anything(part, kept):
    messages = said(user("a"), assistant(part))

    assert len(messages) == (2 if kept else 1)


def attached(file=None, *, name="a.bin", kind="image/png", takes=("",)):
    files = {} if file is None else {FILE: StoredFile(kind, name, file)}
    (_, *found) = said(user("a"), user(FilePart(kind, file_id=FILE)), takes=takes, files=files)
    return found[0].parts[0] if found else None


def test_a_stored_file_is_handed_on_with_its_content():
    assert attached(b"\0\1") == FilePart("image/png", "a.bin", data="AAE=")


def test_an_inline_file_is_handed_on_and_a_broken_one_is_missing():
    inline, broken = (FilePart("image/png", data=data) for data in ("AAE=", "%%%"))

    (_, shown) = said(user("a"), user(inline, broken))

    assert shown.parts == (
        FilePart("image/png", data="AAE="),
        TextPart("[an attached file (image/png) is no longer available]"),
    )


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("image/png", "[an attached file (image/png) is no longer available]"),
        ("application/octet-stream", "[an attached file is no longer available]"),
    ],
)
def test_a_missing_file_leaves_a_word(kind, text):
    assert attached(kind=kind) == TextPart(text)


def test_an_empty_file_says_nothing():
    assert attached(b"") is None


@pytest.mark.parametrize("kind", ["text/plain", "text/markdown", "text/csv", "application/json"])
def test_a_text_that_the_target_does_not_take_is_written_out(kind):
    assert attached(b"x", name="n", kind=kind, takes=("image/", "application/pdf")) == (
        TextPart("[attached file n]\nx")
    )
    assert isinstance(attached(b"x", kind=kind), FilePart)


def test_a_pasted_text_is_written_out_up_to_a_limit():
    name = "pasted-text-2026-01-02-03-04-05.txt"
    long = ("é" * PASTED_BYTES_MAX).encode()

    whole = attached(b"hello", name=name, kind="text/plain")
    cut = attached(b"x" + long, name=name, kind="text/plain")

    assert whole == TextPart("hello")
    assert cut.text.startswith("xé")
    assert cut.text.endswith(f"[cut here: 131072 of {1 + len(long)} bytes are shown]")
    assert len(cut.text.encode()) < PASTED_BYTES_MAX + 100
    assert isinstance(attached(b"\0", name=name, kind="image/png"), FilePart)


@pytest.mark.parametrize(
    ("stored", "more", "expected"),
    [
        ('{"output":"plain"}', {}, ("plain", False, None)),
        ('{"rows":[1]}', {}, ('{"rows":[1]}', False, None)),
        ('{"output":"a","more":1}', {}, ('{"output":"a","more":1}', False, None)),
        ('{"output":5}', {}, ('{"output":5}', False, None)),
        ('\n { "error" : "no" }', {}, ("no", False, None)),
        ('{"\\u006futput":"plain"}', {}, ("plain", False, None)),
        ('{"x":1}', {}, ('{"x":1}', False, None)),
        ("[1]", {}, ("[1]", False, None)),
        ("[1,2]", {}, ("[1,2]", False, None)),
        ('{"error":"bad"}', {"is_error": True}, ("bad", True, None)),
        ('"stopped"', {"is_error": True}, ("stopped", True, None)),
        (
            '{"data":"AAE=","mime_type":"image/png","text":"t"}',
            {"is_media": True},
            ("t", False, FilePart("image/png", data="AAE=")),
        ),
        ('{"data":"%","mime_type":"image/png","text":"t"}', {"is_media": True}, ("t", False, None)),
        (
            '{"data":"%","mime_type":"image/png"}',
            {"is_media": True},
            ("[unreadable media]", False, None),
        ),
    ],
)
def test_a_stored_result_is_read_as_it_was_meant(stored, more, expected):
    messages = said(user("a"), assistant(call("c")), tool(result("c", stored, **more)))

    (answer,) = messages[2].answers
    assert (answer.text, answer.is_error, answer.media) == expected


def test_a_file_that_is_encoded_already_is_not_encoded_again():
    file = StoredFile("image/png", "", b"png", encoded="ready")

    shown = project(user(FilePart("image/png", file_id=FILE)), files={FILE: file})

    assert "ready" in str(shown)


@pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
def test_an_image_at_the_limit_is_refused_by_name(provider):
    small, large = b"x" * (IMAGE_BYTES_MAX - 1), b"x" * IMAGE_BYTES_MAX
    rows = (user(FilePart("image/png", file_id=FILE)),)

    accepted = project(*rows, provider=provider, files={FILE: StoredFile("image/png", "", small)})
    refused = project(*rows, provider=provider, files={FILE: StoredFile("image/png", "", large)})

    assert isinstance(accepted, Projection)
    assert (refused.kind, refused.retryable) == (FailureKind.CONFIG, False)
    assert "5 MiB" in refused.message


def test_an_image_that_a_tool_brought_counts_too():
    data = base64.b64encode(b"x" * IMAGE_BYTES_MAX).decode()
    stored = json.dumps({"data": data, "mime_type": "image/png"})
    media = result("c", stored, is_media=True)

    refused = project(user("a"), assistant(call("c")), tool(media), provider="anthropic")

    assert refused.kind is FailureKind.CONFIG


def test_other_providers_decide_for_themselves_what_is_too_large():
    large = {FILE: StoredFile("image/png", "", b"x" * IMAGE_BYTES_MAX)}

    assert isinstance(project(user(FilePart("image/png", file_id=FILE)), files=large), Projection)
