"""docs/architecture.md: its pictures are as their texts say, and what it names is in the tree."""

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
TEXTS = sorted(FOLDER.glob("*.txt"))
PAGE = (ROOT / "docs" / "architecture.md").read_text()

PATH = re.compile(r"`((?:runtime|actors|adapters|client|tests)(?:/\w+)*(?:\.py|\.sql)?)`")
DASH = "\N{EN DASH}"
NAMED = re.compile(r"`([\w/]+\.(?:py|sql))`: ((?:`\w+`(?:, )?)+)")  # a file, and names in it

PLACED = re.compile(r"`(\w+)` \(`([\w/]+\.py)`\)")  # a class, and its file

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


@pytest.mark.parametrize("text", sorted(FOLDER.glob("*.bars")), ids=lambda path: path.stem)
def test_a_picture_of_parts_is_as_its_text_says(text):
    drawn = runpy.run_path(str(FOLDER / "bars.py"))["picture"](text.read_text())

    assert drawn == text.with_suffix(".svg").read_text(), f"{text.name} has changed: make pictures"
    parts = re.findall(r"^[\d.]+ ([^:]+)", text.read_text(), re.MULTILINE)
    assert all(part in drawn for part in parts)


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
def test_the_table_under_a_picture_has_all_its_steps(text):
    steps = picture(text.read_text()).count('class="digit"')

    [_, below] = PAGE.split(f"(pictures/{text.stem}.svg)")
    cells = re.findall(rf"^\| ([\d{DASH}, ]+) \|", below.split("\n## ")[0], re.MULTILINE)
    spans = [span.split(DASH) for cell in cells for span in cell.split(", ")]
    assert list(range(1, steps + 1)) == sorted(
        step for span in spans for step in range(int(span[0]), int(span[-1]) + 1)
    )


def test_what_the_page_names_is_in_the_tree():
    missing = {path for path in PATH.findall(PAGE) if not (ROOT / path).exists()}
    places = [(path, names) for names, path in PLACED.findall(PAGE)]
    for path, names in [*NAMED.findall(PAGE), *places]:
        text = (ROOT / path).read_text()
        missing |= {
            f"{path}: {name}"
            for name in re.findall(r"\w+", names)
            if not re.search(rf"(?:class|def|name:) {name}\b|\b{name}\(", text)
        }

    assert set() == missing


def test_a_picture_tells_its_steps_to_those_who_do_not_see_it():
    drawn = ElementTree.fromstring(picture(SMALL))

    assert "A <small> picture" == drawn[0].text
    assert "[ together; Left -> Right: a call; Right --> Left: an answer; x Left: it ends" == (
        drawn[1].text
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
