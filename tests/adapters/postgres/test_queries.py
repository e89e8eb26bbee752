"""Named SQL: every statement is one that the server takes, and every name is used."""

import dataclasses
import inspect
import re
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import msgspec
import pytest

from actors.law.chat import Chat
from actors.law.states import RUNNABLE
from adapters.postgres.codec import writing
from adapters.postgres.codec.rows import chat_of
from adapters.postgres.driver.values import parse as in_the_servers_words
from adapters.postgres.queries import SQL, Record, parse

ADAPTERS = Path(str(files("adapters")))
USED = re.compile(r"""SQL\[\s*["'](\w+)["']\s*\]""")


# Select lists are made of records, so every module that defines one has to be there.
for path in sorted(ADAPTERS.rglob("*.py")):
    if re.search(r"^class \w+\(.*\bfrozen=True\):$", path.read_text(), re.MULTILINE):
        import_module(".".join(path.relative_to(ADAPTERS.parent).with_suffix("").parts))


# Of a new chat, and of a change of one.
CHANGE_FIELDS = [
    [field.name for field in msgspec.structs.fields(record) if field.name != "held"]
    for record in (writing._CreatedChat, writing._ChangedChat)
]


class PairRow(Record, frozen=True):
    """A row of a table of these tests."""

    id: int
    words: frozenset[str]
    is_new: bool


class LongPairRow(PairRow, frozen=True):
    """The same, with content in JSON."""

    content: msgspec.Raw


def names_in_python():
    sources = [path.read_text() for path in sorted(ADAPTERS.rglob("*.py"))]
    return {name for text in sources for name in USED.findall(text)}


@pytest.mark.parametrize("name", sorted(SQL))
async def test_the_server_takes_every_statement(store, name):
    sql = in_the_servers_words(SQL[name]).sql.decode()

    if sql.startswith(("CREATE TABLE IF NOT EXISTS", "CREATE TEMPORARY TABLE")):
        # It cannot be prepared, and makes nothing twice, or nothing that stays.
        await store.run(sql)
    else:
        await store.run(f"PREPARE {name} AS {sql}")
        assert [[(name,)]] == await store.run(
            "SELECT name FROM pg_prepared_statements WHERE from_sql"
        )


def test_every_statement_is_used_and_every_used_one_is_there():
    assert set(SQL) == names_in_python()


def test_every_statement_says_why_it_is_there():
    text = "\n".join(path.read_text() for path in sorted(ADAPTERS.rglob("*.sql")))
    headed = re.findall(r"^-- (?:name|part|column): ([\w.]+)$", text, re.MULTILINE)
    explained = re.findall(r"^-- (?:name|part|column): ([\w.]+)\n-- \S", text, re.MULTILINE)

    assert headed == explained
    assert set(SQL) <= set(headed)


@pytest.mark.parametrize(
    ("statement", "fields"),
    [("insert_chat", CHANGE_FIELDS[0]), ("write_paid_changes", CHANGE_FIELDS[1])],
)
def test_a_statement_writes_all_that_is_encoded_for_it(statement, fields):
    """PostgreSQL passes over fields of a record in JSON that the statement does not name."""
    sql = in_the_servers_words(SQL[statement]).sql.decode()

    missing = [name for name in fields if len(re.findall(rf"\b{name}\b", sql)) < 2]

    assert not missing, (
        f"name them in {statement}, where the record is read and where it is written"
    )


def test_every_field_of_a_chat_is_read_and_written():
    """A field of `Chat` with a default would keep it, whatever is stored."""
    names = {field.name for field in dataclasses.fields(Chat)}
    made = inspect.getsource(chat_of)

    assert [] == [name for name in names if f"{name}=" not in made]
    assert {"holder"} == names - {*CHANGE_FIELDS[0], *CHANGE_FIELDS[1]}, "it is never written"


def test_statements_about_chats_at_work_name_each_status_of_work():
    at_work = {status.value for status in RUNNABLE}
    for name in SQL:
        for listed in re.findall(r"\(('running'[^)]*)\)", SQL[name]):
            assert at_work == set(re.findall(r"'(\w+)'", listed)), name


def test_parts_are_put_in_wherever_they_are_named():
    text = "-- part: columns\n-- Two.\na, b\n\n-- name: get\n-- Why.\nSELECT {columns} FROM t;\n"

    assert {"get": "SELECT a, b FROM t"} == dict(parse(text))


def test_a_select_list_is_made_of_its_record():
    text = (
        "-- column: PairRow.is_new\n-- Why.\nage < 1\n"
        "-- name: one\n-- Why.\nSELECT {PairRow} FROM t;\n"
        "-- name: two\n-- Why.\nSELECT {t.LongPairRow} FROM t;\n"
    )

    assert {
        "one": "SELECT id, words, age < 1 FROM t",
        "two": "SELECT t.id, t.words, age < 1, t.content FROM t",
    } == dict(parse(text))


def test_a_row_is_read_by_its_record_and_as_json_too():
    as_row, as_json = (1, ["a"], True, b"[2]"), b'[1, ["a"], true, [2]]'

    read, decoded = LongPairRow.of(as_row), msgspec.json.decode(as_json, type=LongPairRow)

    assert (1, {"a"}, True) == (read.id, read.words, read.is_new)
    assert b"[2]" == bytes(read.content) == bytes(decoded.content)
    assert read.words == decoded.words


def test_a_row_that_is_not_of_its_record_is_refused():
    with pytest.raises(msgspec.ValidationError):
        PairRow.of((1, ["a"], None))


def test_two_statements_of_one_name_are_a_mistake():
    with pytest.raises(AssertionError, match="two statements share a name"):
        parse("-- name: a\n-- Why.\nSELECT 1;\n-- name: a\n-- Why.\nSELECT 2;\n")


def test_what_a_file_says_about_itself_is_sent_to_nobody():
    assert [] == [name for name, sql in SQL.items() if sql.splitlines()[-1].startswith("--")]


def test_no_part_is_left_open():
    assert [] == [name for name, sql in SQL.items() if re.search(r"\{\w+\}", sql)]
