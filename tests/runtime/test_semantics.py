"""Every numbered sentence of the kernel's contract is named by a test, and the other way round.

A test names the sentences it proves in its docstring: `M2, H4: …`.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CONTRACT = HERE.parents[1] / "runtime" / "SEMANTICS.md"
NUMBER = re.compile(r"\b[A-Z]\d{1,2}\b")
SENTENCES = dict(re.findall(r"^- \*\*([A-Z]\d{1,2})\.\*\* (.+)$", CONTRACT.read_text(), re.M))


def read_docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """Each test of a file, and each state machine, with its docstring."""
    for node in ast.walk(ast.parse(path.read_text())):
        is_test = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith(
            "test_"
        )
        is_model = isinstance(node, ast.ClassDef) and node.name.endswith("Model")
        if is_test or is_model:
            yield f"{path.name}::{node.name}", ast.get_docstring(node) or ""


NAMED = {
    test: set(NUMBER.findall(docstring.partition(":")[0]))
    for path in HERE.glob("test_*.py")
    if path != Path(__file__)
    for test, docstring in read_docstrings(path)
}


@pytest.mark.parametrize("number", SENTENCES)
def test_the_sentence_is_proved(number: str) -> None:
    proofs = [test for test, numbers in NAMED.items() if number in numbers]

    assert proofs, f"no test names {number}: {SENTENCES[number]}"


@pytest.mark.parametrize("test", NAMED)
def test_the_test_proves_sentences_that_stand_in_the_contract(test: str) -> None:
    assert NAMED[test], f"{test} names no sentence of {CONTRACT.name} in its docstring"
    assert NAMED[test] <= SENTENCES.keys()


def test_the_contract_fits_on_a_page_and_counts_without_gaps() -> None:
    sections: dict[str, list[int]] = {}
    for number in SENTENCES:
        sections.setdefault(number[0], []).append(int(number[1:]))

    assert len(CONTRACT.read_text().splitlines()) <= 120
    assert {s: list(range(1, len(n) + 1)) for s, n in sections.items()} == sections
