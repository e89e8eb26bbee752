"""What scripts rely on: the schema of records, exit codes, answers that fit, one text of each."""

import json
import os
import re
import signal
import socket
import subprocess
from pathlib import Path
from uuid import UUID

import jsonschema
import pytest

from adapters.cli.pipes import output_schema
from adapters.cli.pipes.outcomes import EXIT_CODES, Outcome
from adapters.cli.pipes.output_schema import (
    FAULTS_MAX,
    SCHEMA_BYTES_MAX,
    DocumentSchema,
    FittingAnswer,
    UnfitAnswer,
    read_schema,
)
from adapters.cli.pipes.printing import TextPrinter
from adapters.cli.pipes.records import (
    BeginRecord,
    DroppedRecord,
    MessageRecord,
    RecordMaker,
    TextRecord,
    schema_text,
)
from adapters.settings.refusals import CannotStart
from promptcorner_client.wire import (
    ChatMessage,
    ChatMessagePart,
    ChatStreamEvent,
    ChatStreamMessagePart,
)
from runtime.clock import wall
from tests.patience import PATIENCE_SECONDS

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DOCS = Path(__file__).parents[3] / "docs"
CHAT = UUID(int=7)


def piece(text):
    part = ChatMessagePart(type="text", text=text)
    piece = ChatStreamMessagePart("assistant", part, 1, 1, 1)
    return ChatStreamEvent(type="message_part", chat_id=CHAT, message_part=piece)


def message(text, role="assistant"):
    part = ChatMessagePart(type="text", text=text)
    kept = ChatMessage(id=3, chat_id=CHAT, created_at=wall(), role=role, content=(part,))
    return ChatStreamEvent(type="message", chat_id=CHAT, message=kept)


RESET = ChatStreamEvent(type="preview_reset", chat_id=CHAT)


def records(*events):
    maker = RecordMaker()
    return [record for event in events for record in maker.records_of(event)]


def test_the_schema_in_the_documents_is_that_of_the_records():
    assert (DOCS / "chat-records.schema.json").read_text() == schema_text(), (
        "run: python -m adapters.cli.pipes.records docs/chat-records.schema.json"
    )
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text()))


def test_the_exit_codes_in_the_documents_are_those_of_the_outcomes():
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", (DOCS / "commands.md").read_text(), re.M)

    assert {(str(code), one.value) for one, code in EXIT_CODES.items()} == set(rows)
    assert set(Outcome) == EXIT_CODES.keys()


def test_every_type_of_record_is_in_the_documents():
    types = set(json.loads(schema_text())["discriminator"]["mapping"])

    assert types <= set(re.findall(r"`(\w+)`", (DOCS / "commands.md").read_text()))


def test_pieces_are_dropped_only_if_no_message_came_of_them():
    assert [TextRecord("a"), DroppedRecord()] == records(piece("a"), RESET)
    assert [TextRecord, MessageRecord] == [*map(type, records(piece("a"), message("a"), RESET))]
    assert [TextRecord, MessageRecord, DroppedRecord] == [
        *map(type, records(piece("a"), message("b", role="user"), RESET))
    ]


RIVERS = {"type": "object", "required": ["rivers"], "properties": {"rivers": {"minItems": 1}}}


@pytest.mark.parametrize(
    "answer",
    ['{"rivers": ["Rhine"]}', ' {"rivers":["Rhine"]}\n', '```json\n{"rivers": ["Rhine"]}\n```'],
)
def test_an_answer_that_fits_is_one_line(answer):
    found = DocumentSchema(RIVERS).judge(answer)

    assert FittingAnswer(b'{"rivers": ["Rhine"]}') == found


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("", "it is no JSON document"),
        ("Rhine", "it is no JSON document"),
        ('{"rivers": ["Rhine"]} and more', "it is no JSON document"),
        (json.dumps({"rivers": ["\ud800"]}), "it is no JSON document: "),
        ('{"rivers": NaN}', "it is no JSON document: NaN is no JSON"),
        ("[" * 100_000, "it is no JSON document"),
        ("{}", "at $: 'rivers' is a required property"),
        ('{"rivers": []}', "at $.rivers: "),
    ],
)
def test_an_answer_that_does_not_fit_says_why(answer, fault):
    found = DocumentSchema(RIVERS).judge(answer)

    assert isinstance(found, UnfitAnswer)
    assert found.faults[0].startswith(fault)


def test_a_model_is_told_of_some_faults_only():
    schema = DocumentSchema({"items": {"type": "string"}})
    found = schema.judge(json.dumps(list(range(100))))

    assert FAULTS_MAX == len(found.faults)
    assert FAULTS_MAX == schema.correction(found).count("\n- ")


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "{url}"},
        {"$dynamicRef": "{url}#node"},
        {"properties": {"river": {"items": [{"$ref": "{url}"}]}}, "$schema": DRAFT_7},
        {"$id": "{url}", "allOf": [{"$ref": "other.json"}]},
        {"$schema": "{url}", "$ref": "{url}#/$defs/river"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "#/$defs/nowhere"},
    ],
)
def test_a_schema_that_names_another_one_is_refused_and_nothing_is_fetched(tmp_path, schema):
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        url = f"http://127.0.0.1:{elsewhere.getsockname()[1]}/river.json"
        (tmp_path / "schema.json").write_text(json.dumps(schema).replace("{url}", url))

        with pytest.raises(CannotStart, match="is not in it; schemas elsewhere are not fetched"):
            read_schema(tmp_path / "schema.json")

        elsewhere.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody has knocked
            elsewhere.accept()


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"next": {"$ref": "#"}}, "required": ["name"]},
        {"$defs": {"a": {"$id": "http://x/a", "required": ["name"]}}, "$ref": "http://x/a"},
        {
            "$schema": DRAFT_7,
            "definitions": {"a": {"required": ["name"]}},
            "$ref": "#/definitions/a",
        },
        {"$id": "http://x/b", "$defs": {"a": {"$anchor": "a", "required": ["name"]}}, "$ref": "#a"},
    ],
)
def test_a_schema_may_name_itself_and_its_parts(schema):
    found = DocumentSchema(schema)

    assert isinstance(found.judge('{"name": "Rhine", "next": {"name": "Main"}}'), FittingAnswer)
    assert ["at $: 'name' is a required property"] == found.judge("{}").faults


def test_a_schema_that_describes_schemas_knows_their_schema():
    found = DocumentSchema({"$ref": "https://json-schema.org/draft/2020-12/schema"})

    assert isinstance(found.judge('{"type": "string"}'), FittingAnswer)
    assert isinstance(found.judge('{"type": 5}'), UnfitAnswer)


def test_a_schema_that_goes_round_in_a_ring_is_not_asked_for_again():
    assert DocumentSchema({"$ref": "#"}).judge("{}").is_hopeless
    assert not DocumentSchema({"type": "string"}).judge("{}").is_hopeless


DOUBLING = {
    f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} if n < 40 else True for n in range(41)
}


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        ({"$defs": DOUBLING, "$ref": "#/$defs/a0"}, "1"),
        ({"pattern": "^(a+)+$"}, json.dumps("a" * 60 + "!")),
    ],
    ids=["references that double", "a pattern that goes back again and again"],
)
def test_a_schema_whose_work_does_not_end_is_given_up(monkeypatch, schema, answer):
    asked_for = DocumentSchema(schema)
    monkeypatch.setattr(output_schema, "SECONDS_MAX", 0.1)
    found = asked_for.judge(answer)

    assert ["the schema cannot be applied to it: it takes longer than 0.1 s"] == found.faults
    assert found.is_hopeless


def test_a_limit_leaves_the_alarm_of_others_as_it_was():
    handler, timer = signal.getsignal(signal.SIGALRM), signal.setitimer(signal.ITIMER_REAL, 1_000)
    try:
        with pytest.raises(ZeroDivisionError), output_schema.limited(PATIENCE_SECONDS):
            raise ZeroDivisionError
        left, _ = signal.getitimer(signal.ITIMER_REAL)
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)

    assert handler is signal.getsignal(signal.SIGALRM)
    assert PATIENCE_SECONDS < left <= 1_000


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not JSON"),
        ('{"type": "river"}', "is no JSON Schema"),
        ('{"not":' * 900 + "{}" + "}" * 900, "is no JSON Schema"),
        ('{"$schema": 5}', "is no JSON Schema"),
        ('{"$schema": []}', "is no JSON Schema"),
        ("[1]", "is no JSON Schema"),
        (" " * (SCHEMA_BYTES_MAX + 1), "is larger than 64 KiB"),
    ],
    ids=[
        "no JSON",
        "an unknown type",
        "too deep",
        "a number",
        "a list of names",
        "a list",
        "too long",
    ],
)
def test_a_schema_that_is_none_is_refused(tmp_path, text, says):
    (tmp_path / "schema.json").write_text(text)

    with pytest.raises(CannotStart, match=says):
        read_schema(tmp_path / "schema.json")


def test_a_schema_may_come_through_a_pipe_but_is_not_awaited_for_ever(tmp_path, monkeypatch):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setattr(output_schema, "PIPE_SECONDS", 0.1)
    with pytest.raises(CannotStart, match=r"cannot be read \(nothing comes for 0.1 s\)"):
        read_schema(pipe)
    monkeypatch.setattr(output_schema, "PIPE_SECONDS", PATIENCE_SECONDS)
    with subprocess.Popen(["sh", "-c", f"printf true > {pipe}"]):
        assert FittingAnswer(b"1") == read_schema(pipe).judge("1")


@pytest.mark.parametrize(
    ("path", "says"),
    [("/dev/zero", "is larger than 64 KiB"), ("loop", "cannot be read"), (".", "cannot be read")],
)
def test_a_schema_in_no_plain_file_is_refused(tmp_path, monkeypatch, path, says):
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    with pytest.raises(CannotStart, match=says):
        read_schema(Path(path))


def test_an_answer_does_not_move_the_cursor_of_a_terminal(capsys):
    printer = TextPrinter(is_terminal=True)
    printer.show(BeginRecord(chat_id=CHAT, is_new=True, message_id=None))
    for record in records(piece("a\x1b[2J"), piece("b\n"), message("a\x1b[2Jb\n")):
        printer.show(record)

    assert "a?[2Jb\n" == capsys.readouterr().out
