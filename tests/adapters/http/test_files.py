"""Names of files, in and out of headers."""

from email.message import Message
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.http.files import (
    ACCEPTED,
    NAME_BYTES_MAX,
    MismatchedType,
    UnsupportedType,
    clean_name,
    disposition_of,
    media_type_of,
    name_in,
)


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
    assert name == name_in(disposition)


def test_a_name_that_is_too_long_is_cut_before_its_ending():
    name = clean_name("ü" * 200 + ".txt")

    assert name.endswith("ü.txt")
    assert NAME_BYTES_MAX - 1 <= len(name.encode()) <= NAME_BYTES_MAX
    assert NAME_BYTES_MAX == len(clean_name("." + "x" * 400).encode())


@given(st.text())
def test_whatever_is_left_fits_and_stays(text):
    name = clean_name(text)

    assert len(name.encode()) <= NAME_BYTES_MAX
    assert clean_name(name) == name


@given(st.text(min_size=1).map(clean_name).filter(bool), st.booleans())
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


PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 8
JPEG = b"\xff\xd8\xff\xe0" + b"\0" * 8
GIF = b"GIF89a" + b"\0" * 8
WEBP = b"RIFF\x10\0\0\0WEBPVP8 " + b"\0" * 8
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3"
TEXT = "one line, Grüße\n".encode()
SVG = b'<?xml version="1.0"?>\n<!-- made by hand -->\n<svg xmlns="http://www.w3.org/2000/svg"/>'
BINARY = b"PK\x03\x04\0\0"

ANY = "application/octet-stream"


@pytest.mark.parametrize(
    ("declared", "name", "content", "media_type"),
    [
        # what looks like something is that
        (ANY, "a", PNG, "image/png"),
        (ANY, "a", JPEG, "image/jpeg"),
        (ANY, "a", GIF, "image/gif"),
        (ANY, "a", WEBP, "image/webp"),
        (ANY, "a", PDF, "application/pdf"),
        (ANY, "a", TEXT, "text/plain"),
        (ANY, "a", b"", "text/plain"),
        ("", "a.png", PNG, "image/png"),
        ("image/png", "a.txt", PNG, "image/png"),
        ("Image/PNG; charset=binary", "a", PNG, "image/png"),
        ("application/pdf", "a", PDF, "application/pdf"),
        # text is what its name promises, if the content keeps it
        (ANY, "a.md", TEXT, "text/markdown"),
        (ANY, "A.MARKDOWN", TEXT, "text/markdown"),
        (ANY, "a.csv", b"a,b\n1,2\n", "text/csv"),
        (ANY, "a.json", b'{"a": [1]}', "application/json"),
        (ANY, "a.json", b"{not json", "text/plain"),
        (ANY, "a.json", b"[" * 100_000, "text/plain"),
        (ANY, "a.csv", b'a,"b\n', "text/plain"),
        (ANY, "a.csv", b"\xff\xff\xff", "text/plain"),
        (ANY, "a.json", PNG, "image/png"),
        # who says plain text says nothing against that
        ("text/plain", "a.txt", TEXT, "text/plain"),
        ("text/plain; charset=utf-8", "a.md", TEXT, "text/markdown"),
        ("text/plain", "a.csv", b"a,b\n1,2\n", "text/csv"),
        ("text/plain", "a.json", b"[]", "application/json"),
        ("text/markdown", "a.md", TEXT, "text/markdown"),
        ("application/json", "a.json", b"[]", "application/json"),
        # a text that begins with an element is no document of a browser
        (ANY, "a.md", b"<h1>Title</h1>\n", "text/markdown"),
        (ANY, "a.txt", b"<svgish", "text/plain"),
    ],
)
def test_it_is_what_it_looks_like_and_text_what_its_name_says(declared, name, content, media_type):
    assert media_type == media_type_of(declared, name, content)
    assert media_type in ACCEPTED


@pytest.mark.parametrize(
    ("declared", "name", "content", "fault"),
    [
        ("video/mp4", "a", PNG, UnsupportedType("video/mp4", "declared")),
        ("image/svg+xml", "a.svg", SVG, UnsupportedType("image/svg+xml", "declared")),
        ("text/html", "a", TEXT, UnsupportedType("text/html", "declared")),
        (ANY, "a.svg", SVG, UnsupportedType("image/svg+xml", "detected")),
        ("image/png", "a.png", SVG, UnsupportedType("image/svg+xml", "detected")),
        (
            "text/plain",
            "a.txt",
            b"  \n<SVG onload=x>",
            UnsupportedType("image/svg+xml", "detected"),
        ),
        (ANY, "a", b"\xef\xbb\xbf<svg/>", UnsupportedType("image/svg+xml", "detected")),
        (
            ANY,
            "a",
            b"<!DOCTYPE svg PUBLIC 'x'>\n<svg>",
            UnsupportedType("image/svg+xml", "detected"),
        ),
        (
            "text/plain",
            "a.md",
            b"<!doctype html><p>",
            UnsupportedType("text/html", "detected"),
        ),
        (ANY, "a", b"<!-- x --><script >", UnsupportedType("text/html", "detected")),
        (ANY, "a", b"<?xml version='1.0'?><feed/>", UnsupportedType("text/xml", "detected")),
        (ANY, "a.txt", BINARY, UnsupportedType(ANY, "detected")),
        ("text/plain", "a.txt", TEXT + b"\0", UnsupportedType(ANY, "detected")),
        ("image/png", "a.png", JPEG, MismatchedType("image/png", "image/jpeg")),
        ("text/plain", "a.txt", PNG, MismatchedType("text/plain", "image/png")),
        ("text/csv", "a.txt", b"a,b\n", MismatchedType("text/csv", "text/plain")),
        ("application/json", "a.json", b"{", MismatchedType("application/json", "text/plain")),
        ("text/markdown", "a.csv", b"a,b\n", MismatchedType("text/markdown", "text/csv")),
        ("application/pdf", "a.pdf", TEXT, MismatchedType("application/pdf", "text/plain")),
    ],
)
def test_what_is_not_taken_is_named(declared, name, content, fault):
    assert fault == media_type_of(declared, name, content)
