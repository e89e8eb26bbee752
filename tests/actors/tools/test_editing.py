"""Where an edit fits, and what comes of it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.tools.editing import (
    COMPARED_LINES_MAX,
    DIFF_LINES_MAX,
    CannotEdit,
    Edit,
    apply_edit,
    apply_edits,
    diff,
)


@pytest.mark.parametrize(
    ("content", "old", "new", "expected"),
    [
        pytest.param("a b c", "b", "x", "a x c", id="as it is"),
        pytest.param("a\nb\nc\n", "b\n", "", "a\nc\n", id="a line goes"),
        pytest.param("a \nb\t\nc\n", "a\nb", "a\nx", "a \nx\t\nc\n", id="blanks at ends stay"),
        pytest.param(
            "    a\n    b\n", "a\nb", "a\nx", "    a\n    x\n", id="indents stay as they are"
        ),
        pytest.param(
            "\tif a:\n\t\tb()\n",
            "if a:\n    b()",
            "if a:\n    c()\n    d()",
            "\tif a:\n\t\tc()\n\t\td()\n",
            id="inserted lines take the file's tabs",
        ),
        pytest.param(
            "  if a:\n    b()\n",
            "if a:\n\tb()\n",
            "if a:\n\tb()\n\tif c:\n\t\td()\n",
            "  if a:\n    b()\n    if c:\n      d()\n",
            id="levels are translated",
        ),
        pytest.param("a\r\nb\r\n", "a\nb\n", "a\nx\n", "a\r\nx\r\n", id="CRLF stays"),
        pytest.param("a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n", id="new lines get CRLF"),
        pytest.param(
            "a\nb\n", "a\nb\n", "a\r\nb\r\n", "a\r\nb\r\n", id="endings that are meant change"
        ),
        pytest.param("a \nb", "a\nb\n", "a\nx\n", "a \nx", id="no end of line at the end stays"),
        pytest.param("a \nb\nc\n", "a\nb", "a", "a \nc\n", id="fewer lines"),
        pytest.param("a \nb\nc\n", "a\nb\n", "", "c\n", id="lines go, blanks or not"),
        pytest.param("a \nb\n", "a\nb", "a\n\nb", "a \n\nb\n", id="an empty line is put between"),
    ],
)
def test_an_edit_leaves_alone_what_it_does_not_mean(content, old, new, expected):
    assert expected == apply_edit(content, Edit(old, new))


@pytest.mark.parametrize(
    ("content", "old", "new", "says"),
    [
        pytest.param("a", "", "x", "empty", id="nothing to replace"),
        pytest.param("a a", "a", "x", "2 times", id="more than one place"),
        pytest.param("  a\n\ta\n", "a\n", "x\n", "2 times", id="more than one line"),
        pytest.param("a", "b", "x", "read the file again", id="nowhere"),
        pytest.param("x = '====='", "x = '===='", "y", "line 1 has 5 x '='", id="miscounted"),
        pytest.param("b\nc", "a", "c", "(line 2): are old_text and new_text swapped", id="swapped"),
        pytest.param("\n\n\n", " \n", "x", "not in the file", id="blanks fit nowhere"),
        pytest.param(
            "a \r\nb\r\n", "a\nb\n", "a\r\nb\r\n", "not in", id="endings that are meant must fit"
        ),
    ],
)
def test_an_edit_that_does_not_fit_says_why(content, old, new, says):
    found = apply_edit(content, Edit(old, new))

    assert isinstance(found, CannotEdit)
    assert says in found.says


def test_all_places_are_replaced_when_all_are_meant():
    assert "  x\n\tx\n" == apply_edit("  a\n\ta\n", Edit("a\n", "x\n", replace_all=True))
    assert "x x" == apply_edit("a a", Edit("a", "x", replace_all=True))


TEXTS = st.text(alphabet="ab \t\n\r", max_size=30)


@given(TEXTS, TEXTS, TEXTS)
def test_what_is_there_exactly_is_replaced_exactly(before, old, after):
    content = before + old + after
    if not old or content.count(old) != 1 or content.find(old) != len(before):
        return

    assert before + "new" + after == apply_edit(content, Edit(old, "new"))


@given(TEXTS, TEXTS)
@example("\r\n\r", "\n\r")
@example("\r\r\n\n", "\r\n\n")
@example("a\r\n\nb\r\n", "\n\n")
def test_an_edit_that_changes_nothing_changes_nothing(content, old):
    found = apply_edit(content, Edit(old, old, replace_all=True))

    assert isinstance(found, CannotEdit) or content == found


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=6), st.data())
def test_blanks_do_not_hide_a_place(bodies, data):
    blanks = st.text(alphabet=" \t", max_size=3)
    lines = [data.draw(blanks) + body + data.draw(blanks) for body in bodies]

    found = apply_edit("\n".join(lines) + "\n", Edit("\n".join(bodies), "x", replace_all=True))

    assert isinstance(found, str)
    assert 1 == found.count("x")


def test_each_edit_finds_what_the_one_before_has_left():
    assert "three" == apply_edits("one", [Edit("one", "two"), Edit("two", "three")])


def test_of_several_edits_the_one_that_does_not_fit_is_named():
    refused = apply_edits("one", [Edit("one", "two"), Edit("one", "three")])

    assert isinstance(refused, CannotEdit)
    assert refused.says.startswith("edits[1]: old_text is not in the file")


def test_a_last_line_without_an_end_is_shown_as_such():
    shown = diff("/a", "one", "two\n")

    assert "--- /a\n+++ /a\n@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+two\n" == shown


def test_what_looks_like_the_end_of_a_line_is_none():
    assert "-a\x0cb\n+a\x0cc\n" in diff("/a", "a\x0cb\n", "a\x0cc\n")


def test_a_long_diff_is_cut_and_says_by_how_much():
    before = "".join(f"{n}\n" for n in range(1_500))

    shown = diff("/a", before, before.replace("1", "x"))

    *lines, last, _ = shown.split("\n")
    assert DIFF_LINES_MAX == len(lines)
    assert last.endswith(" more lines …")


def test_what_would_take_long_to_compare_is_only_said():
    before = "".join(f"{n}\n" for n in range(COMPARED_LINES_MAX + 1))
    after = "".join(f"{n} x\n" for n in range(COMPARED_LINES_MAX + 1))

    assert diff("/a", before, after).endswith("too many changes to show …\n")
    assert "-0\n+1\n" in diff("/a", f"0\n{before}", f"1\n{before}")
