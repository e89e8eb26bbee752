"""The figures of a load run."""

import math
from collections import Counter

import pytest

from adapters.cli.load import LoadFigures, document, percentile, rows, summary
from adapters.cli.main import main


@pytest.mark.parametrize(
    ("values", "percent", "value"),
    [
        ([3, 1, 2], 50, 2),
        ([3, 1, 2], 99, 3),
        (range(1, 101), 50, 50),
        (range(1, 101), 95, 95),
        (range(1, 101), 99, 99),
        ([7], 1, 7),
    ],
)
def test_a_percentile_is_a_value_that_was_seen(values, percent, value):
    assert value == percentile(list(values), percent)


def test_nothing_seen_is_no_figure():
    assert math.isnan(percentile([], 50))
    assert ("create a chat", "0", "-", "-", "-") == rows(LoadFigures())[0]
    assert None is document(LoadFigures(), 1.0)["turn_seconds"]


def test_a_run_is_summed_up_with_the_faults_that_were_most():
    seen = LoadFigures(turn=[0.5] * 6, parts=300, retries=2, faults=Counter({"a": 1, "b": 3}))

    assert (
        "6 turns in 2.0 s: 3.0 turns/s, 150 pieces/s, 2 retries, 4 failures\n  3 x b\n  1 x a\n"
    ) == summary(seen, 2.0)
    assert ("whole turn", "6", "500.0", "500.0", "500.0") == rows(seen)[3]
    assert {"b": 3, "a": 1} == document(seen, 2.0)["failures"]


@pytest.mark.parametrize("words", [["--chats", "0"], ["--chats", "5001"], ["--turns", "x"]])
def test_a_run_is_bounded(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["bench", *words])

    assert 2 == ended.value.code
    assert "must be 1.." in capsys.readouterr().err
