"""Names of files, in and out of headers."""

from email.message import Message
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.http.file_names import NAME_BYTES_MAX, cleaned, disposition_of, name_said


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ('attachment; filename="notes.txt"', "notes.txt"),
        ("attachment; filename=notes.txt", "notes.txt"),
        ('attachment; filename="a \\"b\\".txt"', 'a "b".txt'),
        ("attachment; filename*=UTF-8''Gr%C3%BC%C3%9Fe.txt", "Grüße.txt"),
        ('attachment; filename="Gr\xc3\xbc\xc3\x9fe.txt"', "Grüße.txt"),  # UTF-8, read as Latin-1
        ('attachment; filename="Gr\xfc\xdfe.txt"', "Grüße.txt"),
        ('attachment; filename="../../etc/passwd"', "passwd"),
        ('attachment; filename="C:\\\\Users\\\\ann\\\\a.txt"', "a.txt"),
        ('attachment; filename="  a\x07b.txt  "', "ab.txt"),
        ('attachment; filename=""', ""),
        ('attachment; filename=" \x01 "', ""),
        ('attachment; filename=".."', ""),
        ('attachment; filename="folder/"', ""),
        ("attachment", ""),
        ("", ""),
    ],
)
def test_a_name_is_what_is_left_of_it(disposition, name):
    assert name == name_said(disposition)


def test_a_name_that_is_too_long_is_cut_before_its_ending():
    name = cleaned("ü" * 200 + ".txt")

    assert name.endswith("ü.txt")
    assert NAME_BYTES_MAX - 1 <= len(name.encode()) <= NAME_BYTES_MAX
    assert NAME_BYTES_MAX == len(cleaned("." + "x" * 400).encode())


@given(st.text())
def test_whatever_is_left_fits_and_stays(text):
    name = cleaned(text)

    assert len(name.encode()) <= NAME_BYTES_MAX
    assert cleaned(name) == name


@given(st.text(min_size=1).map(cleaned).filter(bool), st.booleans())
def test_who_reads_the_header_gets_the_name(name, inline):
    header = disposition_of(name, inline=inline)

    read = Message()
    read["Content-Disposition"] = header
    assert header.isascii()
    assert ("inline" if inline else "attachment") == read.get_content_disposition()
    if "filename*" in header:
        assert name == unquote(header.partition("filename*=UTF-8''")[2])
    else:
        assert name == read.get_filename()
