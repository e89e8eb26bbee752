"""The page's types of the API are those of the structs."""

from tests.web import wire_types


def test_the_types_of_the_page_are_those_of_the_api():
    assert wire_types.text() == wire_types.TARGET.read_text(), "out of date; run: make copies"
