"""The pictures of docs/architecture.md, which `docs/pictures/sequences.py` draws from texts."""

import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
TEXTS = sorted(FOLDER.glob("*.txt"))
PAGE = (ROOT / "docs" / "architecture.md").read_text()

picture = runpy.run_path(str(FOLDER / "sequences.py"))["picture"]

SMALL = """
title: A <small> picture
lanes: Left, Right
[ together
Left -> Right: a call
Right --> Left: an answer
x Left: it ends
]
"""


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
def test_a_picture_is_as_its_text_says(text):
    committed = text.with_suffix(".svg").read_text()

    assert picture(text.read_text()) == committed, f"{text.name} has changed: make pictures"
    assert f"(pictures/{text.stem}.svg)" in PAGE, "it is shown on no page"


def test_a_picture_tells_its_steps_to_those_who_do_not_see_it():
    drawn = ElementTree.fromstring(picture(SMALL))

    title, description = drawn[0].text, drawn[1].text
    assert "A <small> picture" == title
    assert "[ together; Left -> Right: a call; Right --> Left: an answer; x Left: it ends" == (
        description
    )


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("Left -> Nowhere: a call", r"line 5: .* KeyError"),
        ("Left goes home", "neither an arrow, nor a note, nor a frame"),
        ("]", "line 5"),
        ("[ it goes on", "has no end"),
    ],
)
def test_a_line_that_is_no_step_is_named(line, why):
    with pytest.raises(ValueError, match=why):
        picture(f"title: A\n\n# said of nobody\nlanes: Left, Right\n{line}\n")
