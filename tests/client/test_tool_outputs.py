"""What comes of calls goes out within the bounds of a request, and as JSON."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptcorner_client.tool_runner import RESULTS_BYTES_MAX, CallOutput, fit_results

CALLS_MAX = 250


def size(results):
    return len(msgspec.json.encode({"results": results}))


def said(result):
    return json.loads(msgspec.json.encode(result["output"]))


def test_results_that_fit_go_out_as_they_are():
    results = fit_results(["a", "b"], [CallOutput.of({"x": [1, "é"]}), CallOutput.error("no")])

    assert [{"x": [1, "é"]}, {"error": "no"}] == [said(result) for result in results]
    assert [("a", False), ("b", True)] == [(r["tool_call_id"], r["is_error"]) for r in results]


def test_of_too_much_the_large_are_cut_and_the_small_are_whole():
    log = "\n".join(f"line {n}" for n in range(200_000))

    results = fit_results(["a", "b"], [CallOutput.of(log), CallOutput.of("short")])

    assert RESULTS_BYTES_MAX / 3 < size(results) <= RESULTS_BYTES_MAX
    cut = said(results[0])["output"]
    assert cut.startswith("line 0\n")
    assert cut.endswith("line 199999")
    assert "left out" in cut
    assert "short" == said(results[1])


@pytest.mark.parametrize(
    "value",
    [
        "\0" * 300_000,
        "é" * 200_000,
        {"error": "x" * 300_000},
        {"a": ["\\" * 300_000]},
        "\n" * 262_140,
    ],
)
@pytest.mark.parametrize("calls", [1, 3, CALLS_MAX])
def test_whatever_it_is_made_of_it_fits(value, calls):
    ids = [f"call_{n}" for n in range(calls)]

    results = fit_results(ids, [CallOutput.of(value)] * calls)

    assert ids == [result["tool_call_id"] for result in results]
    assert size(results) <= RESULTS_BYTES_MAX
    assert all(list(said(result)) == ["output"] for result in results)


def test_words_of_an_error_stay_words_of_an_error():
    [result] = fit_results(["a"], [CallOutput.error("x" * 300_000)])

    assert ["error"] == list(said(result))
    assert said(result)["error"].startswith("xxx")


@given(st.text(st.characters(exclude_categories=[])))
def test_an_error_can_be_said_in_any_words(text):
    [result] = fit_results(["a"], [CallOutput.error(text)])

    assert isinstance(said(result)["error"], str)
