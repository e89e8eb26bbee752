"""The title that a chat is born with."""

from uuid import UUID

import pytest

from actors.law.ids import FileId
from actors.law.parts.message import FilePart, FileReferencePart, HookContextPart, TextPart
from actors.prompts.files import StoredFile
from actors.upkeep.titles.fallback import fallback_title, may_be_pasted, source_of

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
