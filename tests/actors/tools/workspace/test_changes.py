"""Edits of a whole file, and how they are shown."""

from actors.tools.workspace.changes import COMPARED_LINES_MAX, DIFF_LINES_MAX, applied, diff
from actors.tools.workspace.editing import CannotEdit, Edit


def test_each_edit_finds_what_the_one_before_has_left():
    assert "three" == applied("one", [Edit("one", "two"), Edit("two", "three")])


def test_of_several_edits_the_one_that_does_not_fit_is_named():
    refused = applied("one", [Edit("one", "two"), Edit("one", "three")])

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
