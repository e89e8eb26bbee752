"""What an upload is: its looks decide, what is said of it has to fit."""

import pytest

from adapters.http.media_types import ACCEPTED, Mismatched, Unsupported, media_type_of

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
        ("video/mp4", "a", PNG, Unsupported("video/mp4", "declared")),
        ("image/svg+xml", "a.svg", SVG, Unsupported("image/svg+xml", "declared")),
        ("text/html", "a", TEXT, Unsupported("text/html", "declared")),
        (ANY, "a.svg", SVG, Unsupported("image/svg+xml", "detected")),
        ("image/png", "a.png", SVG, Unsupported("image/svg+xml", "detected")),
        ("text/plain", "a.txt", b"  \n<SVG onload=x>", Unsupported("image/svg+xml", "detected")),
        (ANY, "a", b"\xef\xbb\xbf<svg/>", Unsupported("image/svg+xml", "detected")),
        (ANY, "a", b"<!DOCTYPE svg PUBLIC 'x'>\n<svg>", Unsupported("image/svg+xml", "detected")),
        ("text/plain", "a.md", b"<!doctype html><p>", Unsupported("text/html", "detected")),
        (ANY, "a", b"<!-- x --><script >", Unsupported("text/html", "detected")),
        (ANY, "a", b"<?xml version='1.0'?><feed/>", Unsupported("text/xml", "detected")),
        (ANY, "a.txt", BINARY, Unsupported(ANY, "detected")),
        ("text/plain", "a.txt", TEXT + b"\0", Unsupported(ANY, "detected")),
        ("image/png", "a.png", JPEG, Mismatched("image/png", "image/jpeg")),
        ("text/plain", "a.txt", PNG, Mismatched("text/plain", "image/png")),
        ("text/csv", "a.txt", b"a,b\n", Mismatched("text/csv", "text/plain")),
        ("application/json", "a.json", b"{", Mismatched("application/json", "text/plain")),
        ("text/markdown", "a.csv", b"a,b\n", Mismatched("text/markdown", "text/csv")),
        ("application/pdf", "a.pdf", TEXT, Mismatched("application/pdf", "text/plain")),
    ],
)
def test_what_is_not_taken_is_named(declared, name, content, fault):
    assert fault == media_type_of(declared, name, content)
