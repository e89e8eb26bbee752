"""Diffs are counted as git counts them."""

import random
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.adapters.workspaces.git.diffs import DiffCounts, diff_counts

ONE = """\
diff --git a/x b/x
index 1..2 100644
--- a/x
+++ b/x
@@ -1,3 +1,4 @@ def f():
 one
-two
--- a/looks like a head
+zwei
+++ b/looks like a head
+four
\\ No newline at end of file
diff --git a/pic.png b/pic.png
index 1..2 100644
Binary files a/pic.png and b/pic.png differ
diff --git a/old b/new
similarity index 100%
rename from old
rename to new
"""


def test_lines_that_look_like_heads_are_lines():
    assert diff_counts(ONE) == DiffCounts(additions=3, deletions=2, changed_files=3)


@pytest.mark.parametrize("text", ["", "no diff\n+ at all\n- here", "@@ what @@\n+x"])
def test_text_that_is_no_diff_counts_nothing(text):
    assert diff_counts(text) == DiffCounts()


def test_a_diff_without_heads_of_git_counts_its_pairs():
    text = "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n--- c\n+++ d\n@@ -0,0 +1 @@\n+z\n"
    assert diff_counts(text) == DiffCounts(2, 1, 2)


def test_a_diff_that_was_cut_counts_what_is_there():
    assert diff_counts(ONE[: ONE.index("+four")]) == DiffCounts(2, 2, 1)


@settings(max_examples=300)
@given(st.text(alphabet="@+- ,0123456789\n\\diff--git", max_size=400))
def test_anything_can_be_counted(text):
    counted = diff_counts(text)
    assert 0 <= counted.additions + counted.deletions <= text.count("\n") + 1


@pytest.mark.parametrize("seed", range(4))
def test_git_counts_the_same(seed, tmp_path):
    """Of lines that are themselves pieces of diffs."""
    chance = random.Random(seed)
    lines = ["--- a/x", "+++ b/x", "@@ -1 +1 @@", "-", "+", " ", "", "diff --git a/x b/x", "\\ No"]
    old, new = tmp_path / "old", tmp_path / "new"
    for side in (old, new):
        side.mkdir()
        for name in ("one", "two", "three"):
            text = "\n".join(chance.choices(lines, k=chance.randrange(40)))
            (side / name).write_text(text)
    diff, numstat = (
        subprocess.run(
            ["git", "diff", "--no-index", *more, "old", "new"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        for more in ((), ("--numstat",))
    )
    counts = [line.split("\t")[:2] for line in numstat.splitlines()]
    assert diff_counts(diff) == DiffCounts(
        sum(int(added) for added, _ in counts), sum(int(gone) for _, gone in counts), len(counts)
    )
